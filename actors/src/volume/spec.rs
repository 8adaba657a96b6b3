//! What is wished for: the declared part of a volume.

use serde::{Deserialize, Serialize};

use crate::vocab::{Name, SizeMib};

/// A volume as declared. Neither field can change while the volume lives (resizing comes with a later release).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Which provider makes it.
    pub provider: Name,
    /// At least this much; at least 1 MiB.
    pub size: SizeMib,
}
