//! What is wished for: the declared part of a filesystem.

use serde::{Deserialize, Serialize};

use crate::vocab::{Name, SizeMib};

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
