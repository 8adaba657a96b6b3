//! The settings of a machine's reconciliation.
//!
//! Amounts have their unit in the name. Where two readings of a rule are possible, the reading is a setting too, so that
//! a journal can be decided again under the other one: [`Reconciliation::gardener_0_49`] takes Gardener's (without its
//! crashes and hangs), [`Reconciliation::default`] takes ours.

use serde::{Deserialize, Serialize};

/// Settings of a machine's reconciliation. Source of all figures: Gardener's machine controller, 0.49.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reconciliation {
    /// The next pass after progress, and after what may soon be better. Default 15 s.
    pub retry_short_ms: u64,
    /// The next pass after a provider has refused. Default 3 min.
    pub retry_medium_ms: u64,
    /// The next pass when all is well, and when somebody has to act first. Default 10 min.
    pub retry_long_ms: u64,
    /// How long a machine may take to join after its instance was made, and how old it may be while making one fails
    /// before it is given up. A machine may say otherwise. Default 20 min.
    pub creation_timeout_ms: u64,
    /// How long a node may be unhealthy or gone before its machine is given up. A machine may say otherwise.
    /// Default 10 min.
    pub health_timeout_ms: u64,
    /// How soon a machine that waits to join, or to get well, is looked at again. Default 60 s.
    pub health_recheck_ms: u64,
    /// The node conditions that have to be false on a healthy node. A machine may say otherwise.
    /// Default KernelDeadlock, ReadonlyFilesystem, DiskPressure, NetworkUnavailable.
    pub node_conditions: Vec<String>,
    pub drain: Drain,
    pub throttle: Throttle,
    pub overshoot: Overshoot,
    pub outage: Outage,
    pub readings: Readings,
    pub keep: Keep,
}

/// Settings of draining a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drain {
    /// No drain goes on for longer than that after its machine's removal was asked for. A machine may say otherwise. Default 2 h.
    pub timeout_ms: u64,
    /// The refused eviction of this number is the last: then workloads end by force. A machine may say otherwise.
    /// Default 360.
    pub evictions_max: u32,
    /// The wait after a refused eviction. Default 20 s.
    pub eviction_retry_ms: u64,
    /// How long a workload may take to end in its turn beside its own grace. Default 30 s.
    pub end_buffer_ms: u64,
    /// How long its volumes may take to leave beside that grace, if that is longer. Default 2 min.
    pub volume_detach_ms: u64,
    /// In which order they end. Default lowest-first.
    pub order: DrainOrder,
    /// Who runs on a node that says it is not ready, or read-only, for longer than that is not waited for. Default 5 min.
    pub skip_after_ms: u64,
}

/// In which order the workloads of a machine end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DrainOrder {
    /// Those of the lowest priority first, and those of a higher one when these have ended. Source: the graceful shutdown of
    /// nodes in Kubernetes.
    #[default]
    LowestFirst,
    /// Of those that name volumes, and end one after the other, those of the highest priority first; all others at once.
    /// Source: Gardener's machine controller, 0.49.
    HighestFirst,
}

/// Settings of the budget for giving machines up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throttle {
    /// Machines of one deployment that may be in replacement at the same time. Default 1.
    pub replacements_max: u32,
    /// A zone with at least so many machines, all of which are silent or gone at once, is held: none of them is replaced
    /// before one comes back or an operator says so. 0 means that no zone is held. Default 3. Ours.
    pub zone_silent_min: u32,
}

/// Settings for keeping machines of sets that failed, so that somebody can find out why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Keep {
    /// How long one is kept as it is, while its set has another one made. A machine may say otherwise. 0 means not at all.
    /// Default 0.
    pub failed_ms: u64,
    /// So many of one set are kept at a time; a machine that fails beyond that is replaced as ever. Default 2: one to look at, and
    /// one to compare it with; a set whose machines fail one after the other must not fill the account.
    pub most: u32,
}

/// With how many machines too many a set stops making more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overshoot {
    /// A set is frozen with so many machines more than twice its number, or than its deployment gives it room for.
    /// Default 2.
    pub up: u32,
    /// It thaws with so many fewer than that. Default 1.
    pub down: u32,
}

/// When the machines of a provider that does not answer are left as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outage {
    /// A provider that was unavailable, or did not answer in time, for so long is out: none of its machines is replaced
    /// before it answers. 0 means that none ever is. Default 30 s.
    pub after_ms: u64,
    /// How soon a provider that does not answer is asked again, if that is sooner than otherwise, until it is out.
    /// Default 6 s.
    pub check_ms: u64,
    /// A fleet of at least so many machines, all of which are silent or gone at once, is left alone whatever their zones:
    /// what is wrong is more likely the node's way to its agents. 0 means never. Default 3; Gardener's has nothing like it.
    pub all_silent_min: u32,
}

/// How a rule is read where it can be read in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Readings {
    pub bare_report: ReportReading,
    pub critical_taint: TaintReading,
    pub undeployed: UndeployedReading,
    pub ask_provider: AskReading,
}

/// What a node is that reports no condition at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReportReading {
    /// Healthy: that it reports means that it runs. Providers need not know of any condition.
    Healthy,
    /// Not healthy: a node that runs says at least that it is ready.
    Unhealthy,
}

/// Which machines a node without its critical components keeps from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaintReading {
    /// Those that have never joined.
    HoldsJoining,
    HoldsAll,
}

/// Which budget a machine without a deployment draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UndeployedReading {
    /// None: it has no peers and no limit.
    Unlimited,
    /// The one of all machines.
    Everyone,
}

/// What a provider has to do with it that a machine is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AskReading {
    /// Nothing: what its agent tells, or does not, decides alone. Source: Gardener's machine controller, which never asks.
    Never,
    /// It is asked about the instance first. What is gone is replaced for that; what runs is given up all the same.
    First,
    /// As `First`; and an instance that runs is not replaced only because its agent is silent.
    Decides,
}

impl Reconciliation {
    /// The choices of Gardener's machine controller 0.49, without its crashes and hangs.
    pub fn gardener_0_49() -> Self {
        let readings = Readings {
            bare_report: ReportReading::Unhealthy,
            critical_taint: TaintReading::HoldsJoining,
            undeployed: UndeployedReading::Unlimited,
            ask_provider: AskReading::Never,
        };
        let outage = Outage { all_silent_min: 0, ..Outage::default() };
        let drain = Drain { order: DrainOrder::HighestFirst, ..Drain::default() };
        Self { readings, outage, drain, ..Self::default() }
    }
}

impl Default for Reconciliation {
    fn default() -> Self {
        let watched = ["KernelDeadlock", "ReadonlyFilesystem", "DiskPressure", "NetworkUnavailable"];
        Self {
            retry_short_ms: 15_000,
            retry_medium_ms: 180_000,
            retry_long_ms: 600_000,
            creation_timeout_ms: 1_200_000,
            health_timeout_ms: 600_000,
            health_recheck_ms: 60_000,
            node_conditions: watched.map(str::to_owned).to_vec(),
            drain: Drain::default(),
            throttle: Throttle::default(),
            overshoot: Overshoot::default(),
            outage: Outage::default(),
            readings: Readings::default(),
            keep: Keep::default(),
        }
    }
}

impl Default for Drain {
    fn default() -> Self {
        Self {
            timeout_ms: 7_200_000,
            evictions_max: 360,
            eviction_retry_ms: 20_000,
            end_buffer_ms: 30_000,
            volume_detach_ms: 120_000,
            order: DrainOrder::default(),
            skip_after_ms: 300_000,
        }
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self { replacements_max: 1, zone_silent_min: 3 }
    }
}

impl Default for Overshoot {
    fn default() -> Self {
        Self { up: 2, down: 1 }
    }
}

impl Default for Outage {
    fn default() -> Self {
        Self { after_ms: 30_000, check_ms: 6_000, all_silent_min: 3 }
    }
}

impl Default for Keep {
    fn default() -> Self {
        Self { failed_ms: 0, most: 2 }
    }
}

impl Default for Readings {
    fn default() -> Self {
        Self {
            bare_report: ReportReading::Healthy,
            critical_taint: TaintReading::HoldsAll,
            undeployed: UndeployedReading::Everyone,
            ask_provider: AskReading::First,
        }
    }
}
