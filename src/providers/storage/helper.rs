//! What only root can do for a node that is not root's: a small process of root that knows a fixed list of verbs.
//!
//! ```text
//!  node and agents, their own user                    storage helper, root
//!  Ground ── HelpedRunner, KernelSight ── StorageHelper ──▶ socket ──▶ Helper ── losetup, mkfs.ext4, mount(2)
//! ```
//!
//! The commands of a [`Ground`](super::Ground) say which verb stands for them; what anybody can run is run as before. A turn
//! goes along with each question, so that a command keeps it even if its caller is killed.

pub mod client;
#[cfg(feature = "server")]
pub mod serve;
pub mod wire;
