//! What is true of a machine now.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Aside, ClassSnapshot, Drain, Health, Joined, Progress, RemovalReason, Site, Spec, Start, VolumeZones,
    juju::Record,
    rules::{InForce, Overrides},
};
use crate::{
    policy::Document,
    ports::{Condition, MachineInstance},
    vocab::{EffectId, Effort, InstanceId, Life, Name, Outlook, Timestamp, Uid},
};

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Arc<Spec>>,
    pub instance: Instance,
    /// What its provider told last about the call that is under way.
    pub progress: Option<Progress>,
    /// Where its next instance is made.
    pub site: Site,
    /// What its instances are made from.
    pub class_snapshot: ClassSnapshot,
    /// With what its next instance is started.
    pub start: Start,
    /// The applications of which a unit stands on it.
    pub units: BTreeSet<Name>,
    /// The machines that stand in it, or are about to.
    pub containers: BTreeSet<Name>,
    pub node: Node,
    /// Since when its node says without a break that it is not ready, or read-only.
    pub unfit_since: Option<Timestamp>,
    /// Its agent has joined, since it has this instance.
    pub joined: Option<Joined>,
    pub health: Health,
    /// Its workloads are to end, or have ended, before its instance goes.
    pub drain: Option<Drain>,
    /// The volumes that are attached here, or about to be.
    pub attachments: BTreeSet<Name>,
    /// Where those are, as far as that is known.
    pub volume_zones: VolumeZones,
    /// The replica sets that count on it.
    pub engaged: BTreeSet<Name>,
    /// The filesystems that are mounted here, or about to be.
    pub mounts: BTreeSet<Name>,
    /// The operator's hand on it: nothing happens to it by itself.
    pub hold: Option<Hold>,
    /// Why it goes, if it does and the one who ordered that gave a reason.
    pub going: Option<RemovalReason>,
    /// Since when it goes; none before its removal was asked for.
    pub going_since: Option<Timestamp>,
    /// Its instance stays when it goes.
    pub keeps_instance: bool,
    /// The instance that was taken over at this version: it has the effect id that it was made under, no matter who asked for it.
    pub adopted: Option<(Version, EffectId)>,
    /// Instances that bear its name and are not its own: they are being removed.
    pub strays: BTreeMap<EffectId, Stray>,
    /// Instances that an operator let go of: nobody removes them.
    pub kept: BTreeSet<EffectId>,
    /// The intent whose instance was seen, and was ours.
    pub proven: Option<Version>,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// That it is kept as it is, out of service, or was and waits to be told to go.
    pub aside: Option<Aside>,
    /// Effect ids under which stands what another control plane has started: nobody touches it.
    pub of_others: BTreeSet<EffectId>,
    /// What Juju's clients tell of it; none before they told anything.
    pub record: Option<Box<Record>>,
}

/// Why nothing happens to a machine by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The operator's words.
    pub reason: String,
    pub since: Timestamp,
    /// It ends by itself then; none means that an operator ends it.
    pub until: Option<Timestamp>,
    /// What would have happened meanwhile.
    pub withheld: BTreeSet<Step>,
}

/// What happens to a machine by itself, and not while it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Step {
    /// The next attempt at what failed.
    Attempt,
    /// The remains of its instance would have been deleted, so that another one can be made.
    Replace,
    /// Another instance would have been made.
    Create,
    /// An instance that bears its name and is not its own would have been removed.
    RemoveStray,
    /// It would have been given up, and its instance replaced.
    GiveUp,
}

/// An instance that bears a machine's name and is not its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stray {
    pub provider: Name,
    /// What the provider calls it, if that was ever seen.
    pub instance: Option<InstanceId>,
    pub effort: Effort,
}

/// What the provider runs for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instance {
    #[default]
    None,
    Creating(Effort),
    Running {
        /// The version of the event that opened the intent it was made under.
        intent: Version,
        instance: MachineInstance,
        since: Timestamp,
    },
    /// Gone without our doing, and the policy says to leave it so.
    Lost {
        intent: Version,
        since: Timestamp,
    },
    /// What was made under `of` is being removed.
    Deleting {
        of: Version,
        effort: Effort,
    },
}

/// What its agent reports from inside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    /// Nothing yet from this instance.
    #[default]
    Silent,
    Reporting {
        since: Timestamp,
        conditions: BTreeMap<String, Condition>,
    },
    /// Nothing for too long.
    Stale {
        last_seen: Timestamp,
        conditions: BTreeMap<String, Condition>,
    },
}

impl State {
    /// Whether nothing hangs on it.
    pub(super) fn is_free(&self) -> bool {
        !self.holds_storage() && self.engaged.is_empty() && self.containers.is_empty()
    }

    /// The time-outs, counts and conditions that are in force for it.
    pub fn in_force(&self, policy: &Document) -> InForce {
        let none = Overrides::default();
        InForce::of(self.spec.as_ref().map_or(&none, |spec| &spec.patience), &policy.reconciliation)
    }

    /// The machine's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// The effect id of the instance that runs, if one does.
    pub fn running_effect(&self) -> Option<EffectId> {
        match &self.instance {
            Instance::Running { instance, .. } => Some(instance.effect),
            Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
        }
    }

    /// The version under which it has, or may have, an instance now.
    pub fn intent(&self) -> Option<Version> {
        match &self.instance {
            Instance::None => None,
            Instance::Creating(effort) => Some(effort.intent),
            Instance::Running { intent, .. } | Instance::Lost { intent, .. } => Some(*intent),
            Instance::Deleting { of, .. } => Some(*of),
        }
    }

    /// The effect id of what was made, or taken over, at a version.
    pub fn effect_of(&self, journal: Uuid, stream: &StreamId, intent: Version) -> EffectId {
        match self.adopted {
            Some((at, effect)) if at == intent => effect,
            _ => EffectId::of(journal, stream, intent),
        }
    }

    /// The instance that is its own: that it has, or may have, or is getting rid of.
    pub fn own(&self, journal: Uuid, stream: &StreamId) -> Option<EffectId> {
        let intended = || self.intent().map(|intent| self.effect_of(journal, stream, intent));
        self.running_effect().or_else(intended)
    }

    /// All instances that are no orphans because of it: its own, those it is removing, those that an operator kept, and those
    /// of another control plane.
    pub fn claims(&self, journal: Uuid, stream: &StreamId) -> BTreeSet<EffectId> {
        let left_alone = self.kept.iter().chain(&self.of_others);
        self.own(journal, stream).into_iter().chain(self.strays.keys().copied()).chain(left_alone.copied()).collect()
    }

    /// Whether something would have happened to it and did not, because it is held.
    pub fn is_held_back(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| !hold.withheld.is_empty())
    }

    /// Whether it is well, and all else that it reports is as it should be, too: what no policy watches, such as a workload that
    /// has ended, is no reason to replace it, but it is not ready with that.
    pub fn is_ready(&self) -> bool {
        if self.is_external() {
            let is_there = self.life == Life::Alive && matches!(self.instance, Instance::Running { .. });
            return is_there && self.aside.is_none() && self.said_status() == Some("started");
        }
        let Node::Reporting { conditions, .. } = &self.node else {
            return false;
        };
        self.life == Life::Alive
            && matches!(self.instance, Instance::Running { .. })
            && matches!(self.health, Health::Well { .. })
            && conditions.values().all(|condition| condition.healthy.is_yes())
            && !self.lacks_components()
            && self.aside.is_none()
    }

    /// The conditions of its agent's last report that are not healthy, whether or not it is replaced for them.
    pub fn bad_conditions(&self) -> impl Iterator<Item = &Condition> {
        let reported = match &self.node {
            Node::Reporting { conditions, .. } => Some(conditions),
            Node::Silent | Node::Stale { .. } => None,
        };
        reported.into_iter().flat_map(BTreeMap::values).filter(|condition| !condition.healthy.is_yes())
    }

    /// The work in the outside world that is under way or waits.
    pub fn effort(&self) -> Option<&Effort> {
        match &self.instance {
            Instance::Creating(effort) | Instance::Deleting { effort, .. } => Some(effort),
            Instance::None | Instance::Running { .. } | Instance::Lost { .. } => None,
        }
    }

    /// One word for people: `running`, `creating`, `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.instance, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Instance::Creating(effort) | Instance::Deleting { effort, .. }, _)
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Instance::Creating(_), Life::Alive) if self.unstartable().is_some() || self.is_external() => "waiting",
            (Instance::Creating(_), _) => "creating",
            _ if self.is_draining() => "draining",
            _ if self.is_aside() => "kept",
            (Instance::Deleting { .. }, _) => "deleting",
            (_, Life::Dying) => "dying",
            (Instance::Lost { .. }, _) => "lost",
            (Instance::Running { .. }, _) if self.is_external() => match self.said_status() {
                Some("started") => "ready",
                Some("error") => "unhealthy",
                _ => "starting",
            },
            (Instance::Running { .. }, _) => match &self.node {
                Node::Silent => "starting",
                Node::Stale { .. } => "stale",
                Node::Reporting { .. } if self.is_ready() => "ready",
                Node::Reporting { .. } if self.lacks_components() => "starting",
                Node::Reporting { .. } => "unhealthy",
            },
            (Instance::None, _) if self.is_held_back() => "held",
            // An instance is asked for with the declaration, so there is none only after an operator let go of it.
            (Instance::None, _) => "disowned",
        }
    }
}
