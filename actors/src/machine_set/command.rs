//! What may be asked of a machine set.

use serde::{Deserialize, Serialize};

use super::{Plan, Spec};
use crate::{
    contract::Stored,
    vocab::{Name, Timestamp},
};

/// A command to a machine set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Spec),
    /// It shall go, and its machines before it.
    Remove,
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// A pass, planned on the machines that there are: machines that are to go, and the names of those that are to be
    /// made. A supervisor's order.
    BeginPass { plan: Plan, names: Vec<Name> },
    /// How telling machines to go went: each with whether that was accepted. A supervisor's order.
    ReportRemovals { told: Vec<(Name, bool)> },
    /// How a whole batch of creations went. A supervisor's order.
    ReportBatch { failed: u32 },
    /// It has no machine any more. A supervisor's order.
    ReportEmpty,
    /// It has so many machines, those that go included. A supervisor's order.
    ReportMachines {
        machines: u32,
        /// How many it may come to have while some are exchanged for others, if that is not twice its number: what its
        /// deployment gives it room for.
        room: Option<u32>,
    },
    /// It shall make machines again although it had too many: those that it has now do not count. An operator's wish.
    Thaw,
    /// It shall neither make machines nor have some go, until an operator says otherwise or the time has come.
    Hold { reason: String, until: Option<Timestamp> },
    /// It may change its number again.
    Unhold,
    /// As [`Command::Remove`], for the deployment that it belongs to. A supervisor's order, or asked with the deployment's
    /// removal.
    RemoveOwned,
    /// It is not to be removed, or may be again.
    Protect { on: bool },
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
