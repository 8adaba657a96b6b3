//! The list of guards is true: every expression stands where it says, and every test that is named exists.
//!
//! That each test fails without its guard is shown by `tests/guards/run.py`, which builds a copy with all of them behind
//! switches; it takes minutes, so it is no part of `cargo test`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The lists, and how many guards each has at least: twenty of machines were demanded, and ten failures concern them.
const LISTS: [(&str, usize); 4] =
    [("machines.txt", 20), ("protection.txt", 15), ("scenarios.txt", 10), ("secrets.txt", 8)];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn records(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut records = Vec::new();
    for block in text.split("\n\n") {
        let fields = block.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
        let record: BTreeMap<&str, &str> = fields.collect();
        if !record.is_empty() {
            records.push(record);
        }
    }
    records
}

/// All of the library's sources in one text.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all += &fs::read_to_string(&path).unwrap();
        }
    }
    all
}

#[test]
fn every_guard_stands_where_the_list_says_and_has_its_test() {
    let all = sources(&root().join("actors/src"));
    for (name, least) in LISTS {
        let list = fs::read_to_string(root().join("tests/guards").join(name)).unwrap();
        let guards = records(&list);
        assert!(guards.len() >= least, "{} guards in {name}", guards.len());
        stand(&guards, &all);
    }
}

/// Each stands where the list says, and has its test.
fn stand(guards: &[BTreeMap<&str, &str>], all: &str) {
    let mut names = BTreeSet::new();
    for guard in guards {
        let name = guard["guard"];
        assert!(names.insert(name), "{name} stands there twice");
        let text = fs::read_to_string(root().join(guard["file"])).unwrap();
        let function = text.find(guard["in"]).unwrap_or_else(|| panic!("{name}: {} is not there", guard["in"]));
        let rest = &text[function..];
        let end = rest[1..].find("\nfn ").or_else(|| rest[1..].find("\npub")).map_or(rest.len(), |end| end + 1);
        assert!(rest[..end].contains(guard["take"]), "{name}: {} does not stand in {}", guard["take"], guard["in"]);
        let test = guard["test"].rsplit("::").next().unwrap();
        let suite = guard.get("suite").map(|suite| sources(&root().join("tests").join(suite)));
        let is_there = test == "tests" || suite.as_deref().unwrap_or(all).contains(&format!("fn {test}("));
        assert!(is_there, "{name}: there is no test {test}");
    }
}
