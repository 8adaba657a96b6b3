//! Machines, and what makes them by the number.

use bailiwick_actors::{
    contract::{Fold, Folded},
    machine::{self, Instance, Node},
    machine_class, machine_deployment, machine_set,
    vocab::{Effort, Life, Timestamp},
};
use bailiwick_journal::StreamId;

use super::{Obstacle, Portrait, Shown};
use crate::view::{
    Fleet,
    blockers::of_machine,
    declared::{self, of},
    describe::{agent_row, conditions_of},
    diff::facts,
    machine_classes::machine_class_row,
    machine_deployments::machine_deployment_row,
    machine_sets::machine_set_row,
    portrait::Row,
    rows::machine_row,
    told::Told,
    unmet::Unmet,
    why_not::machine_missing,
    why_not_classes::of_machine_class,
    why_not_sets::{of_machine_deployment, of_machine_set},
};

impl Shown for machine::State {
    const STATUSES: &'static [&'static str] = &[
        "waiting",
        "creating",
        "starting",
        "ready",
        "unhealthy",
        "stale",
        "lost",
        "failed",
        "held",
        "kept",
        "disowned",
        "draining",
        "dying",
        "deleting",
    ];
    const GOALS: &'static [&'static str] = &["ready", "running", "replaced", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.machines)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn is_protected(&self) -> bool {
        self.protected
    }

    fn effort(&self) -> Option<&Effort> {
        Self::effort(self)
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let spec = folded.state.spec.as_deref();
        Portrait {
            annotations: spec.map(|spec| spec.annotations.clone()).unwrap_or_default(),
            agent: folded.state.joined.as_ref().map(agent_row),
            conditions: conditions_of(&folded.state),
            ..Portrait::of(
                Row::Machine(Box::new(machine_row(fleet, stream.name(), folded))),
                of(spec, declared::machine),
            )
        }
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::machine(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn since(&self, _fleet: &Fleet, _stream: &StreamId) -> Option<Timestamp> {
        match (&self.instance, &self.node) {
            (Instance::Lost { since, .. }, _) => Some(*since),
            (_, Node::Stale { last_seen, .. }) => Some(*last_seen),
            _ => Self::effort(self).map(|effort| effort.since).or(self.hold.as_ref().map(|hold| hold.since)),
        }
    }

    fn blocked(&self, fleet: &Fleet, stream: &StreamId) -> Vec<Obstacle> {
        of_machine(fleet, stream, self)
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        machine_missing(fleet, stream, goal)
    }
}

impl Shown for machine_set::State {
    const STATUSES: &'static [&'static str] = &["changing", "waiting", "at-rest", "held", "frozen", "removing"];
    const GOALS: &'static [&'static str] = &["ready", "at-its-number", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.machine_sets)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn is_protected(&self) -> bool {
        self.protected
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::MachineSet(machine_set_row(fleet, stream.name(), folded));
        Portrait::of(row, of(folded.state.spec.as_ref(), declared::machine_set))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::machine_set(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    /// Since when its first machine that is not ready is as it is: the one that the set's row names.
    fn since(&self, fleet: &Fleet, stream: &StreamId) -> Option<Timestamp> {
        let of_set = |state: &machine::State| {
            let its = state.spec.as_ref().and_then(|spec| spec.set.as_ref());
            state.life.exists() && !state.is_aside() && its.is_some_and(|its| its.as_str() == stream.name())
        };
        let mut machines = fleet.machines.iter();
        let (_, unready) = machines.find(|(_, folded)| of_set(&folded.state) && !folded.state.is_ready())?;
        Some(unready.state.since(fleet, stream).unwrap_or(unready.changed))
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        of_machine_set(fleet, stream.name(), goal)
    }
}

impl Shown for machine_deployment::State {
    const STATUSES: &'static [&'static str] = &["progressing", "complete", "waiting", "paused", "stuck", "removing"];
    const GOALS: &'static [&'static str] = &["ready", "at-its-number", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.machine_deployments)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn is_protected(&self) -> bool {
        self.protected
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = machine_deployment_row(fleet, stream.name(), folded);
        let conditions = row.conditions.clone();
        let spec = of(folded.state.spec.as_ref(), declared::machine_deployment);
        Portrait { conditions, ..Portrait::of(Row::MachineDeployment(Box::new(row)), spec) }
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::machine_deployment(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        of_machine_deployment(fleet, stream.name(), goal)
    }
}

impl Shown for machine_class::State {
    const STATUSES: &'static [&'static str] = &["unused", "in-use", "removing"];
    const GOALS: &'static [&'static str] = &["ready", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.machine_classes)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::MachineClass(Box::new(machine_class_row(fleet, stream.name(), folded)));
        Portrait::of(row, of(folded.state.content.as_deref(), declared::machine_class))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::machine_class(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn status_then(&self) -> String {
        format!("revision {}, {}", self.revision, Self::status(self))
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        of_machine_class(fleet, stream, goal)
    }
}
