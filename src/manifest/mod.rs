//! Declared wishes, read from YAML.
//!
//! A manifest is one or more documents of this shape, in one or more files; JSON is read as well:
//!
//! ```yaml
//! apiVersion: bailiwick/v1
//! kind: Volume
//! metadata: {name: data}
//! spec: {provider: local, size: 64M}
//! ```
//!
//! What comes in is not trusted: files, documents, nesting and repetition are bounded ([`limits`]), and whatever is wrong
//! is answered with file, line, column and field, all problems together ([`ManifestError`]). Nothing is half read: either
//! every document is good, or there is no [`Manifest`].
//!
//! Documents of Gardener's machine controller are read as well (`kinds/gardener.rs`). What of them is not carried out here is
//! named, thing by thing ([`Manifest::notes`]).
//!
//! The way through the files: `source` (paths to text), `tree` (text to nodes with places), `fields` and `kinds`
//! (nodes to wishes), `check` (wishes against one another).

mod check;
mod claims;
mod deployments;
mod duration;
mod fields;
mod hint;
mod kinds;
pub mod limits;
mod managed;
mod mounts;
mod pools;
mod problem;
mod read;
mod size;
mod source;
mod tree;
mod wish;

use std::path::PathBuf;

use bailiwick_actors::vocab::{Name, SizeMib};

pub(crate) use hint::nearest;
#[cfg(feature = "cli")]
pub(crate) use kinds::declared_as;
pub(crate) use kinds::is_kind;
pub use problem::{Code, Excerpt, ManifestError, Place, Problem};
pub use read::Known;
pub use source::Source;
#[cfg(feature = "simulation")]
pub(crate) use source::yaml_problem;
pub use wish::{CustomWish, Document, Manifest, Note, Pooled, Wish};

use kinds::Taken;
use problem::Problems;

/// Reads the manifests at these paths: files, directories (their `*.yaml` and `*.yml`, in the order of their names), and
/// `-` for the standard input.
///
/// # Errors
/// With everything that is wrong, up to [`limits::PROBLEMS_MAX`] problems.
pub fn read(paths: &[PathBuf], known: &Known) -> Result<Manifest, ManifestError> {
    let mut problems = Problems::default();
    let sources = source::load(paths, &mut problems);
    parsed(&sources, Some(known), problems)
}

/// Reads manifests that are in memory.
///
/// # Errors
/// As [`read`].
pub fn parse(sources: &[Source], known: &Known) -> Result<Manifest, ManifestError> {
    parsed(sources, Some(known), Problems::default())
}

/// Reads manifests of which nobody here knows what they may point at: everything is looked at but that.
///
/// # Errors
/// As [`read`].
pub fn parse_open(sources: &[Source]) -> Result<Manifest, ManifestError> {
    parsed(sources, None, Problems::default())
}

/// The texts at these paths, unread.
///
/// # Errors
/// If a path cannot be read.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, ManifestError> {
    let mut problems = Problems::default();
    let sources = source::load(paths, &mut problems);
    problems.or(sources)
}

/// Milliseconds of a period such as `500ms`, `10s`, `3m` or `1h30m`; none if the text is no period.
pub fn duration_ms(text: &str) -> Option<u64> {
    duration::parse_ms(text).ok()
}

/// The size that people mean with `64M`, `64MB` or `64Mi`; none if the text is no size.
pub fn size(text: &str) -> Option<SizeMib> {
    size::parse(text)
}

/// The variable of the node's environment that leads to a secret: `BAILIWICK_SECRET_THE_NAME`, and the same with `_FILE`.
pub fn secret_variable(secret: &Name) -> String {
    format!("BAILIWICK_SECRET_{}", secret.as_str().to_ascii_uppercase().replace('-', "_"))
}

fn parsed(sources: &[Source], known: Option<&Known>, mut problems: Problems) -> Result<Manifest, ManifestError> {
    let mut taken = Taken::default();
    for source in sources {
        if problems.are_enough() {
            break;
        }
        let Some(text) = source.text(&mut problems) else { continue };
        kinds::read_source(source.name(), text, &mut taken, &mut problems);
    }
    let Taken { mut documents, notes, .. } = taken;
    check::across_documents(&mut documents, known, sources, &mut problems);
    if documents.is_empty() && notes.is_empty() && problems.is_empty() {
        let name = sources.first().map_or("manifest", |source| source.name());
        problems.add(
            Problem::new(Place::file(name), "", Code::Empty, "it contains no document").next("see `examples/lab.yaml`"),
        );
    }
    problems.or(Manifest { documents: documents.into_iter().map(|read| read.document).collect(), notes })
}
