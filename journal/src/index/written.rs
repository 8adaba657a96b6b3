//! Writes an index in the form that [`base`](super::base) reads.
//!
//! A node does this while it runs, and has to stay small: what a checkpoint held before is passed on as it lies, and of
//! what came since only the order is made, in 16 bytes a command.

use std::{cmp::Ordering, io, io::Write};

use uuid::Uuid;

use super::{Index, Item, Places, base};
use crate::{Answered, hash};

/// How many streams or answers share one place of a table.
const SHARED: usize = 8;

/// A stream with the mix of its name, its items from an earlier checkpoint, and those since.
type Stream<'i> = (u64, &'i str, &'i [u8], &'i [Item]);
/// An answer with the mix of its command's id, and its time.
type Answer = (u64, Uuid, (Answered, u64));

/// Writes an index; false, with something of it written, if it is too large for its numbers.
pub(super) fn write(index: &Index, to: &mut dyn Write) -> io::Result<bool> {
    let streams = sorted_streams(index);
    let newer = index.answers.sorted_by(|id| hash::fixed(id.as_bytes()));
    let count = answers(index, &newer).count();
    let names: usize = streams.iter().map(|stream| stream.1.len()).sum();
    let items: usize = streams.iter().map(|(_, _, old, new)| old.len() / base::ITEM + new.len()).sum();
    let (stream_bits, answer_bits) = (bits_for(streams.len()), bits_for(count));
    let counts = [index.block_count() as usize, streams.len(), names, items, count];
    for count in counts.into_iter().chain([stream_bits as usize, answer_bits as usize, 0]) {
        let Ok(count) = u32::try_from(count) else { return Ok(false) };
        to.write_all(&count.to_le_bytes())?;
    }
    write_blocks(index, to)?;
    write_streams(&streams, to)?;
    for (_, id, (answered, time_ms)) in answers(index, &newer) {
        let Ok(age) = u32::try_from(index.last_time_ms.saturating_sub(time_ms)) else { return Ok(false) };
        to.write_all(id.as_bytes())?;
        to.write_all(&answered.command_hash)?;
        to.write_all(&answered.position.0.to_le_bytes())?;
        to.write_all(&age.to_le_bytes())?;
    }
    write_table(streams.iter().map(|stream| stream.0), stream_bits, to)?;
    write_table(answers(index, &newer).map(|answer| answer.0), answer_bits, to)?;
    Ok(true)
}

fn sorted_streams(index: &Index) -> Vec<Stream<'_>> {
    let mut streams = Vec::with_capacity(index.stream_count());
    let mix = |name: &str| hash::fixed(name.as_bytes());
    for (name, old) in index.base.streams() {
        let new = index.streams.get(name).map_or(&[][..], Places::items);
        streams.push((mix(name), name, old, new));
    }
    let only_new = index.streams.iter().filter(|(name, _)| index.base.items(name.as_str()).is_empty());
    streams.extend(only_new.map(|(name, places)| (mix(name.as_str()), name.as_str(), &[][..], places.items())));
    streams.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    streams
}

/// All answers that are remembered, by mix and id; `newer` are the positions of those that no checkpoint held, so sorted.
fn answers<'i>(index: &'i Index, newer: &'i [(u64, u64)]) -> impl Iterator<Item = Answer> {
    let oldest_kept = index.oldest_kept();
    let with_mix = |(id, known): (Uuid, (Answered, u64))| (hash::fixed(id.as_bytes()), id, known);
    let is_kept =
        move |(id, known): &(Uuid, (Answered, u64))| known.1 >= oldest_kept && index.answers.get(id).is_none();
    let mut old = index.base.answers().filter(is_kept).map(with_mix).peekable();
    let mut new = newer.iter().filter_map(|(_, position)| index.answers.at(*position)).map(with_mix).peekable();
    std::iter::from_fn(move || {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) => (old.0, old.1).cmp(&(new.0, new.1)),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        if order == Ordering::Less { old.next() } else { new.next() }
    })
}

fn write_blocks(index: &Index, to: &mut dyn Write) -> io::Result<()> {
    for number in 1..=index.block_count() {
        let block = index.block(number).ok_or(io::ErrorKind::InvalidData)?;
        to.write_all(&block.first.0.to_le_bytes())?;
        to.write_all(&block.place.segment.to_le_bytes())?;
        to.write_all(&block.place.offset.to_le_bytes())?;
    }
    Ok(())
}

fn write_streams(streams: &[Stream<'_>], to: &mut dyn Write) -> io::Result<()> {
    let (mut name_at, mut item_at) = (0u32, 0u32);
    for (mix, name, old, new) in streams {
        let count = (old.len() / base::ITEM + new.len()) as u32;
        to.write_all(&mix.to_le_bytes())?;
        for number in [name_at, name.len() as u32, item_at, count] {
            to.write_all(&number.to_le_bytes())?;
        }
        name_at += name.len() as u32;
        item_at += count;
    }
    for (_, name, ..) in streams {
        to.write_all(name.as_bytes())?;
    }
    for (_, _, old, new) in streams {
        to.write_all(old)?;
        for item in *new {
            to.write_all(&item.position.0.to_le_bytes())?;
            to.write_all(&item.next_version.0.to_le_bytes())?;
        }
    }
    Ok(())
}

fn bits_for(count: usize) -> u32 {
    (count / SHARED).max(1).ilog2().min(base::BITS_MAX)
}

fn write_table(mixes: impl Iterator<Item = u64>, bits: u32, to: &mut dyn Write) -> io::Result<()> {
    let mut begins = vec![0u32; (1 << bits) + 1];
    for mix in mixes {
        begins[base::slot(mix, bits) + 1] += 1;
    }
    let mut sum = 0;
    for begin in begins {
        sum += begin;
        to.write_all(&sum.to_le_bytes())?;
    }
    Ok(())
}
