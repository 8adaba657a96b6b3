//! What another policy would have decided.

use bailiwick_actors::policy::{Document, WhenLost};

use super::journals::{busy, empty};
use crate::audit::{Flip, FlipGroup, Options, Rehearsal, rehearse};

/// The busy journal, decided again with its own last settings changed like this.
fn rehearsed(change: impl FnOnce(&mut Document)) -> Rehearsal {
    let journal = empty();
    busy(&journal);
    let mut document = Document::default();
    document.machines.attempts_max = 3;
    change(&mut document);
    rehearse(&*journal, &document, &Options::default(), &|_, _| true).expect("a readable journal")
}

fn told(rehearsal: &Rehearsal) -> Vec<(&str, &str, &str, u64)> {
    let mut told = Vec::new();
    for FlipGroup { kind, recorded, redecided, count, .. } in &rehearsal.groups {
        told.push((kind.as_str(), recorded.as_str(), redecided.as_str(), *count));
    }
    told
}

#[test]
fn the_journals_own_policy_flips_nothing() {
    let rehearsal = rehearsed(|_| ());
    assert!(rehearsal.is_same() && rehearsal.decisions > 30, "{rehearsal:?}");
}

#[test]
fn a_policy_without_patience_would_have_given_up() {
    let rehearsal = rehearsed(|document| document.machines.attempts_max = 1);
    let groups = told(&rehearsal);
    assert!(groups.contains(&("machine", "worth-retrying", "retries-exhausted", 1)), "{groups:?}");
    assert!(rehearsal.groups.iter().all(|group| group.flip == Flip::Verdict), "{groups:?}");
    assert_eq!((rehearsal.verdict_flips, rehearsal.due_time_flips), (rehearsal.flips.len() as u64, 0));
    assert!(rehearsal.unsound.is_empty(), "{:?}", rehearsal.unsound);
}

#[test]
fn another_wait_flips_due_times_and_no_answer() {
    let rehearsal = rehearsed(|document| document.machines.retry_first_ms *= 2);
    let groups = told(&rehearsal);
    assert!(groups.iter().any(|(_, recorded, redecided, _)| recorded == redecided), "{groups:?}");
    assert!(rehearsal.groups.iter().all(|group| group.flip == Flip::DueTime), "{groups:?}");
    let Rehearsal { verdict_flips, event_flips, due_time_flips, flips, .. } = &rehearsal;
    assert_eq!((*verdict_flips, *event_flips, *due_time_flips), (0, 0, flips.len() as u64));
    let fields: Vec<&str> = rehearsal.flips[0].differences.iter().map(|found| found.field.as_str()).collect();
    assert_eq!(fields, ["events[0].CreateRetryScheduled.until"]);
}

#[test]
fn a_policy_that_keeps_what_is_lost_would_not_have_replaced_it() {
    let rehearsal = rehearsed(|document| document.machines.when_lost = WhenLost::Keep);
    assert_eq!(told(&rehearsal), [("machine", "instance-gone", "instance-gone-kept", 1)]);
}

#[test]
fn a_journal_is_decided_again_under_what_another_system_did() {
    let journal = empty();
    busy(&journal);
    let under = |name: &str| {
        let document = Document::named(name).expect("a policy of ours");
        rehearse(&*journal, &document, &Options::default(), &|_, _| true).expect("a readable journal")
    };
    let (juju, gardener) = (under("juju-2016"), under("gardener-0.49"));
    let kept = ("machine", "instance-gone", "instance-gone-kept", 1);
    assert!(told(&juju).contains(&kept), "Juju replaces nothing: {:?}", told(&juju));
    assert!(!told(&gardener).contains(&kept));
    // Gardener waits by what failed: 15 s after what may soon be better.
    let first = gardener.flips.iter().find(|flip| flip.differences.iter().any(|found| found.field.ends_with("until")));
    assert!(first.is_some(), "{:?}", told(&gardener));
}
