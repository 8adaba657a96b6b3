//! What a diff says of what was done at a desk.

use std::sync::Arc;

use bailiwick_actors::{
    document::{Account, Content, Role, Token},
    machine,
    policy::Document,
    testing::Desk,
    vocab::{Fault, FaultCode},
};
use bailiwick_journal::{Journal, LocalJournal, Position, disk::SimulatedDisk};
use uuid::Uuid;

use super::*;
use crate::audit::tests::journals::busy;

fn desk() -> (Arc<dyn Journal>, Desk) {
    let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 1_000).expect("new");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let desk = Desk::new(journal.clone());
    (journal, desk)
}

fn between(journal: &dyn Journal, from: Position, only: Only) -> Diff {
    diff(journal, from, journal.head().position, only).expect("a diff")
}

fn of<'d>(diff: &'d Diff, entity: &str) -> &'d Change {
    diff.changes.iter().find(|change| change.entity == entity).unwrap_or_else(|| panic!("{entity}: {diff:?}"))
}

fn fact<'c>(change: &'c Change, name: &str) -> &'c FactChange {
    change.facts.iter().find(|fact| fact.fact == name).unwrap_or_else(|| panic!("{name}: {change:?}"))
}

fn texts(fact: &FactChange) -> (Option<&str>, Option<&str>) {
    (fact.from.as_ref().and_then(Value::as_str), fact.to.as_ref().and_then(Value::as_str))
}

#[test]
fn every_pair_of_moments_of_a_busy_journal_is_told_right() {
    let (journal, _) = desk();
    busy(&journal);
    let pairs = account::hold("busy", &*journal, 200);
    assert!(pairs > 800, "{pairs} pairs");
}

#[test]
fn that_something_is_protected_or_no_longer_is_told() {
    // given a machine
    let (journal, mut desk) = desk();
    desk.declare_machine("web");
    desk.settle();
    for (on, from, to) in [(true, None, Some(true)), (false, Some(true), None)] {
        // when its protection begins, or ends
        let before = journal.head().position;
        let entry = desk.machine("web", machine::Command::Protect { on });
        // then that is told, with the entry
        let diff = between(&*journal, before, Only::All);
        let protected = fact(of(&diff, "machine/web"), "protected");
        let truth = |value: &Option<Value>| value.as_ref().and_then(Value::as_bool);
        assert_eq!((truth(&protected.from), truth(&protected.to)), (from, to));
        assert_eq!(protected.by.position, entry.header.position.0);
    }
}

#[test]
fn what_appears_is_told_with_all_its_facts_and_the_entry_that_declared_it() {
    // given an empty journal
    let (journal, mut desk) = desk();
    let before = journal.head().position;
    // when a machine is declared, made, and reports
    let declared = desk.declare_machine("web");
    desk.settle();
    desk.report_node("web", true);
    // then it appeared with its declaration, and became ready with the report
    let diff = between(&*journal, before, Only::All);
    let web = of(&diff, "machine/web");
    assert_eq!((web.change, web.by.position), ("appeared", declared.header.position.0));
    assert_eq!(texts(fact(web, "status")), (None, Some("ready")));
    assert_eq!(fact(web, "status").by.position, journal.head().position.0);
    assert_eq!(fact(web, "status").by.principal, "agent:machine/web");
    assert!(fact(web, "instance").by.position < fact(web, "status").by.position);
}

#[test]
fn a_machine_with_another_instance_is_replaced_and_one_declared_again_is_another_one() {
    let (journal, mut desk) = desk();
    desk.revise(Document::default());
    for name in ["web", "db"] {
        desk.declare_machine(name);
        desk.settle();
        desk.report_node(name, true);
    }
    let before = journal.head().position;
    desk.lose("web");
    desk.settle();
    desk.report_node("web", true);
    desk.machine("db", machine::Command::Remove);
    desk.settle();
    let without = between(&*journal, before, Only::All);
    desk.declare_machine("db");
    desk.settle();
    let with = between(&*journal, before, Only::All);
    assert_eq!(of(&without, "machine/web").change, "replaced");
    assert_eq!(of(&without, "machine/db").change, "removed");
    assert_eq!(texts(fact(of(&without, "machine/db"), "status")), (Some("ready"), None));
    assert_eq!(of(&with, "machine/db").change, "declared-anew");
}

#[test]
fn trouble_begins_and_ends_and_what_was_so_in_between_is_no_difference() {
    let (journal, mut desk) = desk();
    desk.declare_volume("data");
    let before = journal.head().position;
    let fault = Fault::new(FaultCode::Unavailable, "no room");
    desk.faults.insert("volume/data".parse().expect("a stream"), [fault].into());
    desk.settle();
    let begun = between(&*journal, before, Only::All);
    assert_eq!(texts(fact(of(&begun, "volume/data"), "trouble")), (None, Some("unavailable: no room")));
    let during = journal.head().position;
    assert!(desk.wake_next());
    desk.settle();
    let ended = between(&*journal, during, Only::All);
    assert_eq!(texts(fact(of(&ended, "volume/data"), "trouble")), (Some("unavailable: no room"), None));
    let all = between(&*journal, before, Only::All);
    assert!(of(&all, "volume/data").facts.iter().all(|fact| fact.fact != "trouble"), "{all:?}");
}

#[test]
fn settings_are_told_field_by_field_and_a_hold_with_its_reason() {
    let (journal, mut desk) = desk();
    desk.revise(Document::default());
    desk.declare_machine("web");
    desk.settle();
    let before = journal.head().position;
    let mut document = Document::default();
    document.machines.attempts_max += 1;
    let revised = desk.revise(document);
    desk.machine("web", machine::Command::Hold { reason: "a look at its disk".into(), until: None });
    let diff = between(&*journal, before, Only::All);
    let policy = of(&diff, "policy/default");
    assert_eq!(policy.by.position, revised.header.position.0);
    let spec: Vec<&FactChange> = policy.facts.iter().filter(|fact| fact.fact.starts_with("spec")).collect();
    let [field] = spec.as_slice() else { panic!("{spec:?}") };
    assert!(field.fact.starts_with("spec.machines.attempts"), "{field:?}");
    let web = of(&diff, "machine/web");
    assert_eq!(texts(fact(web, "held")), (None, Some("a look at its disk")));
}

#[test]
fn only_what_is_asked_for_is_compared() {
    let (journal, _) = desk();
    busy(&journal);
    let all = between(&*journal, Position::ZERO, Only::All);
    let machines = between(&*journal, Position::ZERO, Only::Kind("machine".into()));
    let one = between(&*journal, Position::ZERO, Only::Entity("machine/db".parse().expect("a stream")));
    let of_all = |beginning: &str| -> Vec<Change> {
        all.changes.iter().filter(|change| change.entity.starts_with(beginning)).cloned().collect()
    };
    assert_eq!(machines.changes, of_all("machine/"));
    assert_eq!(one.changes, of_all("machine/db"));
    assert!(!one.changes.is_empty() && machines.changes.len() < all.changes.len());
}

#[test]
fn a_volume_that_is_lost_takes_its_attachment_with_it_by_one_entry() {
    let (journal, mut desk) = desk();
    desk.declare_machine("web");
    desk.declare_volume("data");
    desk.attach("web", "data");
    desk.settle();
    let before = journal.head().position;
    let effect = match &Fleet::at_head(&*journal).unwrap().volumes.get("data").expect("it is declared").storage {
        volume::Storage::Provisioned { made: volume, .. } => volume.effect,
        other => panic!("{other:?}"),
    };
    let lost = desk.volume("data", volume::Command::Report(volume::Report::Own(volume::OwnReport::Lost { effect })));
    let diff = between(&*journal, before, Only::All);
    for entity in ["volume/data", "volume-attachment/web:data"] {
        let status = fact(of(&diff, entity), "status");
        assert_eq!((texts(status).1, status.by.position), (Some("lost"), lost.header.position.0), "{entity}");
    }
}

#[test]
fn which_tokens_of_an_account_changed_is_told_by_their_ids() {
    // given an account with two tokens
    let token = |id: &str, byte| Token { id: id.into(), hash: [byte; 32], expires: None };
    let account = |tokens| Content::Account(Account { role: Role::View, kinds: [].into(), tokens, users: [].into() });
    let (journal, mut desk) = desk();
    desk.declare_document("ada", account(vec![token("1f2e3d4c", 1), token("2f2e3d4c", 2)]));
    let before = journal.head().position;
    // when the first of them is taken away, and there is another one
    desk.declare_document("ada", account(vec![token("2f2e3d4c", 2), token("3f2e3d4c", 3)]));
    // then that is told of them, with no more of a hash than tells it apart
    let diff = between(&*journal, before, Only::Kind("account".into()));
    let change = of(&diff, "account/ada");
    assert_eq!(texts(fact(change, "spec.tokens.1f2e3d4c.hash")), (Some("01010101"), None));
    assert_eq!(texts(fact(change, "spec.tokens.3f2e3d4c.hash")), (None, Some("03030303")));
    assert!(!change.facts.iter().any(|fact| fact.fact.contains("2f2e3d4c")), "{change:?}");
}
