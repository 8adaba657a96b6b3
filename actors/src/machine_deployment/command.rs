//! What may be asked of a machine deployment.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Counts, Spec};
use crate::{
    contract::Stored,
    machine::Spec as MachineSpec,
    vocab::{Name, Timestamp},
};

/// A command to a machine deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Spec),
    /// It shall go, and its sets before it.
    Remove,
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// It shall stay at the sets that it has.
    Pause,
    /// It shall go on.
    Resume,
    /// All its machines shall be made anew, by the same rules as for another template.
    Restart,
    /// The template of that revision shall be in force again; of the one before, if none is named.
    Undo { revision: Option<u64> },
    /// A set has become one of its own. A supervisor's order.
    Adopt { set: Name, template: Arc<MachineSpec>, replicas: u32, created: Timestamp },
    /// A set that was no longer needed is gone. A supervisor's order.
    Forget { set: Name },
    /// How many machines its sets have now. A supervisor's order.
    Observe {
        counts: BTreeMap<Name, Counts>,
        /// A name that no set has.
        free: Name,
        /// When a machine that is ready will have been so for long enough.
        again: Option<Timestamp>,
    },
    /// It has no set any more. A supervisor's order.
    ReportEmpty,
    /// It is not to be removed, or may be again.
    Protect { on: bool },
    /// Its rollout shall not wait for a window, until it is complete or another template is in force.
    Hurry,
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
