//! What is wished for: the declared part of a machine deployment.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{machine::Spec as MachineSpec, vocab::Windows};

/// A machine deployment as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// How many machines it shall have.
    pub replicas: u32,
    /// What its machines are made like. Another template is another set.
    pub template: Arc<MachineSpec>,
    /// Sets that nobody owns and whose machines have these labels become its own; none if there are no labels.
    pub selector: BTreeMap<String, String>,
    pub strategy: Strategy,
    /// A machine is available when it has run for so long.
    pub min_ready_ms: u64,
    /// How many old sets are kept when they are empty; none keeps all.
    pub history_limit: Option<u32>,
    /// It is stuck when it has not got on for so long; none never is.
    pub progress_deadline_ms: Option<u64>,
    /// Whether it stays at the sets that it has. Its size may still change.
    pub paused: bool,
    /// When machines that work may be replaced by others; none leaves that to the policy.
    pub windows: Option<Windows>,
}

/// So many machines, or a part of all of them: `3`, `25%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Amount {
    Machines(u32),
    Percent(u32),
}

/// Says that a text is no amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is neither a number of machines nor a percentage")]
pub struct BadAmount {
    /// The text, cut to 40 characters.
    pub text: String,
}

/// How a deployment comes from one template to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// First the old machines go, all of them; then the new ones are made.
    Recreate,
    RollingUpdate(RollingUpdate),
}

/// How far a rolling update may go at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollingUpdate {
    /// So many machines more than declared.
    pub max_surge: Amount,
    /// So many available ones less than declared.
    pub max_unavailable: Amount,
}

impl Spec {
    /// The annotation of a template whose machines were asked to be made anew: the time of that.
    pub const RESTARTED: &str = "bailiwick/restarted-at";

    /// A deployment of so many machines like this, with nothing said beyond that.
    pub fn of(replicas: u32, template: MachineSpec) -> Self {
        Self {
            replicas,
            template: Arc::new(template),
            selector: BTreeMap::new(),
            strategy: Strategy::default(),
            min_ready_ms: 0,
            history_limit: None,
            progress_deadline_ms: None,
            paused: false,
            windows: None,
        }
    }

    /// Whether a template has all the labels that it selects by.
    pub fn selects(&self, template: &MachineSpec) -> bool {
        self.selector.iter().all(|(key, value)| template.labels.get(key) == Some(value))
    }
}

impl Amount {
    /// What it comes to, with what does not come out even counted as a whole machine.
    pub fn rounded_up(self, of: u32) -> u32 {
        self.of(of, 99)
    }

    /// What it comes to, without what does not come out even.
    pub fn rounded_down(self, of: u32) -> u32 {
        self.of(of, 0)
    }

    fn of(self, machines: u32, more: u64) -> u32 {
        match self {
            Self::Machines(count) => count,
            Self::Percent(percent) => {
                let hundredths = u64::from(machines) * u64::from(percent);
                u32::try_from((hundredths + more) / 100).unwrap_or(u32::MAX)
            }
        }
    }

    /// Whether it is nothing, of whatever number.
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Machines(0) | Self::Percent(0))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machines(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Amount {
    type Err = BadAmount;
    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let bad = |_| BadAmount { text: text.chars().take(40).collect() };
        match text.strip_suffix('%') {
            Some(percent) => percent.parse().map(Self::Percent).map_err(bad),
            None => text.parse().map(Self::Machines).map_err(bad),
        }
    }
}

impl Default for RollingUpdate {
    /// One machine more at a time, and none less.
    fn default() -> Self {
        Self { max_surge: Amount::Machines(1), max_unavailable: Amount::Machines(0) }
    }
}

impl Default for Strategy {
    fn default() -> Self {
        Self::RollingUpdate(RollingUpdate::default())
    }
}

impl Strategy {
    /// As it is written: `RollingUpdate`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recreate => "Recreate",
            Self::RollingUpdate(_) => "RollingUpdate",
        }
    }
}
