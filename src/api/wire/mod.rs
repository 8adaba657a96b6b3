//! The JSON shapes of `/v1`: types of their own, so that inner types can change.

pub mod account;
pub mod agent;
pub mod change;
pub mod job;
pub mod journal;
pub mod node;
pub mod object;
pub mod problem;
pub mod question;
pub mod storage;
pub mod sweep;
