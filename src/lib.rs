//! bailiwick: a control plane that can explain itself.
//!
//! Who embeds a node begins with [`Config`], [`Node`] and [`Handle`]; [`guide::embedding`] says what is built with which feature.

// Much is there for the command line, the server or the simulation; the build with all of them has nothing that is dead.
#![cfg_attr(not(feature = "cli"), allow(dead_code))]

pub use bailiwick_actors as actors;
pub use bailiwick_journal as journal;

pub mod agent;
pub mod api;
pub mod audit;
#[cfg(feature = "simulation")]
pub mod chaos;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "server")]
pub mod client;
pub mod clock;
pub mod config;
pub mod custom_kind;
pub mod guide;
pub mod handle;
mod juju;
pub mod manifest;
pub mod node;
mod ownership;
pub mod plan;
pub mod providers;
mod register;
#[cfg(feature = "server")]
mod signing;
#[cfg(feature = "simulation")]
pub mod simulation;
// For the tests of what is printed.
#[doc(hidden)]
pub mod text;
pub mod view;
pub mod words;

pub use config::{Config, LocalMachines};
pub use handle::Handle;
pub use node::{Node, StartError, Started, StopError};
pub use ownership::Unsafe;
pub use register::register;
