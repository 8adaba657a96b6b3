//! From paths to texts.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    limits,
    problem::{Code, Place, Problem, Problems},
};

/// One file, or what stands for it: a name for people, and the bytes.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    bytes: Vec<u8>,
}

impl Source {
    /// A source in memory. Bytes that are no UTF-8 text are answered when they are read.
    pub fn new(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it is; empty if it is none.
    pub fn as_text(&self) -> &str {
        str::from_utf8(&self.bytes).unwrap_or("")
    }

    /// The text without a byte order mark; none, with a problem, if it is none or too long.
    pub(super) fn text(&self, problems: &mut Problems) -> Option<&str> {
        if self.bytes.len() > limits::FILE_BYTES_MAX {
            problems.add(too_large(&self.name));
            return None;
        }
        match str::from_utf8(&self.bytes) {
            Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(error) => {
                problems.add(self.not_utf8(error.valid_up_to()));
                None
            }
        }
    }

    /// The text, or as much of it as is one; for excerpts.
    pub(super) fn excerpt_text(&self) -> &str {
        let text = str::from_utf8(&self.bytes).unwrap_or("");
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }

    fn not_utf8(&self, valid_bytes: usize) -> Problem {
        let before = String::from_utf8_lossy(&self.bytes[..valid_bytes]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let place = Place { file: self.name.clone(), line: line as u32, column: column as u32 };
        let message = format!("byte {:#04x} is not UTF-8 text", self.bytes[valid_bytes]);
        Problem::new(place, "", Code::NotUtf8, message).next("save the file as UTF-8")
    }
}

/// Reads what the paths name; what cannot be read is a problem.
pub(super) fn load(paths: &[PathBuf], problems: &mut Problems) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut bytes_total = 0;
    let files: Vec<PathBuf> = paths.iter().flat_map(|path| files_at(path, problems)).collect();
    for file in files {
        if sources.len() == limits::FILES_MAX || bytes_total > limits::FILES_BYTES_MAX {
            let message = format!("more than {} files or {} bytes at once", limits::FILES_MAX, limits::FILES_BYTES_MAX);
            problems.add(Problem::new(Place::file(&shown(&file)), "", Code::TooMany, message));
            break;
        }
        match bytes_of(&file) {
            Ok(bytes) => {
                bytes_total += bytes.len();
                sources.push(Source::new(&shown(&file), bytes));
            }
            Err(error) => problems.add(unreadable(&file, &error)),
        }
    }
    sources
}

/// The file itself, or the manifests in a directory.
fn files_at(path: &Path, problems: &mut Problems) -> Vec<PathBuf> {
    if path == Path::new("-") || !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = match path.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(error) => {
            problems.add(unreadable(path, &error));
            return Vec::new();
        }
    };
    let mut files: Vec<PathBuf> =
        entries.iter().map(std::fs::DirEntry::path).filter(|file| is_manifest(file)).collect();
    files.sort();
    if files.is_empty() {
        problems.add(
            Problem::new(Place::file(&shown(path)), "", Code::Empty, "no *.yaml or *.yml file found")
                .next("name the files, or another directory"),
        );
    }
    files
}

fn is_manifest(file: &Path) -> bool {
    let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && file.extension().is_some_and(|end| end == "yaml" || end == "yml") && !file.is_dir()
}

/// The bytes, and never more than one beyond the limit.
fn bytes_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = limits::FILE_BYTES_MAX as u64 + 1;
    if file == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What is wrong with a YAML file that is read as a whole, and where: `line 1 column 1: unknown field …`. The parser's text goes
/// on with an excerpt of several lines.
#[cfg(feature = "simulation")]
pub(crate) fn yaml_problem(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.to_string_lossy().into_owned() }
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let next =
        if error.kind() == io::ErrorKind::NotFound { "check the path" } else { "check the file and its permissions" };
    Problem::new(Place::file(&shown(path)), "", Code::Unreadable, format!("cannot be read: {error}")).next(next)
}

fn too_large(name: &str) -> Problem {
    let message = format!("longer than {} MiB", limits::FILE_BYTES_MAX / (1024 * 1024));
    Problem::new(Place::file(name), "", Code::TooLarge, message).next("split it into several files")
}
