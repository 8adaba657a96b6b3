//! What another policy would have decided.

use std::path::Path;

use bailiwick_actors::{
    policy::{Document, WhenLost},
    vocab::Call,
};
use bailiwick_journal::LocalJournal;

use super::journals::{busy, empty};
use crate::{
    audit::{Backtest, CallFlips, Flip, FlipGroup, Options, backtest},
    simulation::{self, Options as Day},
};

/// The busy journal, decided again with its own last settings changed like this.
fn backtested(change: impl FnOnce(&mut Document)) -> Backtest {
    let journal = empty();
    busy(&journal);
    let mut document = Document::default();
    document.machines.attempts_max = 3;
    change(&mut document);
    backtest(&*journal, &document, &Options::default(), &|_, _| true).expect("a readable journal")
}

fn told(backtest: &Backtest) -> Vec<(&str, &str, &str, u64)> {
    let mut told = Vec::new();
    for FlipGroup { kind, recorded, redecided, count, .. } in &backtest.groups {
        told.push((kind.as_str(), recorded.as_str(), redecided.as_str(), *count));
    }
    told
}

#[test]
fn the_journals_own_policy_flips_nothing() {
    let backtest = backtested(|_| ());
    assert!(backtest.is_same() && backtest.decisions > 30, "{backtest:?}");
}

#[test]
fn a_policy_without_patience_would_have_given_up() {
    let backtest = backtested(|document| document.machines.attempts_max = 1);
    let groups = told(&backtest);
    assert!(groups.contains(&("machine", "worth-retrying", "retries-exhausted", 1)), "{groups:?}");
    assert!(backtest.groups.iter().all(|group| group.flip == Flip::Verdict), "{groups:?}");
    assert_eq!((backtest.verdict_flips, backtest.due_time_flips), (backtest.flips.len() as u64, 0));
    assert!(backtest.unsound.is_empty(), "{:?}", backtest.unsound);
}

#[test]
fn another_wait_flips_due_times_and_no_answer() {
    let backtest = backtested(|document| document.machines.retry_first_ms *= 2);
    let groups = told(&backtest);
    assert!(groups.iter().any(|(_, recorded, redecided, _)| recorded == redecided), "{groups:?}");
    assert!(backtest.groups.iter().all(|group| group.flip == Flip::DueTime), "{groups:?}");
    let Backtest { verdict_flips, event_flips, due_time_flips, flips, .. } = &backtest;
    assert_eq!((*verdict_flips, *event_flips, *due_time_flips), (0, 0, flips.len() as u64));
    let fields: Vec<&str> = backtest.flips[0].differences.iter().map(|found| found.field.as_str()).collect();
    assert_eq!(fields, ["events[0].CreateRetryScheduled.until"]);
}

#[test]
fn a_policy_that_keeps_what_is_lost_would_not_have_replaced_it() {
    let backtest = backtested(|document| document.machines.when_lost = WhenLost::Keep);
    assert_eq!(told(&backtest), [("machine", "instance-gone", "instance-gone-kept", 1)]);
    // What is left of the instance would not have been deleted, and that is all that a provider would have noticed.
    assert_eq!(backtest.calls, [(Call::Delete, CallFlips { flips: 1, gained: 0, lost: 1 })].into());
    assert_eq!((&backtest.groups[0].gained[..], &backtest.groups[0].lost[..]), (&[][..], &[Call::Delete][..]));
}

#[test]
fn a_journal_is_decided_again_under_what_another_system_did() {
    let journal = empty();
    busy(&journal);
    let under = |name: &str| {
        let document = Document::named(name).expect("a policy of ours");
        backtest(&*journal, &document, &Options::default(), &|_, _| true).expect("a readable journal")
    };
    let (juju, gardener) = (under("juju-2016"), under("gardener-0.49"));
    let kept = ("machine", "instance-gone", "instance-gone-kept", 1);
    assert!(told(&juju).contains(&kept), "Juju replaces nothing: {:?}", told(&juju));
    assert!(!told(&gardener).contains(&kept));
    // Gardener waits by what failed: 15 s after what may soon be better.
    let first = gardener.flips.iter().find(|flip| flip.differences.iter().any(|found| found.field.ends_with("until")));
    assert!(first.is_some(), "{:?}", told(&gardener));
}

/// What three machines that fall silent come to, decided again with another bound of replacements at a time.
fn silent(at_a_time: u32) -> Backtest {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/many-silent.yaml");
    let scenario = simulation::read(&script).expect("a scenario");
    let (_, kept) = simulation::simulation(scenario, Day::default()).run_and_keep().expect("it runs");
    let (journal, _) = LocalJournal::simulated(&kept.disk, kept.journal, 0).expect("a whole journal");
    let mut document = Document::default();
    assert_eq!(document.reconciliation.throttle.replacements_max, 1, "as it was then");
    document.reconciliation.throttle.replacements_max = at_a_time;
    backtest(&journal, &document, &Options::default(), &|_, _| true).expect("a readable journal")
}

#[test]
fn what_a_supervisor_would_have_ordered_counts_as_the_call_that_follows() {
    assert!(silent(1).is_same());
    let all_at_once = silent(3);
    let given_up: Vec<&FlipGroup> = all_at_once.groups.iter().filter(|group| group.gained == [Call::Delete]).collect();
    assert!(given_up.iter().all(|group| group.kind == "supervisor/machines"), "{given_up:?}");
    // Two of three waited for the first, in each decision until it was replaced.
    assert_eq!(all_at_once.flips[0].gained, [Call::Delete, Call::Delete]);
    let counted = all_at_once.calls[&Call::Delete];
    assert!(counted.lost == 0 && counted.gained >= 2 && counted.flips > 0, "{counted:?}");
}
