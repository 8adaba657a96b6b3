//! Deciders over a view of many entities.
//!
//! A supervisor owns no entity's state. It looks at a view, which is a fold of the journal up to a position, and issues
//! orders: each is an event of its own stream first, and a command to its target next. After a crash the orders that no
//! target has answered are sent again under the same command id, so none is lost and none is carried out twice.

mod cites;
pub(crate) mod order;

pub mod machine_sets;
pub mod machines;
pub mod peer_group;
pub mod replica_sets;
pub mod storage;

#[cfg(feature = "shell")]
pub(crate) mod shell;

pub use order::{Issued, Order, Ordered, Orders};
#[cfg(feature = "shell")]
pub use shell::{AnySupervision, Supervision, SupervisorActor, Supervisors, start_supervisors};

use bailiwick_journal::{Position, StreamId};
use uuid::Uuid;

use crate::vocab::derived_uuid;

/// The id of a command that a supervisor gives itself: it follows from where the view stood, the supervisor's last entry,
/// and the command. So a replay can tell when one of them was changed.
pub fn decision_id(supervisor: &StreamId, view: Position, last: Position, command_hash: [u8; 16]) -> Uuid {
    derived_uuid(&format!("look {supervisor} {view} {last} {command_hash:?}"))
}
