//! The machines of one set, counted as the journal goes on.

use std::collections::BTreeMap;

use crate::{
    contract::Fold,
    machine::{self, Health, Instance, phase},
    machine_deployment::Counts,
    machine_set::{Change, Member, Plan, SetSeen, Spec, State as SetState, plan},
    vocab::{Life, MachinePhase, Name, Outlook, Timestamp},
};

/// The machines of one set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    /// Since when each is one.
    since: BTreeMap<Name, Timestamp>,
    active: usize,
    failed: usize,
    ready: usize,
    /// Those that failed and are kept to be looked at.
    kept: usize,
}

/// Where a machine counts in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    phase: MachinePhase,
    is_kept: bool,
}

impl Place {
    pub(super) fn of(machine: &machine::State) -> Self {
        Self { phase: phase_in_set(machine), is_kept: machine.is_aside() }
    }
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

/// A machine, as its set knows it.
pub fn member(set: &Spec, name: &Name, since: Timestamp, machine: &machine::State) -> Member {
    let phase = phase_in_set(machine);
    let labels = machine.spec.as_ref().map(|spec| &spec.labels);
    let has = |(key, value): (&String, &String)| labels.is_some_and(|labels| labels.get(key) == Some(value));
    Member {
        name: name.to_string(),
        phase,
        priority: set.priorities.get(name).copied(),
        created: since,
        is_going: phase == MachinePhase::Terminating,
        has_failed_operation: phase == MachinePhase::Failed,
        is_protected: machine.protected,
        is_kept: machine.is_aside(),
        has_template_labels: set.template.labels.iter().all(has),
    }
}

impl Members {
    /// A machine belongs to it from now on.
    pub(super) fn joined(&mut self, name: &Name, place: Place, at: Timestamp) {
        self.since.insert(name.clone(), at);
        self.count(place, 1);
    }

    /// One of its machines stands elsewhere now.
    pub(super) fn moved(&mut self, from: Place, to: Place) {
        self.count(from, -1);
        self.count(to, 1);
    }

    /// A machine that stood there is gone.
    pub(super) fn lost(&mut self, name: &Name, place: Place) {
        self.since.remove(name);
        self.count(place, -1);
    }

    fn count(&mut self, Place { phase, is_kept }: Place, by: isize) {
        let counted = match phase {
            _ if is_kept => &mut self.kept,
            MachinePhase::Failed => &mut self.failed,
            MachinePhase::Terminating => return,
            _ => &mut self.active,
        };
        if phase == MachinePhase::Running && !is_kept {
            self.ready = self.ready.saturating_add_signed(by);
        }
        *counted = counted.saturating_add_signed(by);
    }

    /// The names of the newest, at most so many.
    pub(super) fn newest_of(&self, count: usize) -> Vec<&Name> {
        let mut names: Vec<(&Timestamp, &Name)> = self.since.iter().map(|(name, since)| (since, name)).collect();
        if count < names.len() {
            names.sort_unstable_by(|one, other| other.cmp(one));
            names.truncate(count);
        }
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// Whether it has none, not even one that goes.
    pub fn is_empty(&self) -> bool {
        self.since.is_empty()
    }

    /// How many run, or may come to run.
    pub fn active(&self) -> usize {
        self.active
    }

    /// How many it has, those that go included, and those not that are kept to be looked at.
    pub fn number(&self) -> u32 {
        u32::try_from(self.since.len().saturating_sub(self.kept)).unwrap_or(u32::MAX)
    }

    /// The one that came last.
    pub fn newest(&self) -> Option<&Name> {
        self.since.iter().max_by_key(|(_, since)| **since).map(|(name, _)| name)
    }

    /// How many stand where, and when the next of them will have been ready for long enough.
    pub(super) fn counts(
        &self,
        machines: &Fold<machine::State>,
        min_ready_ms: u64,
        now: Timestamp,
    ) -> (Counts, Option<Timestamp>) {
        let whole = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (machines_all, active, ready) = (self.number(), whole(self.active), whole(self.ready));
        let counts = Counts { machines: machines_all, active, ready, available: ready, failure: None };
        if min_ready_ms == 0 || ready == 0 {
            return (counts, None);
        }
        let ripe = self.since.keys().filter_map(|name| ripe_at(machines.get(name.as_str())?, min_ready_ms));
        let (ripe, unripe): (Vec<Timestamp>, Vec<Timestamp>) = ripe.partition(|at| *at <= now);
        (Counts { available: whole(ripe.len()), ..counts }, unripe.into_iter().min())
    }

    /// What a pass of their set has to do; none if nothing. All machines are looked at only if there is something.
    pub fn plan(&self, set: &SetState, is_cut_off: bool, machines: &Fold<machine::State>) -> Option<Plan> {
        let spec = set.spec.as_ref().filter(|_| !set.is_held())?;
        let is_going = set.life != Life::Alive;
        let replicas = if is_going { 0 } else { usize::try_from(spec.replicas).unwrap_or(usize::MAX) };
        let may_go = self.failed != 0 || (is_going && self.kept != 0);
        if !may_go && self.active == replicas {
            return None;
        }
        let member =
            |(name, since): (&Name, &Timestamp)| Some(member(spec, name, *since, machines.get(name.as_str())?));
        let members: Vec<Member> = self.since.iter().filter_map(member).collect();
        let seen = SetSeen { replicas, is_frozen: set.frozen.is_some(), is_cut_off, is_going };
        let plan = plan(&seen, &members);
        let is_something = !plan.stale.is_empty() || !matches!(plan.change, Change::Nothing | Change::HeldByFreeze);
        is_something.then_some(plan)
    }
}

/// When a machine will have been ready for so long; none if it is not ready.
fn ripe_at(machine: &machine::State, min_ready_ms: u64) -> Option<Timestamp> {
    match machine.health {
        Health::Well { since } if phase_in_set(machine) == MachinePhase::Running => Some(since.after(min_ready_ms)),
        _ => None,
    }
}
