//! Holds a diff to account: against what every moment shows when it is folded by itself, without asking what could have
//! changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use bailiwick_journal::{Filter, Journal, Position, StreamId};

use super::{Differs, Facts, Fleet, Only, Walk, facts};

/// What is said of every entity after every entry.
struct Pictures {
    /// By position; who is not there does not exist then.
    at: Vec<BTreeMap<StreamId, Rc<Facts>>>,
    /// The entries at which a fact became another one, in order.
    changes: BTreeMap<StreamId, BTreeMap<String, Vec<u64>>>,
}

impl Pictures {
    fn of(journal: &dyn Journal) -> Self {
        let all =
            || journal.read(Position(1), journal.head().position, &Filter::all()).map(|entry| entry.expect("whole"));
        let streams: BTreeSet<StreamId> = all().map(|entry| entry.header.stream.clone()).collect();
        let mut fleet = Fleet::at(journal, Position::ZERO).expect("a beginning");
        let mut pictures = Self { at: Vec::new(), changes: BTreeMap::new() };
        pictures.take(&fleet, &streams, 0);
        for entry in all() {
            fleet.apply(&entry).expect("an entry that can be understood");
            pictures.take(&fleet, &streams, entry.header.position.0);
        }
        pictures
    }

    fn take(&mut self, fleet: &Fleet, streams: &BTreeSet<StreamId>, position: u64) {
        let (last, none) = (self.at.last().cloned().unwrap_or_default(), Rc::new(Facts::new()));
        let mut now = BTreeMap::new();
        for stream in streams {
            let told = facts(fleet, stream).map(Rc::new);
            let before = last.get(stream);
            if told.as_ref() == before {
                now.extend(before.map(|before| (stream.clone(), before.clone())));
                continue;
            }
            let (one, other) = (before.unwrap_or(&none), told.as_ref().unwrap_or(&none));
            for fact in super::not_alike(one, other) {
                let changes = self.changes.entry(stream.clone()).or_default();
                changes.entry(fact).or_default().push(position);
            }
            now.extend(told.map(|told| (stream.clone(), told)));
        }
        self.at.push(now);
    }

    /// The last entry up to `until` at which a fact became another one.
    fn since(&self, stream: &StreamId, fact: &str, until: u64) -> Option<u64> {
        let changes = self.changes.get(stream)?.get(fact)?;
        changes[..changes.partition_point(|position| *position <= until)].last().copied()
    }

    /// What is wrong with what is said to be different between two moments.
    fn wrong(&self, from: u64, to: u64, differences: &[Differs<'_>]) -> Option<String> {
        let (before, now) = (&self.at[usize::try_from(from).ok()?], &self.at[usize::try_from(to).ok()?]);
        let mut applied = before.clone();
        for differs in differences {
            let mut facts = before.get(differs.stream).map(|facts| (**facts).clone()).unwrap_or_default();
            let mut count = 0;
            for (fact, position) in differs.facts() {
                let (was, is) = differs.pair(fact);
                if facts.get(fact) != was || self.since(differs.stream, fact, to) != Some(position.0) {
                    return Some(format!("{} {fact} at {position}: {was:?} {is:?}", differs.stream));
                }
                is.map(|is| facts.insert(fact.to_owned(), is.clone())).unwrap_or_else(|| facts.remove(fact));
                count += 1;
            }
            let (whole, position) = differs.as_a_whole();
            let (was_there, is_there) = (before.contains_key(differs.stream), now.contains_key(differs.stream));
            let is_right = match whole {
                "appeared" => !was_there && is_there,
                "removed" => was_there && !is_there,
                _ => was_there && is_there,
            };
            if !is_right || count == 0 || position.0 <= from || position.0 > to {
                return Some(format!("{} {whole} at {position} with {count} facts", differs.stream));
            }
            match is_there {
                true => applied.insert(differs.stream.clone(), Rc::new(facts)),
                false => applied.remove(differs.stream),
            };
        }
        (applied != *now).then(|| format!("{:?}", super::not_alike(&applied, now)))
    }
}

/// Compares each pair of so many positions of a journal or more, evenly spread; answers how many pairs that were.
pub(crate) fn hold(name: &str, journal: &dyn Journal, positions: u64) -> usize {
    let pictures = Pictures::of(journal);
    let head = journal.head().position.0;
    let apart = (head / positions).max(1);
    let chosen = |position: u64| position.is_multiple_of(apart) || position == head;
    let mut pairs = 0;
    for from in (0..=head).filter(|position| chosen(*position)) {
        let fleet = Fleet::at(journal, Position(from)).expect("a fleet");
        let mut walk = Walk::from(fleet, Only::All);
        assert_eq!(walk.differences().count(), 0, "{name}: @{from} against itself");
        for entry in journal.read(Position(from + 1), Position(head), &Filter::all()) {
            let entry = entry.expect("readable");
            walk.take_in(&entry).expect("an entry that can be understood");
            let to = entry.header.position.0;
            if chosen(to) {
                let differences: Vec<Differs<'_>> = walk.differences().collect();
                assert_eq!(pictures.wrong(from, to, &differences), None, "{name}: @{from} @{to}");
                pairs += 1;
            }
        }
    }
    pairs
}
