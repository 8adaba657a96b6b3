//! The bytes of every stored form, as they were released. These files are added to, never edited: whoever changes one
//! makes every journal out there unreadable. (`BAILIWICK_GOLDEN=write` writes the files that are missing.)

use std::{fmt::Write, path::PathBuf, sync::Arc};

use bailiwick_journal::{
    Body, Draft, EntryKind, Journal, JournalNote, Meta, Outcome, PolicyRef, Position, ReadOnlyJournal, Snapshot,
    Snapshots, Version, WriterOpened, append_blocking,
    blocks::MemoryStore,
    disk::{Disk, SimulatedDisk},
};
use uuid::Uuid;

use crate::tools::{frames, open, segment};

fn golden(name: &str, found: &[u8]) {
    let mut text = String::new();
    for line in found.chunks(32) {
        for byte in line {
            write!(text, "{byte:02x}").unwrap();
        }
        text.push('\n');
    }
    golden_text(&format!("{name}.hex"), &text);
}

fn golden_text(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if !path.exists() && std::env::var_os("BAILIWICK_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    let released = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(found, released, "{name} is not what was released");
}

/// An entry with every optional part, and one without any.
fn drafts() -> Vec<Draft> {
    let body = |schema, text: &str| Body { schema, bytes: text.as_bytes().to_vec() };
    let full = Meta {
        kind: EntryKind::Decision,
        outcome: Outcome::Done,
        code: "worth-retrying".into(),
        time_ms: 1_764_000_000_123,
        command_id: Uuid::from_u128(0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10),
        command_hash: [0xC0; 16],
        cause: Some(Position(1)),
        principal: "agent:machine/0".into(),
        policy: Some(PolicyRef { name: "default".into(), revision: 3, digest: [0xD1; 16] }),
        view: Some(Position(1)),
        cites: vec!["machine/0@3".parse().unwrap(), "volume-attachment/0:7@1".parse().unwrap()],
    };
    let bare = Meta {
        kind: EntryKind::Note,
        outcome: Outcome::Refused,
        code: String::new(),
        command_id: Uuid::from_u128(2),
        cause: None,
        principal: "node".into(),
        policy: None,
        view: None,
        cites: Vec::new(),
        ..full.clone()
    };
    let nothing = || body(0, "");
    vec![
        Draft {
            stream: "volume-attachment/0:7".parse().unwrap(),
            expected: Version(0),
            meta: full,
            command: body(1, "command"),
            facts: body(2, "facts"),
            verdict: body(3, "verdict"),
            events: vec![body(4, "first"), body(5, "second")],
        },
        Draft {
            stream: "machine/0/lxd/1".parse().unwrap(),
            expected: Version(0),
            meta: bare,
            command: nothing(),
            facts: nothing(),
            verdict: nothing(),
            events: vec![],
        },
    ]
}

fn sample() -> (SimulatedDisk, MemoryStore) {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    append_blocking(&journal, drafts()).unwrap();
    journal.close().unwrap();
    (disk, store)
}

#[test]
fn the_log_is_as_released() {
    let (disk, _) = sample();
    let bytes = disk.contents()[&segment(1)].clone();
    let found = frames(&bytes);
    assert_eq!(found.len(), 2);
    golden("segment-begin", &bytes[..128]);
    golden("block-with-note", &bytes[found[0]..found[1]]);
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let length = 128 + u32::from_le_bytes(bytes[found[1] + 8..found[1] + 12].try_into().unwrap()) as usize;
    assert!(end <= found[1] + length);
    golden("block-with-two-entries", &bytes[found[1]..found[1] + length]);
}

#[test]
fn the_seal_is_as_released() {
    let (disk, store) = sample();
    let (journal, _) = open(&disk, &store).unwrap();
    let mut large = drafts().remove(0);
    large.stream = "machine/9".parse().unwrap();
    large.meta.command_id = Uuid::from_u128(9);
    large.facts.bytes = vec![0x55; 9_000];
    append_blocking(&journal, vec![large]).unwrap();
    let bytes = disk.contents()[&segment(1)].clone();
    golden("segment-seal", &bytes[bytes.len() - 128..]);
}

#[test]
fn the_head_file_is_as_released() {
    let (disk, _) = sample();
    let bytes = disk.contents()["head"].clone();
    golden("head-slot-0", &bytes[..128]);
    golden("head-slot-1", &bytes[4096..4224]);
    assert_eq!(bytes.len(), 4224);
}

#[test]
fn the_format_file_is_as_released() {
    let (disk, _) = sample();
    golden_text("FORMAT", str::from_utf8(&disk.contents()["FORMAT"]).unwrap());
}

#[test]
fn a_snapshot_is_as_released() {
    let disk = SimulatedDisk::new();
    let snapshot = Snapshot {
        stream: "machine/0".parse().unwrap(),
        version: Version(7),
        position: Position(9),
        schema: 2,
        fingerprint: 0xFEED,
        state: b"state".to_vec(),
    };
    Snapshots::on(Arc::new(disk.clone())).save(&snapshot).unwrap();
    let (name, bytes) = disk.contents().pop_first().unwrap();
    golden_text("snapshot-name", &name);
    golden("snapshot", &bytes);
}

#[test]
fn an_export_is_as_released() {
    let (disk, _) = sample();
    let mut lines = Vec::new();
    ReadOnlyJournal::open_on(Arc::new(disk)).unwrap().export(&mut lines).unwrap();
    golden_text("export.ndjson", str::from_utf8(&lines).unwrap());
}

#[test]
fn the_notes_are_as_released() {
    let opened = WriterOpened {
        epoch: 7,
        clean: false,
        caught_up_blocks: 3,
        store_rebuilt: true,
        log_filled_blocks: 2,
        torn_cut: true,
        head_rewritten: false,
        format_rewritten: true,
    };
    let note = JournalNote::WriterOpened(opened);
    let body = note.encode().unwrap();
    assert_eq!(JournalNote::decode(&body).unwrap(), note);
    golden("note-writer-opened", &body.bytes);
    let note = JournalNote::HistoryRepaired { log_filled_blocks: 2, store_rebuilt: true };
    let body = note.encode().unwrap();
    assert_eq!(JournalNote::decode(&body).unwrap(), note);
    golden("note-history-repaired", &body.bytes);
    let note = JournalNote::ClockCorrected { since_ms: 5, back_ms: 6 };
    let body = note.encode().unwrap();
    assert_eq!(JournalNote::decode(&body).unwrap(), note);
    golden("note-clock-corrected", &body.bytes);
}

#[test]
fn the_released_export_still_makes_the_same_journal() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/export.ndjson");
    let lines = std::fs::read(path).unwrap();
    let disk = SimulatedDisk::new();
    let imported = bailiwick_journal::import_on(&mut lines.as_slice(), Arc::new(disk.clone())).unwrap();
    let (journal, report) = open(&disk, &MemoryStore::new()).unwrap();
    assert_eq!((report.head.hash, imported.entries), (imported.hash, 3));
    let read = journal.read_stream(&"volume-attachment/0:7".parse().unwrap(), Version(1)).next().unwrap().unwrap();
    let draft = drafts().remove(0);
    assert_eq!((&read.header.meta, &read.events), (&draft.meta, &draft.events));
    assert!(disk.list("snapshots").unwrap().is_empty());
}
