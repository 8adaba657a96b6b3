//! Files that no module names: the compiler never reads them, so nobody notices what they say.

use std::path::{Path, PathBuf};

use super::{Fault, source::Source};

pub(super) fn faults(sources: &[Source]) -> Vec<Fault> {
    let is_of_crate = |source: &&Source| source.path.iter().any(|part| part == "src");
    let is_read = |source: &Source| is_root(&source.path) || is_named(source, sources);
    let unread = sources.iter().filter(is_of_crate).filter(|source| !is_read(source));
    unread.map(|source| format!("{}: no module names it, so the compiler never reads it", source.name())).collect()
}

fn is_root(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "lib.rs" || name == "main.rs") || file.ends_with("build.rs")
}

/// Whether the file that stands above it has `mod` with its name.
fn is_named(file: &Source, sources: &[Source]) -> bool {
    let is_folder = file.path.ends_with("mod.rs");
    let module = if is_folder { file.path.parent() } else { Some(file.path.as_path()) };
    let Some((folder, name)) = module.and_then(|module| Some((module.parent()?, module.file_stem()?.to_str()?))) else {
        return false;
    };
    let above = ["mod.rs", "lib.rs", "main.rs"].map(|root| folder.join(root));
    let above: Vec<PathBuf> = above.into_iter().chain([folder.with_extension("rs")]).collect();
    let mut above = sources.iter().filter(|source| above.contains(&source.path));
    above.any(|source| !source.runs(&["mod", name]).is_empty())
}

#[test]
fn a_file_that_no_module_names_is_found() {
    let file = |path: &str, text: &str| Source::new(Path::new(path), text);
    let tree = [
        file("src/lib.rs", "mod kept; mod folder; mod outside;"),
        file("src/kept.rs", ""),
        file("src/folder/mod.rs", "mod inside;"),
        file("src/folder/inside.rs", ""),
        file("src/outside.rs", "mod deep;"),
        file("src/outside/deep.rs", ""),
        file("src/lost.rs", ""),
        file("src/folder/left.rs", ""),
    ];
    let found: Vec<Fault> = faults(&tree);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("src/lost.rs:") && found[1].starts_with("src/folder/left.rs:"), "{found:?}");
}
