//! Ports made real.

pub mod access;
mod cancelled;
pub mod check;
mod engine_watch;
pub mod enrolment;
pub mod etcd;
pub mod exec;
mod fault;
pub mod known;
pub mod local;
pub mod machine_storage;
pub mod mongodb;
pub mod replica_model;
pub mod secrets;
pub mod simulated;
pub mod storage;
