//! The suite that every `Journal` has to pass, and small builders for tests (feature `testing`).

pub mod hostile;

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use uuid::Uuid;

use crate::{
    AppendError, Appended, Body, Draft, Entry, EntryKind, EntryView, Filter, Intake, Journal, Meta, Outcome, Position,
    StreamId, Version, append_blocking, format::record, model::codec,
};

/// A draft for a stream, with one small event per number in `events` and a command id of its own.
pub fn draft(stream: &str, expected: u64, time_ms: u64, events: &[u64]) -> Draft {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    draft_with_id(stream, expected, time_ms, events, Uuid::new_v5(&Uuid::NAMESPACE_OID, &number.to_le_bytes()))
}

/// As [`draft`], with a command id.
pub fn draft_with_id(stream: &str, expected: u64, time_ms: u64, events: &[u64], command_id: Uuid) -> Draft {
    let body = |text: String| Body { schema: 1, bytes: text.into_bytes() };
    let command = body(format!("command {command_id}"));
    let meta = Meta {
        kind: EntryKind::Decision,
        outcome: if events.is_empty() { Outcome::Nothing } else { Outcome::Done },
        code: "tested".into(),
        time_ms,
        command_id,
        command_hash: codec::digest(&command.bytes),
        cause: None,
        principal: "test".into(),
        policy: None,
        view: None,
        cites: Vec::new(),
    };
    Draft {
        stream: stream.parse().expect("a test names a valid stream"),
        expected: Version(expected),
        meta,
        command,
        facts: body(format!("facts at {time_ms}")),
        verdict: body("verdict".into()),
        events: events.iter().map(|event| Body { schema: 1, bytes: event.to_le_bytes().to_vec() }).collect(),
    }
}

/// A draft as it is stored, but for its position and version: what a bench gives to other stores.
pub fn encoded(draft: &Draft) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    record::encode(draft, &mut bytes);
    bytes
}

/// All entries of a journal.
///
/// # Panics
/// If one cannot be read.
pub fn all(journal: &dyn Journal) -> Vec<Arc<Entry>> {
    let read = journal.read(Position(1), journal.head().position, &Filter::all());
    read.collect::<Result<_, _>>().expect("every entry can be read")
}

/// Everything that a `Journal` promises, checked on journals from `make`, each a fresh one. They may hold notes of
/// their own.
///
/// # Panics
/// If a promise is broken.
pub fn journal_conformance(make: impl Fn() -> Arc<dyn Journal>) {
    positions_and_versions_have_no_gaps(&*make());
    conflicts_write_nothing(&*make());
    several_drafts_are_all_or_nothing(&*make());
    a_command_is_answered_once(&*make());
    the_command_window_ends(&*make());
    time_does_not_go_back(&*make());
    limits_are_refused(&*make());
    reads_agree_with_each_other(&*make());
    one_bad_append_harms_no_other(&make());
    notices_come_after_durability_and_end(&make());
    a_panicking_answer_harms_nobody(&*make());
}

fn append(journal: &dyn Journal, drafts: Vec<Draft>) -> Result<Appended, AppendError> {
    append_blocking(journal, drafts)
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("a test names a valid stream")
}

fn positions_and_versions_have_no_gaps(journal: &dyn Journal) {
    let before = journal.head().position;
    let first = append(journal, vec![draft("machine/0", 0, 10, &[1, 2])]).expect("appends");
    let second = append(journal, vec![draft("machine/0", 2, 10, &[])]).expect("appends");
    let third = append(journal, vec![draft("machine/0", 2, 11, &[3])]).expect("appends");
    let header = |appended: &Appended| appended.entries()[0].header.clone();
    assert_eq!(header(&first).position, before.next());
    assert_eq!((header(&first).first_version, header(&first).last_version()), (Version(1), Version(2)));
    assert_eq!((header(&second).first_version, header(&second).last_version()), (Version(3), Version(2)));
    assert_eq!((header(&third).position, header(&third).first_version), (before.plus(3), Version(3)));
    assert_eq!(journal.version(&stream("machine/0")), Version(3));
    assert_eq!(journal.version(&stream("machine/1")), Version::ZERO);
    assert_eq!((journal.head().position, journal.head().time_ms), (before.plus(3), 11));
}

fn conflicts_write_nothing(journal: &dyn Journal) {
    append(journal, vec![draft("machine/0", 0, 10, &[1])]).expect("appends");
    let head = journal.head();
    let refused = append(journal, vec![draft("machine/0", 0, 10, &[2])]).expect_err("is refused");
    let expected = AppendError::Conflict { stream: stream("machine/0"), expected: Version(0), found: Version(1) };
    assert_eq!(refused, expected);
    assert_eq!(journal.head(), head);
}

fn several_drafts_are_all_or_nothing(journal: &dyn Journal) {
    let before = journal.head();
    let drafts = vec![draft("machine/0", 0, 10, &[1]), draft("volume/0", 1, 10, &[1])];
    assert!(matches!(append(journal, drafts), Err(AppendError::Conflict { .. })));
    assert_eq!(journal.head(), before);
    assert_eq!(journal.version(&stream("machine/0")), Version::ZERO);
    let one_stream_twice =
        vec![draft("machine/0", 0, 10, &[1]), draft("machine/0", 1, 10, &[2]), draft("v/0", 0, 10, &[])];
    let appended = append(journal, one_stream_twice).expect("the later draft expects the version after the earlier");
    assert_eq!(appended.entries().len(), 3);
    assert_eq!(journal.head().block, before.block + 1, "one append is one block");
    assert_eq!(append(journal, vec![]).expect("nothing is easily done").entries().len(), 0);
}

fn a_command_is_answered_once(journal: &dyn Journal) {
    let id = Uuid::from_u128(7);
    let first = append(journal, vec![draft_with_id("machine/0", 0, 10, &[1], id)]).expect("appends");
    let position = first.entries()[0].header.position;
    let again = append(journal, vec![draft_with_id("machine/0", 1, 10, &[1], id)]).expect_err("is refused");
    assert_eq!(again, AppendError::Repeated { command_id: id, position, same_content: true });
    let mut other = draft_with_id("machine/0", 1, 10, &[1], id);
    other.meta.command_hash = [9; 16];
    let other = append(journal, vec![other]).expect_err("is refused");
    assert_eq!(other, AppendError::Repeated { command_id: id, position, same_content: false });
    assert_eq!(journal.answered(&id).map(|answered| answered.position), Some(position));
    let twice = vec![
        draft_with_id("machine/1", 0, 10, &[1], Uuid::from_u128(8)),
        draft_with_id("machine/2", 0, 10, &[1], Uuid::from_u128(8)),
    ];
    assert!(matches!(append(journal, twice), Err(AppendError::Invalid { .. })));
}

fn the_command_window_ends(journal: &dyn Journal) {
    let id = Uuid::from_u128(7);
    let at = 1_000_000 + journal.head().time_ms;
    append(journal, vec![draft_with_id("machine/0", 0, at, &[1], id)]).expect("appends");
    let inside = draft_with_id("machine/0", 1, at + crate::COMMAND_WINDOW_MS, &[1], id);
    assert!(matches!(append(journal, vec![inside]), Err(AppendError::Repeated { .. })));
    let outside = draft_with_id("machine/0", 1, at + crate::COMMAND_WINDOW_MS + 1, &[1], id);
    append(journal, vec![outside]).expect("the id is free again");
    assert_eq!(journal.answered(&id).map(|answered| answered.position), Some(journal.head().position));
}

fn time_does_not_go_back(journal: &dyn Journal) {
    let at = 100 + journal.head().time_ms;
    append(journal, vec![draft("machine/0", 0, at, &[1])]).expect("appends");
    assert!(matches!(append(journal, vec![draft("machine/0", 1, at - 1, &[1])]), Err(AppendError::Invalid { .. })));
    append(journal, vec![draft("machine/0", 1, at, &[1])]).expect("the same time is no step back");
}

fn limits_are_refused(journal: &dyn Journal) {
    let mut long = draft("machine/0", 0, 10, &[1]);
    long.facts.bytes = vec![0; Draft::BODY_BYTES_MAX + 1];
    assert!(matches!(append(journal, vec![long]), Err(AppendError::Invalid { .. })));
    let many = draft("machine/0", 0, 10, &vec![0; Draft::EVENTS_MAX + 1]);
    assert!(matches!(append(journal, vec![many]), Err(AppendError::Invalid { .. })));
    let mut wordy = draft("machine/0", 0, 10, &[1]);
    wordy.meta.code = "x".repeat(256);
    assert!(matches!(append(journal, vec![wordy]), Err(AppendError::Invalid { .. })));
    let mut largest = draft("machine/0", 0, 10, &vec![0; Draft::EVENTS_MAX]);
    largest.facts.bytes = vec![7; Draft::BODY_BYTES_MAX];
    let appended = append(journal, vec![largest]).expect("the largest is taken");
    let read = journal.read_stream(&stream("machine/0"), Version(1)).next().expect("is there").expect("is readable");
    assert_eq!(read, appended.entries()[0]);
}

fn reads_agree_with_each_other(journal: &dyn Journal) {
    let mut versions = [0u64; 4];
    for step in 0..300u64 {
        let which = (step * 7 % 4) as usize;
        let events: Vec<u64> = (0..step % 3).collect();
        let name = format!("{}/{which}", if which < 2 { "machine" } else { "volume" });
        append(journal, vec![draft(&name, versions[which], 1_000 + step, &events)]).expect("appends");
        versions[which] += events.len() as u64;
    }
    let everything = all(journal);
    assert_eq!(everything.len() as u64, journal.head().position.0);
    assert!(everything.iter().zip(1..).all(|(entry, position)| entry.header.position == Position(position)));
    let to = journal.head().position;
    let back: Vec<_> = journal.read_back(Position(1), to, &Filter::all()).map(|e| e.expect("readable")).collect();
    assert!(everything.iter().rev().eq(&back), "backwards is the reverse");
    let part: Vec<_> = journal.read(Position(50), Position(70), &Filter::all()).map(|e| e.expect("readable")).collect();
    assert_eq!(part, everything[49..70]);
    let headers: Vec<_> = journal.read_headers(Position(1), to, &Filter::all()).map(|h| h.expect("readable")).collect();
    assert!(headers.iter().eq(everything.iter().map(|entry| &entry.header)));
    let mut passed = Vec::new();
    let mut take = |view: &EntryView<'_>| {
        let mut events = 0;
        let counted = view.each_event(|version, body| {
            let held = &everything[passed.len() + 49].events[events];
            assert_eq!(
                (version, body.schema, body.bytes),
                (view.first_version().plus(events as u64), held.schema, &*held.bytes)
            );
            events += 1;
            Ok::<_, &str>(())
        });
        counted.expect("events are readable");
        assert_eq!(
            (events as u32, view.time_ms()),
            (view.event_count(), everything[passed.len() + 49].header.meta.time_ms)
        );
        passed.push(view.entry().expect("readable"));
        if view.position() == Position(69) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    journal.pass(Position(50), Position(70), &Filter::all(), &mut take).expect("readable");
    assert!(
        passed.iter().eq(everything[49..69].iter().map(|entry| &**entry)),
        "a pass sees the same, until it breaks off"
    );
    assert_eq!(journal.read(Position(5), Position(4), &Filter::all()).count(), 0);
    assert_eq!(journal.read(to.next(), to.plus(9), &Filter::all()).count(), 0);
    for filter in [
        Filter { kinds: vec!["machine".into()], streams: vec![] },
        Filter { kinds: vec![], streams: vec![stream("volume/2"), stream("machine/1")] },
        Filter { kinds: vec!["volume".into()], streams: vec![stream("volume/3")] },
    ] {
        let wanted: Vec<_> = everything.iter().filter(|entry| filter.wants(&entry.header.stream)).cloned().collect();
        let read: Vec<_> = journal.read(Position(1), to, &filter).map(|e| e.expect("readable")).collect();
        assert_eq!(read, wanted);
    }
    for (which, version) in versions.iter().enumerate() {
        let name = stream(&format!("{}/{which}", if which < 2 { "machine" } else { "volume" }));
        assert_eq!(journal.version(&name), Version(*version));
        let own: Vec<_> = everything.iter().filter(|entry| entry.header.stream == name).cloned().collect();
        let back: Vec<_> = journal.read_stream_back(&name).map(|e| e.expect("readable")).collect();
        assert!(own.iter().rev().eq(&back));
        for from in 0..=version + 2 {
            let wanted = own.iter().filter(|entry| match entry.header.events {
                0 => entry.header.first_version >= Version(from),
                _ => entry.header.last_version() >= Version(from),
            });
            let read: Vec<_> = journal.read_stream(&name, Version(from)).map(|e| e.expect("readable")).collect();
            assert!(wanted.eq(&read), "stream {name} from {from}");
        }
    }
    let streams = journal.streams("machine/");
    assert_eq!(streams, [stream("machine/0"), stream("machine/1")]);
}

fn one_bad_append_harms_no_other(journal: &Arc<dyn Journal>) {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let (all_done, done_all) = std::sync::mpsc::channel();
    for number in 0..64u64 {
        let expected = if number % 2 == 0 { 0 } else { 5 };
        let (answers, all_done) = (answers.clone(), all_done.clone());
        let done = move |answer: Result<Appended, AppendError>| {
            answers.lock().expect("no answer panics").push((number, answer.is_ok()));
            let _ = all_done.send(());
        };
        journal.append(vec![draft(&format!("m/{number}"), expected, 10, &[number])], Intake::Ordinary, Box::new(done));
    }
    for _ in 0..64 {
        done_all.recv().expect("every append is answered");
    }
    let answers = answers.lock().expect("no answer panics");
    assert!(answers.iter().all(|(number, taken)| *taken == (number % 2 == 0)));
    assert_eq!(journal.streams("m/").len(), 32);
}

fn notices_come_after_durability_and_end(journal: &Arc<dyn Journal>) {
    let (send, heads) = std::sync::mpsc::channel();
    let subscription = journal.on_append(Box::new(move |head| {
        let _ = send.send(head);
    }));
    append(&**journal, vec![draft("machine/0", 0, 10, &[1])]).expect("appends");
    let noticed = heads.recv().expect("a notice comes");
    assert_eq!(noticed, journal.head());
    let _panicking = journal.on_append(Box::new(|_| panic!("a follower's own bug")));
    append(&**journal, vec![draft("machine/0", 1, 10, &[1])]).expect("appends");
    assert!(heads.recv().is_ok());
    drop(subscription);
    append(&**journal, vec![draft("machine/0", 2, 10, &[1])]).expect("appends");
    assert!(heads.try_recv().is_err(), "an ended subscription is not called");
}

fn a_panicking_answer_harms_nobody(journal: &dyn Journal) {
    let panicking = Box::new(|_| panic!("the asker's own bug"));
    journal.append(vec![draft("machine/0", 0, 10, &[1])], Intake::Ordinary, panicking);
    append(journal, vec![draft("machine/0", 1, 10, &[1])]).expect("the journal goes on");
}
