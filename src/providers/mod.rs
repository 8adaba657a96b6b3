//! Ports made real.

pub mod local;
pub mod simulated;
pub mod storage;
