//! When a deployment replaces machines that work, and when it waits.

use super::*;
use crate::{
    policy::Rollouts,
    vocab::{Day, Window, Windows},
};

const HOUR: u64 = 3_600_000;

/// The one day of 1970's first week on which it is open, from two to three o'clock: a Friday. `NOW` is on the Thursday before.
const OPENS: Timestamp = Timestamp(26 * HOUR);
const CLOSES: Timestamp = Timestamp(27 * HOUR);

fn fridays() -> Windows {
    Windows(vec![Window { days: [Day::Fri].into(), from_minute: 120, for_ms: HOUR }])
}

fn policy() -> Document {
    Document { rollouts: Rollouts { windows: fridays() }, ..Document::default() }
}

/// A deployment, and when it is.
struct Room {
    live: (State, Version),
    policy: Document,
    now: Timestamp,
}

impl Room {
    /// Two machines of the first template run.
    fn new() -> Self {
        Self { live: after::<State>(&complete()), policy: policy(), now: NOW }
    }

    fn ask(&mut self, command: &Command) -> Vec<Event> {
        let verdict = answer(&stream(), &self.live, command, self.now, &self.policy);
        let events = verdict.expect("it is not refused").events;
        for event in &events {
            self.live.1 = self.live.1.next();
            self.live.0.evolve(self.live.1, event);
        }
        events
    }

    /// Passes on these available machines of the sets, until it owes none.
    fn pass(&mut self, available: &[(&str, u32)]) {
        let counted: Vec<(&str, Counts)> = available.iter().map(|(set, all)| (*set, counts(*all, *all))).collect();
        for free in ["web-2", "web-3", "web-4", "web-5"] {
            let free = if self.live.0.sets.contains_key(&name(free)) { "web-9" } else { free };
            self.ask(&observe(&counted, free));
            if !self.live.0.wants_a_pass() {
                return;
            }
        }
        panic!("it goes on for ever: {:?}", self.live.0);
    }

    fn sizes(&self) -> Vec<(&str, u32)> {
        self.live.0.sets.values().map(|set| (set.name.as_str(), set.replicas)).collect()
    }

    fn wake(&mut self, at: Timestamp) -> Vec<Event> {
        self.now = at;
        self.ask(&Command::Wake { due: at })
    }
}

#[test]
fn another_template_waits_for_the_window_and_begins_when_it_opens() {
    let mut room = Room::new();
    room.ask(&Command::Declare(spec(2, "v2")));
    room.pass(&[("web-1", 2)]);
    assert_eq!(room.sizes(), [("web-1", 2)], "nothing is made that would wait");
    let state = &room.live.0;
    assert_eq!((state.status(), state.awaits, state.due()), ("waiting", Some(OPENS), Some(OPENS)));
    assert_eq!(room.wake(Timestamp(OPENS.0 - 1)), []);
    assert_eq!(room.wake(OPENS), [Event::WindowOpened]);
    room.pass(&[("web-1", 2)]);
    assert_eq!((room.sizes(), room.live.0.awaits), (vec![("web-1", 2), ("web-2", 1)], None));
    assert_eq!(room.live.0.due(), Some(OPENS.after(10_001)), "it has all its time from here on");
}

#[test]
fn over_a_rollout_a_window_closes_and_what_it_owes_is_still_made() {
    let one_less = RollingUpdate { max_surge: Amount::Machines(0), max_unavailable: Amount::Machines(1) };
    let by_one = |version| Spec { strategy: Strategy::RollingUpdate(one_less), ..spec(2, version) };
    let mut room = Room::new();
    room.now = OPENS;
    room.ask(&Command::Declare(by_one("v2")));
    room.pass(&[("web-1", 2)]);
    assert_eq!(room.sizes(), [("web-1", 1), ("web-2", 0)], "an old one goes first");
    // When the window closes, the machine that has gone is made, and the other stays.
    room.now = CLOSES;
    room.pass(&[("web-1", 1)]);
    assert_eq!(room.sizes(), [("web-1", 1), ("web-2", 1)]);
    room.pass(&[("web-1", 1), ("web-2", 1)]);
    assert_eq!((room.sizes(), room.live.0.status()), (vec![("web-1", 1), ("web-2", 1)], "waiting"));
    assert_eq!(room.live.0.due(), Some(OPENS.after(7 * 24 * HOUR)), "it is not late meanwhile");
    // Another template meanwhile waits as well, and another number does not.
    room.ask(&Command::Declare(by_one("v3")));
    room.pass(&[("web-1", 1), ("web-2", 1)]);
    assert_eq!(room.sizes().len(), 2);
    room.ask(&Command::Declare(Spec { replicas: 1, ..by_one("v3") }));
    room.pass(&[("web-1", 1), ("web-2", 1)]);
    assert_eq!(room.sizes().iter().map(|(_, size)| size).sum::<u32>(), 1);
}

#[test]
fn a_recreation_that_has_begun_is_finished() {
    let recreate = |version| Spec { strategy: Strategy::Recreate, ..spec(2, version) };
    let mut room = Room::new();
    room.ask(&Command::Declare(recreate("v2")));
    room.pass(&[("web-1", 2)]);
    assert_eq!((room.sizes(), room.live.0.status()), (vec![("web-1", 2)], "waiting"));
    room.wake(OPENS);
    room.pass(&[("web-1", 2)]);
    assert_eq!(room.sizes(), [("web-1", 0)]);
    room.now = CLOSES;
    room.pass(&[]);
    assert_eq!((room.sizes(), room.live.0.awaits), (vec![("web-1", 0), ("web-2", 2)], None));
}

#[test]
fn a_deployment_says_otherwise_than_the_policy() {
    let always = Spec { windows: Some(Windows::default()), ..spec(2, "v2") };
    let mut room = Room::new();
    room.ask(&Command::Declare(always));
    room.pass(&[("web-1", 2)]);
    assert_eq!(room.sizes(), [("web-1", 2), ("web-2", 1)]);
    let mut room = Room { policy: Document::default(), ..Room::new() };
    room.ask(&Command::Declare(Spec { windows: Some(fridays()), ..spec(2, "v2") }));
    room.pass(&[("web-1", 2)]);
    assert_eq!(room.live.0.awaits, Some(OPENS));
}

#[test]
fn other_windows_bring_another_moment() {
    let mut room = Room::new();
    room.ask(&Command::Declare(spec(2, "v2")));
    room.pass(&[("web-1", 2)]);
    assert!(!room.live.0.waits_in_vain(&fridays(), NOW));
    assert!(room.live.0.waits_in_vain(&Windows::default(), NOW));
    room.policy = Document::default();
    room.pass(&[("web-1", 2)]);
    assert_eq!((room.sizes().len(), room.live.0.awaits), (2, None));
}

#[test]
fn who_hurries_waits_for_no_window_until_it_is_complete() {
    let mut room = Room::new();
    room.ask(&Command::Declare(spec(2, "v2")));
    room.pass(&[("web-1", 2)]);
    room.ask(&Command::Hurry);
    room.pass(&[("web-1", 2)]);
    for (old, new) in [(2, 1), (1, 1), (1, 2), (0, 2)] {
        room.pass(&[("web-1", old), ("web-2", new)]);
    }
    assert_eq!((room.sizes(), room.live.0.status()), (vec![("web-1", 0), ("web-2", 2)], "complete"));
    room.ask(&Command::Restart);
    room.pass(&[("web-2", 2)]);
    assert_eq!(room.live.0.status(), "waiting", "the next one waits again");
    room.ask(&Command::Pause);
    room.pass(&[("web-2", 2)]);
    assert_eq!((room.live.0.status(), room.live.0.due()), ("paused", None));
}

#[test]
fn the_first_machines_and_what_has_failed_wait_for_no_window() {
    let mut room = Room { live: after::<State>(&declared()), ..Room::new() };
    room.pass(&[]);
    assert_eq!(room.sizes(), [("web-2", 2)]);
    // Its set makes another machine by itself: it keeps its size.
    room.pass(&[("web-2", 1)]);
    assert_eq!((room.sizes(), room.live.0.awaits), (vec![("web-2", 2)], None));
}
