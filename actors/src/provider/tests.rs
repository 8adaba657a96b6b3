//! Every reason and rejection of a provider, and what holds along every walk.

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{Command, Effect, Event, Reason as R, Rejection, State};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, case, hold, walk},
    },
    policy::Document,
    vocab::Timestamp,
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "provider/cloud".parse().expect("a stream")
}

fn held(reason: &str, until: Option<Timestamp>) -> Event {
    Event::Held { reason: reason.into(), until, at: NOW }
}

fn table() -> Vec<Case<State>> {
    let ask = |until| Command::Hold { reason: "disks".into(), until };
    let (later, wake) = (Some(NOW.after(1)), Command::Wake { due: NOW });
    vec![
        case([], ask(None), Ok((R::OperatorHolds, vec![held("disks", None)]))),
        case([], ask(later), Ok((R::OperatorHolds, vec![held("disks", later)]))),
        case([held("disks", None)], ask(later), Ok((R::OperatorHolds, vec![held("disks", later)]))),
        case([held("disks", None)], ask(None), Ok((R::HeldAlready, vec![]))),
        case([held("disks", None), Event::HoldEnded], ask(None), Ok((R::OperatorHolds, vec![held("disks", None)]))),
        case([], ask(Some(NOW)), Err(Rejection::HoldOver)),
        case([], Command::Hold { reason: "two\nlines".into(), until: None }, Err(Rejection::BadHold)),
        case([held("disks", None)], Command::Unhold, Ok((R::OperatorReleases, vec![Event::HoldEnded]))),
        case([], Command::Unhold, Ok((R::NotHeld, vec![]))),
        case([held("disks", Some(NOW))], wake.clone(), Ok((R::HoldOver, vec![Event::HoldEnded]))),
        case([held("disks", later)], wake.clone(), Ok((R::NotDueYet, vec![]))),
        case([held("disks", None)], wake.clone(), Ok((R::NotDueYet, vec![]))),
        case([], wake, Ok((R::NothingWaits, vec![]))),
    ]
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    hold(&stream(), NOW, &Document::default(), table(), R::ALL, &["bad-hold", "hold-over"]);
}

#[test]
fn another_reason_or_end_does_not_begin_the_hold_anew() {
    let again = Event::Held { reason: "power".into(), until: None, at: NOW.after(9) };
    let (state, _) = after::<State>(&[held("disks", None), again]);
    let hold = state.hold.expect("it is held");
    assert_eq!((hold.since, &*hold.reason), (NOW, "power"));
}

fn command(_: &State, _: Version, kind: u8, value: u8) -> Command {
    let until = (!value.is_multiple_of(3)).then(|| Timestamp(1_000_000 + u64::from(value) * 1_000));
    match kind % 4 {
        0 | 1 => Command::Hold { reason: "x".repeat(usize::from(value)), until },
        2 => Command::Unhold,
        _ => Command::Wake { due: Timestamp(0) },
    }
}

proptest! {
    #[test]
    fn a_hold_that_ends_by_itself_is_waited_for_and_no_other(dice in vec((any::<u8>(), any::<u8>(), 0..100_000u32), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |_, state, _| {
            let until = state.hold.as_ref().and_then(|hold| hold.until);
            let owed: Vec<Effect> = state.pending(&NoView).into_iter().collect();
            assert_eq!(owed, until.map(Effect::WakeAt).into_iter().collect::<Vec<_>>());
            assert!(state.hold.as_ref().is_none_or(|hold| !hold.reason.is_empty()));
        });
    }
}
