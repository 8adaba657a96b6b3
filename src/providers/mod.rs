//! Ports made real.

pub mod access;
mod cancelled;
pub mod check;
mod engine_watch;
pub(crate) mod enrolment;
#[cfg(feature = "etcd")]
pub mod etcd;
pub mod exec;
mod fault;
mod keys;
pub(crate) mod known;
#[cfg(feature = "server")]
pub mod local;
pub mod machine_storage;
pub mod mongodb;
#[cfg(any(test, not(feature = "etcd")))]
#[doc(hidden)]
pub mod not_built;
#[cfg(feature = "simulation")]
pub mod replica_model;
pub(crate) mod secrets;
#[cfg(feature = "simulation")]
pub mod simulated;
// Its parts are tested from outside.
#[doc(hidden)]
pub mod storage;

#[cfg(not(feature = "etcd"))]
pub use not_built as etcd;
