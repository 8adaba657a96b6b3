//! The storage supervisor: brings machines, volumes, filesystems and their attachments together, and takes them apart.
//!
//! A volume that waits for a machine is made once that has an instance. An attachment is attached once its machine runs and
//! its volume is provisioned; it lets go when its machine's instance goes; it is removed when either side is dying; and once
//! it is gone, both sides are told so. Filesystems and their attachments are the same one floor higher, and on a volume they
//! also wait for the device that their machine sees. What waits, waits for exactly what is missing: a change of it, or of
//! what hangs on it, is looked at, and nothing else.
//!
//! What a machine of a set asks for is declared for it, and goes with it (`claims.rs`).
//!
//! A volume that its provider leaves out of two complete lists in a row is told so, and is told when it is shown again;
//! nothing else follows from that. One that was destroyed, and that two lists show all the same, is destroyed again. What
//! was attached in an earlier session is made sure of once.

mod claims;
mod earlier_forms;
mod external;
mod filesystems;
mod gone;
mod known;
mod listing;
mod prerequisites;
mod rests;
#[cfg(feature = "shell")]
pub mod shell;
mod sighting;
mod state;
mod status;
mod view;
mod volumes;
mod zones;

#[cfg(test)]
mod tests;

pub use gone::{Gone, GoneVolume};
pub use listing::{Absence, has_volumes, machines_with_volumes, volume_changes};
#[cfg(feature = "shell")]
pub use shell::{DevicesSeen, Unsure};
pub use sighting::{Sighted, changes};
pub use state::{Command, DeviceChange, Effect, Event, Reason, Rejection, State, VolumeChange};
pub use status::{Linked, StorageStatus, Told, status_of};
pub use view::View;
pub use zones::{Elsewhere, elsewhere, zone_of};
