//! The settings that decisions depend on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Reconciliation, Zones};
use crate::vocab::{HarvestMode, Name, Windows};

/// Every setting, with its unit in its name. All periods are data, never constants in code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    pub machines: Machines,
    pub storage: Storage,
    #[serde(default)]
    pub harvest: Harvest,
    #[serde(default)]
    pub reconciliation: Reconciliation,
    #[serde(default)]
    pub retries: Retries,
    #[serde(default)]
    pub zones: Zones,
    #[serde(default)]
    pub replica_sets: ReplicaSets,
    #[serde(default)]
    pub rollouts: Rollouts,
}

/// Settings for replacing machines that work by others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rollouts {
    /// When a deployment that says nothing else may do so. Default at any time.
    pub windows: Windows,
}

/// Settings for instances that nobody needs, or nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Harvest {
    /// Which instances are stopped. Default destroyed. Source: Juju's provisioner-harvest-mode.
    pub mode: HarvestMode,
    /// In how many complete lists an instance has to be seen unknown before it is stopped. Default 2.
    pub sightings_min: u32,
    /// How long it has to have been unknown. Default 5 min.
    pub grace_ms: u64,
}

impl Default for Harvest {
    fn default() -> Self {
        Self { mode: HarvestMode::Destroyed, sightings_min: 2, grace_ms: 300_000 }
    }
}

/// Settings for replica sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplicaSets {
    /// Who becomes a member, who votes, and by which steps. Default ours.
    pub rules: PeerRules,
}

/// By whose rules a replica set is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PeerRules {
    /// Ours: safe on today's servers.
    #[default]
    Default,
    /// What Juju's peer grouper answered in February 2019, its loss of ids in sorting mended.
    #[serde(rename = "juju-2019")]
    Juju2019,
    /// As in 2019, but members of machines that are gone leave even if they vote.
    #[serde(rename = "juju-2.9")]
    Juju29,
    /// As in 2.9, and a dead machine counts as gone.
    #[serde(rename = "juju-3.x")]
    Juju3,
}

impl PeerRules {
    pub const ALL: [Self; 4] = [Self::Default, Self::Juju2019, Self::Juju29, Self::Juju3];

    /// As a manifest names them.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Juju2019 => "juju-2019",
            Self::Juju29 => "juju-2.9",
            Self::Juju3 => "juju-3.x",
        }
    }
}

impl fmt::Display for PeerRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Settings for trying again what failed.
///
/// The periods of the second way are `retry_short_ms`, `retry_medium_ms` and `retry_long_ms` of [`Reconciliation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retries {
    /// How long is waited before the next attempt at a machine. Default backoff: what all journals before this setting were
    /// decided by.
    pub by: RetryBy,
    /// How many attempts in a row have to end in the same fault of a permanent class (invalid-argument, out-of-range,
    /// unimplemented, permission-denied) before making or attaching something is given up; 0 means no limit. Default 3: a
    /// provider may be wrong once. What is to go is never given up.
    pub permanent_max: u32,
    /// Which failures of a permanent class end the trying. Default each.
    pub judged: Judged,
    /// What ends the attempts at making an instance. Default attempts.
    pub give_up_by: GiveUpBy,
    /// How long after the last attempt of a series a new one begins by itself, where what it failed with may pass; 0 means
    /// never. Default 30 min, the longest wait of storage. What was believed to be impossible is left to an operator.
    pub again_ms: u64,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            by: RetryBy::default(),
            permanent_max: 3,
            judged: Judged::default(),
            give_up_by: GiveUpBy::default(),
            again_ms: 1_800_000,
        }
    }
}

/// Which failure says that trying again cannot help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// Each: what was refused for good `permanent_max` times in a row is given up.
    #[default]
    Each,
    /// The first one of a series alone: if it was refused for good, that is the end; what follows another failure uses up
    /// attempts, whatever it is. Source: Juju's provisioner until August 2016.
    First,
}

/// What the wait before the next attempt follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RetryBy {
    /// How often it failed: the wait doubles, from `retry_first_ms` up to `retry_max_ms` of [`Machines`].
    #[default]
    Backoff,
    /// What it failed with: short after what may soon be better (unknown, deadline-exceeded, aborted, unavailable), medium
    /// after any other failure to make an instance, long after any other failure to remove one. Source: Gardener's machine
    /// controller, 0.49.
    FaultCode,
}

/// What ends the attempts at making an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GiveUpBy {
    /// Their number: `attempts_max` of [`Machines`].
    #[default]
    Attempts,
    /// The time that they have taken, too: an attempt that fails after `creation_timeout_ms` of [`Reconciliation`], or of the
    /// machine, is the last one. Source: Gardener's machine controller, 0.49.
    Age,
}

/// Settings for machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machines {
    /// Attempts at creating or deleting one instance before giving up; 0 means no limit.
    /// Default 11: one try and ten retries. Source: Juju's provisioner since August 2016.
    pub attempts_max: u32,
    /// The wait before the second attempt. Default 10 s. Source: Juju's provisioner.
    pub retry_first_ms: u64,
    /// The wait doubles with every attempt up to this. Default 3 min. Source: Gardener's medium retry.
    pub retry_max_ms: u64,
    /// A provider call that takes longer is unknown: asked for by id, not repeated. Default 2 min.
    pub call_timeout_ms: u64,
    /// How often providers are asked what they have. Default 5 s. Source: Gardener's short retry.
    pub poll_ms: u64,
    /// A node that was silent for longer is stale. Default 40 s. Source: the node monitor grace period of Kubernetes.
    pub node_stale_ms: u64,
    /// After a start of the control plane nobody is called stale for this long. Default 60 s.
    pub restart_grace_ms: u64,
    /// What happens to a machine whose instance has gone. Default replace.
    pub when_lost: WhenLost,
}

/// What happens to a machine whose instance has gone without our doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WhenLost {
    /// Another instance is made, under a new effect id.
    Replace,
    /// It stays lost until an operator says `retry-provisioning`.
    Keep,
    /// Nothing, as far as a list says so: its node falls silent, and it is given up in time. Source: Gardener's machine
    /// controller.
    Ignore,
}

/// Settings for volumes and attachments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Storage {
    /// Attempts at one operation before giving up; 0 means no limit. Default 0. Source: Juju's storage provisioner.
    pub attempts_max: u32,
    /// The wait before the second attempt. Default 30 s. Source: Juju's storage provisioner.
    pub retry_first_ms: u64,
    /// The wait doubles with every attempt up to this. Default 30 min. Source: Juju's storage provisioner.
    pub retry_max_ms: u64,
    /// A provider call that takes longer is unknown: asked for by id, not repeated. Default 2 min.
    pub call_timeout_ms: u64,
    /// Where a filesystem is mounted that names no path: under this directory of its machine, by its name. None leaves that to
    /// its provider, and is the default. Source: the storage directory of Juju's machines.
    #[serde(default)]
    pub mount_dir: Option<String>,
}

impl Default for Machines {
    fn default() -> Self {
        Self {
            attempts_max: 11,
            retry_first_ms: 10_000,
            retry_max_ms: 180_000,
            call_timeout_ms: 120_000,
            poll_ms: 5_000,
            node_stale_ms: 40_000,
            restart_grace_ms: 60_000,
            when_lost: WhenLost::Replace,
        }
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            attempts_max: 0,
            retry_first_ms: 30_000,
            retry_max_ms: 1_800_000,
            call_timeout_ms: 120_000,
            mount_dir: None,
        }
    }
}

/// The policy that is in force where none is named.
pub fn default_name() -> Name {
    "default".parse().expect("a valid name")
}
