//! What is wished for: the declared part of a volume, and what a machine of a set asks for.

use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

use crate::{
    storage_rules::{ClaimedBy, FromPool},
    vocab::{InstanceId, Name, SizeMib},
};

/// A volume as declared. Neither field can change while the volume lives (resizing comes with a later release).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Which provider makes it.
    pub provider: Name,
    /// At least this much; at least 1 MiB.
    pub size: SizeMib,
}

/// Where a volume comes from, and where it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The machine where it is made, once that has an instance; none if it is made anywhere, at once.
    pub machine: Option<Name>,
    /// What its provider has under this name already is taken over as it.
    pub import: Option<InstanceId>,
}

/// What a machine of a set asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub spec: Spec,
    pub pool: FromPool,
    pub by: ClaimedBy,
    /// What it goes with.
    pub owner: Option<StreamId>,
    /// The filesystem that is made on it.
    pub filesystem: Option<Name>,
}
