//! The cases of a machine's reconciliation that do not hold here by design.

use serde_json::Value;

use crate::cases::differences::Difference;

/// All of them.
pub(in crate::cases) const DIFFERENCES: &[Difference] = &[
    Difference {
        file: "machine-reconcile",
        group: "health",
        is_about: |case| case["machine"]["phase"] == "Available",
        reason: "every machine has an agent, so that none is ever just available",
        shown_by: Some("the_table_of_phases_holds"),
    },
    Difference {
        file: "machine-reconcile",
        group: "health",
        is_about: |case| {
            let comes_back = case["expect"]["phase"] == "Running";
            case["machine"]["phase"] == "Failed" || case["machine"]["phase"] == "Terminating" && comes_back
        },
        reason: "whoever is given up is replaced in the same step; neither it nor who is removed comes back",
        shown_by: Some("a_new_instance_is_judged_anew"),
    },
    Difference {
        file: "machine-reconcile",
        group: "health",
        is_about: |case| {
            let has_none = case["machine"]["phase"] == "" || case["machine"]["phase"] == "CrashLoopBackOff";
            has_none && case["node"].is_object()
        },
        reason: "an agent reports from inside an instance: without one there is nobody who could",
        shown_by: Some("the_table_of_phases_holds"),
    },
    Difference {
        file: "machine-reconcile",
        group: "health",
        is_about: |case| case["params"]["lock_held"] == true,
        reason: "one supervisor decides about all machines, one after the other: there is no permit that another could hold",
        shown_by: Some("one_machine_is_given_up_at_a_time_and_the_rest_waits_for_room"),
    },
    Difference {
        file: "machine-reconcile",
        group: "health",
        is_about: is_told_something_when_its_time_is_over,
        reason: "a time that runs is over when it is over: nothing but becoming well puts it off",
        shown_by: Some("whose_time_runs_is_woken_also_while_it_is_held"),
    },
    Difference {
        file: "machine-reconcile",
        group: "timeouts",
        is_about: |case| case["machine"]["config"]["drain_timeout_s"].as_u64().is_some_and(|seconds| seconds < 20),
        reason: "a disruption budget is asked once in any case before workloads end",
        shown_by: Some("what_a_machine_says_counts_and_the_policy_else"),
    },
    Difference {
        file: "machine-reconcile",
        group: "validate_class",
        is_about: |case| case["machine_class"]["no_finalizer"] == true,
        reason: "a class knows its users and is kept while it has some: no mark has to be on it before",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "create",
        is_about: |case| {
            case["driver"]["errors"].as_object().is_some_and(|all| all.values().any(|error| error["raw"].is_string()))
        },
        reason: "a provider answers in codes; what is none is unknown, and asked for by its id",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "create",
        is_about: |case| {
            let is_bound = case["machine"]["labels"]["node"].is_string() && case["machine"]["provider_id"] != "";
            is_bound && case["driver"]["exists"] != true
        },
        reason: "an instance is known by the id that it is made under; a label proves nothing, and none is overwritten",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "create",
        is_about: |case| case["driver"]["errors"]["GetMachineStatus"]["code"] == "Unimplemented",
        reason: "every provider can be asked for something by its id",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "create",
        is_about: |case| {
            let is_known = case["node"].is_object() && case["node"]["name"] == case["driver"]["node_name"];
            is_known && case["node"]["name"] != case["machine"]["name"]
        },
        reason: "there are no node objects that could be left over from another instance: an agent names its instance",
        shown_by: Some("who_joined_is_forgotten_with_the_instance"),
    },
    Difference {
        file: "machine-reconcile",
        group: "create",
        is_about: |case| {
            case["control_errors"]["create secrets"].is_string() || case["machine_class"]["secret_missing"] == true
        },
        reason: "a token is the node's own and written to its disk; a secret that is missing fails its machines alone",
        shown_by: Some("who_lacks_a_secret_fails_alone_and_nothing_was_asked_for_it"),
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| case["machine"]["phase"] == "Available",
        reason: "every machine has an agent, so that none is ever just available",
        shown_by: Some("the_table_of_phases_holds"),
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| case["machine"]["finalizer"] == false,
        reason: "a record is never taken away by somebody else: nothing has to hold it",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| {
            case["machine"]["phase"] == "Terminating"
                && case["machine"]["last_operation"]["next_step"].is_null()
                && case["better_given"].is_null()
        },
        reason: "the step of a removal is a state of its own: none gets lost in a text",
        shown_by: Some("every_reason_and_rejection_has_its_case"),
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| case["machine"]["last_operation"]["next_step"] == "get_vm_status",
        reason: "an instance is deleted without asking first whether it is there; that it is absent is believed only from a lookup",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| {
            case["machine"]["last_operation"]["next_step"] == "delete_node"
                || case["machine"]["last_operation"]["next_step"] == "remove_finalizer"
        },
        reason: "there are no node objects and no finalizers: with the instance the machine is gone",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| case["control_errors"].is_object(),
        reason: "nothing is written to a node by the control plane: the agent ends the workloads, and no write can fail",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| case["driver"]["errors"]["DeleteMachine"]["raw"].is_string(),
        reason: "a provider answers in codes; what is none is unknown, and asked for by its id",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "delete",
        is_about: |case| {
            case["node"]["conditions"].as_array().is_some_and(|all| all.iter().any(|it| it["type"] == "Terminating"))
        },
        reason: "why a machine goes is said by whoever orders it, and nothing that stands on a node overrules that",
        shown_by: Some("why_it_goes_is_known_before_its_drain_and_until_it_is_gone"),
    },
    Difference {
        file: "machine-reconcile",
        group: "sync",
        is_about: |case| case["node"]["annotations"].is_null() && case["machine"]["node_template"].is_null(),
        reason: "a file that says what is declared already is not written again",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine"]["node_template"].is_object(),
        reason: "the agent follows what is declared for its node, as group sync asserts",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["frozen"] == true && case["machine"]["deleted_age_s"].is_null(),
        reason: "a provider that is out keeps its machines from being replaced; a machine that is well is told all the same",
        shown_by: Some("nobody_is_replaced_while_its_provider_is_out"),
    },
    Difference {
        file: "machine-reconcile",
        group: "safety_api",
        is_about: |case| case["params"]["control_up"] == false,
        reason: "the journal is the control API: a node that cannot write decides nothing, and nothing undecided is done",
        shown_by: Some("a_full_disk_is_the_nodes_trouble_and_no_machine_is_given_up_for_it"),
    },
    Difference {
        file: "machine-reconcile",
        group: "safety_api",
        is_about: |case| {
            let params = &case["params"];
            let answers = params["control_up"] == true && params["target_up"] == true;
            answers && case["frozen"] != true && params["inactive_s"].is_u64() && case["defect"] != true
        },
        reason: "the first answer ends the time of an outage, as the defect of this group asks for",
        shown_by: Some("an_answer_in_between_starts_the_time_over"),
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine_class"]["missing"] == true && case["machine"]["deleted_age_s"].is_null(),
        reason: "a machine has a copy of what its class said: nothing of it asks for the class again",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine_class"]["no_finalizer"] == true,
        reason: "a class knows its users and is kept while it has some: no mark has to be on it before",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine_class"]["node_template"].is_object(),
        reason: "an incomplete class is refused when it is declared, as group validate_class asserts",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine"]["class"] == "-" || case["machine"]["class_kind"] == "",
        reason: "a class is named or not; an empty name is refused at apply",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine"]["finalizer"] == false,
        reason: "a record is never taken away by somebody else: nothing has to hold it",
        shown_by: None,
    },
    Difference {
        file: "machine-reconcile",
        group: "reconcile",
        is_about: |case| case["machine"]["phase"] == "CrashLoopBackOff" && case["node"].is_object(),
        reason: "an agent reports from inside an instance: without one there is nobody who could",
        shown_by: Some("the_table_of_phases_holds"),
    },
];

/// Its node says something new in the very pass in which its time is over.
fn is_told_something_when_its_time_is_over(case: &Value) -> bool {
    let (machine, node) = (&case["machine"], &case["node"]);
    let (own, default_s) = match machine["phase"].as_str() {
        Some("Pending") => ("creation_timeout_s", 1_200),
        Some("Unknown") => ("health_timeout_s", 600),
        _ => return false,
    };
    let timeout_s = machine["config"][own].as_u64().unwrap_or(default_s);
    let is_over = machine["phase_age_s"].as_u64().is_some_and(|age_s| timeout_s < age_s);
    let statuses = |of: &Value| -> Vec<(Value, Value)> {
        let all = of["conditions"].as_array().into_iter().flatten();
        all.map(|it| (it["type"].clone(), it["status"].clone())).collect()
    };
    is_over && node.is_object() && statuses(machine) != statuses(node)
}
