//! Deciders over a view of many entities.
//!
//! A supervisor owns no entity's state. It looks at a view, which is a fold of the journal up to a position, and issues
//! orders: each is an event of its own stream first, and a command to its target next. After a crash the orders that no
//! target has answered are sent again under the same command id, so none is lost and none is carried out twice.

mod order;

pub mod machines;
pub mod storage;

#[cfg(feature = "shell")]
pub(crate) mod shell;

pub use order::{Order, Orders};
