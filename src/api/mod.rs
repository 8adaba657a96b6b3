//! The node over HTTP/JSON on a Unix socket, under `/v1`.
//!
//! Questions are asked the same way of a running node and of a stopped node's journal ([`query`]); the server only carries
//! them. Every failure is a [`wire::problem::Problem`].

pub mod query;
pub mod server;
mod shared;
pub mod wire;

mod agents;
mod asker;
pub(crate) mod changes;
mod errors;
mod journal;
mod operate;
mod questions;
