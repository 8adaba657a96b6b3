//! Given / when / then, and what holds for every series of commands.

use proptest::prelude::*;

use super::*;
use crate::vocab::{InstanceId, Life, Timestamp, Zone};

/// Tells it all of these, one after the other, at time 0.
fn told(policy: &Policy, commands: &[Command]) -> (State, Vec<WorkerState>) {
    let mut state = State::default();
    let mut entered = Vec::new();
    for command in commands {
        for event in decide(&state, command, policy, Timestamp(0)) {
            if let Event::Entered { phase } = &event {
                entered.push(phase.worker());
            }
            evolve(&mut state, &event);
        }
    }
    (state, entered)
}

fn alive() -> Command {
    Command::SeeLife(Life::Alive)
}

fn zone() -> Command {
    Command::GrantZone { zone: Some(Zone("a".into())), round_is_new: false }
}

fn started() -> Command {
    Command::ReportStarted { instance: instance() }
}

fn instance() -> InstanceId {
    InstanceId("i-1".into())
}

fn failed(may_pass: bool, blame: Blame) -> Command {
    Command::ReportStartFailed(StartFault { may_pass, blame, text: "no".into() })
}

#[test]
fn a_machine_that_dies_while_it_is_started_is_stopped_afterwards() {
    let commands = [alive(), zone(), Command::SeeLife(Life::Dead), started(), Command::ReportRecorded];
    let (state, _) = told(&Policy::ours(), &commands);
    assert_eq!(state.phase, Phase::Stopping { instance: instance() });
    assert_eq!(pending(&state), [Effect::Stop { instance: instance() }].into());
}

#[test]
fn a_failed_start_of_a_dead_machine_leaves_nothing_to_stop() {
    let commands = [alive(), zone(), Command::SeeLife(Life::Dead), failed(true, Blame::Anything)];
    let (state, _) = told(&Policy::ours(), &commands);
    assert_eq!(pending(&state), [Effect::Remove].into());
}

#[test]
fn nothing_is_started_for_a_machine_that_is_going() {
    for life in [Life::Dying, Life::Dead] {
        let (state, entered) = told(&Policy::ours(), &[Command::SeeLife(life), zone(), Command::Wake, Command::Retry]);
        assert!(!entered.contains(&WorkerState::Provisioning), "{state:?}");
    }
}

#[test]
fn what_can_be_neither_recorded_nor_stopped_is_an_orphan_until_it_has_gone() {
    let text = || "down".to_owned();
    let mut commands = vec![
        alive(),
        zone(),
        started(),
        Command::ReportRecordFailed { text: text() },
        Command::ReportStopFailed { instance: instance(), text: text() },
    ];
    let (state, _) = told(&Policy::juju_2016(), &commands);
    assert_eq!((state.status(), state.phase.worker()), ("error", WorkerState::Error));
    assert_eq!(pending(&state), [Effect::Stop { instance: instance() }].into(), "it is still to be stopped");
    commands.push(Command::ReportStopped { instance: instance() });
    let (state, _) = told(&Policy::juju_2016(), &commands);
    assert!(pending(&state).is_empty() && state.orphans.is_empty());
}

#[test]
fn a_retry_begins_a_series_of_its_own() {
    let policy = Policy { retries_max: 0, ..Policy::ours() };
    let (state, _) = told(&policy, &[alive(), zone(), failed(true, Blame::Anything), Command::Retry]);
    assert_eq!((state.phase, state.retries_used), (Phase::RequestingZone, 0));
}

#[test]
fn an_early_wake_changes_nothing() {
    let (state, _) = told(&Policy::ours(), &[alive(), zone(), failed(true, Blame::Anything), Command::Wake]);
    assert_eq!(pending(&state), [Effect::WakeAt(Timestamp(10_000))].into());
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        prop_oneof![Just(Life::Alive), Just(Life::Dying), Just(Life::Dead)].prop_map(Command::SeeLife),
        any::<bool>().prop_map(Command::KeepInstance),
        any::<bool>().prop_map(|round_is_new| Command::GrantZone { zone: Some(Zone("a".into())), round_is_new }),
        Just(Command::RefuseZone),
        Just(Command::ReportUnprepared { text: "no".into() }),
        Just(started()),
        (any::<bool>(), prop_oneof![Just(Blame::Zone), Just(Blame::Anything)])
            .prop_map(|(may_pass, blame)| failed(may_pass, blame)),
        Just(Command::ReportRecorded),
        Just(Command::ReportRecordFailed { text: "no".into() }),
        Just(Command::ReportStopped { instance: instance() }),
        Just(Command::ReportStopFailed { instance: instance(), text: "no".into() }),
        Just(Command::ReportRemoved),
        Just(Command::Wake),
        Just(Command::Retry),
        Just(Command::Adopt(InstanceId("i-0".into()))),
    ]
}

proptest! {
    #[test]
    fn only_steps_of_the_table_are_taken(commands in prop::collection::vec(any_command(), 0..40)) {
        let mut state = State::default();
        for policy in [Policy::ours(), Policy::juju_2016(), Policy::juju_4_0()] {
            for command in &commands {
                let mut at = state.phase.worker();
                for event in decide(&state, command, &policy, Timestamp(0)) {
                    match &event {
                        Event::Entered { phase } => {
                            let same = phase.worker() == at;
                            prop_assert!(at.may_become(phase.worker()) || same, "{at:?} to {phase:?} on {command:?}");
                            at = phase.worker();
                        }
                        Event::BeganAnew { .. } => at = WorkerState::Pending,
                        _ => (),
                    }
                    evolve(&mut state, &event);
                }
                // Only an instance that is known here is ever forgotten by being stopped.
                prop_assert!(!matches!(state.phase, Phase::Complete) || state.instance.is_none() || state.keep_instance);
                // Whatever waits for somebody says for whom.
                let is_at_rest = matches!(state.phase, Phase::Running | Phase::Complete | Phase::Error | Phase::Pending { until: None });
                prop_assert!(is_at_rest || !pending(&state).is_empty(), "{state:?}");
            }
        }
    }

    #[test]
    fn what_was_started_is_recorded_stopped_or_an_orphan(commands in prop::collection::vec(any_command(), 0..40)) {
        let (state, _) = told(&Policy::ours(), &commands);
        let mut again = State::default();
        let mut alive_instances = std::collections::BTreeSet::new();
        for command in &commands {
            let before = again.phase.clone();
            for event in decide(&again, command, &Policy::ours(), Timestamp(0)) {
                evolve(&mut again, &event);
            }
            match command {
                Command::ReportStarted { instance } if matches!(before, Phase::Provisioning { .. }) => {
                    alive_instances.insert(instance.clone());
                }
                Command::ReportStopped { instance } => {
                    alive_instances.remove(instance);
                }
                _ => (),
            }
        }
        prop_assert_eq!(&state, &again);
        for instance in alive_instances {
            let named = match &state.phase {
                Phase::Registering { instance: own } | Phase::RollingBack { instance: own } | Phase::Stopping { instance: own } => *own == instance,
                _ => false,
            };
            let kept = state.instance.as_ref() == Some(&instance);
            prop_assert!(named || kept || state.orphans.contains(&instance), "{instance:?} is lost in {state:?}");
        }
    }
}
