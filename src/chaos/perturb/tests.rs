//! A busy journal, gone through again while everything goes wrong.

use std::sync::Arc;

use bailiwick_journal::{Config, Draft, LocalJournal, Settings};

use super::*;
use crate::{
    audit::tests::journals::{ID, busy, copied_to},
    chaos::Repro,
};

fn open(dir: &std::path::Path) -> Arc<dyn Journal> {
    let config = Config { dir: dir.to_owned(), now_ms: 1_000, id: Some(ID), settings: Settings::default() };
    Arc::new(LocalJournal::open(config).expect("a new journal").0)
}

/// The journal of a busy desk, each entry as `change` leaves it.
fn journal(change: impl FnMut(&Entry, &mut Draft)) -> (tempfile::TempDir, ReadOnlyJournal) {
    let scratch = tempfile::tempdir().expect("a folder");
    let (first, second) = (scratch.path().join("first"), scratch.path().join("second"));
    let original = open(&first);
    busy(&original);
    let copy = open(&second);
    copied_to(&*original, &copy, change);
    drop((original, copy));
    (scratch, ReadOnlyJournal::open(&second).expect("a closed journal"))
}

fn plan(with: &[Perturbation], places: usize) -> Plan {
    Plan { places: NonZeroUsize::new(places).expect("some"), ..Plan::new(with.to_vec()) }
}

fn run(journal: &ReadOnlyJournal, plan: &Plan) -> PerturbedRuns {
    perturb(journal, plan, &|_, _| true).expect("it can be run")
}

/// Where a machine is about to be created.
fn place(journal: &ReadOnlyJournal) -> u64 {
    let headers = journal.read_headers(Position(1), journal.head().position, &Filter::all());
    let mut headers = headers.map(|header| header.expect("readable"));
    headers.find(|header| header.stream.as_str() == "machine/web").expect("a declaration").position.0
}

#[test]
fn each_of_them_makes_another_history_and_it_settles() {
    // given a journal as it was when a machine was about to be created
    let (_folder, journal) = journal(|_, _| ());
    let position = place(&journal);
    let mut histories = BTreeSet::new();
    let mut again = |with, over_ms| {
        let run = perturb_again(&journal, &Perturbed { position, with, seed: 1, over_ms }).expect("it can be run");
        let run = run.expect("a block ends there");
        assert_eq!(run.verdict, Verdict::Settled, "{with}");
        histories.insert(run.journal);
        histories.len()
    };
    // when it goes on from there, with nothing and with each of them
    assert_eq!(again(Perturbation::Stale, 0), 1);
    let over_ms = Plan::new(Vec::new()).over_ms;
    // then it settles, and no two of them leave the same journal
    for (number, with) in Perturbation::ALL.into_iter().enumerate() {
        assert_eq!(again(with, over_ms), number + 2, "{with}");
    }
}

#[test]
fn what_people_asked_for_then_is_asked_for_again() {
    // given the first entry of a journal in which more is declared within half an hour
    let (_folder, journal) = journal(|_, _| ());
    let (boundaries, _) = boundaries(&journal, &[Position(1)].into(), 1).expect("readable");
    // when that half hour comes again
    let given = asked_then(&journal, &boundaries[0], 30 * MINUTE_MS).expect("readable");
    // then each command is given once, at its time, and those that were given together are given together
    let streams: Vec<&str> = given.iter().flat_map(|(.., all)| all).map(|(stream, _)| stream.as_str()).collect();
    assert!(["machine/web", "machine/db", "volume/data"].iter().all(|wanted| streams.contains(wanted)), "{streams:?}");
    assert!(given.is_sorted_by_key(|(at_ms, ..)| *at_ms));
    let none = asked_then(&journal, &boundaries[0], 0).expect("readable");
    assert!(none.len() < given.len(), "{none:?}");
}

#[test]
fn a_decision_that_does_not_replay_is_found_saved_and_found_again() {
    let mut is_changed = false;
    let (_folder, journal) = journal(|entry, draft| {
        if entry.header.meta.code == "worth-retrying" {
            draft.meta.code = "else".into();
            is_changed = true;
        }
    });
    assert!(is_changed);
    let plan = plan(&[Perturbation::Slow], 3);
    let runs = run(&journal, &plan);
    assert!(runs.sums.violated > 0 && runs.failed.len() == runs.sums.violated, "{runs:?}");
    let scratch = tempfile::tempdir().expect("a folder");
    let at = scratch.path().join("find.bwrepro");
    Repro::of_unsettled(&journal, &runs.failed[0], &plan).expect("readable").write(&at).expect("written");
    let read = Repro::read(&at).expect("read");
    assert_eq!(read.run(&at).expect("it can be run"), read.found);
}

#[test]
fn places_are_those_that_match_spread_evenly() {
    let (_folder, journal) = journal(|_, _| ());
    let prefixes = Prefixes::of(&journal).expect("readable");
    let at = |text: &str, count| {
        let plan = Plan { at: Some(text.to_owned()), ..plan(&[], count) };
        Vec::from_iter(places(&journal, &prefixes, &plan).expect("readable"))
    };
    let (of_volume, all) = (at("volume/data", 1_000), at("", 1_000));
    assert!(!of_volume.is_empty() && of_volume.len() < all.len());
    assert_eq!(all, prefixes.ends());
    assert_eq!(at("no such thing", 10), []);
    let few = at("", 3);
    assert_eq!((few[0], few.len(), few[2]), (all[0], 3, all[all.len() - 1]));
}

#[test]
fn a_name_is_known_or_told_with_those_that_are() {
    for with in Perturbation::ALL {
        assert_eq!(with.as_str().parse(), Ok(with));
    }
    let error = "worse".parse::<Perturbation>().expect_err("unknown").to_string();
    assert!(error.contains("stale,unobserved,"), "{error}");
}
