//! Machines.
//!
//! One machine is a few small states side by side, each moving on its own:
//!
//! ```text
//! life       undeclared ─▶ alive ─▶ dying ─▶ dead ─▶ removed ─▶ (declared again) alive
//!                            nothing may hang on it ┘      └ its instance is gone, or left to itself
//!
//! instance   none ─▶ creating ─▶ running ─▶ deleting ─▶ none
//!             ▲       │   ▲       │  │ lost ────▲
//!             │       ▼   │ due   │  └ (a lost instance's remains are deleted before another is made)
//!             │      waiting      └──▶ let go of (none), adopted (running again)
//!             └─ deleted
//!
//! node       silent ─▶ reporting ◀─▶ stale          (silent again with every new instance)
//!
//! joined     no ─▶ yes, with a token that was made for it (`bootstrap.rs`; no again with every new instance)
//!
//! health     unjudged ─▶ joining ─▶ well ◀─▶ suspect ─▶ overdue ─▶ given up: replaced      (`health.rs`)
//!
//! drain      none ─▶ under way ─▶ empty | timed out | silent | forced: what waited goes on    (`draining.rs`)
//!
//! eviction   asked ─▶ refused ─▶ asked … its turn begins, while a budget has no room        (`eviction.rs`)
//!
//! turns      asked ─▶ ending ─▶ its volumes leave ─▶ over, of each workload in order            (`ordered_drain.rs`)
//!
//! hold       none ◀─▶ held: what happens by itself is noted and waits                       (`hold.rs`)
//!
//! protected  no ◀─▶ yes: neither it nor its instance is deleted                        (`protection.rs`)
//!
//! aside      no ─▶ kept as it is, out of service ─▶ over: its set tells it to go              (`diagnosis.rs`)
//!
//! start      open | awaited ─▶ refused ─▶ prepared                                            (`start/`)
//!
//! site       open | awaited ─▶ chosen ─▶ (it failed there) awaited                            (`placement.rs`)
//!
//! class      open | awaited ─▶ taken: a copy of what it is made from                         (`class_snapshot.rs`)
//!
//! record     what Juju's clients tell of it                                                   (`juju/`)
//!
//! strays     other instances that bear its name, each being removed on its own              (`foreign_instance.rs`)
//! ```
//!
//! Clients make and end the instance of a machine with provider `external`: the node only waits for them (`juju/`).
//!
//! A machine owns the sets of its attachments, of volumes and of filesystems (`attachments.rs`), of the replica sets that
//! count on it (`membership.rs`), and of the machines that stand in it (`containers.rs`): it does not die before they are
//! released, or skipped by force.
//! Everything that may happen to an instance of a name is decided in the one stream of that name.
//!
//! # Other words for the same
//!
//! Gardener's phases and Juju's statuses are views of these states (`phase.rs`). The first line that fits counts:
//!
//! | life | instance | attempts | health | removal step | Gardener's phase | Juju's status |
//! |---|---|---|---|---|---|---|
//! | dying | running | | | drain | Terminating | as before it was dying |
//! | alive | running | | | drain, then another is made | Terminating | as before |
//! | dying | any | | | waits for replica sets, then for its attachments | Terminating | as before it was dying |
//! | dead | deleting | under way, waiting | | delete VM | Terminating | stopped |
//! | dead | deleting | given up | | delete VM | Terminating | error |
//! | removed | none | | | done | Terminating, then gone | stopped, then gone |
//! | alive | none | | | | blank | pending |
//! | alive | creating | first | | | blank | pending (allocating) |
//! | alive | creating | later ones, or waiting | | | CrashLoopBackOff | pending (allocating) |
//! | alive | creating | given up | | | Failed | error (provisioning error) |
//! | alive | running | | unjudged, joining | | Pending | pending, started once it reports |
//! | alive | running | | well | | Running | started |
//! | alive | running | | suspect, overdue | | Unknown | down if silent, else started |
//! | alive | lost | | | | Failed | down |
//! | alive | running, laid aside | | any | | Failed | as before |
//! | alive | deleting | under way, waiting | | delete VM, then another is made | Terminating | down |
//! | alive | deleting | given up | | delete VM | Terminating | error |
//!
//! Gardener's phase Failed of a machine whose time is over lasts no longer than the decision about it: it is given up and
//! its instance's removal begins in one step. Its phase Available has no counterpart: every machine has an agent.

mod adoption;
mod attachments;
mod attempts;
mod bootstrap;
mod class_snapshot;
mod command;
mod containers;
mod death;
mod decide;
mod diagnosis;
mod draining;
mod effect;
mod event;
mod eviction;
mod evolve;
mod farewell;
mod foreign_instance;
mod health;
mod hold;
mod invariants;
pub mod juju;
mod membership;
mod ordered_drain;
mod phase;
mod placement;
mod progress;
mod protection;
mod provider_reports;
mod removal_reason;
mod retries;
mod spec;
mod start;
mod state;
mod verdict;
mod volume_zones;

pub mod rules;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use bootstrap::{Joined, NodeFacts};
pub use class_snapshot::ClassSnapshot;
pub use command::{Command, Removal, Report};
pub use diagnosis::Aside;
pub use draining::{Drain, DrainOutcome};
pub use effect::Effect;
pub use event::{Event, Leaving, Skipped};
pub use eviction::BudgetSeen;
pub use health::{Cause, Health, is_doubted, is_overdue};
pub use ordered_drain::{Turn, TurnOutcome, TurnPlan, TurnStep, Turns};
pub use phase::{juju_status, phase};
pub use placement::{Site, SiteChoice};
pub use progress::Progress;
pub use removal_reason::RemovalReason;
pub use spec::{Base, Constraints, Job, Placement, Spec, Workload, ZoneRule};
pub use start::{InstanceConfig, Start, StartAgent, StartHost, StartImage, StartParameters, Unstartable};
pub use state::{Hold, Instance, Node, State, Step, Stray};
pub use verdict::{Reason, Rejection};
pub use volume_zones::VolumeZones;

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::{
    contract::{Decider, Facts, Invariant, NoView, Touches, Verdict},
    vocab::Call,
};

impl Decider for State {
    const KIND: &'static str = "machine";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    const INVARIANTS: &'static [Invariant<Self>] = invariants::ALL;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        evolve::evolve(self, at, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn calls_for(event: &Event) -> Option<Call> {
        match event {
            Event::CreateRequested { .. } => Some(Call::Create),
            Event::DeleteRequested { .. } | Event::StrayFound { .. } => Some(Call::Delete),
            _ => None,
        }
    }

    fn goes_on_from(&self, event: &Event) -> Touches {
        event.follows()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        effect::pending(self)
    }
}
