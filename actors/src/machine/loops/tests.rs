//! What the executed cases do not reach.

use std::collections::BTreeMap;

use super::{
    KnownMachine, Sightings,
    orphans::{Command, Effect, State, decide},
    search,
};
use crate::{
    machine::reconcile::CallError,
    policy::{Orphans, Reconciliation},
    vocab::{FaultCode, MachinePhase, Timestamp},
};

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn an_orphan_goes_at_its_second_sighting_a_period_later() {
    let (policy, instances, machines) = (Orphans::default(), map(&[("id1", "m1")]), BTreeMap::new());
    let at = |ms| Timestamp(1_000_000 + ms);
    let first = search(&instances, &machines, &Sightings::default(), &policy, at(0));
    assert!(first.remove.is_empty());
    let too_soon = search(&instances, &machines, &first.sightings, &policy, at(policy.period_ms - 1));
    assert!(too_soon.remove.is_empty(), "another look in the same period is no second sighting");
    let second = search(&instances, &machines, &too_soon.sightings, &policy, at(policy.period_ms));
    assert_eq!(second.remove, instances);
}

#[test]
fn an_orphan_that_found_its_machine_is_forgotten() {
    let (policy, instances) = (Orphans::default(), map(&[("id1", "m1")]));
    let first = search(&instances, &BTreeMap::new(), &Sightings::default(), &policy, Timestamp(0));
    let known = KnownMachine { provider_id: "id1".to_owned(), phase: MachinePhase::Pending, is_being_made: false };
    let machines = BTreeMap::from([("m1".to_owned(), known)]);
    let kept = search(&instances, &machines, &first.sightings, &policy, Timestamp(policy.period_ms));
    assert_eq!((kept.remove, kept.sightings), (BTreeMap::new(), Sightings::default()));
}

#[test]
fn an_instance_that_could_not_be_removed_is_found_again() {
    let policy = Reconciliation::gardener_0_49();
    let mut state = State::default();
    let mut run = |command: Command, at: u64| {
        let events = decide(&state, &command, &policy, Timestamp(at));
        events.iter().for_each(|event| state.evolve(event));
        state.pending()
    };
    for at in [0, 600_000] {
        assert_eq!(run(Command::Begin { machines: BTreeMap::new() }, at), [Effect::ListMachines].into());
        let owed = run(Command::ReportListed(Ok(map(&[("id1", "m1")]))), at);
        let remove = Effect::DeleteMachine { provider_id: "id1".to_owned(), machine: "m1".to_owned() };
        assert_eq!(owed, [remove].into());
        let error = CallError { code: Some(FaultCode::Internal), text: String::new() };
        let report = Command::ReportRemoved { provider_id: "id1".to_owned(), result: Err(error) };
        assert!(matches!(run(report.clone(), at).first(), Some(Effect::SearchAt { .. })));
        assert_eq!(run(report, at).len(), 1, "a doubled report changes nothing");
    }
}

#[test]
fn an_instance_whose_making_is_under_way_is_nobodys_orphan() {
    let policy = Orphans { sightings_min: 1, ..Orphans::default() };
    let known = |is_being_made| {
        let machine = KnownMachine { provider_id: String::new(), phase: MachinePhase::Pending, is_being_made };
        BTreeMap::from([("m1".to_owned(), machine)])
    };
    let removed =
        |machines| search(&map(&[("id1", "m1")]), &machines, &Sightings::default(), &policy, Timestamp(0)).remove.len();
    assert_eq!((removed(known(true)), removed(known(false))), (0, 1));
}
