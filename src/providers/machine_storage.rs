//! Storage inside of local machines: loop devices, filesystems in memory, bound directories, and filesystems on volumes.
//!
//! ```text
//!  node: decides, records                       machine's agent: carries out, remembers nothing
//!  Inside (port, per machine) ── Desk ◀── POST /v1/agents/{machine}/storage ──▶ Hands ── Kit ── kernel
//! ```
//!
//! [`Inside`] is the ports' side: one job per item, one result or fault for each. [`Desk`] holds the jobs until the machine's
//! agent has taken them and told how they went. [`Kit`] is what really works, in the machine's directory:
//!
//! ```text
//! <machine>/storage/volumes/   files of loop volumes, and the records of filesystems on volumes
//! <machine>/storage/tmpfs/     records; mounts/<filesystem> in each is where things are mounted
//! <machine>/storage/rootfs/    bound directories
//! ```
//!
//! A local machine is a process, and shares the kernel with all others. What a real machine loses when it ends (mounts,
//! attached devices) has to be let go of: the node does that itself, with the same code, for a machine whose agent has
//! ended, and before a machine's directory is removed.

mod desk;
#[cfg(feature = "server")]
mod hands;
mod kit;
mod release;
mod scope;

pub use desk::Desk;
#[cfg(feature = "server")]
pub use hands::hands;
pub use kit::{Kit, PROVIDERS};
pub use release::release;
pub use scope::{Inside, Locate, Whereabouts};
