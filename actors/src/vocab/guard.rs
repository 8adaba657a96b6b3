//! Guards that a test can take out, to show that it would notice: whatever stands behind one was somebody's bug once.

/// A rule that keeps a replica set from harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The primary steps down before it loses its vote.
    PrimaryStepsDownFirst,
    /// Only the number of voters at rest is odd: on the way to another primary there may be two.
    EvenOnTheWay,
    /// A member stays flagged until a committed configuration has no vote for it.
    FlagsFollowTheCommitted,
    /// A step is written on the configuration that it was planned on, or not at all.
    PlannedOnWhatIsThere,
    /// One voter at a time is reached at another address.
    OneAddressAtATime,
    /// After a step down everything is looked at again.
    LookAfterStepDown,
    /// Where the number would be even, it is not the leader that gets no vote.
    LeaderIsNotLeftOut,
    /// A voter that no machine stands behind stops nothing.
    OrphansStopNothing,
    /// A member that lost its data is removed, and its machine joins anew.
    LostDataJoinsAnew,
    /// No machine goes while a set counts on it.
    MachinesWaitForTheirSets,
}

/// Whether a guard is in its place. It always is, but where a test took it out.
#[cfg(not(feature = "testing"))]
pub(crate) const fn holds(_: Guard) -> bool {
    true
}

#[cfg(feature = "testing")]
pub(crate) use out::holds;
#[cfg(feature = "testing")]
pub use out::{Out, take_out};

#[cfg(feature = "testing")]
mod out {
    use std::cell::Cell;

    use super::Guard;

    thread_local! {
        static OUT: Cell<u32> = const { Cell::new(0) };
    }

    /// A guard that is out until this is dropped.
    #[derive(Debug)]
    #[must_use = "the guard is back in its place when this is dropped"]
    pub struct Out(Guard);

    /// Takes a guard out on this thread.
    pub fn take_out(guard: Guard) -> Out {
        OUT.set(OUT.get() | bit(guard));
        Out(guard)
    }

    pub(crate) fn holds(guard: Guard) -> bool {
        OUT.get() & bit(guard) == 0
    }

    fn bit(guard: Guard) -> u32 {
        1 << guard as u32
    }

    impl Drop for Out {
        fn drop(&mut self) {
            OUT.set(OUT.get() & !bit(self.0));
        }
    }
}
