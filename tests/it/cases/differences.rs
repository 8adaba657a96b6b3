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
pub(super) const DIFFERENCES: [Difference; 7] = [
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
    Difference {
        file: "storage",
        group: "timelines",
        is_about: |case| case["given"]["config_at"].as_f64().is_some_and(|at| at > 0.0),
        reason: "a node records its first policy before its supervisors start",
        shown_by: Some("the_first_start_records_the_policy_before_anything_else"),
    },
    Difference {
        file: "storage",
        group: "timelines",
        is_about: has_a_static_provider,
        reason: "no provider of ours can make storage only while a machine is started",
        shown_by: None,
    },
    Difference {
        file: "storage",
        group: "timelines",
        is_about: |case| case["given"]["invalid"].as_object().is_some_and(|invalid| !invalid.is_empty()),
        reason: "parameters are checked where they are declared; what only the provider knows it answers to the call",
        shown_by: None,
    },
    Difference {
        file: "storage",
        group: "timelines",
        is_about: has_two_attachments_of_one,
        reason: "of several attachments the one farthest from well says how the storage is, whichever changed last",
        shown_by: Some("of_several_attachments_the_one_farthest_from_well_says_how_it_is"),
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

fn has_a_static_provider(case: &Value) -> bool {
    let providers = case["given"]["providers"].as_object().into_iter().flat_map(|providers| providers.values());
    providers.into_iter().any(|provider| provider["dynamic"] == false)
}

fn has_two_attachments_of_one(case: &Value) -> bool {
    let keys = |kind: &str| {
        let attachments = case["given"][kind].as_object().into_iter().flat_map(|attachments| attachments.keys());
        attachments.filter_map(|key| key.split_once(':')).map(|(_, of)| of.to_owned()).collect::<Vec<String>>()
    };
    let all = [keys("volume_attachments"), keys("filesystem_attachments")].concat();
    all.iter().enumerate().any(|(place, of)| all[..place].contains(of))
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
