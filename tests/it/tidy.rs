//! What the compiler does not hold: which room may know which, and what is banned, each with its reason.
//!
//! The sources are read as tokens, so comments and texts cannot confuse it. Every rule has a test that it can fail.

mod arrows;
mod bans;
mod circles;
mod ghosts;
mod layers;
mod named;
mod orphans;
mod source;
mod surface;
mod texts;

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use source::Source;

/// What a rule found: `file:line: what, because`.
type Fault = String;

/// What may stand at the top; other files go into one of the rooms, other settings become dotfiles.
const TOP_LEVEL: [&str; 10] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "src",
    "actors",
    "journal",
    "tests",
    "benches",
];
const TOP_LEVEL_BESIDE: [&str; 2] = ["examples", "target"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust sources of the workspace, in order. They are read once for all rules.
fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);
    &SOURCES
}

fn read_sources() -> Vec<Source> {
    let mut files = Vec::new();
    let rooms = ["src", "actors", "journal", "tests", "benches", "examples"];
    let mut folders: Vec<PathBuf> = rooms.iter().map(|room| root().join(room)).filter(|room| room.is_dir()).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("a readable source");
        Source::new(file.strip_prefix(root()).expect("inside the workspace"), &text)
    };
    files.iter().map(read).collect()
}

fn hold(faults: Vec<Fault>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Holds a list against the one in `tests/golden/texts` that people have read. `BLESS=1` writes that one anew.
fn hold_list(name: &str, list: &str, fault: &str) {
    let path = root().join("tests/golden/texts").join(name);
    if env::var_os("BLESS").is_some() {
        return fs::write(&path, list).expect("a writable list");
    }
    let read = fs::read_to_string(&path).unwrap_or_default();
    let (known, told): (BTreeSet<&str>, BTreeSet<&str>) = (read.lines().collect(), list.lines().collect());
    let gone = read.lines().filter(|line| !told.contains(line)).map(|line| format!("-{line}\n"));
    let new = list.lines().filter(|line| !known.contains(line)).map(|line| format!("+{line}\n"));
    let difference: String = gone.chain(new).collect();
    assert!(read == list, "{fault}:\n{difference}");
}

#[test]
fn no_file_imports_in_a_circle() {
    hold(circles::faults(sources()));
}

#[test]
fn every_file_is_named_by_a_module() {
    hold(orphans::faults(sources()));
}

#[test]
fn comments_name_files_that_are_there() {
    hold(named::faults());
}

#[test]
fn arrows_point_down() {
    hold(sources().iter().flat_map(arrows::faults).collect());
}

#[test]
fn the_folders_of_the_journal_are_its_layers() {
    hold(layers::faults(sources()));
}

#[test]
fn what_is_banned_is_not_there() {
    hold(sources().iter().flat_map(bans::faults).collect());
}

#[test]
fn there_are_sources_in_every_room() {
    let sources = sources();
    for room in ["src/lib.rs", "actors/src/lib.rs", "journal/src/lib.rs", "tests/it/main.rs"] {
        assert!(sources.iter().any(|source| source.path == Path::new(room)), "{room} was not read");
    }
}

#[test]
fn the_top_level_is_the_prescribed_one() {
    let names = fs::read_dir(root()).expect("a readable folder").map(|entry| entry.expect("readable").file_name());
    let faults = names.filter_map(|name| {
        let name = name.to_string_lossy().into_owned();
        let fits = name.starts_with('.') || TOP_LEVEL.contains(&&*name) || TOP_LEVEL_BESIDE.contains(&&*name);
        (!fits).then(|| format!("{name}: has no place at the top level"))
    });
    hold(faults.collect());
}

#[test]
fn every_crate_forbids_unsafe_code() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("a readable manifest");
    assert!(workspace.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\""), "the workspace has to forbid it");
    for member in ["Cargo.toml", "actors/Cargo.toml", "journal/Cargo.toml"] {
        let manifest = fs::read_to_string(root().join(member)).expect("a readable manifest");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{member} has to take over the workspace's lints");
    }
}
