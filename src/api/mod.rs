//! The node over HTTP/JSON under `/v1`: on Unix sockets, and on the network with TLS.
//!
//! Questions are asked the same way of a running node and of a stopped node's journal (`query`); the server only carries
//! them. Every failure is a [`wire::problem::Problem`].

#[cfg(feature = "server")]
pub mod query;
#[cfg(feature = "server")]
pub(crate) mod server;
#[cfg(feature = "server")]
mod shared;
#[cfg(feature = "server")]
mod stream;
#[cfg(feature = "server")]
mod watch;
pub mod wire;

#[cfg(feature = "server")]
mod access;
#[cfg(feature = "server")]
mod accounts;
#[cfg(feature = "server")]
mod agents;
#[cfg(feature = "server")]
mod answers;
#[cfg(feature = "server")]
mod asker;
#[cfg(feature = "server")]
mod body;
#[cfg(feature = "server")]
pub(crate) mod changes;
#[cfg(feature = "server")]
mod connection;
#[cfg(feature = "server")]
mod denials;
#[cfg(feature = "server")]
mod described;
#[cfg(feature = "server")]
mod errors;
#[cfg(feature = "server")]
mod facade;
#[cfg(feature = "server")]
mod feed;
#[cfg(feature = "server")]
mod index;
#[cfg(feature = "server")]
mod jobs;
#[cfg(feature = "server")]
mod journal;
#[cfg(feature = "server")]
pub(crate) mod lists;
#[cfg(feature = "server")]
mod openapi;
#[cfg(feature = "server")]
mod operate;
#[cfg(feature = "server")]
mod questions;
#[cfg(feature = "server")]
mod rates;
#[cfg(feature = "server")]
mod routes;
#[cfg(feature = "server")]
pub(crate) mod tls;
#[cfg(feature = "server")]
mod turns;

#[cfg(all(feature = "server", feature = "testing"))]
pub use facade::testing as facade_testing;
