//! The newest blocks, kept in memory for followers of the journal.

use std::{collections::VecDeque, sync::Arc};

use crate::api::tail_block::TailBlock;

/// How many bytes of memory they may take.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// The newest blocks.
#[derive(Debug, Default)]
pub(super) struct Tail {
    blocks: VecDeque<Arc<TailBlock>>,
    bytes: usize,
}

impl Tail {
    /// Keeps the newest block, and gives back old ones.
    pub(super) fn push(&mut self, block: Arc<TailBlock>) -> Vec<Arc<TailBlock>> {
        self.bytes += block.bytes();
        self.blocks.push_back(block);
        let mut old = Vec::new();
        while self.bytes > BYTES_MAX
            && self.blocks.len() > 1
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.bytes -= oldest.bytes();
            old.push(oldest);
        }
        old
    }

    pub(super) fn get(&self, number: u64) -> Option<&Arc<TailBlock>> {
        let first = self.blocks.front()?.number;
        self.blocks.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        Entry, Position,
        format::{
            frame::{self, FrameHeader, HEADER_BYTES},
            record::tests::stored,
        },
    };

    fn block(number: u64, records: usize) -> Arc<TailBlock> {
        let mut frame = vec![0; HEADER_BYTES];
        (0..records).for_each(|_| frame.extend(stored()));
        frame.shrink_to_fit();
        let header = FrameHeader {
            journal: Uuid::from_u128(1),
            block: number,
            first: Position(1),
            count: records as u32,
            records_bytes: 0,
            epoch: 1,
            previous: [0; 32],
            hash: [0; 32],
        };
        frame::seal(&mut frame, &header);
        Arc::new(TailBlock::new(number, None, frame))
    }

    /// What the parts of a block take once its entries were asked for, counted one by one.
    fn counted(block: &TailBlock) -> usize {
        let counted = |entry: &Arc<Entry>| {
            let meta = &entry.header.meta;
            let bodies = [&entry.command, &entry.facts, &entry.verdict].into_iter().chain(&entry.events);
            let bodies: usize = bodies.map(|body| body.bytes.capacity()).sum();
            let own = size_of::<Entry>() + size_of::<Arc<Entry>>() + 16 + entry.events.capacity() * 32;
            let cites: usize = meta.cites.iter().map(|cite| size_of_val(cite) + 16 + cite.stream.as_str().len()).sum();
            own + bodies + meta.code.capacity() + meta.principal.capacity() + cites
        };
        block.frame.capacity() + block.entries().unwrap().iter().map(counted).sum::<usize>()
    }

    #[test]
    fn the_newest_blocks_take_no_more_memory_than_they_may_their_entries_included() {
        for records in [1, 10, 1_000] {
            let mut tail = Tail::default();
            let count = 60_000 / records as u64;
            (1..=count).for_each(|number| drop(tail.push(block(number, records))));
            let held: usize = tail.blocks.iter().map(|block| counted(block)).sum();
            assert!((BYTES_MAX / 4..=BYTES_MAX).contains(&held), "{held} bytes in blocks of {records}");
            assert!(tail.get(count).is_some() && tail.get(1).is_none());
        }
    }
}
