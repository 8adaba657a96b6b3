//! What a node says of itself that counts.

use crate::vocab::{Taint, TaintEffect};

/// The condition that says whether a node as a whole is ready; all others are named after a trouble.
pub const READY: &str = "Ready";

/// The condition of a node whose filesystem cannot be written to.
pub const READ_ONLY: &str = "ReadonlyFilesystem";

/// The taint of a node whose critical components are not there yet. Counts only as `NoSchedule`.
pub const CRITICAL_TAINT: &str = "node.gardener.cloud/critical-components-not-ready";

/// Whether a node lacks its critical components.
pub fn has_critical_taint(taints: &[Taint]) -> bool {
    taints.iter().any(|taint| taint.key == CRITICAL_TAINT && taint.effect == TaintEffect::NoSchedule)
}
