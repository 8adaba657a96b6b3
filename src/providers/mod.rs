//! Ports made real.

pub mod access;
mod cancelled;
pub mod check;
mod engine_watch;
pub mod enrolment;
#[cfg(feature = "etcd")]
pub mod etcd;
pub mod exec;
mod fault;
mod keys;
pub mod known;
#[cfg(feature = "server")]
pub mod local;
pub mod machine_storage;
pub mod mongodb;
#[cfg(not(feature = "etcd"))]
#[doc(hidden)]
pub mod not_built;
#[cfg(feature = "simulation")]
pub mod replica_model;
pub mod secrets;
#[cfg(feature = "simulation")]
pub mod simulated;
pub mod storage;

#[cfg(not(feature = "etcd"))]
pub use not_built as etcd;
