//! Cases that do not hold for us by design: for want of what they are about, or because ours is deliberately another way.
//!
//! Each is counted and printed with its reason; where ours is better, a test shows it.

use bailiwick::actors::vocab::SizeMib;
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
const DIFFERENCES: &[Difference] = &[
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
    Difference {
        file: "storage",
        group: "sizes",
        is_about: |case| case[1].as_u64().is_some_and(|mib| mib == 0 || SizeMib(mib).bytes().is_none()),
        reason: "a volume has at least 1M and less than 16E: any other size is refused at apply",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "classify",
        is_about: |case| says(case, "/instance_id", "error:"),
        reason: "what a machine is stands in its own stream: there is no store that could fail to say it",
        shown_by: Some("damage_in_a_compressed_segment_is_filled_from_the_store_or_refused"),
    },
    Difference {
        file: "provisioner",
        group: "classify",
        is_about: |case| says(case, "/status", "error:"),
        reason: "what a machine is stands in its own stream: there is no store that could fail to say it",
        shown_by: Some("damage_in_a_compressed_segment_is_filled_from_the_store_or_refused"),
    },
    Difference {
        file: "provisioner",
        group: "classify",
        is_about: |case| case.get("ensure_dead").is_some(),
        reason: "that a machine is dead is one event with what follows from it: there is no second write that could fail",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "classify",
        is_about: |case| says(case, "/expect/class", "Maintain"),
        reason: "no provider ever did anything in maintenance, and the original dropped it in 2020",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "passes",
        is_about: |case| ["load_error", "instance_error", "remove_error"].iter().any(|field| mentions(case, field)),
        reason: "what a machine is stands in its own stream: there is no store that could fail to say it",
        shown_by: Some("damage_in_a_compressed_segment_is_filled_from_the_store_or_refused"),
    },
    Difference {
        file: "provisioner",
        group: "passes",
        is_about: |case| case.pointer("/passes/0/mode").is_some(),
        reason: "a policy counts from its revision on: nothing is unknown before a complete list was compared with the whole view",
        shown_by: Some("an_unknown_instance_is_removed_after_two_complete_lists_and_the_grace_period_and_not_before"),
    },
    Difference {
        file: "provisioner",
        group: "start_retry",
        is_about: |case| case.get("record").is_some(),
        reason: "an instance and its record cannot come apart: what a crash left unrecorded is found by its effect id",
        shown_by: Some("a_crash_after_the_create_and_before_its_record_makes_no_second_instance"),
    },
    Difference {
        file: "provisioner",
        group: "transient_retry",
        is_about: |case| says(case, "/api", "error"),
        reason: "nothing is listed before a retry: who was given up stands in the view",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "transient_retry",
        is_about: |case| mentions(case, "result_error"),
        reason: "what a machine is stands in its own stream: there is no store that could fail to say it",
        shown_by: Some("damage_in_a_compressed_segment_is_filled_from_the_store_or_refused"),
    },
    Difference {
        file: "provisioner",
        group: "transient_retry",
        is_about: |case| mentions(case, "set_status_error"),
        reason: "that a machine is retried is one event: there is no status beside it that could fail to be written",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "worker_sequences",
        is_about: |case| lists(case, "/events", "life dead (while starting)"),
        reason: "what is to go is deleted by its id, whether its create has answered or not: it never counts as running",
        shown_by: Some("what_is_removed_while_it_is_made_is_deleted_by_its_id"),
    },
    Difference {
        file: "provisioner",
        group: "worker_sequences",
        is_about: |case| says(case, "/events/0", "life dead") && case.get("given").is_none(),
        reason: "a machine that nobody has declared does not exist: there is nothing to remove",
        shown_by: None,
    },
    Difference {
        file: "storage",
        group: "directive_maps",
        is_about: |case| case["error"] == "value_required",
        reason: "a name alone means one of whatever the defaults say, wherever directives are read",
        shown_by: None,
    },
];

/// Those that none of the cases here is about, and others from the same tables are.
const ELSEWHERE: &[Difference] = &[
    Difference {
        file: "provisioner",
        group: "passes",
        is_about: |case| {
            let passes = case["passes"].as_array().into_iter().flatten();
            let mut set = passes.filter_map(|pass| pass.pointer("/set/machines")?.as_object()).flatten();
            set.any(|(_, machine)| machine.is_null())
        },
        reason: "a machine does not vanish from a store: it leaves only by its removal, which its instance goes with",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "batch_isolation",
        is_about: |case| {
            case["fails"].as_object().is_some_and(|steps| steps.values().any(|step| step == "start_fatal+set_status"))
        },
        reason: "that a machine is given up is one event: there is no status beside it that could fail to be written",
        shown_by: None,
    },
    Difference {
        file: "provisioner",
        group: "worker_sequences",
        is_about: |case| lists(case, "/events", "record fails"),
        reason: "an instance and its record cannot come apart: what a crash left unrecorded is found by its effect id",
        shown_by: Some("a_crash_after_the_create_and_before_its_record_makes_no_second_instance"),
    },
    Difference {
        file: "provisioner",
        group: "worker_sequences",
        is_about: |case| case.get("slots_acquired").is_some(),
        reason: "a machine takes no slot: how many calls go out at once is bounded for each provider, where they go out",
        shown_by: None,
    },
];

/// All of them, with those that stand beside what puts the cases to the node.
fn rows() -> impl Iterator<Item = &'static Difference> {
    use super::reconcile::{DIFFERENCES as OF_MACHINES, DRAINS, OF_DEPLOYMENTS, OF_SETS};
    DIFFERENCES.iter().chain(OF_MACHINES).chain(DRAINS).chain(OF_DEPLOYMENTS).chain(OF_SETS)
}

fn elsewhere() -> impl Iterator<Item = &'static Difference> {
    use super::reconcile::{OF_DEPLOYMENTS_ELSEWHERE, OF_SETS_ELSEWHERE};
    ELSEWHERE.iter().chain(OF_DEPLOYMENTS_ELSEWHERE).chain(OF_SETS_ELSEWHERE)
}

/// The difference that a case is about.
pub(super) fn of(file: &str, group: &str, case: &Value) -> Option<&'static Difference> {
    rows().chain(elsewhere()).find(|it| it.file == file && it.group == group && (it.is_about)(case))
}

/// Whether the text at this place begins so.
fn says(case: &Value, place: &str, begins: &str) -> bool {
    case.pointer(place).and_then(Value::as_str).is_some_and(|text| text.starts_with(begins))
}

/// Whether this text is in the list at this place.
fn lists(case: &Value, place: &str, text: &str) -> bool {
    case.pointer(place).and_then(Value::as_array).is_some_and(|items| items.iter().any(|item| item == text))
}

/// Whether a field of this name is there, somewhere.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| key == name || mentions(value, name)),
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        _ => false,
    }
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
        for folder in ["src", "tests", "actors/src", "actors/tests", "journal/src", "journal/tests"] {
            code(&root.join(folder), &mut all);
        }
        for it in rows() {
            let text = fs::read_to_string(root.join(format!("tests/cases/{}.json", it.file))).expect("a file of cases");
            let content: Value = serde_json::from_str(&text).expect("JSON");
            let file = FILES.iter().find(|file| file.name == it.file).expect("a known file");
            let groups = (file.groups)(&content);
            let cases = groups.iter().filter(|(group, _)| group == it.group).flat_map(|(_, cases)| cases);
            let about = cases.filter(|(_, case)| (it.is_about)(case)).count();
            assert!(about > 0, "{}/{}: no case is about this: {}", it.file, it.group, it.reason);
        }
        for it in rows().chain(elsewhere()) {
            let is_there = |test: &str| all.contains(&format!("fn {test}("));
            assert!(it.shown_by.is_none_or(is_there), "there is no test {:?}", it.shown_by);
        }
    }
}
