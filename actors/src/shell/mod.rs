//! The only generic actix code: mailboxes around the pure cores.
//!
//! All actors run on one arbiter; the journal's commit thread is the only border that a command crosses.

mod absence;
mod allowance;
mod any;
mod assemble;
mod budgets;
mod bulk;
mod call_times;
mod calls;
mod denials;
mod entity_actor;
mod executor;
mod group;
mod growth;
mod holds;
mod kinds;
mod making;
mod messages;
mod ownership;
mod perform;
#[cfg(feature = "testing")]
mod plant;
mod port;
mod rebuild;
mod registry;
mod secrets;
mod services;
mod table;
mod taken_over;
mod undoing;

pub use allowance::Allowance;
pub use assemble::{AssembleError, Resumed, Running, assemble};
pub use budgets::{BudgetSeen, Budgets};
pub use call_times::{Answered, CallTime, CallTimes};
pub use calls::{AnyWish, Call, Item, Perform};
pub(crate) use calls::{At, Carried, Report, Wish};
pub use denials::{DENIALS, DenialNote, Denied};
pub use entity_actor::{EntityActor, Proposal, Recorded, Retire, Snapshot, Submit};
pub use executor::Executor;
pub use group::{REQUESTS, RequestNote};
pub use growth::{Follower, Growth};
pub use holds::Holds;
pub use kinds::{AnyCommand, Asked, Kind, Urgency, Work};
pub use making::Make;
pub use messages::{Answer, Ask, AskError, AskGroup, Expected, GroupAnswer, Origin, RehearseGroup};
pub use ownership::Instances;
pub(crate) use ownership::foreign;
#[cfg(feature = "testing")]
pub use plant::{Plant, plant};
pub use port::{AnyProvider, Filesystems, Machines, Port, Thing, Volumes};
pub use rebuild::{RebuildError, Rebuilt, rebuild};
pub use registry::{Quiesce, Registry, RegistryStats, StartAll, Stats};
pub use services::{Limits, Providers, Services, Source};
pub(crate) use table::{add, kind};
pub use taken_over::{STAYS_THERE, TakenOver};
pub use undoing::Undo;
