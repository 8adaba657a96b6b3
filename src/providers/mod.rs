//! Ports made real.

mod cancelled;
pub mod etcd;
pub mod local;
pub mod replica_model;
pub mod simulated;
pub mod storage;
