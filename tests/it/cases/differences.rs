//! Cases that do not hold for us by design: for want of what they are about, or because ours is deliberately another way.
//!
//! Each is counted and printed with its reason; where ours is better, a test shows it.

use serde_json::Value;

/// What some cases are about that we do not have, or do otherwise.
pub(super) struct Difference {
    pub file: &'static str,
    pub group: &'static str,
    /// Whether it is about this case.
    pub is_about: fn(&Value) -> bool,
    pub reason: &'static str,
    /// Where ours is better: the test that shows it.
    pub shown_by: Option<&'static str>,
}

/// All of them.
pub(super) const DIFFERENCES: [Difference; 3] = [
    Difference {
        file: "peer-group-random",
        group: "desired",
        is_about: has_a_machine_without_a_name_of_ours,
        reason: "a machine's name is made of lower-case letters, digits and hyphens; anything else is refused at apply",
        shown_by: Some("numbers_come_first_and_keep_their_spelling"),
    },
    Difference {
        file: "peer-group-random",
        group: "default",
        is_about: has_a_machine_without_a_name_of_ours,
        reason: "a machine's name is made of lower-case letters, digits and hyphens; anything else is refused at apply",
        shown_by: Some("numbers_come_first_and_keep_their_spelling"),
    },
    Difference {
        file: "peer-group",
        group: "select_space",
        is_about: |case| case["input"]["ha_space"] == "",
        reason: "a space is a name, so that an empty one is refused at apply and never asked for",
        shown_by: Some("a_replica_set_has_seats_on_machines"),
    },
];

/// The difference that a case is about.
pub(super) fn of(file: &str, group: &str, case: &Value) -> Option<&'static Difference> {
    DIFFERENCES.iter().find(|it| it.file == file && it.group == group && (it.is_about)(case))
}

fn has_a_machine_without_a_name_of_ours(case: &Value) -> bool {
    let machines = case["input"]["machines"].as_array().into_iter().flatten();
    machines
        .filter_map(|machine| machine["id"].as_str())
        .any(|id| id.parse::<bailiwick::actors::vocab::Name>().is_err())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{super::FILES, *};

    /// All code of the workspace, in one text.
    fn code(folder: &Path, all: &mut String) {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                code(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all.push_str(&fs::read_to_string(&path).expect("readable code"));
            }
        }
    }

    #[test]
    fn every_difference_is_about_a_case_and_its_test_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut all = String::new();
        for folder in ["src", "tests", "actors/src", "actors/tests", "journal/src"] {
            code(&root.join(folder), &mut all);
        }
        for it in &DIFFERENCES {
            let text = fs::read_to_string(root.join(format!("tests/cases/{}.json", it.file))).expect("a file of cases");
            let content: Value = serde_json::from_str(&text).expect("JSON");
            let file = FILES.iter().find(|file| file.name == it.file).expect("a known file");
            let groups = (file.groups)(&content);
            let cases = groups.iter().filter(|(group, _)| group == it.group).flat_map(|(_, cases)| cases);
            let about = cases.filter(|(_, case)| (it.is_about)(case)).count();
            assert!(about > 0, "{}/{}: no case is about this: {}", it.file, it.group, it.reason);
            let is_there = |test: &str| all.contains(&format!("fn {test}("));
            assert!(it.shown_by.is_none_or(is_there), "there is no test {:?}", it.shown_by);
        }
    }
}
