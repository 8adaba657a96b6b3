//! bailiwick: a control plane that can explain itself.

pub use bailiwick_actors as actors;
pub use bailiwick_journal as journal;

pub mod agent;
pub mod api;
pub mod cli;
pub mod client;
pub mod manifest;
pub mod providers;
pub mod simulation;
pub mod text;
