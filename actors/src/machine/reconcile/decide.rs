//! What should happen to a machine, and why.

use bailiwick_journal::Version;

use super::{
    Answered, CallError, Cleanup, Command, Event, Import, Life, Reason, Rejection, Report, Retry, Seen, State, Step,
    state::PassEnd,
};
use crate::{
    machine::{
        drain,
        rules::{
            InForce,
            removal::{Removal, RemovalReason},
        },
    },
    policy::{CleanupReading, Reconciliation},
    vocab::Timestamp,
};

/// All that a decision may know beside state and command.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Sampled once per command.
    pub now: Timestamp,
    pub policy: &'a Reconciliation,
    /// The version that the first event of this decision will have.
    pub next: Version,
}

/// What happens, and why. Without events nothing happens, for that reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub reason: Reason,
    pub events: Vec<Event>,
}

/// What should happen to a machine, and why. Same inputs, same answer, for ever.
///
/// # Errors
/// A rejection is an answer: nothing happens.
pub fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Result<Decision, Rejection> {
    if let Command::Import(import) = command {
        return import_machine(state, import);
    }
    if matches!(state.life, Life::None | Life::Gone) {
        return Err(Rejection::NoSuchMachine);
    }
    let mut turn = Turn::new(state, facts);
    let reason = match command {
        Command::Import(_) => Reason::Imported,
        Command::Remove { reason, force } => turn.remove(*reason, *force),
        Command::Reconcile { scope, seen } => turn.reconcile(*scope, seen),
        Command::Report { pass, report } => turn.report(*pass, report),
    };
    Ok(Decision { reason, events: turn.events })
}

fn import_machine(state: &State, import: &Import) -> Result<Decision, Rejection> {
    if state.life != Life::None {
        return Err(Rejection::Exists);
    }
    Ok(Decision { reason: Reason::Imported, events: vec![Event::Imported(Box::new(import.clone()))] })
}

/// A state on its way through a decision, with the events that brought it there.
pub(super) struct Turn<'a> {
    pub(super) state: State,
    pub(super) now: Timestamp,
    pub(super) policy: &'a Reconciliation,
    events: Vec<Event>,
    next: Version,
}

/// Where a part of a pass has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It waits for a report.
    Waits,
    /// It ends the pass.
    Ends(Retry, Reason),
    /// It is through, and the parts after it may have something to do.
    Through(Retry, Reason),
}

impl<'a> Turn<'a> {
    fn new(state: &State, facts: &Facts<'a>) -> Self {
        Self { state: state.clone(), now: facts.now, policy: facts.policy, events: Vec::new(), next: facts.next }
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.state.evolve(self.next, &event);
        self.next = self.next.next();
        self.events.push(event);
    }

    /// Owes the world something and waits.
    pub(super) fn owe(&mut self, step: Step) -> Flow {
        self.emit(Event::Owed(step));
        Flow::Waits
    }

    pub(super) fn in_force(&self) -> InForce {
        InForce::of(&self.state.record.overrides, self.policy)
    }

    /// What the pass has seen.
    pub(super) fn seen(&self) -> Seen {
        self.state.pass.as_ref().expect("asked only while a pass is under way").seen.clone()
    }

    fn remove(&mut self, reason: Option<RemovalReason>, force: bool) -> Reason {
        let asked = match self.state.removal() {
            Some(removal) if removal.force || !force => return Reason::AlreadyGoing,
            // Force may still be added; the clock of the first request goes on.
            Some(removal) => Removal { force, ..*removal },
            None => Removal { asked: self.now, reason, force },
        };
        self.emit(Event::RemovalAsked(asked));
        Reason::RemovalAsked
    }

    fn reconcile(&mut self, scope: super::Scope, seen: &Seen) -> Reason {
        if self.state.pass.is_some() {
            return Reason::PassUnderWay;
        }
        self.emit(Event::PassBegan { at: self.now, scope, seen: Box::new(seen.clone()) });
        self.retry_cleanups();
        let flow = self.pass(scope);
        self.end(flow)
    }

    /// What could not be removed is tried again with every pass.
    fn retry_cleanups(&mut self) {
        let waiting = self.state.cleanups.iter().filter(|(_, cleanup)| matches!(cleanup, Cleanup::Waiting(_)));
        let waiting: Vec<String> = waiting.map(|(provider_id, _)| provider_id.clone()).collect();
        waiting.into_iter().for_each(|provider_id| self.emit(Event::CleanupOpened { provider_id }));
    }

    fn end(&mut self, flow: Flow) -> Reason {
        let (retry, reason) = match flow {
            Flow::Waits => return Reason::Waiting,
            Flow::Ends(retry, reason) | Flow::Through(retry, reason) => (retry, reason),
        };
        let next = self.now.after(retry.ms(self.policy));
        // What was begun and ended at once needs no state in between.
        if self.events.iter().any(|event| matches!(event, Event::PassBegan { .. })) {
            let is_passing = |event: &Event| matches!(event, Event::PassBegan { .. } | Event::RecheckArmed { .. });
            self.events.retain(|event| !is_passing(event));
        }
        let recheck = self.state.recheck;
        self.emit(Event::PassEnded { end: PassEnd { retry, reason }, next, recheck });
        reason
    }

    fn report(&mut self, pass: Version, report: &Report) -> Reason {
        if let Report::CleanedUp { provider_id, result } = report {
            return self.cleaned_up(provider_id, result.as_ref().err());
        }
        let Some(step) =
            self.state.pass.as_ref().filter(|under_way| under_way.id == pass).map(|pass| pass.step.clone())
        else {
            return Reason::StaleReport;
        };
        let flow = match (&step, report) {
            (Step::CreateToken(_), Report::TokenCreated(Answered::Failed)) => {
                Flow::Ends(Retry::Short, Reason::TokenNotCreated)
            }
            (Step::CreateToken(_), Report::TokenCreated(_)) => self.owe(Step::AskStatus),
            (Step::AskStatus, Report::Status(result)) => self.on_status(result),
            (Step::Create, Report::Created { result, last_known_state }) => self.on_created(result, last_known_state),
            // An unused token does no harm: it expires.
            (Step::DropToken(_), Report::TokenDropped(_)) => self.becomes_well(),
            (Step::WriteNode(_), Report::NodeWritten(answer)) => Self::on_node_written(*answer),
            (Step::MarkNode { is_forced, .. }, Report::NodeMarked(answer)) => self.on_node_marked(*is_forced, *answer),
            (Step::Drain { is_forced, drain }, Report::Drain(report)) => {
                self.on_drain(*is_forced, drain, &drain::Command::Report(report.clone()))
            }
            (Step::Drain { is_forced, drain }, Report::DrainDue) => {
                self.on_drain(*is_forced, drain, &drain::Command::Wake)
            }
            (Step::DeleteVm, Report::Deleted { result, last_known_state }) => {
                self.on_vm_deleted(result, last_known_state)
            }
            (Step::DeleteNode, Report::NodeDeleted(answer)) => self.on_node_deleted(*answer),
            _ => return Reason::StaleReport,
        };
        self.end(flow)
    }

    /// An instance that got another's node is gone, or could not be removed.
    fn cleaned_up(&mut self, provider_id: &str, error: Option<&CallError>) -> Reason {
        if self.state.cleanups.get(provider_id) != Some(&Cleanup::Trying) {
            return Reason::StaleReport;
        }
        let provider_id = provider_id.to_owned();
        let is_gone = error.is_none_or(|error| error.code == Some(crate::vocab::FaultCode::NotFound));
        let reason = if is_gone { Reason::StaleNode } else { Reason::CleanupFailed };
        let keeps = self.policy.readings.failed_cleanup == CleanupReading::UntilConfirmed;
        match error {
            Some(error) if keeps && !is_gone => {
                self.emit(Event::CleanupFailed { provider_id: provider_id.clone(), error: error.clone() });
            }
            _ => self.emit(Event::CleanupClosed { provider_id: provider_id.clone() }),
        }
        let waits = Step::CleanUp { provider_id };
        if self.state.pass.as_ref().is_none_or(|pass| pass.step != waits) {
            return reason;
        }
        self.end(Flow::Ends(Retry::Short, reason))
    }
}
