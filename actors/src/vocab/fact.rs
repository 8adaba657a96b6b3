//! The sides of an entity that people ask about, and that decisions rest on.

use std::fmt;

/// One side of an entity. Each of its events changes at most a few of them, so the last event of a side is the one to cite
/// where a decision follows from that side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// What it is declared as.
    Spec,
    /// That it exists, is going, or is gone.
    Life,
    /// What a provider keeps for it: an instance, a volume, a mount; with attempts and faults.
    Effect,
    /// What a provider was asked for last: to make it, to delete it. Attempts and faults come after.
    Request,
    /// Whether it is well, and until when it may take to become so.
    Health,
    /// What its agent says.
    Agent,
    /// Whether an operator holds it.
    Hold,
    /// Whether a machine set makes no machines, because it had too many.
    Freeze,
    /// What hangs on it: attachments, mounts, containers, replica sets, users of a class.
    Dependents,
    /// Where it is to be made.
    Zone,
    /// What it is made from and started with.
    Start,
    /// How its workloads end.
    Drain,
    /// That its workloads were asked to stop, and how long they may take.
    Draining,
    /// Instances that bear its name and are not its own.
    Stray,
    /// The pass of a machine set that is under way.
    Pass,
    /// What a replica set saw of its engine.
    Seen,
    /// The step that a replica set takes.
    Step,
    /// Whether a member is in the configuration, and votes.
    Vote,
    /// Whether a machine that failed is kept for diagnosis.
    Kept,
}

impl Fact {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Spec,
        Self::Life,
        Self::Effect,
        Self::Request,
        Self::Health,
        Self::Agent,
        Self::Hold,
        Self::Freeze,
        Self::Dependents,
        Self::Zone,
        Self::Start,
        Self::Drain,
        Self::Draining,
        Self::Stray,
        Self::Pass,
        Self::Seen,
        Self::Step,
        Self::Vote,
        Self::Kept,
    ];

    /// The side on which an event of this one rests: mostly on what came before it. What was observed rests on nothing that
    /// was observed before: an agent is heard because its instance runs.
    pub const fn followed(self) -> Option<Self> {
        match self {
            Self::Agent => Some(Self::Effect),
            // So is what an engine was seen to be, and what somebody wishes.
            Self::Dependents | Self::Seen | Self::Spec => None,
            other => Some(other),
        }
    }

    /// The stable word: `health`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Life => "life",
            Self::Effect => "effect",
            Self::Request => "request",
            Self::Health => "health",
            Self::Agent => "agent",
            Self::Hold => "hold",
            Self::Freeze => "freeze",
            Self::Dependents => "dependents",
            Self::Zone => "zone",
            Self::Start => "start",
            Self::Drain => "drain",
            Self::Draining => "draining",
            Self::Stray => "stray",
            Self::Pass => "pass",
            Self::Seen => "seen",
            Self::Step => "step",
            Self::Vote => "vote",
            Self::Kept => "kept",
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
