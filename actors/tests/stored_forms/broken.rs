//! Every invariant finds what breaks it: events in an order that no decision leads to, or a state that none leads to.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::Decider,
    filesystem, filesystem_attachment, machine, machine_deployment, machine_set, member,
    ports::replica_set::MemberId,
    replica_set,
    vocab::{Life, Name},
    volume, volume_attachment,
};
use bailiwick_journal::Version;

use crate::{Forms, samples};

/// So many events in a row are enough.
const DEPTH_MAX: u64 = 3;

/// What changes a state as no event does: what every event keeps by itself is broken by nothing else.
type Tamper<D> = fn(&mut D);

/// The invariants of a kind that such events break, or that change, each coming after events behind which all hold.
fn broken<D: Decider>(forms: &Forms, tamper: Tamper<D>) -> BTreeSet<&'static str> {
    let events: Vec<D::Event> = forms.iter().filter_map(|form| form.value("event")).collect();
    let broken = |state: &D| D::INVARIANTS.iter().filter(|one| !(one.holds)(state)).map(|one| one.name).collect();
    let (mut found, mut states) = (BTreeSet::new(), vec![D::default()]);
    for version in 1..=DEPTH_MAX {
        let mut behind = Vec::new();
        for state in &states {
            for event in &events {
                let mut after = state.clone();
                after.evolve(Version(version), event);
                let names: Vec<&str> = broken(&after);
                if names.is_empty() && version < DEPTH_MAX {
                    behind.push(after.clone());
                }
                found.extend(names);
                tamper(&mut after);
                found.extend::<Vec<&str>>(broken(&after));
            }
        }
        states = behind;
    }
    found
}

/// How many invariants of a kind there are, and those that nothing breaks.
fn unbroken<D: Decider>(forms: Forms, tamper: Tamper<D>) -> (usize, Vec<String>) {
    let found = broken::<D>(&forms, tamper);
    let missed = D::INVARIANTS.iter().filter(|one| !found.contains(one.name));
    (D::INVARIANTS.len(), missed.map(|one| format!("{}/{}", D::KIND, one.name)).collect())
}

#[test]
fn every_invariant_finds_what_breaks_it() {
    use samples::{machine_deployments, machines, members, replica_sets, storage};
    let all = [
        unbroken::<machine::State>(machines::machine(), |state| state.life = Life::Alive),
        unbroken::<machine_set::State>(machines::machine_set(), |state| state.named = 0),
        unbroken::<machine_deployment::State>(machine_deployments::machine_deployment(), |state| {
            state.generation = Version::ZERO;
        }),
        unbroken::<volume::State>(storage::volume(), |state| {
            state.attached_to.extend(["a", "b"].map(|name| name.parse::<Name>().unwrap()));
        }),
        unbroken::<volume_attachment::State>(storage::volume_attachment(), |_| ()),
        unbroken::<filesystem::State>(storage::filesystem(), |state| state.own.was_made = false),
        unbroken::<filesystem_attachment::State>(storage::filesystem_attachment(), |_| ()),
        unbroken::<replica_set::State>(replica_sets::replica_set(), |state| {
            state.spec = None;
            state.doubtful.insert(MemberId(9));
        }),
        unbroken::<member::State>(members::member(), |state| state.last_id = None),
    ];
    let count: usize = all.iter().map(|(count, _)| count).sum();
    let missed: Vec<&String> = all.iter().flat_map(|(_, missed)| missed).collect();
    println!("{} of {count} invariants of objects find what breaks them", count - missed.len());
    assert_eq!(missed, Vec::<&String>::new());
}
