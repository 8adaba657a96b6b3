//! The whole node in a simulated world.

mod accounts;
mod budgets;
mod chains;
mod classes;
mod dark;
mod determinism;
mod first;
mod held_providers;
mod large;
mod misfortune;
mod named;
mod outages;
mod protected;
mod refusals;
mod repros;
mod rollouts;
mod scripts;
mod seeds;
mod set_storage;
mod trials;
