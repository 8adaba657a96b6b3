//! The tests that the guide names for a promise are there.

use std::fs;

use super::{Fault, root};

const PAGE: &str = "src/guide/promises.md";

pub(super) fn faults(page: &str) -> Vec<Fault> {
    page.lines().enumerate().flat_map(|(at, line)| missing_from(line, at + 1)).collect()
}

pub(super) fn page() -> String {
    fs::read_to_string(root().join(PAGE)).expect("the page is there")
}

/// What a row names that is not there; and that it names nothing.
fn missing_from(line: &str, number: usize) -> Vec<Fault> {
    let Some((_, held_by)) = line.strip_prefix("| ").and_then(|row| row.split_once(" | ")) else { return Vec::new() };
    if held_by.starts_with("held by") {
        return Vec::new();
    }
    let names: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
    let is_missing = |name: &&str| {
        let (file, test) = name.split_once("::").map_or((*name, None), |(file, test)| (file, Some(test)));
        let text = fs::read_to_string(root().join(file)).ok();
        !text.is_some_and(|text| test.is_none_or(|test| text.contains(&format!("fn {test}("))))
    };
    let told =
        names.iter().filter(|name| is_missing(name)).map(|name| format!("{PAGE}:{number}: `{name}` is not there"));
    let nothing = names.is_empty().then(|| format!("{PAGE}:{number}: no test is named for this promise"));
    told.chain(nothing).collect()
}
