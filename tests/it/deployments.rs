//! Machine deployments with their supervisor, sets and machines, one step after the other.

use std::sync::Arc;

use bailiwick::actors::{
    machine::{self, Spec as Template},
    machine_deployment::{Amount, Command, RollingUpdate, Spec, State, Strategy},
    machine_set,
    policy::{Document, Rollouts},
    ports::{Condition, Healthy},
    testing::{Desk, MemoryJournal, name},
    vocab::{Day, Life, Timestamp, Window, Windows},
};
use bailiwick_journal::Outcome;

/// A desk with one deployment, `web`.
struct Room {
    desk: Desk,
    journal: MemoryJournal,
}

fn template(version: &str) -> Template {
    let labels = [("app".to_owned(), "web".to_owned()), ("version".to_owned(), version.to_owned())].into();
    Template { labels, ..Template::with_provider(name("desk")) }
}

fn rolling(replicas: u32, surge: u32, unavailable: u32, version: &str) -> Spec {
    let update = RollingUpdate { max_surge: Amount::Machines(surge), max_unavailable: Amount::Machines(unavailable) };
    Spec { strategy: Strategy::RollingUpdate(update), ..Spec::of(replicas, template(version)) }
}

impl Room {
    fn new() -> Self {
        let journal = MemoryJournal::new("deployments");
        let mut desk = Desk::new(Arc::new(journal.clone()));
        desk.now = Timestamp(1_000_000_000);
        Self { desk, journal }
    }

    fn ask(&mut self, command: Command) -> Outcome {
        self.desk.machine_deployment("web", command).header.meta.outcome
    }

    fn state(&self) -> &State {
        self.desk.machine_deployment_state("web").expect("it was asked for something")
    }

    /// The names of all machines that ever were, with their state.
    fn machines(&self) -> Vec<(String, machine::State)> {
        let streams = self.journal.entries().into_iter().map(|entry| entry.header.stream.clone());
        let names: std::collections::BTreeSet<String> =
            streams.filter(|stream| stream.kind() == "machine").map(|stream| stream.name().to_owned()).collect();
        let state = |name: String| Some((name.clone(), self.desk.machine_state(&name)?.clone()));
        names.into_iter().filter_map(state).collect()
    }

    fn existing(&self) -> Vec<(String, machine::State)> {
        self.machines().into_iter().filter(|(_, machine)| machine.life.exists()).collect()
    }

    fn ready(&self) -> usize {
        self.existing().iter().filter(|(_, machine)| machine::phase(machine).as_str() == "Running").count()
    }

    /// One round: supervisors look, orders are carried out, calls are answered, and agents say that all is well.
    fn round(&mut self) -> bool {
        let before = self.journal.entries().len();
        self.desk.look();
        self.desk.carry_out();
        // Whoever belongs to a set waits until its provider has told which zones there are.
        self.desk.list();
        self.desk.perform();
        let joining: Vec<String> = self
            .existing()
            .into_iter()
            .filter(|(_, machine)| machine.life == Life::Alive && machine::phase(machine).as_str() == "Pending")
            .map(|(name, _)| name)
            .collect();
        for machine in &joining {
            let well = Condition { kind: "Ready".into(), healthy: Healthy::Yes, text: String::new() };
            self.desk.report_conditions(machine, vec![well]);
        }
        self.journal.entries().len() > before
    }

    /// Goes on until nothing follows, looking at every step.
    fn settle(&mut self, mut look: impl FnMut(&Self)) {
        for _ in 0..2_000 {
            if !self.round() {
                return;
            }
            look(self);
        }
        panic!("it goes on for ever: {:#?}", self.state());
    }

    fn of_version(&self, version: &str) -> usize {
        let is_of = |machine: &machine::State| {
            machine.spec.as_ref().is_some_and(|spec| spec.labels.get("version").is_some_and(|is| is == version))
        };
        self.existing().iter().filter(|(_, machine)| is_of(machine)).count()
    }

    fn settled(mut self, spec: Spec) -> Self {
        self.ask(Command::Declare(spec));
        self.settle(|_| ());
        self
    }
}

#[test]
fn a_rolling_change_stays_within_its_bounds_at_every_step() {
    for (replicas, surge, unavailable) in [(5, 1, 0), (5, 1, 1), (6, 3, 2), (4, 0, 1), (3, 3, 0)] {
        let mut room = Room::new().settled(rolling(replicas, surge, unavailable, "v1"));
        assert_eq!((room.ready(), room.state().status()), (replicas as usize, "complete"));
        room.ask(Command::Declare(rolling(replicas, surge, unavailable, "v2")));
        let (most, least) = ((replicas + surge) as usize, (replicas - unavailable) as usize);
        room.settle(|room| {
            assert!(room.existing().len() <= most, "{} of {most} machines", room.existing().len());
            assert!(room.ready() >= least, "{} of {least} ready machines", room.ready());
        });
        let all = replicas as usize;
        assert_eq!((room.of_version("v2"), room.of_version("v1"), room.ready()), (all, 0, all));
        assert_eq!(room.state().status(), "complete");
        assert_eq!(room.state().sets.len(), 2, "the old set is kept for a way back");
    }
}

#[test]
fn a_recreation_makes_no_machine_before_the_last_old_one_is_gone() {
    let recreate = |version| Spec { strategy: Strategy::Recreate, ..Spec::of(3, template(version)) };
    let mut room = Room::new().settled(recreate("v1"));
    room.ask(Command::Declare(recreate("v2")));
    room.settle(|room| assert!(room.of_version("v1") == 0 || room.of_version("v2") == 0));
    assert_eq!((room.of_version("v2"), room.state().status()), (3, "complete"));
}

#[test]
fn a_set_of_nobodys_is_taken_by_its_labels_and_rolled_to_the_template() {
    let mut room = Room::new();
    let old =
        machine_set::Spec { replicas: 2, template: Arc::new(template("v0")), priorities: [].into(), deployment: None };
    room.desk.machine_set("legacy", machine_set::Command::Declare(old.clone()));
    room.settle(|_| ());
    let selector = [("app".to_owned(), "web".to_owned())].into();
    let mut room = room.settled(Spec { selector, ..rolling(3, 1, 0, "v1") });
    let taken = room.desk.machine_set_state("legacy").and_then(|set| set.spec.clone()).expect("declared");
    assert_eq!((taken.deployment, taken.replicas), (Some(name("web")), 0));
    assert_eq!((room.of_version("v0"), room.of_version("v1"), room.state().status()), (0, 3, "complete"));
    let refused = room.desk.machine_set("legacy", machine_set::Command::Declare(old));
    assert_eq!(refused.header.meta.outcome, Outcome::Refused, "its size is the deployment's");
    room.ask(Command::Undo { revision: Some(1) });
    room.settle(|_| ());
    assert_eq!((room.of_version("v0"), room.of_version("v1")), (3, 0), "its template is the first revision");
}

#[test]
fn old_sets_go_beyond_the_limit_and_undo_brings_a_kept_one_back() {
    let limited = |version| Spec { history_limit: Some(1), ..rolling(2, 1, 0, version) };
    let mut room = Room::new().settled(limited("v1"));
    for version in ["v2", "v3"] {
        room.ask(Command::Declare(limited(version)));
        room.settle(|_| ());
    }
    let revisions: Vec<u64> = room.state().sets.values().map(|set| set.revision).collect();
    assert_eq!(revisions, [2, 3], "the first one is gone");
    assert!(!room.desk.machine_set_state("web-1").expect("it was there").life.exists());
    room.ask(Command::Undo { revision: None });
    room.settle(|_| ());
    assert_eq!((room.of_version("v2"), room.state().status()), (2, "complete"));
}

#[test]
fn who_is_paused_is_scaled_and_not_rolled() {
    let mut room = Room::new().settled(rolling(2, 1, 0, "v1"));
    room.ask(Command::Pause);
    room.ask(Command::Declare(Spec { paused: true, ..rolling(4, 1, 0, "v2") }));
    room.settle(|_| ());
    assert_eq!((room.of_version("v1"), room.of_version("v2"), room.state().status()), (4, 0, "paused"));
    room.ask(Command::Resume);
    room.settle(|_| ());
    assert_eq!((room.of_version("v1"), room.of_version("v2")), (0, 4));
}

#[test]
fn a_restart_makes_every_machine_anew() {
    let mut room = Room::new().settled(rolling(3, 1, 0, "v1"));
    let before: Vec<String> = room.existing().into_iter().map(|(name, _)| name).collect();
    room.ask(Command::Restart);
    room.settle(|room| assert!(room.ready() >= 3));
    let after: Vec<String> = room.existing().into_iter().map(|(name, _)| name).collect();
    assert_eq!((before.len(), after.len()), (3, 3));
    assert!(after.iter().all(|name| !before.contains(name)), "{before:?} {after:?}");
}

#[test]
fn machines_count_when_they_have_been_ready_for_long_enough() {
    let slow = |version| Spec { min_ready_ms: 60_000, ..rolling(2, 1, 0, version) };
    let mut room = Room::new().settled(slow("v1"));
    assert_eq!((room.ready(), room.state().status()), (2, "progressing"));
    for _ in 0..8 {
        room.desk.wake_next();
        room.settle(|_| ());
        if room.state().is_complete() {
            break;
        }
    }
    assert_eq!(room.state().status(), "complete");
    room.ask(Command::Declare(slow("v2")));
    room.settle(|_| ());
    assert_eq!(
        (room.of_version("v1"), room.of_version("v2")),
        (2, 1),
        "the new one has not been ready for long enough"
    );
}

/// Open for one hour at the time of the day at which the desk stands, on another day.
fn tomorrow() -> Windows {
    Windows(vec![Window { days: [Day::Tue].into(), from_minute: 13 * 60 + 46, for_ms: 3_600_000 }])
}

#[test]
fn a_rollout_waits_for_its_window_while_failed_machines_are_replaced_at_once() {
    // Given a deployment whose policy lets nobody be replaced before Tuesday
    let policy = Document { rollouts: Rollouts { windows: tomorrow() }, ..Document::default() };
    let mut room = Room::new();
    room.desk.revise(policy);
    let mut room = room.settled(rolling(3, 1, 0, "v1"));
    // When its template changes, and one of its machines goes
    room.ask(Command::Declare(rolling(3, 1, 0, "v2")));
    room.settle(|_| ());
    assert_eq!((room.of_version("v1"), room.of_version("v2"), room.state().status()), (3, 0, "waiting"));
    let opens = room.state().awaits.expect("it waits");
    assert!(room.desk.now < opens);
    room.desk.machine("web-1-1", machine::Command::Remove);
    room.settle(|_| ());
    // Then another one is made in its place at once, by the template that it had
    assert_eq!((room.of_version("v1"), room.of_version("v2"), room.ready()), (3, 0, 3));
    assert_eq!(room.state().awaits, Some(opens));
    // And when the window opens, the rollout begins by itself
    while room.desk.now < opens {
        assert!(room.desk.wake_next());
    }
    room.settle(|room| assert!(room.ready() >= 3));
    assert_eq!((room.of_version("v1"), room.of_version("v2"), room.state().status()), (0, 3, "complete"));
}

#[test]
fn a_rollout_that_waits_follows_another_policy_at_once() {
    let windows = |windows| Document { rollouts: Rollouts { windows }, ..Document::default() };
    let mut room = Room::new();
    room.desk.revise(windows(tomorrow()));
    let mut room = room.settled(rolling(2, 1, 0, "v1"));
    room.ask(Command::Restart);
    room.settle(|_| ());
    assert_eq!(room.state().status(), "waiting");
    room.desk.revise(windows(Windows::default()));
    room.settle(|_| ());
    assert_eq!(room.state().status(), "complete");
}

#[test]
fn a_machine_that_is_kept_has_another_in_its_place_and_goes_when_its_time_is_over() {
    // Given a deployment that is complete
    let mut room = Room::new().settled(rolling(3, 1, 0, "v1"));
    let until = room.desk.now.after(7_200_000);
    // When an operator keeps one of its machines
    room.desk.machine("web-1-1", machine::Command::Keep { until });
    room.settle(|_| ());
    // Then it is complete again without it, which is still there, also when its set is an old one
    assert_eq!((room.existing().len(), room.ready(), room.state().status()), (4, 3, "complete"));
    room.ask(Command::Declare(rolling(3, 1, 0, "v2")));
    room.settle(|_| ());
    assert_eq!((room.of_version("v1"), room.of_version("v2"), room.state().status()), (1, 3, "complete"));
    // And it goes by itself
    while room.of_version("v1") > 0 {
        assert!(room.desk.wake_next());
        room.settle(|_| ());
    }
    assert!(until <= room.desk.now);
    assert_eq!((room.existing().len(), room.state().status()), (3, "complete"));
}

#[test]
fn a_machine_that_is_kept_goes_with_its_deployment() {
    let mut room = Room::new().settled(rolling(2, 1, 0, "v1"));
    let until = room.desk.now.after(7_200_000);
    room.desk.machine("web-1-1", machine::Command::Keep { until });
    room.settle(|_| ());
    room.ask(Command::Remove);
    room.settle(|_| ());
    assert_eq!((room.existing().len(), room.state().life), (0, Life::Removed));
}

#[test]
fn a_deployment_that_goes_takes_its_sets_and_machines_along() {
    let mut room = Room::new().settled(rolling(3, 1, 1, "v1"));
    room.ask(Command::Declare(rolling(3, 1, 1, "v2")));
    room.round();
    room.ask(Command::Remove);
    room.settle(|_| ());
    assert_eq!((room.existing().len(), room.state().life), (0, Life::Removed));
    assert!(room.desk.machine_set_state("web-1").is_some_and(|set| !set.life.exists()));
}
