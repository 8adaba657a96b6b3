//! Why a machine goes, or its instance is replaced: told to the workloads before any of them ends, so that it can
//! tell a farewell from a repair.
//! Source: the condition that Gardener's machine controller writes on a node before it drains it, which it reads off the
//! machine's phase. Ours is given with the order to remove, because a phase is over by then.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::State;
use crate::vocab::Life;

/// Why a machine goes, or its instance is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalReason {
    /// Somebody asked for it.
    #[default]
    Deleted,
    /// It was given up.
    Unhealthy,
    /// Its set needs fewer machines.
    ScaleDown,
    /// Its set goes, and all its machines with it.
    SetDeleted,
    /// The machine that it stands in goes.
    HostDeleted,
}

impl RemovalReason {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Deleted, Self::Unhealthy, Self::ScaleDown, Self::SetDeleted, Self::HostDeleted];

    /// As programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Unhealthy => "unhealthy",
            Self::ScaleDown => "scale-down",
            Self::SetDeleted => "set-deleted",
            Self::HostDeleted => "host-deleted",
        }
    }
}

impl fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "it was deleted",
            Self::Unhealthy => "it was given up",
            Self::ScaleDown => "its set needs fewer machines",
            Self::SetDeleted => "its set was deleted",
            Self::HostDeleted => "its host machine was deleted",
        })
    }
}

impl State {
    /// Why it goes, or its instance is replaced; none if it stays as it is.
    pub fn goes_because(&self) -> Option<RemovalReason> {
        match self.life {
            Life::Dying | Life::Dead => Some(self.going.unwrap_or_default()),
            // Only who was given up is drained and stays.
            Life::Alive => self.drain.as_ref().map(|_| RemovalReason::Unhealthy),
            Life::Undeclared | Life::Removed => None,
        }
    }
}
