//! Damage to a real journal with sled: what opens has everything, whatever does not have everything does not open.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_journal::{Entry, Journal, LocalJournal, OpenError, ReadOnlyJournal, check, testing::all};

use crate::tools::{assert_holds, config, write};

const TRIALS: u64 = 150;

/// A small generator (splitmix64): the trial's number is its whole story.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound.max(1)
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, target).unwrap();
    }
}

/// Does one thing to one file; says what.
fn damage(dir: &Path, dice: &mut Dice) -> String {
    let victims: Vec<PathBuf> = files(dir)
        .into_iter()
        .filter(|path| !path.ends_with("lock") && path.metadata().is_ok_and(|file| file.len() > 0))
        .collect();
    let victim = &victims[dice.below(victims.len() as u64) as usize];
    let mut bytes = fs::read(victim).unwrap();
    let at = dice.below(bytes.len() as u64) as usize;
    let what = match dice.below(4) {
        0 => {
            bytes.truncate(at);
            "cut"
        }
        1 => {
            bytes[at] ^= 1 << dice.below(8);
            "bit flipped"
        }
        2 => {
            let page = at / 4096 * 4096;
            let end = bytes.len().min(page + 4096);
            bytes[page..end].fill(0);
            "page zeroed"
        }
        _ => {
            fs::remove_file(victim).unwrap();
            return format!("{} deleted", victim.display());
        }
    };
    fs::write(victim, bytes).unwrap();
    format!("{} {what} at {at}", victim.display())
}

#[test]
fn damage_is_repaired_or_refused_and_never_silent() {
    let made = tempfile::tempdir().unwrap();
    let clean = made.path().join("clean");
    let (journal, _) = LocalJournal::open(config(&clean)).unwrap();
    write(&journal, 400);
    journal.close().unwrap();
    let clean_entries = all(&journal);
    let killed = made.path().join("killed");
    copy(&clean, &killed);
    let (journal, _) = LocalJournal::open(config(&killed)).unwrap();
    write(&journal, 150);
    let killed_entries = all(&journal);
    drop(journal);

    let (mut went, mut refused) = (0, 0);
    for trial in 0..TRIALS {
        let mut dice = Dice(trial);
        let (from, entries) = if trial % 2 == 0 { (&clean, &clean_entries) } else { (&killed, &killed_entries) };
        let place = tempfile::tempdir().unwrap();
        copy(from, place.path());
        let what = format!("trial {trial}: {}", damage(place.path(), &mut dice));
        assert_readers_agree(place.path(), entries, &what);
        let opened = catch_unwind(AssertUnwindSafe(|| LocalJournal::open(config(place.path()))));
        match opened.unwrap_or_else(|_| panic!("{what}: a panic reached the caller")) {
            Ok((journal, report)) => {
                went += 1;
                assert!(report.head.position.0 >= entries.len() as u64, "{what}: silent loss: {report}");
                assert_holds(&journal, entries);
                write(&journal, 3);
                journal.close().unwrap();
                let (_, again) = LocalJournal::open(config(place.path())).unwrap();
                assert!(again.clean, "{what}: {again}");
            }
            Err(OpenError::Integrity { .. } | OpenError::Foreign { .. }) => {
                refused += 1;
                assert!(!what.contains("/sled/"), "{what}: sled is never precious");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    assert!(went > TRIALS / 2 && refused > 0, "{went} went, {refused} were refused");
}

/// Whoever reads the log of a stopped node sees all of it, or an error.
fn assert_readers_agree(dir: &Path, entries: &[Arc<Entry>], what: &str) {
    let read = catch_unwind(AssertUnwindSafe(|| ReadOnlyJournal::open(dir)));
    let read = read.unwrap_or_else(|_| panic!("{what}: a panic reached the reader"));
    let checked = catch_unwind(AssertUnwindSafe(|| check(dir))).unwrap_or_else(|_| panic!("{what}: check panicked"));
    match (read, checked) {
        (Ok(journal), Ok(report)) => {
            assert!(report.is_whole(), "{what}: {report}");
            assert_eq!(journal.head().position.0, entries.len() as u64, "{what}: silent loss");
            assert_holds(&journal, entries);
        }
        (Err(OpenError::Integrity { .. }), Ok(report)) => assert!(!report.is_whole(), "{what}"),
        (Err(OpenError::Foreign { .. }), Err(OpenError::Foreign { .. })) => (),
        (read, checked) => panic!("{what}: read {read:?}, checked {checked:?}"),
    }
}
