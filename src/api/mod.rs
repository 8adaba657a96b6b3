//! The node over HTTP/JSON under `/v1`: on Unix sockets, and on the network with TLS.
//!
//! Questions are asked the same way of a running node and of a stopped node's journal ([`query`]); the server only carries
//! them. Every failure is a [`wire::problem::Problem`].

pub mod query;
pub mod server;
mod shared;
mod stream;
mod watch;
pub mod wire;

mod access;
mod accounts;
mod agents;
mod asker;
mod body;
pub(crate) mod changes;
mod connection;
mod denials;
mod described;
mod errors;
mod feed;
mod index;
mod jobs;
mod journal;
pub(crate) mod lists;
mod openapi;
mod operate;
mod questions;
mod rates;
mod routes;
pub mod tls;
mod turns;
