//! Storage that is made inside of machines.

use std::sync::Arc;

use super::{FilesystemProvider, VolumeProvider};
use crate::vocab::Name;

/// The storage of one provider inside of machines: who decides stays outside, and what is inside of the machine carries out.
///
/// Each machine is a source of its own: its calls go out apart from those of other machines, so that one that does not
/// answer holds up none of them. Nothing is remembered inside: after a lost link everything is asked for again by its id.
/// What was inside of a machine that is gone is gone with it, and said to be so.
pub trait MachineScope: Send + Sync {
    /// The volumes of a machine; none if this provider makes none.
    fn volumes(&self, machine: &Name) -> Option<Arc<dyn VolumeProvider>>;

    /// The filesystems of a machine; none if this provider makes none.
    fn filesystems(&self, machine: &Name) -> Option<Arc<dyn FilesystemProvider>>;
}
