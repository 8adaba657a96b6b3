//! Comments that name a source file name one that is there: a bare name stands beside the file with the comment or below it,
//! a path anywhere. Files of sled's are said to be sled's.

use std::{collections::BTreeSet, fs};

use super::{Fault, root, sources};

pub(super) fn faults() -> Vec<Fault> {
    let files: BTreeSet<String> = sources().iter().map(|source| source.path.display().to_string()).collect();
    let mut faults = Vec::new();
    for file in &files {
        let text = fs::read_to_string(root().join(file)).expect("a readable source");
        for (at, line) in text.lines().enumerate() {
            faults.extend(wrong_in(line, file, &files).into_iter().map(|name| {
                format!("{file}:{}: `{name}`: no file ends so, and whoever reads the comment looks for it", at + 1)
            }));
        }
    }
    faults
}

/// The files that a line names in a comment and that are not there.
fn wrong_in(line: &str, file: &str, files: &BTreeSet<String>) -> Vec<String> {
    let Some((_, comment)) = line.trim_start().split_once("//") else { return Vec::new() };
    if !line.trim_start().starts_with("//") || comment.contains("sled 0.34") || comment.contains("pagecache") {
        return Vec::new();
    }
    let names = comment.split('`').skip(1).step_by(2).filter(|name| {
        name.ends_with(".rs")
            && name.len() > ".rs".len()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/.".contains(&byte))
    });
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let fits = |other: &String, name: &str| *other == name || other.ends_with(&format!("/{name}"));
    let is_there = |name: &str| {
        let is_near = |other: &&String| name.contains('/') || other.starts_with(folder);
        files.iter().filter(is_near).any(|other| fits(other, name))
    };
    names.filter(|name| !is_there(name)).map(str::to_owned).collect()
}

#[test]
fn a_file_that_is_not_there_is_found() {
    let files: BTreeSet<String> = ["actors/src/machine/health.rs", "src/view/rows.rs"].map(str::to_owned).into();
    for (line, wrong) in [
        ("//! as in `health.rs` and `machine/health.rs`", &[][..]),
        ("    // see `actors/src/machine/health.rs`", &[]),
        ("//! as in `ealth.rs`", &["ealth.rs"]),
        ("//! as in `rows.rs`", &["rows.rs"]),
        ("//! as in `view/rows.rs`", &[]),
        ("/// `machine/zone_rule.rs`: where", &["machine/zone_rule.rs"]),
        ("let file = \"`none.rs`\"; // `none.rs` behind code is not looked at", &[]),
    ] {
        assert_eq!(wrong_in(line, "actors/src/machine/hold.rs", &files), wrong, "{line}");
    }
}
