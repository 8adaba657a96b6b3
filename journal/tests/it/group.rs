//! Appends that go to the disk as one group, of which some are refused.

use std::sync::{Arc, mpsc};

use bailiwick_journal::{
    AppendError, Draft, Entry, Intake, Journal, LocalJournal, Settings, Threads,
    blocks::MemoryStore,
    disk::SimulatedDisk,
    testing::{all, draft},
};

use crate::tools::{ID, open};

type Answer = Result<Vec<Arc<Entry>>, AppendError>;

/// The answers to these appends, which all wait before the first of them is looked at.
fn in_one_group(journal: &LocalJournal, appends: Vec<Vec<Draft>>) -> Vec<Answer> {
    let (release, held) = mpsc::channel::<()>();
    let (begun, holding) = mpsc::channel::<()>();
    let hold = Box::new(move |_| {
        begun.send(()).unwrap();
        held.recv().unwrap();
    });
    journal.append(vec![draft("m/held", 0, 10, &[1])], Intake::Ordinary, hold);
    holding.recv().unwrap();
    let groups = journal.stats().groups;
    let (send, answers) = mpsc::channel();
    for drafts in appends {
        let send = send.clone();
        let done = Box::new(move |answer: Result<bailiwick_journal::Appended, _>| {
            send.send(answer.map(|appended| appended.entries().to_vec())).unwrap();
        });
        journal.append(drafts, Intake::Ordinary, done);
    }
    release.send(()).unwrap();
    drop(send);
    let answers = answers.iter().collect();
    assert_eq!(journal.stats().groups, groups + 1);
    answers
}

/// Whether somebody follows decides how the entries are kept on their way, never what becomes of them.
#[test]
fn what_is_refused_inside_a_group_leaves_no_gap_in_its_block() {
    for followed in [false, true] {
        let (disk, store) = (SimulatedDisk::new(), MemoryStore::new());
        let settings = Settings { threads: Threads::Own, ..Settings::default() };
        let (journal, _) = LocalJournal::open_with(Arc::new(disk.clone()), &store, ID, 0, settings).unwrap();
        let following = followed.then(|| journal.on_append(Box::new(|_| ())));
        let answers = in_one_group(
            &journal,
            vec![
                vec![draft("m/first", 0, 10, &[1])],
                vec![draft("m/first", 0, 10, &[2; 30])],
                vec![draft("m/second", 0, 10, &[3, 4]), draft("m/third", 0, 10, &[])],
                vec![draft("m/fourth", 0, 10, &[5]), draft("m/second", 0, 10, &[6])],
                vec![draft("m/first", 1, 10, &[7; 9])],
            ],
        );
        let taken: Vec<bool> = answers.iter().map(Result::is_ok).collect();
        assert_eq!(taken, [true, false, true, false, true]);
        let acknowledged: Vec<_> = answers.into_iter().flatten().flatten().collect();
        let found = all(&journal);
        assert_eq!(found[found.len() - 4..], acknowledged, "followed: {followed}");
        drop(following);
        drop(journal);
        let (journal, report) = open(&disk.after_kill(), &MemoryStore::new()).unwrap();
        assert_eq!(all(&journal)[..found.len()], found, "{report:?}");
    }
}
