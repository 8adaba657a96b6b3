//! The removal: look, drain, remove instance and node, let go. One step a pass, so that each stands in the journal before
//! the next begins.

use super::{
    Answered, CallError, Event, Found, Reason, RemovalStep, Removing, Retry, Scope, Step,
    decide::{Flow, Turn},
    phase,
};
use crate::{
    machine::{
        drain,
        rules::removal::{self, Removal, RemovalReason},
    },
    vocab::FaultCode,
};

impl Turn<'_> {
    /// Whether the pass is one of a removal.
    pub(super) fn is_removing(&self) -> bool {
        match self.state.pass.as_ref().map(|pass| pass.scope) {
            Some(Scope::Removal) => true,
            Some(Scope::Whole) => self.state.removal().is_some(),
            Some(Scope::Class | Scope::Creation | Scope::Health | Scope::Sync) | None => false,
        }
    }

    pub(super) fn removal(&mut self) -> Flow {
        if !self.state.record.is_held {
            return Flow::Ends(Retry::Long, Reason::NotHeld);
        }
        let Removing::Step { step: Some(step), .. } = self.state.removing else {
            self.emit(Event::RemovalBegan { at: self.now });
            return Flow::Ends(Retry::Short, Reason::RemovalBegan);
        };
        match step {
            RemovalStep::GetVmStatus => self.owe(Step::AskStatus),
            RemovalStep::Drain => self.drain(),
            RemovalStep::DeleteVm => self.owe(Step::DeleteVm),
            RemovalStep::DeleteNode if self.state.node().is_none() => {
                self.moves(RemovalStep::RemoveFinalizer, Reason::NodeDeleted)
            }
            RemovalStep::DeleteNode => self.owe(Step::DeleteNode),
            RemovalStep::RemoveFinalizer => {
                self.emit(Event::LetGo);
                Flow::Ends(Retry::Long, Reason::LetGo)
            }
        }
    }

    fn moves(&mut self, step: RemovalStep, reason: Reason) -> Flow {
        self.emit(Event::RemovalMoved { step });
        Flow::Ends(Retry::Short, reason)
    }

    fn stays(&mut self, error: Option<&CallError>, retry: Retry, reason: Reason) -> Flow {
        self.emit(Event::RemovalFailed { error: error.cloned() });
        Flow::Ends(retry, reason)
    }

    pub(super) fn on_vm_status(&mut self, result: &Result<Found, CallError>) -> Flow {
        let Err(error) = result else {
            return self.moves(RemovalStep::Drain, Reason::VmFound);
        };
        match error.code {
            Some(FaultCode::NotFound) => self.moves(RemovalStep::DeleteNode, Reason::VmMissing),
            Some(FaultCode::Unimplemented) => self.moves(RemovalStep::Drain, Reason::VmUnknown),
            _ => {
                let retry = match (error.is_transient(), error.code) {
                    (true, _) => Retry::Short,
                    (false, Some(_)) => Retry::Medium,
                    (false, None) => Retry::Long,
                };
                self.stays(Some(error), retry, Reason::StatusFailed)
            }
        }
    }

    /// The removal as it was asked for; a part of a pass may be tried without one.
    fn asked(&self) -> Removal {
        let now = Removal { asked: self.now, reason: None, force: false };
        self.state.removal().copied().unwrap_or(now)
    }

    fn drain(&mut self) -> Flow {
        let is_in_vain = removal::is_drain_in_vain(&self.state.record.conditions, &self.policy.drain, self.now);
        if self.state.node().is_none() || is_in_vain {
            return self.moves(RemovalStep::DeleteVm, Reason::DrainSkipped);
        }
        let (asked, reading) = (self.asked(), self.policy.readings.removal);
        let timeout_ms = self.in_force().drain_timeout_ms;
        let is_forced = removal::is_forced(&asked, &self.state.record.labels, timeout_ms, self.now, reading);
        let reason: RemovalReason = removal::reason(&asked, phase(&self.state), reading);
        if self.seen().node.is_none() {
            return self.begin_drain(is_forced);
        }
        self.owe(Step::MarkNode { is_forced, reason })
    }

    pub(super) fn on_node_marked(&mut self, is_forced: bool, answer: Answered) -> Flow {
        if answer == Answered::Failed && !is_forced {
            return self.stays(None, Retry::Short, Reason::NodeNotMarked);
        }
        self.begin_drain(is_forced)
    }

    /// The plan is the policy's, within what is in force for this machine.
    fn begin_drain(&mut self, is_forced: bool) -> Flow {
        let in_force = self.in_force();
        let timeout_ms = if is_forced { self.policy.drain.forced_timeout_ms } else { in_force.drain_timeout_ms };
        let evictions_max = if is_forced { 1 } else { in_force.evictions_in_drain };
        let plan = drain::Plan { is_forced, timeout_ms, evictions_max, ..drain::Plan::new(self.policy, self.now) };
        let needs_cordon = self.seen().node.is_some_and(|node| !node.is_cordoned);
        let drain = drain::State::default();
        self.emit(Event::Owed(Step::Drain { is_forced, drain: drain.clone() }));
        self.on_drain(is_forced, &drain, &drain::Command::Begin { plan: Box::new(plan), needs_cordon })
    }

    pub(super) fn on_drain(&mut self, is_forced: bool, drain: &drain::State, command: &drain::Command) -> Flow {
        let mut after = drain.clone();
        for event in drain::decide(drain, command, self.now) {
            after.evolve(&event);
            self.emit(Event::Drain(event));
        }
        match after.outcome() {
            None => Flow::Waits,
            Some(drain::Outcome::Done) => self.moves(RemovalStep::DeleteVm, Reason::Drained),
            Some(_) if is_forced => self.moves(RemovalStep::DeleteVm, Reason::DrainForced),
            Some(_) => self.stays(None, Retry::Short, Reason::DrainFailed),
        }
    }

    pub(super) fn on_vm_deleted(&mut self, result: &Result<(), CallError>, last_known_state: &str) -> Flow {
        self.emit(Event::StateToldByProvider { last_known_state: last_known_state.to_owned() });
        match result {
            Ok(()) => self.moves(RemovalStep::DeleteNode, Reason::VmDeleted),
            Err(error) if error.code == Some(FaultCode::NotFound) => {
                self.moves(RemovalStep::DeleteNode, Reason::VmMissing)
            }
            Err(error) if error.is_transient() => self.stays(Some(error), Retry::Short, Reason::DeleteFailed),
            Err(error) => self.stays(Some(error), Retry::Long, Reason::DeleteFailed),
        }
    }

    pub(super) fn on_node_deleted(&mut self, answer: Answered) -> Flow {
        match answer {
            Answered::Ok | Answered::Gone => self.moves(RemovalStep::RemoveFinalizer, Reason::NodeDeleted),
            Answered::Failed => self.stays(None, Retry::Short, Reason::NodeDeleteFailed),
        }
    }
}
