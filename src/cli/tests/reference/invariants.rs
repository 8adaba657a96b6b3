//! What holds of all objects, from the code.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::Decider, filesystem, filesystem_attachment, machine, machine_deployment, machine_set, member,
    replica_set, volume, volume_attachment,
};

use crate::{
    providers::{replica_model::StepInvariant, simulated::WorldInvariant},
    simulation::HistoryInvariant,
};

/// A kind, and its invariants: name and claim.
struct Claims {
    kind: &'static str,
    all: Vec<(&'static str, &'static str)>,
}

fn of<D: Decider>() -> Claims {
    Claims { kind: D::KIND, all: D::INVARIANTS.iter().map(|one| (one.name, one.says)).collect() }
}

fn claims() -> Vec<Claims> {
    vec![
        of::<machine::State>(),
        of::<machine_set::State>(),
        of::<machine_deployment::State>(),
        of::<volume::State>(),
        of::<volume_attachment::State>(),
        of::<filesystem::State>(),
        of::<filesystem_attachment::State>(),
        of::<replica_set::State>(),
        of::<member::State>(),
    ]
}

pub(super) fn page() -> String {
    let mut page = String::from(
        "# Invariants\n\nGenerated from the code. What holds of every object after each of its decisions. `bailiwick audit replay` checks it \
         after every entry of a journal, and reports the first entry after which one does not hold, with its name; a running node checks it \
         of every object that it loads or changes, logs what does not hold once, and counts it in `bailiwick_invariants_broken_total`; \
         builds with assertions check it before a decision is recorded.\n\nWhat holds of the world and of a journal as a whole ([world](#world), \
         [replica-set-step](#replica-set-step), [history](#history)) is what `simulate` and `chaos` check ([chaos]), which see the world.\n",
    );
    let of_world = WorldInvariant::ALL.iter().map(|one| (one.name, one.says)).collect();
    let of_journals = HistoryInvariant::ALL.iter().map(|one| (one.name, one.says)).collect();
    let of_steps = StepInvariant::ALL.map(|one| (one.name(), one.says())).to_vec();
    let simulated = [
        Claims { kind: "world", all: of_world },
        Claims { kind: "replica-set-step", all: of_steps },
        Claims { kind: "history", all: of_journals },
    ];
    for Claims { kind, all } in claims().into_iter().chain(simulated) {
        page += &format!("\n## {kind}\n\n| name | what holds |\n|---|---|\n");
        for (name, says) in all {
            page += &format!("| `{kind}/{name}` | {says} |\n");
        }
    }
    page + "\n[chaos]: chaos.md\n"
}

#[test]
fn each_invariant_has_a_name_of_its_own_and_there_are_enough() {
    let all = claims();
    let names: Vec<String> =
        all.iter().flat_map(|of| of.all.iter().map(move |(name, _)| format!("{}/{name}", of.kind))).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    assert!(25 <= names.len(), "{} are named", names.len());
}
