//! A member owes the world nothing: its set takes the steps.

/// There is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoEffect {}
