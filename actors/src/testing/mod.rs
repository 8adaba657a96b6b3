//! What tests need: a desk at which every part of the control plane is done by hand.

mod desk;

pub use desk::{Desk, name};
