//! Cases of our own, for what none of the files has: in their form where that can say it (`own/`), put to the living node by the
//! same functions.

mod guards;
mod guards_drains;
mod guards_fleet;
mod guards_late;
mod guards_orders;
mod guards_others;
mod guards_protected;
mod guards_rollouts;
mod guards_sets;
mod guards_starts;

use std::path::PathBuf;

use bailiwick::actors::{
    policy::Document,
    ports::Operation,
    testing::{Answer, Asked},
    vocab::{EffectId, Fault, FaultCode, HarvestMode, Outlook},
};

use super::{
    Line,
    lab::{Lab, stranger},
    run_folder,
};

#[test]
fn each_of_our_own_cases_passes() {
    let lines = run_folder(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases/own"));
    let told: Vec<String> = lines.iter().map(Line::to_string).collect();
    assert_eq!(
        told,
        [
            "cases provisioner/classify: 3/3\n  put to the living node: 3",
            "cases machine-reconcile/create: 1/1\n  put to the living node: 1",
            "cases machine-reconcile/healthy: 3/3\n  put to the living node: 3",
            "cases machine-reconcile/health: 2/2\n  put to the living node: 2",
            "cases facade/ProvisioningInfo: 3/3\n  put to the living node: 3",
            "cases facade/EnsureDead: 1/1\n  put to the living node: 1",
        ]
    );
}

/// A lab whose policy removes what nobody knows as soon as it is seen.
fn lab() -> Lab {
    let mut policy = Document::named("gardener-0.49").expect("a policy of ours");
    policy.harvest.mode = HarvestMode::All;
    Lab::new(policy)
}

fn orphan(lab: &mut Lab) -> EffectId {
    let unknown = stranger("999", "i-999");
    lab.desk.provider.instances.insert(unknown.effect, unknown.clone());
    unknown.effect
}

#[test]
fn an_instance_that_cannot_be_read_keeps_unknown_ones_for_that_list_only() {
    let mut lab = lab();
    lab.declare("1", |_| ());
    lab.desk.settle();
    let (own, unknown) = (lab.effect("1").expect("it runs"), orphan(&mut lab));
    let hidden = lab.desk.provider.instances.remove(&own).expect("it is there");
    lab.desk.provider.is_partly_unreadable = true;
    lab.search();
    assert!(lab.desk.provider.instances.contains_key(&unknown), "nobody knows whose it is");
    assert_eq!(lab.state("1").running_effect(), Some(own), "and what is not in the list is not missed");
    // Everything else goes on meanwhile.
    lab.declare("2", |_| ());
    lab.desk.settle();
    assert!(lab.state("2").running_effect().is_some());
    lab.desk.provider.is_partly_unreadable = false;
    lab.desk.provider.instances.insert(own, hidden);
    lab.search();
    assert!(!lab.desk.provider.instances.contains_key(&unknown), "the next complete list says that it is nobody's");
    assert_eq!(lab.state("1").running_effect(), Some(own));
}

#[test]
fn a_deletion_of_an_orphan_that_fails_is_told_and_tried_again() {
    let mut lab = lab();
    let unknown = orphan(&mut lab);
    let fails = Answer::Fails(Fault::new(FaultCode::Internal, "not now"));
    lab.desk.provider.answers(Lab::stream("999"), Asked::Operation(Operation::DeleteStray), fails);
    lab.search();
    let strays = lab.state("999").strays;
    let outlook = strays.get(&unknown).map(|stray| &stray.effort.outlook);
    let is_told = matches!(outlook, Some(Outlook::Waiting { fault, .. }) if fault.code == FaultCode::Internal);
    assert!(is_told, "{strays:?}");
    assert!(lab.desk.provider.instances.contains_key(&unknown));
    let (due, stream) = lab.desk.due().into_iter().next().expect("it is tried again");
    lab.desk.now = lab.desk.now.max(due);
    lab.desk.wake(&stream, due);
    lab.desk.settle();
    assert!(!lab.desk.provider.instances.contains_key(&unknown));
    assert!(lab.state("999").strays.is_empty());
}
