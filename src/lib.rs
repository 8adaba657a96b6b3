//! bailiwick: a control plane that can explain itself.

pub use bailiwick_actors as actors;
pub use bailiwick_journal as journal;

pub mod agent;
pub mod api;
pub mod audit;
pub mod chaos;
pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod custom_kind;
pub mod guide;
pub mod handle;
pub mod manifest;
pub mod node;
pub mod ownership;
pub mod plan;
pub mod providers;
mod register;
pub mod simulation;
pub mod text;
pub mod view;
pub mod words;

pub use config::{Config, LocalMachines};
pub use handle::Handle;
pub use node::{Node, StartError, Started, StopError};
pub use register::register;
