//! One pass over many entries, in order, without building them; blocks are fetched ahead on another thread.

use std::{ops::ControlFlow, sync::mpsc};

use super::{At, damaged, wants};
use crate::{
    Filter, Position, ReadError,
    api::view::EntryView,
    core::{Core, Loaded},
};

/// How many entries are fetched at once, and how many such fetches may wait.
const ENTRIES_AT_ONCE: u64 = 4_096;
const AHEAD: usize = 2;
/// Fewer entries than this are fetched by the reader itself.
const ENTRIES_FOR_A_THREAD: u64 = 2 * ENTRIES_AT_ONCE;

/// Is shown each entry; may end the pass.
pub(crate) type Visit<'v> = dyn FnMut(&EntryView<'_>) -> ControlFlow<()> + 'v;

pub(crate) fn pass(
    core: &Core,
    from: Position,
    to: Position,
    filter: &Filter,
    visit: &mut Visit<'_>,
) -> Result<(), ReadError> {
    let from = from.max(Position(1));
    let to = to.min(core.state().head.position);
    if from > to {
        return Ok(());
    }
    let mut show = |blocks: Result<Vec<Loaded>, ReadError>| -> Result<ControlFlow<()>, ReadError> {
        for block in &blocks? {
            let shown = block.each_record::<At>(|record| {
                let position = record.position();
                if position < from || to < position {
                    return Ok(ControlFlow::Continue(()));
                }
                let stream = record.stream_text().map_err(|problem| At(position, problem))?;
                let seen = wants(filter, stream).then(|| visit(&EntryView::stored(*record, stream)));
                Ok(seen.unwrap_or(ControlFlow::Continue(())))
            });
            if shown.map_err(|At(position, problem)| damaged(position, problem))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    };
    let mut fetches = Fetches { core, next: from, to };
    if !core.reads_ahead() || to.0 - from.0 < ENTRIES_FOR_A_THREAD {
        for blocks in fetches {
            if show(blocks)?.is_break() {
                break;
            }
        }
        return Ok(());
    }
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(AHEAD);
        let ahead = move || {
            // Ends when everything was fetched, or when nobody wants more.
            while let Some(blocks) = fetches.next()
                && send.send(blocks).is_ok()
            {}
        };
        let spawned = std::thread::Builder::new().name("journal-ahead".into()).spawn_scoped(scope, ahead);
        spawned.map_err(|error| ReadError::Unreadable { problem: format!("no thread could be started: {error}") })?;
        for blocks in receive {
            if show(blocks)?.is_break() {
                break;
            }
        }
        Ok(())
    })
}

/// The blocks of a range, some at a time.
struct Fetches<'c> {
    core: &'c Core,
    next: Position,
    to: Position,
}

impl Iterator for Fetches<'_> {
    type Item = Result<Vec<Loaded>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.to {
            return None;
        }
        let numbers = {
            let state = self.core.state();
            let block_of = |position| state.index.block_of(position).unwrap_or(1);
            let first = block_of(self.next);
            let last = block_of(self.to.min(Position(self.next.0 + ENTRIES_AT_ONCE - 1)));
            self.next = state.index.block(last + 1).map_or(self.to.next(), |block| block.first);
            state.is_readable().map(|()| (first..=last).collect::<Vec<u64>>())
        };
        let loaded = numbers.and_then(|numbers| self.core.load(&numbers));
        if loaded.is_err() {
            self.next = self.to.next();
        }
        Some(loaded)
    }
}
