//! The whole node in a simulated world.

mod determinism;
mod first;
mod scripts;
mod seeds;
