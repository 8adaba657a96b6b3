//! The storage supervisor: brings machines, volumes and their attachments together, and takes them apart.
//!
//! An attachment is attached once its machine runs and its volume is provisioned; it lets go when its machine's instance
//! goes; it is removed when either side is dying; and once it is gone, both sides are told so.

mod prerequisites;
mod state;
mod view;

#[cfg(test)]
mod tests;

pub use state::{Command, Effect, Event, Reason, Rejection, State};
pub use view::View;
