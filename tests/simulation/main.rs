//! The whole node in a simulated world.

mod first;
mod seeds;
