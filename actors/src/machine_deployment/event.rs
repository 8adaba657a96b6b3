//! What happened to a machine deployment.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Counts, Progress, Spec, Totals};
use crate::{
    contract::{Stored, Touches},
    machine::Spec as MachineSpec,
    vocab::{Fact, Name, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        spec: Spec,
    },
    SpecChanged {
        spec: Spec,
    },
    /// Its machines are to be made anew.
    Restarted {
        at: Timestamp,
    },
    /// The template of this revision is in force again.
    RolledBack {
        revision: u64,
    },
    /// It is dying: its sets go.
    RemovalBegan,
    Removed,
    /// Another pass is to be made, because this one changed sets.
    PassOwed,
    /// A machine has been ready for long enough.
    Ripened,
    /// Its rollout has not got on for as long as it may.
    DeadlinePassed,
    /// A set that nobody owned is one of its own now.
    Adopted {
        set: Name,
        template: Arc<MachineSpec>,
        replicas: u32,
        created: Timestamp,
    },
    /// A set that it no longer needed is gone.
    Forgotten {
        set: Name,
    },
    /// A pass began: its sets have so many machines.
    Observed {
        counts: BTreeMap<Name, Counts>,
        again: Option<Timestamp>,
    },
    /// It has a set for the template that is in force.
    SetMade {
        set: Name,
        replicas: u32,
        sized_for: u32,
        most: u32,
        at: Timestamp,
    },
    /// A set has another revision, because its template is in force again.
    Renumbered {
        set: Name,
        revision: u64,
    },
    /// A set shall have so many machines, for this size of the deployment.
    Scaled {
        set: Name,
        replicas: u32,
        sized_for: u32,
        most: u32,
    },
    /// A set is no longer needed.
    SetDropped {
        set: Name,
    },
    /// Its rollout stands elsewhere now.
    Progressed {
        progress: Progress,
    },
    /// The pass is over; it was made on these numbers.
    Counted {
        totals: Totals,
    },
    /// It is not removed from now on, or may be again.
    Protected {
        on: bool,
    },
    /// Its rollout waits for the window that opens then; none if it waits for none any more.
    WindowAwaited {
        opens: Option<Timestamp>,
    },
    /// The window that it waited for has opened.
    WindowOpened,
    /// Its rollout waits for no window.
    Hurried,
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Dependents, Life, Pass, Request, Seen, Spec, Step};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::SpecChanged { .. } | Self::Restarted { .. } | Self::RolledBack { .. } => &[Spec],
            Self::RemovalBegan | Self::Protected { .. } | Self::Removed => &[Life],
            Self::PassOwed | Self::Ripened | Self::DeadlinePassed | Self::WindowOpened | Self::Hurried => &[Step],
            Self::Adopted { .. } | Self::Forgotten { .. } => &[Dependents],
            Self::Observed { .. } | Self::Counted { .. } => &[Seen],
            Self::SetMade { .. } | Self::Scaled { .. } | Self::SetDropped { .. } | Self::Renumbered { .. } => {
                &[Request]
            }
            Self::Progressed { .. } | Self::WindowAwaited { .. } => &[Pass],
        })
    }

    /// The sides that it goes on from. What a pass decides rests on what its command tells, and cites.
    pub fn follows(&self) -> Touches {
        match self {
            Self::DeadlinePassed | Self::WindowOpened => Touches::Some(&[Fact::Pass]),
            Self::RemovalBegan | Self::Removed | Self::Declared { .. } => self.touches(),
            _ => Touches::Some(&[]),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
