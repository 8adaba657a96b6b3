//! The conformance cases: facts about the systems that our behaviour comes from, put to what the node runs.
//!
//!     cargo test --release --test it cases -- --nocapture
//!     BAILIWICK_CASES=some/folder cargo test --release --test it cases -- --nocapture
//!
//! The files in `tests/cases/` are copies and are not edited. With `BAILIWICK_CASES` the files of the same names in that
//! folder are run as well. For every group there is a line with how many of its cases passed, or why it was not run, and
//! one for each reason why some of them do not apply (`differences.rs`); those that were put to entities and supervisors as
//! the node runs them are counted. A field that a case has and the runner does not understand is a failure, and so is a group
//! that nobody has heard of.

mod differences;
mod facade;
mod lab;
mod own;
mod provisioner;
mod reconcile;
mod replica_set;
mod storage;

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// One case: what it is called, and all that it says.
type Case = (String, Value);

/// A group of a file, by name.
type Group = (String, Vec<Case>);

/// What is done with the cases of a group.
enum Plan {
    /// Each is run by this function, which answers with the first difference.
    Run(fn(&Value) -> Result<(), String>),
    /// As above; the function puts the case to entities and supervisors as the node runs them.
    Living(fn(&Value) -> Result<(), String>),
    /// None is run yet, and this is why.
    Skip(&'static str),
    /// They are about something that we do not have by design, and this is what.
    NotApplicable(&'static str),
}

/// One file of cases: how it falls into groups, and what is done with each.
struct File {
    name: &'static str,
    groups: fn(&Value) -> Vec<Group>,
    plan: fn(&str) -> Option<Plan>,
}

const FILES: [File; 6] = [
    File { name: "storage", groups: storage::groups, plan: storage::plan },
    File { name: "provisioner", groups: provisioner::groups, plan: provisioner::plan },
    File { name: "machine-reconcile", groups: reconcile::groups, plan: reconcile::plan },
    File { name: "peer-group", groups: replica_set::groups, plan: replica_set::plan },
    File { name: "peer-group-random", groups: replica_set::groups, plan: replica_set::plan },
    File {
        name: "facade",
        groups: |file| by_field(&file["cases"], "/call/method"),
        plan: |_| Some(Plan::Living(facade::case)),
    },
];

/// What came of one group.
#[derive(Debug, PartialEq)]
enum Outcome {
    Ran { total: usize, living: usize, failures: Vec<(String, String)> },
    Skipped(String),
    NotApplicable { total: usize, reason: &'static str },
    Unknown,
}

#[derive(Debug, PartialEq)]
struct Line {
    file: &'static str,
    group: String,
    outcome: Outcome,
}

impl Line {
    fn is_good(&self) -> bool {
        match &self.outcome {
            Outcome::Ran { failures, .. } => failures.is_empty(),
            Outcome::Skipped(_) | Outcome::NotApplicable { .. } => true,
            Outcome::Unknown => false,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cases {}/{}: ", self.file, self.group)?;
        match &self.outcome {
            Outcome::Skipped(reason) => write!(f, "skipped ({reason})"),
            Outcome::NotApplicable { total, reason } => write!(f, "{total} not applicable ({reason})"),
            Outcome::Unknown => f.write_str("0/0\n  the runner does not know this group"),
            Outcome::Ran { total, living, failures } => {
                write!(f, "{}/{total}", total - failures.len())?;
                failures.iter().try_for_each(|(name, difference)| write!(f, "\n  {name}: {difference}"))?;
                if *living == 0 { Ok(()) } else { write!(f, "\n  put to the living node: {living}") }
            }
        }
    }
}

fn run(file: &File, content: &Value) -> Vec<Line> {
    let lines = |(group, cases): Group| {
        let (cases, mut lines) = without_differences(file.name, &group, cases);
        let outcome = match (file.plan)(&group) {
            None => Outcome::Unknown,
            Some(Plan::Skip(reason)) => Outcome::Skipped(reason.to_owned()),
            Some(Plan::NotApplicable(reason)) => Outcome::NotApplicable { total: cases.len(), reason },
            Some(Plan::Run(check)) => checked(cases, check, false),
            Some(Plan::Living(check)) => checked(cases, check, true),
        };
        lines.insert(0, Line { file: file.name, group, outcome });
        lines
    };
    (file.groups)(content).into_iter().flat_map(lines).collect()
}

/// The cases that are put to the product, and a line for each reason why others are not.
fn without_differences(file: &'static str, group: &str, cases: Vec<Case>) -> (Vec<Case>, Vec<Line>) {
    let mut reasons: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut rest = Vec::new();
    for (name, case) in cases {
        match differences::of(file, group, &case) {
            Some(it) => *reasons.entry(it.reason).or_default() += 1,
            None => rest.push((name, case)),
        }
    }
    let outcome = |(reason, total)| Outcome::NotApplicable { total, reason };
    let line = |reason| Line { file, group: group.to_owned(), outcome: outcome(reason) };
    (rest, reasons.into_iter().map(line).collect())
}

/// Runs the cases of a group.
fn checked(cases: Vec<Case>, check: fn(&Value) -> Result<(), String>, is_living: bool) -> Outcome {
    let total = cases.len();
    let failure = |(name, case): Case| check(&case).err().map(|difference| (name, difference));
    let failures = cases.into_iter().filter_map(failure).collect();
    Outcome::Ran { total, living: if is_living { total } else { 0 }, failures }
}

fn run_folder(folder: &Path) -> Vec<Line> {
    let mut lines = Vec::new();
    for file in &FILES {
        let path = folder.join(file.name).with_extension("json");
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let content = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        lines.extend(run(file, &content));
    }
    lines
}

#[test]
fn every_case_passes() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut lines = run_folder(&own);
    assert!(FILES.iter().all(|file| lines.iter().any(|line| line.file == file.name)), "a file of cases is missing");
    if let Some(folder) = std::env::var_os("BAILIWICK_CASES") {
        let more = run_folder(Path::new(&folder));
        assert!(!more.is_empty(), "BAILIWICK_CASES names a folder without cases: {}", Path::new(&folder).display());
        lines.extend(more);
    }
    for line in &lines {
        println!("{line}");
    }
    let failed: Vec<String> = lines.iter().filter(|line| !line.is_good()).map(Line::to_string).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_wrong_case_fails_and_is_named() {
    let content = serde_json::json!({"format": "bailiwick storage cases v1", "sizes": [["1G", 1024], ["1G", 1025]]});
    let [line] = &run(&FILES[0], &content)[..] else { panic!("one group") };
    assert!(!line.is_good());
    let told = "cases storage/sizes: 1/2\n  1G: expected 1025 MiB, got 1024\n  put to the living node: 2";
    assert_eq!(line.to_string(), told);
}

#[test]
fn an_unknown_field_fails() {
    let case = serde_json::json!({"name": "a", "source": "b", "steps": [], "expect_more": 1});
    let lines = run(&FILES[0], &serde_json::json!({"schedule": [case]}));
    assert!(!lines[0].is_good());
    assert!(lines[0].to_string().contains("expect_more"), "{}", lines[0]);
}

#[test]
fn an_unknown_group_fails() {
    let lines = run(&FILES[0], &serde_json::json!({"surprises": [{"name": "a"}]}));
    assert_eq!(lines[0].outcome, Outcome::Unknown);
    assert!(!lines[0].is_good());
}

/// Groups that are top-level keys of the file; texts at the top are for the reader.
fn by_top_level_key(file: &Value) -> Vec<Group> {
    let groups = file.as_object().into_iter().flatten().filter(|(_, content)| !content.is_string());
    groups.map(|(group, content)| (group.clone(), cases_of(content))).collect()
}

/// Groups that the cases themselves name, in the order of their first case.
fn by_field(list: &Value, pointer: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (name, case) in cases_of(list) {
        let group = case.pointer(pointer).and_then(Value::as_str).unwrap_or("without a group").to_owned();
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, cases)) => cases.push((name, case)),
            None => groups.push((group, vec![(name, case)])),
        }
    }
    groups
}

/// The cases of a list, by name or else by place; anything but a list is one case.
fn cases_of(content: &Value) -> Vec<Case> {
    let Some(list) = content.as_array() else { return vec![("it".to_owned(), content.clone())] };
    let name = |(place, case): (usize, &Value)| {
        (case["name"].as_str().map_or_else(|| place.to_string(), str::to_owned), case.clone())
    };
    list.iter().enumerate().map(name).collect()
}

/// Where a case comes from and how it is to be taken: for the reader, and not compared.
const FOR_THE_READER: [&str; 6] = ["name", "source", "note", "seed_deviation", "decision", "older"];

/// Reads what is compared; a field that is not understood is an error.
fn read<T: DeserializeOwned>(case: &Value) -> Result<T, String> {
    let mut case = case.clone();
    if let Value::Object(fields) = &mut case {
        FOR_THE_READER.iter().for_each(|key| drop(fields.remove(*key)));
    }
    serde_json::from_value(case).map_err(|error| format!("the runner does not understand the case: {error}"))
}
