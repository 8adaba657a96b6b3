//! How a running node comes to look in a checkpoint's file for what that holds, instead of in memory.
//!
//! An appender waits meanwhile, so it is done in short steps: one says that what the file has is not in memory from
//! now on, and hands over what can be handed over; the others give back what is left of it in maps, part by part. What the
//! index answers is the same before, between and after them.

use super::{Base, BlockPlace, Index, answers::Piece, streams};
use crate::Position;

/// In how many steps memory is given back.
pub(crate) const PARTS: usize = streams::PARTS;

/// What the index held, to be dropped by its receiver.
#[derive(Default)]
pub(crate) struct GivenUp {
    _base: Base,
    _blocks: Vec<BlockPlace>,
    _answers: Vec<Piece>,
}

impl Index {
    /// Whether a checkpoint that ends at this position may be the base: it goes as far as the one that is there or
    /// further, and leads to where its successor begins. Reads in both.
    pub(crate) fn takes(&self, base: &Base, position: Position) -> bool {
        let (old, count, all) = (self.base.block_count(), base.block_count(), self.block_count());
        let last = count.checked_sub(1).and_then(|number| base.block(number));
        let here = self.block(count as u64);
        let same = |last: BlockPlace, here: BlockPlace| last.first == here.first && last.place == here.place;
        let ends = match self.block(count as u64 + 1) {
            Some(next) => next.first == position.next(),
            None => count as u64 == all && position == self.last_position,
        };
        let fits = old <= count && base.item_count() as u64 == position.0 && ends;
        fits && last.zip(here).is_some_and(|(last, here)| same(last, here)) && !self.has_failed() && !base.has_failed()
    }

    /// Takes a base that it [`takes`](Index::takes), which ends at this position and time. Reads nothing; what it gives up
    /// is large, and is better dropped by a thread that keeps nobody waiting. [`Index::give_back`] has to follow.
    pub(crate) fn rebase(&mut self, base: Base, position: Position, time_ms: u64) -> GivenUp {
        let items = self.base.item_count() + self.newer_items;
        let known = base.block_count().saturating_sub(self.base.block_count()).min(self.blocks.len());
        let newer = self.blocks.split_off(known);
        self.newer_items = items.saturating_sub(base.item_count());
        self.streams.give_up(position);
        GivenUp {
            _answers: self.answers.give_up(position.0),
            _blocks: std::mem::replace(&mut self.blocks, newer),
            _base: std::mem::replace(&mut self.base, base.of_time(time_ms)),
        }
    }

    /// Gives back one part of [`PARTS`] of what was given up.
    pub(crate) fn give_back(&mut self, part: usize) {
        self.streams.give_back(part);
        self.answers.give_back(part, PARTS);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::{
        COMMAND_WINDOW_MS, StreamId, Version,
        disk::{Access, Disk, SimulatedDisk},
        index::{Bytes, Indexed, Item},
        log::commit_log::Place,
    };

    const FILE: &str = "file";

    /// A block: what each of its entries is. A time far behind the last one's ends the window of those before.
    #[derive(Clone, Debug)]
    struct Block(Vec<(u8, u8, u16, u64)>);

    fn block() -> impl Strategy<Value = Block> {
        let later = prop_oneof![20 => 0..1_000u64, 1 => Just(COMMAND_WINDOW_MS / 3)];
        prop::collection::vec((any::<u8>(), 0..3u8, any::<u16>(), later), 1..4).prop_map(Block)
    }

    fn stream(number: u8) -> StreamId {
        // One of them has most entries, and some have one.
        let number = if number < 100 { 0 } else { number };
        format!("{}/{number}", ["machine", "volume"][usize::from(number % 2)]).parse().unwrap()
    }

    fn id(number: u16) -> Uuid {
        // Some are used anew.
        Uuid::from_u128(u128::from(number % 2_000) * 0x9E37_79B9_7F4A_7C15)
    }

    fn add(index: &mut Index, Block(entries): &Block) {
        let number = index.block_count() as u32;
        index.add_block(index.last_position.next(), Place { segment: 1 + number / 3, offset: 128 * (1 + number % 3) });
        for (name, events, command, later) in entries {
            let stream = stream(*name);
            let next_version = index.version(&stream).plus(u64::from(*events)).next();
            let position = index.last_position.next();
            let entry = Indexed {
                item: Item { position, next_version },
                time_ms: index.last_time_ms + later,
                command_id: id(*command),
                command_hash: [position.0 as u8; 16],
            };
            index.add(&stream, &entry);
        }
    }

    fn of(blocks: &[Block]) -> Index {
        let mut index = Index::default();
        blocks.iter().for_each(|block| add(&mut index, block));
        index
    }

    /// The file of a checkpoint of these blocks, with where that ends.
    fn left(blocks: &[Block]) -> (SimulatedDisk, Base, Position, u64) {
        let (disk, index) = (SimulatedDisk::new(), of(blocks));
        let mut bytes = Vec::new();
        assert!(index.write(&mut bytes).unwrap());
        disk.create(FILE).unwrap().write_at(&bytes, 0).unwrap();
        let mut left = Bytes::left_in(disk.open(FILE, Access::Read).unwrap()).unwrap();
        left.sum(0, 0).unwrap();
        let base = Base::read(left, 0).unwrap().for_long().unwrap();
        (disk, base, index.last_position, index.last_time_ms)
    }

    fn written(index: &Index) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        index.write(&mut bytes).ok().map(|_| bytes)
    }

    /// Everything that an index can be asked, with a word for each answer.
    fn answers(index: &Index, mut tell: impl FnMut(String)) {
        let blocks = 0..=index.block_count() + 1;
        let numbers: Vec<u64> = blocks.clone().collect();
        tell(format!("{} blocks, {:?}", index.block_count(), index.some_blocks(&numbers)));
        blocks.for_each(|number| tell(format!("block {number}: {:?}", index.block(number))));
        (0..=index.last_segment() + 1)
            .for_each(|number| tell(format!("segment {number}: {:?}", index.segment(number))));
        (0..=index.last_position.0 + 1).for_each(|at| tell(format!("{at} in {:?}", index.block_of(Position(at)))));
        tell(format!("{} items, {} streams", index.item_count(), index.stream_count()));
        ["", "machine/", "volume/2", "x"].iter().for_each(|prefix| tell(format!("{:?}", index.streams(prefix))));
        for number in 99..=255 {
            let stream = stream(number);
            let (version, items) = (index.version(&stream), index.items(&stream));
            let each: Vec<_> = (0..=items.len()).map(|number| items.get(number)).collect();
            tell(format!("{stream} at {version:?}: {each:?}"));
            for from in [0, 1, items.len() / 2, items.len()] {
                tell(format!("{stream} from {from}: {:?}", items.some(from..items.len().min(from + 7))));
            }
            for before in (0..=version.0 + 2).step_by(1 + version.0 as usize / 8) {
                tell(format!("{stream} before {before}: {}", index.items_before(&stream, Version(before))));
            }
        }
        (0..2_001).for_each(|number| tell(format!("command {number}: {:?}", index.answered_at(&id(number)))));
    }

    fn assert_same(index: &Index, plain: &Index) {
        let mut expected = Vec::new();
        answers(plain, |answer| expected.push(answer));
        let mut expected = expected.into_iter();
        answers(index, |answer| assert_eq!(Some(answer), expected.next()));
        assert_eq!(expected.next(), None);
        assert!(!index.has_failed());
        assert!(written(index) == written(plain), "a checkpoint of it has other bytes");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn an_index_that_looks_in_files_answers_as_one_that_has_all_in_memory(
            blocks in prop_oneof![prop::collection::vec(block(), 2..40), prop::collection::vec(block(), 250..600)],
            cuts in prop::collection::vec(0.0..1.0f64, 4),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| 1 + (cut * (blocks.len() - 1) as f64) as usize).collect();
            cuts.sort_unstable();
            let (mut index, mut plain) = (Index::default(), Index::default());
            let mut next = 0;
            // Two checkpoints, each made of what was there some time before.
            for (known, until) in [(cuts[0], cuts[1]), (cuts[2], cuts[3])] {
                let (_disk, base, position, time_ms) = left(&blocks[..known]);
                for block in &blocks[next..until] {
                    add(&mut index, block);
                    add(&mut plain, block);
                }
                next = until;
                prop_assert!(index.takes(&base, position));
                drop(index.rebase(base, position, time_ms));
                assert_same(&index, &plain);
                // Somebody appends while it is still at it.
                (0..PARTS / 2).for_each(|part| index.give_back(part));
                for block in blocks.get(next..next + 1).unwrap_or_default() {
                    add(&mut index, block);
                    add(&mut plain, block);
                    next += 1;
                }
                (PARTS / 2..PARTS).for_each(|part| index.give_back(part));
                assert_same(&index, &plain);
            }
            // And what it holds in memory is what came since.
            prop_assert_eq!(index.newer_items as u64, index.last_position.0 - index.base.item_count() as u64);
            prop_assert_eq!(index.streams.iter().map(|(_, items)| items.len()).sum::<usize>(), index.newer_items);
        }
    }

    fn some_blocks(count: u8) -> Vec<Block> {
        let entry = |number: u8| (number.wrapping_mul(7), number % 3, u16::from(number) * 5, 3);
        (0..count).map(|number| Block(vec![entry(number), entry(number.wrapping_add(99))])).collect()
    }

    #[test]
    fn a_checkpoint_of_something_else_is_not_taken() {
        let blocks = some_blocks(60);
        let mut index = of(&blocks);
        let mut other = blocks.clone();
        other[3].0.pop();
        let (_disk, base, position, _) = left(&other[..30]);
        assert!(!index.takes(&base, position), "one entry is missing in it");
        let (_disk, longer, end, _) = left(&some_blocks(61));
        assert!(!index.takes(&longer, end), "it goes further");
        let (_disk, all, end, _) = left(&blocks);
        assert!(index.takes(&all, end) && !index.takes(&all, position));
        let (_disk, base, position, time) = left(&blocks[..30]);
        drop(index.rebase(base, position, time));
        let (_disk, before, position, _) = left(&blocks[..20]);
        assert!(!index.takes(&before, position), "it goes less far than the one that is there");
        assert!(!index.takes(&Base::default(), Position::ZERO));
    }

    #[test]
    fn where_the_file_changed_nothing_is_said_that_is_not_so_without_a_sign() {
        let blocks = some_blocks(250);
        let plain = of(&blocks);
        let mut expected = Vec::new();
        answers(&plain, |answer| expected.push(answer));
        let length = left(&blocks[..200]).0.contents()[FILE].len();
        for at in (0..length).step_by(1_024) {
            let mut index = of(&blocks);
            let (disk, base, position, time_ms) = left(&blocks[..200]);
            drop(index.rebase(base, position, time_ms));
            disk.rot(FILE, |bytes| bytes[at] ^= 0x10);
            let mut number = 0;
            answers(&index, |answer| {
                assert!(answer == expected[number] || index.has_failed(), "byte {at}: {answer}");
                number += 1;
            });
            assert!(index.write(&mut Vec::new()).is_err(), "byte {at}");
        }
    }
}
