//! The whole node in a simulated world.

mod determinism;
mod first;
mod misfortune;
mod scripts;
mod seeds;
