//! Documents: what people write down about networks, images, agents and applications, so that machines can be started.
//!
//! ```text
//! undeclared ─▶ alive, revision 1 ─▶ revision 2 ─▶ … ─▶ removed ─▶ (declared again) alive, under a new uid
//!                                                  └ refused while somebody uses it
//! ```
//!
//! A document does nothing by itself. A decider that uses one records its revision, so that the decision can be made again.
//! All kinds have one frame (`entity.rs`): `space`, `subnet`, `image-metadata`, `agent-binary`, `application`, `model`; what
//! each says is in `spec.rs`. Sources: Juju's spaces, cloud image metadata, agent binaries, endpoint bindings, model defaults.
//!
//! `account` has the frame, too, and is about the node itself: who may use it (`account.rs`). No machine has to do with it.

mod account;
mod check;
mod entity;
mod known;
mod spec;

#[cfg(test)]
mod tests;

pub use account::{Account, Role, Token};
pub use check::CONTENT_BYTES_MAX;
pub use entity::{Command, Event, Reason, Rejection, State, USERS_NAMED_MAX, Users};
pub use known::{Documents, InForce};
pub use spec::{AgentBinary, Application, Content, ImageMetadata, Juju, Kind, Model, Space, Subnet};
