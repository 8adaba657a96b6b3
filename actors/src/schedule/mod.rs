//! When things are due.
//!
//! Nothing here is stored: every due time stands in the state of the entity that waits, and after a start the
//! [`Timetable`] is filled again from what is pending. Firing an entry is a command to its entity, whose journal entry is
//! the record. How long an entity waits before it tries again follows from [`backoff_ms`].
//!
//! Source: the schedule of Juju's storage provisioner (a keyed heap, one armed timer).

mod backoff;
mod heap;

#[cfg(feature = "shell")]
pub(crate) mod shell;

pub use backoff::backoff_ms;
pub use heap::Timetable;
#[cfg(all(feature = "shell", feature = "testing"))]
pub use shell::Upcoming;
#[cfg(feature = "shell")]
pub use shell::{ScheduleActor, ScheduledWake, StartSchedule};
