//! Many writers at once, followers beside them, and the bound on what may wait.

use std::sync::{Arc, mpsc};

use bailiwick_journal::{
    AppendError, Intake, Journal, LocalJournal, Position, QueueLimits, Settings, Snapshot, Snapshots, Threads, Version,
    append_blocking,
    blocks::MemoryStore,
    disk::SimulatedDisk,
    testing::{all, draft},
};
use proptest::prelude::*;

use crate::tools::{ID, config, open, stopped};

#[test]
fn of_two_writers_on_one_version_one_wins() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let journal = journal.clone();
            std::thread::spawn(move || {
                let mut won = 0;
                while won < 25 {
                    let expected = journal.version(&"machine/0".parse().unwrap()).0;
                    match append_blocking(&*journal, vec![draft("machine/0", expected, 10, &[1])]) {
                        Ok(_) => won += 1,
                        Err(AppendError::Conflict { .. }) => (),
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(journal.version(&"machine/0".parse().unwrap()), Version(200));
    assert_eq!(all(&*journal).len(), 201, "each once, after the note of the opening");
}

#[test]
fn too_many_waiting_appends_are_refused_at_once() {
    let queue = QueueLimits { appends_max: 2, ..QueueLimits::default() };
    let settings = Settings { threads: Threads::Own, queue, ..Settings::default() };
    let disk = Arc::new(SimulatedDisk::new());
    let (journal, _) = LocalJournal::open_with(disk, &MemoryStore::new(), ID, 0, settings).unwrap();
    let (release, held) = mpsc::channel::<()>();
    let (begun, holding) = mpsc::channel::<()>();
    let hold = Box::new(move |_| {
        begun.send(()).unwrap();
        held.recv().unwrap();
    });
    journal.append(vec![draft("m/0", 0, 10, &[1])], Intake::Ordinary, hold);
    holding.recv().unwrap();
    let (send, answers) = mpsc::channel();
    for number in 1..=3 {
        let send = send.clone();
        let done = Box::new(move |answer: Result<_, _>| send.send((number, answer.map(drop))).unwrap());
        journal.append(vec![draft(&format!("m/{number}"), 0, 10, &[1])], Intake::Ordinary, done);
    }
    assert_eq!(answers.recv().unwrap(), (3, Err(AppendError::Overloaded { waiting: 2 })));
    release.send(()).unwrap();
    assert_eq!([answers.recv().unwrap(), answers.recv().unwrap()], [(1, Ok(())), (2, Ok(()))]);
}

#[test]
fn closing_answers_what_waits_and_takes_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    let (send, answers) = mpsc::channel();
    for number in 0..200 {
        let send = send.clone();
        let done = Box::new(move |answer: Result<_, _>| send.send(answer.map(drop)).unwrap());
        journal.append(vec![draft(&format!("m/{number}"), 0, 10, &[1])], Intake::Ordinary, done);
    }
    journal.close().unwrap();
    drop(send);
    assert_eq!(answers.iter().collect::<Vec<_>>(), vec![Ok(()); 200]);
    assert_eq!(append_blocking(&journal, vec![draft("m/0", 1, 10, &[1])]).unwrap_err(), AppendError::Closed);
    assert_eq!(all(&journal).len(), 201, "a closed journal is still read");
    journal.close().unwrap();
}

#[test]
fn an_answer_may_append_again() {
    let disk = SimulatedDisk::new();
    let journal = Arc::new(open(&disk, &MemoryStore::new()).unwrap().0);
    let again = journal.clone();
    let done = Box::new(move |answer: Result<_, AppendError>| {
        answer.unwrap();
        append_blocking(&*again, vec![draft("m/0", 1, 10, &[2])]).unwrap();
    });
    journal.append(vec![draft("m/0", 0, 10, &[1])], Intake::Ordinary, done);
    assert_eq!(journal.version(&"m/0".parse().unwrap()), Version(2));
}

#[test]
fn snapshots_come_back_or_are_missing() {
    let disk = stopped(3).disk;
    let snapshots = Snapshots::on(Arc::new(disk.clone()));
    let stream = "machine/0".parse().unwrap();
    assert_eq!(snapshots.load(&stream, Version(9)), None);
    let state = b"state".to_vec();
    let saved = Snapshot {
        stream: stream.clone(),
        version: Version(3),
        position: Position(7),
        schema: 1,
        fingerprint: 9,
        state,
    };
    snapshots.save(&saved).unwrap();
    assert_eq!(snapshots.load(&stream, Version(3)), Some(saved.clone()));
    assert_eq!(snapshots.load(&stream, Version(2)), None, "a state ahead of the journal is not one of its");
    let name = disk.contents().into_keys().find(|name| name.ends_with(".snap")).unwrap();
    let sound = disk.contents()[&name].clone();
    for bit in 0..sound.len() * 8 {
        disk.damage(&name, |bytes| {
            bytes.clone_from(&sound);
            bytes[bit / 8] ^= 1 << (bit % 8);
        });
        assert_eq!(snapshots.load(&stream, Version(3)), None, "bit {bit}");
    }
    snapshots.save(&saved).unwrap();
    snapshots.remove(&stream).unwrap();
    assert_eq!(snapshots.load(&stream, Version(3)), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is appended and wherever the process is killed: what is read is a fold of the answered appends.
    #[test]
    fn state_is_the_fold_of_what_was_acknowledged(
        steps in prop::collection::vec((0..4u8, 0..4u64, 0..3u64, any::<bool>()), 1..60),
    ) {
        let mut disk = SimulatedDisk::new();
        let store = MemoryStore::durable();
        let mut journal = open(&disk, &store).unwrap().0;
        let mut model = [0u64; 4];
        let mut acknowledged = all(&journal);
        for (stream, stale, events, restart) in steps {
            let name = format!("m/{stream}");
            let expected = model[usize::from(stream)].saturating_sub(stale);
            let answer = append_blocking(&journal, vec![draft(&name, expected, 10, &vec![1; events as usize])]);
            let fits = expected == model[usize::from(stream)];
            prop_assert_eq!(answer.is_ok(), fits);
            if let Ok(appended) = answer {
                model[usize::from(stream)] += events;
                acknowledged.extend_from_slice(appended.entries());
            }
            if restart {
                disk = disk.after_kill();
                journal = open(&disk, &store).unwrap().0;
                let found = all(&journal);
                prop_assert_eq!(&found[..acknowledged.len()], &acknowledged[..]);
                acknowledged = found;
            }
        }
        for (stream, version) in model.iter().enumerate() {
            prop_assert_eq!(journal.version(&format!("m/{stream}").parse().unwrap()), Version(*version));
        }
    }
}
