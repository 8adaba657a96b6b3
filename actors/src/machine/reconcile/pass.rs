//! A whole pass: what is looked at, in which order.

use super::{
    Event, Instance, Reason, Retry, Scope,
    decide::{Flow, Turn},
    phase,
};
use crate::{
    machine::rules::class::{self, ClassFault},
    policy::ClassReading,
    vocab::MachinePhase,
};

impl Turn<'_> {
    pub(super) fn pass(&mut self, scope: Scope) -> Flow {
        match scope {
            Scope::Whole => self.whole(),
            Scope::Class => self.class(false).unwrap_or(Flow::Through(Retry::Long, Reason::AllWell)),
            Scope::Creation => self.creation(),
            Scope::Health => self.health(),
            Scope::Sync => self.sync(),
            Scope::Removal => self.removal(),
        }
    }

    fn whole(&mut self) -> Flow {
        let is_going = self.state.removal().is_some();
        if self.seen().is_frozen && !is_going {
            return Flow::Ends(Retry::Long, Reason::Frozen);
        }
        if let Some(ends) = self.class(is_going) {
            return ends;
        }
        if is_going {
            return self.removal();
        }
        if !self.state.record.is_held {
            self.emit(Event::Held);
            return Flow::Ends(Retry::Short, Reason::Held);
        }
        self.parts()
    }

    /// Ends the pass if the machine's class cannot be used.
    fn class(&self, is_going: bool) -> Option<Flow> {
        let record = &self.state.record;
        if record.class_kind.is_empty() || record.class.is_empty() {
            return Some(Flow::Ends(Retry::Long, Reason::NoClassNamed));
        }
        let has_recorded = record.recorded_class.is_some();
        let does_without = self.policy.readings.missing_class == ClassReading::UsesRecorded && is_going && has_recorded;
        match class::validated(&self.seen().class) {
            Ok(_) => None,
            Err(ClassFault::Missing) if does_without => None,
            Err(ClassFault::Missing) => Some(Flow::Ends(Retry::Long, Reason::ClassMissing)),
            Err(ClassFault::NotKept) => Some(Flow::Ends(Retry::Short, Reason::ClassNotKept)),
            Err(ClassFault::Incomplete) => Some(Flow::Ends(Retry::Short, Reason::ClassIncomplete)),
        }
    }

    /// Health, then the node's template, then the making of the instance: each has its turn if those before it are through.
    fn parts(&mut self) -> Flow {
        let mut so_far = Reason::AllWell;
        if self.state.node().is_some() && phase(&self.state) != MachinePhase::Blank {
            match self.health() {
                Flow::Through(_, reason) => so_far = reason,
                waits_or_ends => return waits_or_ends,
            }
            match self.sync() {
                Flow::Through(..) => (),
                waits_or_ends => return waits_or_ends,
            }
        }
        let is_unmade = matches!(phase(&self.state), MachinePhase::Blank | MachinePhase::CrashLoopBackOff);
        if self.state.record.provider_id.is_empty() || is_unmade {
            return self.creation();
        }
        Flow::Through(Retry::Long, so_far)
    }

    /// Whether the making of the instance is over or has not begun: then it may begin to join.
    pub(super) fn may_join(&self) -> bool {
        matches!(phase(&self.state), MachinePhase::Blank | MachinePhase::CrashLoopBackOff)
            && !matches!(self.state.instance, Instance::Alone { .. })
    }
}
