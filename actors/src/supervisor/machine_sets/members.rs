//! The machines of one set, counted as the journal goes on.

use std::collections::BTreeMap;

use crate::{
    machine::{self, Instance, phase},
    machine_set::{Change, Member, Plan, SetSeen, State as SetState, plan},
    vocab::{Life, MachinePhase, Name, Outlook, Timestamp},
};

/// The machines of one set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    of: BTreeMap<Name, Seen>,
    active: usize,
    failed: usize,
}

/// A machine, as far as its set is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    phase: MachinePhase,
    since: Timestamp,
}

/// Where a machine stands for its set.
///
/// A machine that is being replaced, or drained for that, will run again under its name: it counts as one that comes. One
/// whose remains cannot be deleted will not by itself, so it counts as failed.
pub fn phase_in_set(machine: &machine::State) -> MachinePhase {
    let is_over = machine.effort().is_some_and(|effort| matches!(effort.outlook, Outlook::GivenUp { .. }));
    match (machine.life, &machine.instance, phase(machine)) {
        (Life::Alive, Instance::Deleting { .. }, _) if is_over => MachinePhase::Failed,
        (Life::Alive, _, MachinePhase::Terminating) => MachinePhase::Pending,
        (_, _, phase) => phase,
    }
}

impl Members {
    /// A machine is like this now.
    pub(super) fn saw(&mut self, name: &Name, machine: &machine::State, changed: Timestamp) {
        let phase = phase_in_set(machine);
        match self.of.get_mut(name) {
            Some(seen) => {
                let before = std::mem::replace(&mut seen.phase, phase);
                self.count(before, -1);
            }
            None => drop(self.of.insert(name.clone(), Seen { phase, since: changed })),
        }
        self.count(phase, 1);
    }

    /// A machine is gone.
    pub(super) fn lost(&mut self, name: &Name) {
        if let Some(seen) = self.of.remove(name) {
            self.count(seen.phase, -1);
        }
    }

    fn count(&mut self, phase: MachinePhase, by: isize) {
        let counted = match phase {
            MachinePhase::Failed => &mut self.failed,
            MachinePhase::Terminating => return,
            _ => &mut self.active,
        };
        *counted = counted.saturating_add_signed(by);
    }

    /// Whether it has none, not even one that goes.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// How many run, or may come to run.
    pub fn active(&self) -> usize {
        self.active
    }

    /// How many run.
    pub fn running(&self) -> usize {
        self.of.values().filter(|seen| seen.phase == MachinePhase::Running).count()
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.of.keys()
    }

    /// What a pass of their set has to do; none if nothing. All machines are looked at only if there is something.
    pub fn plan(&self, set: &SetState) -> Option<Plan> {
        let spec = set.spec.as_ref()?;
        let is_going = set.life != Life::Alive;
        let replicas = if is_going { 0 } else { usize::try_from(spec.replicas).unwrap_or(usize::MAX) };
        if self.failed == 0 && self.active == replicas {
            return None;
        }
        let member = |(name, seen): (&Name, &Seen)| Member {
            name: name.to_string(),
            phase: seen.phase,
            priority: spec.priorities.get(name).map(ToString::to_string),
            created: seen.since,
            is_going: seen.phase == MachinePhase::Terminating,
            has_failed_operation: seen.phase == MachinePhase::Failed,
            has_template_labels: true,
        };
        let members: Vec<Member> = self.of.iter().map(member).collect();
        let plan = plan(&SetSeen { replicas, is_frozen: false, is_going }, &members);
        let is_something = !plan.stale.is_empty() || plan.change != Change::Nothing;
        is_something.then_some(plan)
    }
}
