//! What is said of each kind of damage to the log, and where: by `check`, which changes nothing, and so by every refusal.

use std::sync::Arc;

use bailiwick_journal::{LocalJournal, ProblemKind, blocks::MemoryStore, check_on, disk::SimulatedDisk};
use uuid::Uuid;

use crate::tools::{Stopped, frames, inline, segment, stopped, write};

type Told = (ProblemKind, Option<u64>);

/// What is told of one file, lost or mendable.
fn told(disk: &SimulatedDisk, file: &str) -> Vec<Told> {
    let report = check_on(Arc::new(disk.clone())).unwrap();
    let of_file = report.integrity.problems.iter().chain(&report.mendable).filter(|problem| problem.file == file);
    of_file.map(|problem| (problem.kind, problem.offset)).collect()
}

/// Where the seal stands behind the last block.
fn seal(bytes: &[u8]) -> usize {
    let last = *frames(bytes).last().unwrap();
    end(bytes, last)
}

/// Where the block that begins at `at` ends.
fn end(bytes: &[u8], at: usize) -> usize {
    at + 128 + u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize
}

/// Puts the checksum right of what was changed in a block or a mark.
fn sign(bytes: &mut [u8]) {
    let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..]);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn each_damage_is_told_by_kind_and_place() {
    let foreign = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(foreign.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 60);
    let foreign = foreign.contents()[&segment(2)].clone();
    type Damage<'a> = &'a dyn Fn(&mut Vec<u8>) -> Vec<(ProblemKind, usize)>;
    // What is changed in the second of several full segments, and what is told of it there.
    let damages: [(&str, Damage); 15] = [
        ("a flipped bit", &|bytes| {
            let at = frames(bytes)[3];
            bytes[at + 140] ^= 1;
            vec![(ProblemKind::LogDamaged, at)]
        }),
        ("two of them", &|bytes| {
            let found = frames(bytes);
            bytes[found[3] + 140] ^= 1;
            bytes[found[5] + 20] ^= 1;
            vec![(ProblemKind::LogDamaged, found[3]), (ProblemKind::LogDamaged, found[5])]
        }),
        ("the last block", &|bytes| {
            let at = *frames(bytes).last().unwrap();
            bytes[at + 140] ^= 1;
            vec![(ProblemKind::LogDamaged, at)]
        }),
        ("the beginning", &|bytes| {
            bytes[40] ^= 1;
            vec![(ProblemKind::SegmentBeginDamaged, 0)]
        }),
        ("a beginning that goes on from another block", &|bytes| {
            bytes[70] ^= 1;
            sign(&mut bytes[..128]);
            vec![(ProblemKind::ChainBroken, 0)]
        }),
        ("a beginning of another segment", &|bytes| {
            bytes[32] += 1;
            sign(&mut bytes[..128]);
            vec![(ProblemKind::ForeignBlock, 0)]
        }),
        ("a seal of another journal", &|bytes| {
            let (at, from) = (seal(bytes), seal(&foreign));
            bytes[at..at + 128].copy_from_slice(&foreign[from..from + 128]);
            vec![(ProblemKind::ForeignBlock, at)]
        }),
        ("no seal", &|bytes| {
            let at = seal(bytes);
            bytes[at..].fill(0);
            vec![(ProblemKind::SealDamaged, 0)]
        }),
        ("neither seal nor last block", &|bytes| {
            let at = *frames(bytes).last().unwrap();
            bytes[at..].fill(0);
            vec![(ProblemKind::SealDamaged, 0)]
        }),
        ("the last block, and a seal of another journal", &|bytes| {
            let (last, at, from) = (*frames(bytes).last().unwrap(), seal(bytes), seal(&foreign));
            bytes[last + 140] ^= 1;
            bytes[at..at + 128].copy_from_slice(&foreign[from..from + 128]);
            vec![(ProblemKind::LogDamaged, last), (ProblemKind::SealDamaged, 0)]
        }),
        ("no last block before the seal", &|bytes| {
            let at = *frames(bytes).last().unwrap();
            drop(bytes.drain(at..end(bytes, at)));
            vec![(ProblemKind::LogDamaged, at)]
        }),
        ("a block less", &|bytes| {
            let at = frames(bytes)[3];
            drop(bytes.drain(at..end(bytes, at)));
            vec![(ProblemKind::BlocksMissing, at)]
        }),
        ("a block twice", &|bytes| {
            let (at, next) = (frames(bytes)[3], frames(bytes)[4]);
            let again = bytes[at..next].to_vec();
            drop(bytes.splice(next..next, again));
            vec![(ProblemKind::ChainBroken, next)]
        }),
        ("a block that follows another one", &|bytes| {
            let (at, next) = (frames(bytes)[3], frames(bytes)[4]);
            bytes[at + 64] ^= 1;
            sign(&mut bytes[at..next]);
            vec![(ProblemKind::ChainBroken, at)]
        }),
        ("a block of another journal", &|bytes| {
            let (at, from) = (frames(bytes)[3], frames(&foreign)[3]);
            let other = foreign[from..end(&foreign, from)].to_vec();
            drop(bytes.splice(at..end(bytes, at), other));
            vec![(ProblemKind::ForeignBlock, at)]
        }),
    ];
    for (how, damage) in damages {
        let Stopped { disk, .. } = stopped(120);
        let mut expected = Vec::new();
        disk.damage(&segment(2), |bytes| expected = damage(bytes));
        let found = told(&disk, &segment(2));
        let expected: Vec<Told> = expected.into_iter().map(|(kind, at)| (kind, Some(at as u64))).collect();
        assert_eq!(found, expected, "{how}");
    }
}
