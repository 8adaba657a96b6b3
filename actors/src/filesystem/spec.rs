//! What is wished for: the declared part of a filesystem, and what a machine of a set asks for.

use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

use crate::{
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Name, SizeMib},
};

/// The name of the one that makes and mounts filesystems on volumes, no matter who makes the volumes.
pub const MANAGED: &str = "managed";

/// A filesystem as declared. None of it can change while the filesystem lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Which provider makes it; for one on a volume, the provider of that volume.
    pub provider: Name,
    /// At least this much; at least 1 MiB. On a volume it is as large as the volume, whatever is asked.
    pub size: SizeMib,
    /// The volume that it is made on; none if its provider makes filesystems of its own.
    pub backing: Option<Name>,
    /// The machine that it is bound to, where the work is done; none if it can be mounted on any.
    pub machine: Option<Name>,
}

/// Filesystems have nothing to be declared beside that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted;

/// What a machine of a set asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub spec: Spec,
    /// Where it comes from; none for one on a volume, which comes from there.
    pub pool: Option<FromPool>,
    pub by: ClaimedBy,
    /// What it goes with.
    pub owner: Option<StreamId>,
}
