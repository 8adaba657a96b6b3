//! Planted faults.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::{self, Decider, Decision, NoView, Stored, StoredFacts, Verdict},
    machine::{self, Command, Effect, Event, Reason, Rejection},
    replay::{Audited, assert_replays},
};
use bailiwick_journal::{Draft, Entry, Outcome, Position, Version, digest};
use uuid::Uuid;

use super::journals::{busy, copied, empty, entries};
use crate::audit::{Deciders, Options, Redecider, What, replay, replay_with};

const ALL: Options = Options { all: true, to: None };

/// What a replay of the busy journal says after `change` was made to its entries.
fn found(change: impl FnMut(&Entry, &mut Draft)) -> Vec<(u64, What)> {
    let journal = empty();
    busy(&journal);
    let copy = copied(&*journal, change);
    let report = replay(&*copy, &ALL).expect("a readable journal");
    report.divergences.iter().map(|found| (found.position, found.what)).collect()
}

/// The position of the nth entry that fits.
fn position(fits: impl Fn(&Entry) -> bool, nth: usize) -> Position {
    let journal = empty();
    busy(&journal);
    let all = entries(&*journal);
    all.iter().filter(|entry| fits(entry)).nth(nth).expect("such an entry").header.position
}

fn of(stream: &'static str, code: &'static str) -> impl Fn(&Entry) -> bool {
    move |entry| entry.header.stream.as_str() == stream && entry.header.meta.code == code
}

#[test]
fn an_untouched_journal_replays_and_so_does_its_copy() {
    let journal = Audited::new(empty());
    busy(&journal.shared());
    let report = replay(&*journal, &ALL).unwrap();
    assert!(report.decisions > 30, "{report:?}");
    assert_eq!((report.notes, report.skipped), (1, 0));
    assert_replays(&*copied(&*journal, |_, _| ()));
}

#[test]
fn only_the_first_divergence_is_reported_unless_all_are_asked_for() {
    let journal = empty();
    busy(&journal);
    let copy = copied(&*journal, |_, draft| {
        draft.meta.code = "else".into();
    });
    assert_eq!(replay(&*copy, &Options::default()).unwrap().divergences.len(), 1);
    assert!(replay(&*copy, &ALL).unwrap().divergences.len() > 30);
}

#[test]
fn a_citation_that_is_left_out_is_reported() {
    let at = position(of("machine/db", "instance-made"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            assert!(!draft.meta.cites.is_empty());
            draft.meta.cites.clear();
        }
    });
    assert_eq!(found, [(at.0, What::Cites)]);
}

#[test]
fn a_changed_time_is_reported() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.meta.time_ms += 1;
        }
    });
    assert!(found.contains(&(at.0, What::Events)), "{found:?}");
}

#[test]
fn time_that_goes_back_is_not_even_taken_by_a_journal() {
    let journal = empty();
    busy(&journal);
    let mut last = entries(&*journal).pop().map(|entry| (*entry).clone()).unwrap();
    last.header.meta.time_ms = 0;
    let draft = Draft {
        stream: last.header.stream.clone(),
        expected: journal.version(&last.header.stream),
        meta: bailiwick_journal::Meta { command_id: Uuid::from_u128(99), ..last.header.meta },
        command: last.command,
        facts: last.facts,
        verdict: last.verdict,
        events: last.events,
    };
    assert!(bailiwick_journal::append_blocking(&*journal, vec![draft]).is_err());
}

#[test]
fn a_changed_body_of_facts_is_reported() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    let other = StoredFacts { journal: Uuid::from_u128(8) }.store().unwrap();
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.facts = other.clone();
        }
    });
    assert_eq!(found, [(at.0, What::Facts)]);
}

#[test]
fn a_changed_view_position_is_reported() {
    let is_look = |entry: &Entry| entry.header.meta.view.is_some();
    let at = position(is_look, 1);
    for (change, what) in [(-1i64, What::CommandId), (1_000, What::View)] {
        let found = found(|entry, draft| {
            if entry.header.position == at {
                draft.meta.view = draft.meta.view.map(|view| Position(view.0.saturating_add_signed(change)));
            }
        });
        assert!(found.iter().any(|(position, _)| *position == at.0), "{found:?}");
        assert!(found.contains(&(at.0, what)) || change < 0 && found.contains(&(at.0, What::View)), "{found:?}");
    }
}

#[test]
fn a_view_that_goes_back_is_reported() {
    let at = position(|entry| entry.header.meta.view.is_some(), 2);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.meta.view = Some(Position(1));
        }
    });
    assert!(found.contains(&(at.0, What::View)), "{found:?}");
}

#[test]
fn an_entity_that_cites_a_view_is_reported() {
    let at = position(of("volume/data", "newly-declared"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.meta.view = Some(Position(1));
        }
    });
    assert_eq!(found, [(at.0, What::View)]);
}

#[test]
fn a_dropped_event_is_reported() {
    let at = position(of("machine/db", "newly-declared"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.events.pop();
        }
    });
    assert_eq!(found.first(), Some(&(at.0, What::MissingEvent)), "{found:?}");
}

#[test]
fn a_surplus_event_is_reported() {
    let at = position(of("machine/db", "newly-declared"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.events.push(draft.events[1].clone());
        }
    });
    assert_eq!(found.first(), Some(&(at.0, What::SurplusEvent)), "{found:?}");
}

#[test]
fn an_entry_behind_which_an_invariant_does_not_hold_is_reported() {
    let at = position(of("machine/db", "newly-declared"), 0);
    let journal = empty();
    busy(&journal);
    let copy = copied(&*journal, |entry, draft| {
        if entry.header.position == at {
            draft.events.push(Event::Died.store().expect("small"));
        }
    });
    // What is decided in such a state would break more.
    let report = replay(&*copy, &Options { to: Some(at), ..ALL }).expect("a readable journal");
    let broken: Vec<_> = report.divergences.iter().filter(|found| found.what == What::Invariant).collect();
    let [found] = &broken[..] else { panic!("{:?}", report.divergences) };
    assert_eq!(found.position, at.0);
    let text = "it does not hold any more that it is known since when a machine is being removed \
                (machine/removal-has-a-beginning)";
    assert_eq!(found.text, text);
}

#[test]
fn two_swapped_events_are_reported() {
    let at = position(of("machine/db", "newly-declared"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.events.swap(0, 1);
        }
    });
    assert_eq!(found.first(), Some(&(at.0, What::Events)), "{found:?}");
}

#[test]
fn a_changed_verdict_is_reported() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    let other = contract::Recorded::<machine::State>::Decided(Reason::OutcomeUnknown).store().unwrap();
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.verdict = other.clone();
        }
    });
    assert_eq!(found, [(at.0, What::Verdict)]);
}

#[test]
fn a_changed_outcome_or_code_is_reported() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    let outcome = found(|entry, draft| {
        if entry.header.position == at {
            draft.meta.outcome = Outcome::Refused;
        }
    });
    assert_eq!(outcome, [(at.0, What::Verdict)]);
}

#[test]
fn a_changed_command_is_reported_with_or_without_its_hash() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    for with_hash in [true, false] {
        let found = found(|entry, draft| {
            if entry.header.position != at {
                return;
            }
            let command = Command::Report(machine::Report::Deleted { attempt: 1 });
            draft.command = command.store().unwrap();
            if with_hash {
                draft.meta.command_hash = digest(&draft.command.bytes);
            }
        });
        let what = if with_hash { What::Verdict } else { What::Command };
        assert_eq!(found.first(), Some(&(at.0, what)), "{found:?}");
    }
}

#[test]
fn a_changed_policy_digest_is_reported() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at
            && let Some(policy) = &mut draft.meta.policy
        {
            policy.digest[0] ^= 1;
        }
    });
    assert_eq!(found, [(at.0, What::Policy)]);
}

#[test]
fn a_policy_revision_that_was_never_there_is_reported() {
    let at = position(of("machine/web", "worth-retrying"), 0);
    let found = found(|entry, draft| {
        if entry.header.position == at
            && let Some(policy) = &mut draft.meta.policy
        {
            policy.revision = 9;
        }
    });
    assert_eq!(found, [(at.0, What::Policy)]);
}

#[test]
fn changed_settings_of_a_policy_are_reported_where_they_were_used() {
    use bailiwick_actors::policy;
    let at = position(of("policy/default", "revised"), 0);
    let mut document = policy::Document::default();
    document.machines.retry_first_ms = 9_999;
    let event = policy::Event::Revised { document: Box::new(document) }.store().unwrap();
    let found = found(|entry, draft| {
        if entry.header.position == at {
            draft.events[0] = event.clone();
        }
    });
    assert!(found.contains(&(at.0, What::Events)));
    assert!(found.iter().any(|(_, what)| *what == What::Policy), "{found:?}");
}

#[test]
fn what_cannot_be_decoded_is_reported_and_its_stream_is_skipped_from_there() {
    let at = position(of("machine/db", "newly-declared"), 0);
    let journal = empty();
    busy(&journal);
    let copy = copied(&*journal, |entry, draft| {
        if entry.header.position == at {
            draft.events[0].bytes.push(0);
        }
    });
    let report = replay(&*copy, &ALL).unwrap();
    assert!(report.divergences.iter().any(|found| found.position == at.0 && found.what == What::Undecodable));
    assert!(report.skipped > 0);
}

/// The machines' rules with one constant changed: a node is stale after another time, a retry comes one millisecond later.
#[derive(Clone, Debug, Default, PartialEq)]
struct Changed(machine::State);

impl Decider for Changed {
    const KIND: &'static str = "machine";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    fn decide(&self, command: &Command, facts: &contract::Facts<'_, Self>) -> Verdict<Self> {
        let mut policy = facts.policy.clone();
        policy.machines.retry_first_ms += 1;
        let contract::Facts { stream, next, now, view, journal, .. } = *facts;
        let facts = contract::Facts { stream, next, now, policy: &policy, view, journal };
        let Decision { reason, events } = self.0.decide(command, &facts)?;
        Ok(Decision { reason, events })
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        self.0.evolve(at, event);
    }

    fn touches(event: &Event) -> contract::Touches {
        machine::State::touches(event)
    }

    fn pending(&self, view: &NoView) -> BTreeSet<Effect> {
        self.0.pending(view)
    }
}

#[test]
fn a_changed_constant_in_a_rule_is_reported() {
    let journal = empty();
    busy(&journal);
    let mut deciders = Deciders::product(&*journal).with("machine", Redecider::<Changed>::new(&*journal));
    let report = replay_with(&*journal, &ALL, &mut deciders).unwrap();
    let at = position(of("machine/web", "worth-retrying"), 0);
    assert_eq!(report.divergences[0].position, at.0);
    assert_eq!(report.divergences[0].what, What::Events);
    let fields: Vec<&str> = report.divergences[0].differences.iter().map(|d| d.field.as_str()).collect();
    assert_eq!(fields, ["events[0].CreateRetryScheduled.until"]);
}
