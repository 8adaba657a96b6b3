//! Ports made real.

mod cancelled;
pub mod check;
pub mod exec;
pub mod local;
pub mod simulated;
pub mod storage;
