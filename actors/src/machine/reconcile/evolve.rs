//! What an event does to a machine.

use bailiwick_journal::Version;

use super::{
    CallError, Cleanup, Event, Health, Import, Instance, Life, Operation, OperationKind, OperationState, Pass,
    RemovalStep, Removing, State, Step,
};
use crate::vocab::{MachinePhase, Timestamp};

impl State {
    /// Takes one event into account, knowing its version.
    pub fn evolve(&mut self, version: Version, event: &Event) {
        match event {
            Event::Imported(import) => *self = imported(import),
            Event::RemovalAsked(removal) => self.life = Life::Unwanted(*removal),
            Event::PassBegan { at, scope, seen } => {
                let pass = Pass { id: version, began: *at, scope: *scope, seen: (**seen).clone(), step: Step::Begun };
                self.pass = Some(Box::new(pass));
                self.next_pass = None;
                self.recheck = None;
            }
            Event::Owed(step) => self.owe(version, step),
            Event::Drain(event) => {
                if let Some(Step::Drain { drain, .. }) = self.pass.as_mut().map(|pass| &mut pass.step) {
                    drain.evolve(event);
                }
            }
            Event::PassEnded { end, next, recheck } => {
                self.pass = None;
                self.recheck = *recheck;
                self.next_pass = Some((end.retry, *next));
            }
            Event::RecheckArmed { until } => self.recheck = Some(*until),
            Event::Held => self.record.is_held = true,
            Event::TokenKept(id) => self.record.token = Some(id.clone()),
            Event::ClassRecorded(class) => self.record.recorded_class = Some((**class).clone()),
            Event::Labelled { node, provider_id } => self.label(node, provider_id),
            Event::JoiningBegan { at } => {
                self.instance = Instance::Joining { since: *at, is_timed: true };
                self.health = Health::Unjudged;
                self.operation = operation(OperationKind::Create, OperationState::Processing, None);
            }
            Event::CreateFailed { at, is_given_up, error } => self.create_failed(*at, *is_given_up, error.as_ref()),
            Event::StateToldByProvider { last_known_state } => {
                self.record.last_known_state.clone_from(last_known_state);
            }
            Event::CleanupOpened { provider_id } => {
                self.cleanups.insert(provider_id.clone(), Cleanup::Trying);
            }
            Event::CleanupFailed { provider_id, error } => {
                self.cleanups.insert(provider_id.clone(), Cleanup::Waiting(error.clone()));
            }
            Event::CleanupClosed { provider_id } => {
                self.cleanups.remove(provider_id);
            }
            Event::ConditionsCopied { conditions } => self.record.conditions.clone_from(conditions),
            Event::BecameWell { at, is_first_time } => self.became_well(*at, *is_first_time),
            Event::BecameSuspect { at } => {
                self.health = Health::Suspect { since: *at };
                self.operation = operation(OperationKind::HealthCheck, OperationState::Processing, None);
            }
            Event::JoinTimedOut { at } => {
                self.instance = Instance::GivenUp { since: *at };
                self.operation.state = Some(OperationState::Failed);
            }
            Event::HealthTimedOut { at } => {
                self.health = Health::GivenUp { since: *at };
                self.operation.state = Some(OperationState::Failed);
            }
            Event::RemovalBegan { at } => {
                self.removing = Removing::Step { since: *at, step: Some(RemovalStep::GetVmStatus) };
                self.operation = operation(OperationKind::Delete, OperationState::Processing, None);
            }
            Event::RemovalMoved { step: next } => {
                if let Removing::Step { step, .. } = &mut self.removing {
                    *step = Some(*next);
                }
                self.operation = operation(OperationKind::Delete, OperationState::Processing, None);
            }
            Event::RemovalFailed { error } => {
                self.operation = operation(OperationKind::Delete, OperationState::Failed, error.as_ref());
            }
            Event::LetGo => {
                self.record.is_held = false;
                self.life = Life::Gone;
            }
        }
    }

    fn owe(&mut self, at: Version, step: &Step) {
        if *step == Step::Create && self.intent.is_none() {
            self.intent = Some(at);
        }
        if let Some(pass) = &mut self.pass {
            pass.step = step.clone();
        }
    }

    fn label(&mut self, node: &str, provider_id: &str) {
        self.record.labels.insert(Self::NODE_LABEL.to_owned(), node.to_owned());
        let priority = self.record.annotations.entry(Self::PRIORITY.to_owned()).or_default();
        if priority.is_empty() {
            *priority = "3".to_owned();
        }
        provider_id.clone_into(&mut self.record.provider_id);
    }

    fn create_failed(&mut self, since: Timestamp, is_given_up: bool, error: Option<&CallError>) {
        self.instance = if is_given_up { Instance::GivenUp { since } } else { Instance::Failing { since } };
        self.health = Health::Unjudged;
        self.operation = operation(OperationKind::Create, OperationState::Failed, error);
    }

    fn became_well(&mut self, since: Timestamp, is_first_time: bool) {
        self.instance = Instance::Joined;
        self.health = Health::Well { since };
        self.removing = Removing::None;
        let kind = if is_first_time { OperationKind::Create } else { OperationKind::HealthCheck };
        self.operation = operation(kind, OperationState::Successful, None);
    }
}

fn operation(kind: OperationKind, state: OperationState, error: Option<&CallError>) -> Operation {
    Operation { kind: Some(kind), state: Some(state), error: error.cloned() }
}

/// The phase of a record, taken apart again.
fn imported(import: &Import) -> State {
    let since = import.phase_since;
    let (instance, health, removing) = match import.phase {
        MachinePhase::Blank => (Instance::None, Health::Unjudged, Removing::None),
        MachinePhase::Pending => (Instance::Joining { since, is_timed: false }, Health::Unjudged, Removing::None),
        MachinePhase::Available => (Instance::Alone { since }, Health::Unjudged, Removing::None),
        MachinePhase::Running => (Instance::Joined, Health::Well { since }, Removing::None),
        MachinePhase::Unknown => (Instance::Joined, Health::Suspect { since }, Removing::None),
        MachinePhase::Failed => (Instance::Joined, Health::GivenUp { since }, Removing::None),
        MachinePhase::CrashLoopBackOff => (Instance::Failing { since }, Health::Unjudged, Removing::None),
        MachinePhase::Terminating => {
            (Instance::Joined, Health::Unjudged, Removing::Step { since, step: import.next_step })
        }
    };
    State {
        life: import.removal.map_or(Life::Wanted, Life::Unwanted),
        instance,
        health,
        removing,
        record: import.record.clone(),
        operation: import.operation.clone(),
        ..State::default()
    }
}
