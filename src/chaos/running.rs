//! A sweep over the journal of a running node, beside its work.

use std::{io, num::NonZeroUsize, sync::Arc};

use bailiwick_journal::{LocalJournal, Position, ReadOnlyJournal, disk::SimulatedDisk, import_on};
use tracing::dispatcher::{self, Dispatch};

use super::{Follow, Setup, SweepError, sweep};
use crate::api::wire::{
    problem::Problem,
    sweep::{Sweep, SweepWish},
};

/// Sweeps the journal as it is now, from a copy in memory: the node goes on writing to its own. One node is simulated at a time,
/// because the processors are the running one's, and what simulated nodes log is left out.
///
/// # Errors
/// If the journal cannot be read or swept, or the one who follows it ends it.
pub fn sweep_running(journal: &LocalJournal, wish: &SweepWish, follow: Follow<'_>) -> Result<Sweep, Problem> {
    let copy = copied(journal)?;
    let swept = dispatcher::with_default(&Dispatch::none(), || sweep(&copy, setup(wish), follow));
    swept.map_err(|error| match error {
        SweepError::Cancelled => Problem::cancelled(),
        error => Problem {
            code: "chaos".into(),
            message: "cannot sweep the journal".into(),
            detail: vec![error.to_string()],
            next_step: Some("run `bailiwick journal check` and `bailiwick audit replay` first".into()),
        },
    })
}

fn copied(journal: &LocalJournal) -> Result<ReadOnlyJournal, Problem> {
    let unreadable = |error: &dyn std::error::Error| Problem {
        code: "integrity".into(),
        message: error.to_string(),
        next_step: Some("stop the node and run `bailiwick journal check`".into()),
        ..Problem::default()
    };
    let (mut lines, disk) = (Vec::new(), Arc::new(SimulatedDisk::new()));
    journal.export(&mut lines).map_err(|error| unreadable(&error))?;
    import_on(&mut io::Cursor::new(lines), disk.clone()).map_err(|error| unreadable(&error))?;
    ReadOnlyJournal::open_on(disk).map_err(|error| unreadable(&error))
}

fn setup(wish: &SweepWish) -> Setup {
    let usual = Setup::default();
    Setup {
        seed: wish.seed.unwrap_or(usual.seed),
        from: wish.from.map_or(usual.from, Position),
        to: wish.to.map(Position),
        every: wish.every.unwrap_or(usual.every),
        each_call: wish.each_call.unwrap_or(usual.each_call),
        until_ms: wish.until_ms.unwrap_or(usual.until_ms),
        workers: NonZeroUsize::MIN,
    }
}
