//! What runs inside a local machine: `bailiwick agent`.
//!
//! The agent is the machine: it lives as long as the machine's instance does, in a session of its own ([`process`]), in the
//! machine's directory ([`directory`]). It reports to the node how things are and runs the workloads that the node asks
//! for. It outlives the node: while nobody answers, everything goes on as it was last wished for.
//!
//! A machine's agent runs once. When it has ended, for whatever reason, the machine is lost: a second agent refuses to
//! start in the same directory, and it is the control plane that decides what to do.
//!
//! If the agent is killed, its workloads have nobody who stops them at once (asking the kernel to end a child with its
//! parent needs code between fork and exec, which safe Rust does not have). They are found and ended when the machine
//! is deleted; writing output ends them earlier, because nobody reads it any more.

#[cfg(feature = "server")]
mod apart;
#[cfg(feature = "server")]
mod bearer;
#[cfg(feature = "server")]
mod conditions;
// What is hidden is for tests, which look for the processes and directories of machines.
#[doc(hidden)]
pub mod directory;
#[doc(hidden)]
pub mod files;
#[cfg(feature = "server")]
mod finding;
#[cfg(feature = "server")]
mod gone;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod group;
#[cfg(feature = "server")]
mod join;
#[cfg(feature = "server")]
pub(crate) mod ledger;
#[cfg(feature = "server")]
mod life;
#[cfg(feature = "server")]
mod link;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod node;
#[cfg(feature = "server")]
pub(crate) mod output;
#[cfg(feature = "server")]
mod pressure;
#[doc(hidden)]
pub mod process;
#[cfg(feature = "server")]
mod said;
#[cfg(feature = "server")]
pub mod storage;
mod token;
mod user;
#[cfg(feature = "server")]
mod volume_probe;
#[cfg(feature = "server")]
mod workload;
#[cfg(feature = "server")]
mod workloads;

#[cfg(feature = "cli")]
pub use life::AgentArgs;
#[cfg(feature = "server")]
pub use life::{AgentConfig, AgentError, main, run};
pub use token::{agent_token, is_agent_token};
pub use user::{InvalidUser, WorkloadUser};
#[cfg(feature = "server")]
pub use workload::STOP_GRACE;
