//! Hostile bytes: things that were once valid, changed at the places that matter, and noise.

use std::sync::Arc;

use bailiwick_journal::{
    Journal, LocalJournal, LogKeep, ReadOnlyJournal, Settings, Snapshot, Snapshots, Threads, Version, append_blocking,
    blocks::MemoryStore,
    disk::{Disk, SimulatedDisk},
    testing::hostile::{Decoder, reseal},
};

use crate::{
    dice::Dice,
    stores,
    workload::{self, AppendId, Shape},
};

/// Valid bytes of every form.
pub struct Corpus {
    pub frames: Vec<Vec<u8>>,
    pub records: Vec<Vec<u8>>,
    pub heads: Vec<Vec<u8>>,
    pub marks: Vec<Vec<u8>>,
    pub formats: Vec<Vec<u8>>,
    pub snapshots: Vec<Vec<u8>>,
    pub bodies: Vec<Vec<u8>>,
    pub checkpoints: Vec<Vec<u8>>,
    pub begins: Vec<Vec<u8>>,
    /// Whole exports, as lines.
    pub exports: Vec<Vec<Vec<u8>>>,
    /// Whole stopped journals without a block store: FORMAT, head, and segments.
    pub journals: Vec<Vec<(String, Vec<u8>)>>,
}

impl Corpus {
    pub fn make(seed: u64) -> Result<Self, String> {
        let mut corpus = Self {
            frames: Vec::new(),
            records: Vec::new(),
            heads: Vec::new(),
            marks: Vec::new(),
            formats: Vec::new(),
            snapshots: Vec::new(),
            bodies: Vec::new(),
            checkpoints: Vec::new(),
            begins: Vec::new(),
            exports: Vec::new(),
            journals: Vec::new(),
        };
        for number in 0..4 {
            corpus.add_journal(&mut Dice::of(&[seed, number]))?;
            corpus.add_caches(&mut Dice::of(&[seed, number]))?;
        }
        Ok(corpus)
    }

    fn add_journal(&mut self, dice: &mut Dice) -> Result<(), String> {
        let disk = SimulatedDisk::new();
        let settings = workload::settings(Threads::Inline, 4096);
        let opened =
            LocalJournal::open_with(Arc::new(disk.clone()), &MemoryStore::new(), workload::ID, 1_000, settings);
        let (journal, _) = opened.map_err(|error| error.to_string())?;
        stores::append(&journal, 1, 3 + dice.below(4))?;
        let mut versions = std::collections::BTreeMap::new();
        let group = AppendId { life: 2, writer: 0, sequence: 0, shape: Shape::Group };
        append_blocking(&journal, group.drafts(&journal, &mut versions)).map_err(|error| error.to_string())?;
        journal.close().map_err(|error| error.to_string())?;
        let stream = "machine/0-0".parse().map_err(|_| "no stream")?;
        let snapshot = Snapshot {
            stream,
            version: Version(1),
            position: journal.head().position,
            schema: 1,
            fingerprint: 9,
            state: dice.bytes(90),
        };
        let files = disk.contents();
        Snapshots::on(Arc::new(disk.clone())).save(&snapshot).map_err(|error| error.to_string())?;
        for (name, bytes) in disk.contents() {
            if name.ends_with(".snap") {
                self.snapshots.push(bytes);
            }
        }
        for entry in workload::read_all(&journal)? {
            self.bodies.extend([&entry.command, &entry.facts].map(|body| body.bytes.clone()));
            self.bodies.extend(entry.events.iter().map(|event| event.bytes.clone()));
        }
        let mut lines = Vec::new();
        let reader = ReadOnlyJournal::open_on(Arc::new(disk.clone())).map_err(|error| error.to_string())?;
        reader.export(&mut lines).map_err(|error| error.to_string())?;
        self.exports.push(lines.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect());
        for (name, bytes) in &files {
            if name.starts_with("log/") {
                self.marks.push(bytes[..128].to_vec());
                self.add_frames(bytes);
            }
        }
        self.formats.push(files["FORMAT"].clone());
        self.heads.extend([0, 4096].map(|at| files["head"][at..at + 128].to_vec()));
        let wanted = files.into_iter().filter(|(name, _)| name != "lock");
        self.journals.push(wanted.collect());
        Ok(())
    }

    /// What is left by a stop in order, and by segments that leave.
    fn add_caches(&mut self, dice: &mut Dice) -> Result<(), String> {
        let own = workload::settings(Threads::Own, 4096);
        let keeping = Settings { log_keep: LogKeep::Checkpoint, ..workload::settings(Threads::Inline, 4096) };
        for settings in [own, keeping] {
            let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
            let opened = LocalJournal::open_with(Arc::new(disk.clone()), &store, workload::ID, 1_000, settings);
            let (journal, _) = opened.map_err(|error| error.to_string())?;
            stores::append(&journal, 1, 3 + dice.below(4))?;
            journal.close().map_err(|error| error.to_string())?;
            let mut files = disk.contents();
            self.checkpoints.extend(files.remove("index.checkpoint"));
            self.begins.extend(files.remove("log.begins"));
        }
        if self.checkpoints.is_empty() || self.begins.is_empty() { Err("nothing was left".into()) } else { Ok(()) }
    }

    fn add_frames(&mut self, segment: &[u8]) {
        let mut at = 128;
        while segment.get(at..at + 4) == Some(b"bwbk") {
            let length = 128
                + u32::from_le_bytes([segment[at + 8], segment[at + 9], segment[at + 10], segment[at + 11]]) as usize;
            let frame = &segment[at..at + length];
            // Long ones cost time and show nothing that short ones do not.
            if length < 4096 || self.frames.len() % 8 == 7 {
                self.frames.push(frame.to_vec());
                self.records.push(frame[128..].to_vec());
            }
            at += length;
        }
    }

    pub fn of(&self, decoder: Decoder) -> &[Vec<u8>] {
        match decoder {
            Decoder::Frame => &self.frames,
            Decoder::Records => &self.records,
            Decoder::Head => &self.heads,
            Decoder::Mark => &self.marks,
            Decoder::Format => &self.formats,
            Decoder::Snapshot => &self.snapshots,
            Decoder::Body => &self.bodies,
            Decoder::Checkpoint => &self.checkpoints,
            Decoder::Catalog => &self.begins,
        }
    }
}

/// Something hostile of one form, and whether it was given a right checksum again.
pub fn bytes_for(corpus: &Corpus, decoder: Decoder, dice: &mut Dice) -> (Vec<u8>, bool) {
    if dice.one_in(8) {
        let count = dice.index(2_000);
        return (dice.bytes(count), false);
    }
    let items = corpus.of(decoder);
    let mut bytes = dice.pick(items).clone();
    let other = dice.pick(items);
    change(&mut bytes, other, dice);
    match decoder {
        Decoder::Frame if !dice.one_in(3) => {
            reseal(&mut bytes);
            (bytes, true)
        }
        Decoder::Head | Decoder::Mark | Decoder::Snapshot | Decoder::Checkpoint | Decoder::Catalog
            if !dice.one_in(3) =>
        {
            resum(&mut bytes);
            (bytes, true)
        }
        _ => (bytes, false),
    }
}

/// The checksum of the small forms, over all but its own four bytes.
fn resum(bytes: &mut [u8]) {
    if bytes.len() >= 16 {
        let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Changes bytes in one to four places.
pub fn change(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    const NUMBERS: [u64; 12] = [
        0,
        1,
        2,
        127,
        128,
        255,
        u32::MAX as u64,
        i32::MAX as u64,
        24 * 1024 * 1024,
        24 * 1024 * 1024 - 1,
        u64::MAX,
        u64::MAX - 1,
    ];
    for _ in 0..=dice.below(4) {
        let at = dice.index(bytes.len());
        let until = at + dice.index(bytes.len() - at + 1).min(200);
        match dice.below(9) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = *dice.pick(&NUMBERS) as u8;
                }
            }
            3 | 4 => {
                let near = (bytes.len() as u64).wrapping_add(dice.below(5)).wrapping_sub(2);
                let number = if dice.one_in(3) { near } else { *dice.pick(&NUMBERS) };
                let width = *dice.pick(&[2, 4, 8]);
                // Numbers stand where their width divides.
                let at = at / width * width;
                if let Some(place) = bytes.get_mut(at..at + width) {
                    place.copy_from_slice(&number.to_le_bytes()[..width]);
                }
            }
            5 => {
                let count = dice.index(40);
                let noise = dice.bytes(count);
                drop(bytes.splice(at..at, noise));
            }
            6 => drop(bytes.drain(at..until)),
            7 => {
                let from = dice.index(other.len());
                let piece = other[from..].iter().take(until - at).copied().collect::<Vec<u8>>();
                drop(bytes.splice(at..until, piece));
            }
            _ => bytes.truncate(at),
        }
    }
}

/// A hostile export: lines changed, dropped, doubled, swapped, or with hostile values inside.
pub fn export(corpus: &Corpus, dice: &mut Dice) -> Vec<u8> {
    let mut lines = dice.pick(&corpus.exports).clone();
    for _ in 0..=dice.below(2) {
        let at = dice.index(lines.len());
        match dice.below(10) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = dice.index(lines.len());
                lines.swap(at, other);
            }
            3 => lines.insert(at, b"[".repeat(dice.index(5_000))),
            4 => lines[at] = replaced(&lines[at], |byte| byte.is_ascii_digit(), b"18446744073709551615", dice),
            5 => lines[at] = replaced(&lines[at], |byte| byte.is_ascii_hexdigit(), &[0xC3], dice),
            6 => lines[at] = replaced(&lines[at], |byte| byte == b'"', b"\\u0000", dice),
            7 => {
                let long = b"ab".repeat(dice.index(20_000));
                lines[at] = replaced(&lines[at], |byte| byte.is_ascii_hexdigit(), &long, dice);
            }
            _ => {
                let other = dice.pick(&lines).clone();
                change(&mut lines[at], &other, dice);
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.concat()
}

/// One byte of a kind, somewhere, becomes something else.
fn replaced(line: &[u8], which: impl Fn(u8) -> bool, by: &[u8], dice: &mut Dice) -> Vec<u8> {
    let begin = dice.index(line.len());
    let Some(at) = line.iter().skip(begin).position(|byte| which(*byte)) else { return line.to_vec() };
    [&line[..begin + at], by, &line[begin + at + 1..]].concat()
}

/// A stopped journal with one hostile file, or with blocks that are sound in themselves and make no sense.
pub fn journal(corpus: &Corpus, dice: &mut Dice) -> Vec<(String, Vec<u8>)> {
    let mut files = dice.pick(&corpus.journals).clone();
    let at = dice.index(files.len());
    let other = dice.pick(&files).1.clone();
    if files[at].0.starts_with("log/") && dice.one_in(2) {
        let mut frame = dice.pick(&corpus.frames).clone();
        change(&mut frame, &other, dice);
        reseal(&mut frame);
        let bytes = &mut files[at].1;
        // In place of what stands behind some block.
        let starts: Vec<usize> =
            bytes.windows(4).enumerate().filter(|(_, four)| four == b"bwbk").map(|(at, _)| at).collect();
        let from = if starts.is_empty() { bytes.len().min(128) } else { *dice.pick(&starts) };
        let until = bytes.len().min(from + frame.len());
        drop(bytes.splice(from..until, frame));
    } else {
        change(&mut files[at].1, &other, dice);
    }
    files
}

/// Puts files on a simulated disk.
pub fn disk_of(files: &[(String, Vec<u8>)]) -> Result<SimulatedDisk, String> {
    let disk = SimulatedDisk::new();
    for (name, bytes) in files {
        let file = disk.create(name).map_err(|error| error.to_string())?;
        file.write_at(bytes, 0).map_err(|error| error.to_string())?;
    }
    Ok(disk)
}
