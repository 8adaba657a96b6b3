//! What is wished for: the declared part of a machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use crate::{
    storage_rules::StorageClaim,
    vocab::{Name, Overrides, SizeMib, SpaceWish, Taint, Zone},
};

type Texts = BTreeMap<String, String>;

/// A machine as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Which provider makes it. Cannot change while the machine lives.
    pub provider: Name,
    /// What runs on it. May change at any time; the agent follows.
    pub workloads: Vec<Workload>,
    /// For people and selectors. May change at any time.
    pub labels: Texts,
    /// For people and programs; nothing is selected by them. May change at any time.
    pub annotations: Texts,
    /// What keeps workloads of others away from its node.
    pub taints: Vec<Taint>,
    /// Told to the provider, which writes them on what it makes.
    pub tags: Texts,
    /// What its instance has to have.
    pub constraints: Constraints,
    /// Where its instance is to be, in the provider's words.
    pub placement: Option<Placement>,
    /// What its instance boots.
    pub base: Option<Base>,
    /// What it is there for; none means the default, see [`Spec::jobs_in_force`].
    pub jobs: BTreeSet<Job>,
    /// The machine that it stands in.
    pub parent: Option<Name>,
    /// The zone that its instance is made in, whatever happens there; none leaves the choice to the node or the provider.
    pub zone: Option<Zone>,
    /// The label by whose value it is kept apart from others: those with the same value are spread over the zones.
    pub spread: Option<String>,
    /// What it is made from.
    pub class: Option<Name>,
    /// The machine set that it belongs to. Cannot change while the machine lives.
    pub set: Option<Name>,
    /// How patient one is with it, where that is not what the policy says. May change at any time; times that run go on.
    pub patience: Overrides,
    /// The storage that it gets for itself, as a machine of a set. Cannot change while the machine lives. (What a machine of
    /// its own asks for is declared beside it.)
    pub storage: Vec<StorageClaim>,
}

/// What an instance has to have. Source of the words: Juju's constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraints {
    /// `amd64`, `arm64`.
    pub arch: Option<String>,
    /// At least so many.
    pub cores: Option<u32>,
    pub memory: Option<SizeMib>,
    pub root_disk: Option<SizeMib>,
    /// The provider's own word for a kind of instance.
    pub instance_type: Option<String>,
    /// The zones that it may be in; none means any.
    pub zones: BTreeSet<Zone>,
    /// The spaces that it has to reach, and those that it must not.
    pub spaces: BTreeSet<SpaceWish>,
}

/// Where an instance is to be: `zone=b`, or what only the provider understands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub key: String,
    pub value: String,
}

/// What an instance boots: `ubuntu@22.04/stable`. Source: Juju's bases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    pub os: String,
    pub channel: String,
}

/// What a machine is there for. Source: Juju's machine jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Job {
    HostUnits,
    ManageModel,
}

/// A process that the machine's agent keeps running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Unique within the machine.
    pub name: Name,
    /// Program and arguments, run without a shell; at least one element.
    pub command: Vec<String>,
    /// Added to the agent's clean environment. Not for secrets: it is journaled.
    pub env: BTreeMap<String, String>,
    /// The volumes that it uses: it is told of these only, and when its machine is drained, they leave before the next
    /// workload ends. None means that nothing is known of them: it is told of all.
    pub volumes: BTreeSet<Name>,
    /// When its machine is drained, it ends after those of lower ones.
    pub priority: i32,
    /// How long it may take to end once it is asked to; then it is killed. None means [`Workload::GRACE_MS`].
    pub grace_ms: Option<u64>,
    /// The application that it is of: that one's disruption budget has to have room before it ends. None means those of all
    /// applications on its machine.
    pub application: Option<Name>,
}

impl Workload {
    /// How long a workload may take to end that says nothing of that. Ours: enough for what is written to be stopped.
    pub const GRACE_MS: u64 = 5_000;

    /// One of which nothing is said but what it runs.
    pub fn new(name: Name, command: Vec<String>) -> Self {
        let (env, volumes) = (BTreeMap::new(), BTreeSet::new());
        Self { name, command, env, volumes, priority: 0, grace_ms: None, application: None }
    }

    /// How long it may take to end.
    pub fn grace_ms(&self) -> u64 {
        self.grace_ms.unwrap_or(Self::GRACE_MS)
    }
}

/// Who says in which zone an instance is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZoneRule<'a> {
    /// The provider, as it likes.
    Provider,
    /// The declaration.
    Declared(Zone),
    /// The machines supervisor: one of the allowed zones, apart from the others of its group.
    Spread { allowed: Option<&'a BTreeSet<Zone>>, group: String },
}

impl Placement {
    /// The key that names a zone.
    pub const ZONE: &str = "zone";
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.os, self.channel)
    }
}

impl Job {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::HostUnits, Self::ManageModel];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostUnits => "host-units",
            Self::ManageModel => "manage-model",
        }
    }
}

impl Spec {
    /// A machine of this provider, with nothing said beyond that.
    pub fn with_provider(provider: Name) -> Self {
        Self {
            provider,
            workloads: Vec::new(),
            labels: Texts::new(),
            annotations: Texts::new(),
            taints: Vec::new(),
            tags: Texts::new(),
            constraints: Constraints::default(),
            placement: None,
            base: None,
            jobs: BTreeSet::new(),
            parent: None,
            zone: None,
            spread: None,
            class: None,
            set: None,
            patience: Overrides::default(),
            storage: Vec::new(),
        }
    }

    /// What it is there for: what is declared, or else to host units. Jobs that are given replace the default, they are
    /// not added to it. Source: Juju's provisioner.
    pub fn jobs_in_force(&self) -> BTreeSet<Job> {
        if self.jobs.is_empty() { BTreeSet::from([Job::HostUnits]) } else { self.jobs.clone() }
    }

    /// Who says in which zone its instance is made.
    pub fn zone_rule(&self) -> ZoneRule<'_> {
        let placed = self.placement.as_ref().filter(|placement| placement.key == Placement::ZONE);
        let declared = self.zone.clone().or_else(|| placed.map(|placement| Zone(placement.value.clone())));
        let allowed = Some(&self.constraints.zones).filter(|zones| !zones.is_empty());
        match (declared, self.group(), allowed) {
            (Some(zone), _, _) => ZoneRule::Declared(zone),
            (None, None, None) => ZoneRule::Provider,
            (None, group, allowed) => ZoneRule::Spread { allowed, group: group.unwrap_or_default() },
        }
    }

    /// The machines that it is to be apart from: those of its set, or those with the same value of a label.
    fn group(&self) -> Option<String> {
        let of_set = self.set.as_ref().map(|set| format!("machine-set/{set}"));
        let by_label = || {
            let label = self.spread.as_ref()?;
            Some(format!("{label}={}", self.labels.get(label)?))
        };
        of_set.or_else(by_label)
    }
}
