//! Writes an index in the form that [`base`](super::base) reads.
//!
//! A node does this while it runs, and has to stay small: what a checkpoint held before is passed on as it lies, in
//! several passes, and of what came since only the order is made, in 16 bytes a command.

use std::{borrow::Cow, cmp::Ordering, io, io::Write, iter::Peekable};

use uuid::Uuid;

use super::{Index, Item, base};
use crate::{Answered, index::hash};

/// How many streams or answers share one place of a table.
const SHARED: usize = 8;

/// A stream that has items which no checkpoint held, with the mix of its name.
type Newer<'i> = (u64, &'i str, &'i [Item]);
/// An answer with the mix of its command's id, and its time.
type Answer = (u64, Uuid, (Answered, u64));

/// A stream with its items from an earlier checkpoint, and those since.
struct Stream<'i> {
    mix: u64,
    name: Cow<'i, str>,
    old: base::Run,
    new: &'i [Item],
}

impl Stream<'_> {
    fn item_count(&self) -> usize {
        self.old.count + self.new.len()
    }
}

/// Writes an index; false, with something of it written, if it is too large for its numbers.
pub(super) fn write(index: &Index, to: &mut dyn Write) -> io::Result<bool> {
    let newer_streams = sorted_streams(index);
    let newer_answers = index.answers.sorted_by(|id| hash::fixed(id.as_bytes()));
    let (streams, answers) = (|| streams(index, &newer_streams), || answers(index, &newer_answers));
    let (mut count, mut names, mut items) = (0, 0, 0);
    for stream in streams() {
        (count, names, items) = (count + 1, names + stream.name.len(), items + stream.item_count());
    }
    let answer_count = answers().count();
    let (stream_bits, answer_bits) = (bits_for(count), bits_for(answer_count));
    let counts = [index.block_count() as usize, count, names, items, answer_count];
    for count in counts.into_iter().chain([stream_bits as usize, answer_bits as usize, 0]) {
        let Ok(count) = u32::try_from(count) else { return Ok(false) };
        to.write_all(&count.to_le_bytes())?;
    }
    write_blocks(index, to)?;
    write_entries(streams(), to)?;
    streams().try_for_each(|stream| to.write_all(stream.name.as_bytes()))?;
    write_items(index, streams(), to)?;
    for (_, id, (answered, time_ms)) in answers() {
        let Ok(age) = u32::try_from(index.last_time_ms.saturating_sub(time_ms)) else { return Ok(false) };
        to.write_all(id.as_bytes())?;
        to.write_all(&answered.command_hash)?;
        to.write_all(&answered.position.0.to_le_bytes())?;
        to.write_all(&age.to_le_bytes())?;
    }
    write_table(streams().map(|stream| stream.mix), stream_bits, to)?;
    write_table(answers().map(|answer| answer.0), answer_bits, to)?;
    if index.base.has_failed() { Err(io::Error::other("the checkpoint before could not be read")) } else { Ok(true) }
}

fn sorted_streams(index: &Index) -> Vec<Newer<'_>> {
    let newer = index.streams.iter().map(|(name, items)| (hash::fixed(name.as_str().as_bytes()), name.as_str(), items));
    let mut streams: Vec<_> = newer.collect();
    streams.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    streams
}

/// All streams, by mix and name; `newer` is sorted in the same way.
fn streams<'i>(index: &'i Index, newer: &'i [Newer<'i>]) -> impl Iterator<Item = Stream<'i>> {
    let of_base = |stream: base::Stream<'i>| {
        let base::Stream { mix, name, items } = stream;
        Stream { mix, name, old: items, new: &[] }
    };
    let of_newer =
        |(mix, name, new): &Newer<'i>| Stream { mix: *mix, name: (*name).into(), old: base::Run::default(), new };
    let mut old = index.base.streams().map(of_base).peekable();
    let mut new = newer.iter().map(of_newer).peekable();
    let order = |a: &Stream<'i>, b: &Stream<'i>| (a.mix, &a.name).cmp(&(b.mix, &b.name));
    std::iter::from_fn(move || match first_of(&mut old, &mut new, order) {
        Ordering::Less => old.next(),
        Ordering::Greater => new.next(),
        Ordering::Equal => Some(Stream { old: old.next()?.old, ..new.next()? }),
    })
}

/// Which of two sorted ones comes first; the second if both have ended.
fn first_of<T>(
    old: &mut Peekable<impl Iterator<Item = T>>,
    new: &mut Peekable<impl Iterator<Item = T>>,
    order: impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    match (old.peek(), new.peek()) {
        (Some(old), Some(new)) => order(old, new),
        (Some(_), None) => Ordering::Less,
        (None, _) => Ordering::Greater,
    }
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
        let order = first_of(&mut old, &mut new, |a: &Answer, b: &Answer| (a.0, a.1).cmp(&(b.0, b.1)));
        if order == Ordering::Less { old.next() } else { new.next() }
    })
}

fn write_blocks(index: &Index, to: &mut dyn Write) -> io::Result<()> {
    for block in index.base.blocks().chain(index.blocks.iter().copied()) {
        to.write_all(&block.first.0.to_le_bytes())?;
        to.write_all(&block.place.segment.to_le_bytes())?;
        to.write_all(&block.place.offset.to_le_bytes())?;
    }
    Ok(())
}

fn write_entries<'i>(streams: impl Iterator<Item = Stream<'i>>, to: &mut dyn Write) -> io::Result<()> {
    let (mut name_at, mut item_at) = (0u32, 0u32);
    for stream in streams {
        let (name_bytes, count) = (stream.name.len() as u32, stream.item_count() as u32);
        to.write_all(&stream.mix.to_le_bytes())?;
        for number in [name_at, name_bytes, item_at, count] {
            to.write_all(&number.to_le_bytes())?;
        }
        name_at += name_bytes;
        item_at += count;
    }
    Ok(())
}

fn write_items<'i>(index: &Index, streams: impl Iterator<Item = Stream<'i>>, to: &mut dyn Write) -> io::Result<()> {
    let mut copy = index.base.copier();
    for stream in streams {
        copy(stream.old, to)?;
        for item in stream.new {
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
