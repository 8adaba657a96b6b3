//! What is told of a whole journal once a simulation is over.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{EntryKind, Filter, Header, Journal, Outcome, Position, StreamId};

use crate::{
    audit::{Options, replay},
    text::with_causes,
};

/// Something that holds of every journal.
#[derive(Clone, Copy)]
pub struct HistoryInvariant {
    /// Unique: `no-hot-loop`.
    pub name: &'static str,
    /// The claim, in words.
    pub says: &'static str,
    /// Where it does not hold after this moment, a line each.
    broken: fn(&dyn Journal, Timestamp) -> Vec<String>,
}

impl fmt::Debug for HistoryInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

impl HistoryInvariant {
    /// Each of them.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "decides-the-same",
            says: "every decision comes out the same when it is decided again",
            broken: diverging,
        },
        Self {
            name: "no-hot-loop",
            says: "no object is decided on more than 200 times within ten seconds of a simulation",
            broken: hot_loops,
        },
    ];
}

/// Where one of them does not hold since the simulation began, with its name. Empty if all hold.
///
/// # Panics
/// If the journal cannot be read: a simulated disk is always there.
pub(super) fn check_history(journal: &dyn Journal, begun: Timestamp) -> Vec<String> {
    let broken = |one: &HistoryInvariant| {
        let name = one.name;
        (one.broken)(journal, begun).into_iter().map(move |text| format!("history/{name}: {text}"))
    };
    HistoryInvariant::ALL.iter().flat_map(broken).collect()
}

fn diverging(journal: &dyn Journal, _begun: Timestamp) -> Vec<String> {
    match replay(journal, &Options { all: true, to: None }) {
        Ok(report) => report.divergences.iter().map(ToString::to_string).collect(),
        Err(error) => vec![format!("the journal cannot be replayed: {}", with_causes(&error))],
    }
}

/// Within so long, in milliseconds, nobody is decided on more than so often: whoever is goes round in a circle.
const HOT_MS: u64 = 10_000;
const HOT_MAX: usize = 200;

/// What was written before is real: people may ask for as much as they like.
fn hot_loops(journal: &dyn Journal, begun: Timestamp) -> Vec<String> {
    let mut recent: BTreeMap<StreamId, VecDeque<u64>> = BTreeMap::new();
    let mut hot = BTreeMap::new();
    // Supervisors and the node decide about all others.
    let simulated = headers(journal).filter(|header| begun.0 < header.meta.time_ms);
    let of_one = simulated.filter(|header| !matches!(header.stream.kind(), "supervisor" | "node" | "policy"));
    for header in of_one {
        let now = header.meta.time_ms;
        let times = recent.entry(header.stream.clone()).or_default();
        times.push_back(now);
        while times.front().is_some_and(|first| first.saturating_add(HOT_MS) < now) {
            times.pop_front();
        }
        if HOT_MAX < times.len() {
            hot.entry(header.stream).or_insert(header.position);
        }
    }
    hot.into_iter().map(|(stream, at)| format!("{stream} up to entry {at}")).collect()
}

/// How often each reason was given, by kind and code.
pub(super) fn reasons(journal: &dyn Journal) -> BTreeMap<String, u64> {
    let mut reasons = BTreeMap::new();
    for header in headers(journal) {
        if header.meta.kind == EntryKind::Decision && header.meta.outcome != Outcome::Refused {
            *reasons.entry(format!("{} {}", header.stream.kind(), header.meta.code)).or_default() += 1;
        }
    }
    reasons
}

fn headers(journal: &dyn Journal) -> impl Iterator<Item = Header> {
    let all = journal.read_headers(Position(1), journal.head().position, &Filter::all());
    all.map(|header| header.expect("a simulated disk can be read"))
}

#[cfg(test)]
mod tests {
    use bailiwick_journal::{LocalJournal, append_blocking, disk::SimulatedDisk, testing::draft};
    use uuid::Uuid;

    use super::*;

    /// What is found, after this moment, of an object that is decided on so often, so far apart, from the first second on.
    fn found(times: u32, apart_ms: u64, begun: Timestamp) -> Vec<String> {
        let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(7), 0).expect("new");
        for number in 0..times {
            let at_ms = 1_000 + u64::from(number) * apart_ms;
            append_blocking(&journal, vec![draft("machine/a", u64::from(number), at_ms, &[1])]).expect("taken");
        }
        hot_loops(&journal, begun)
    }

    #[test]
    fn an_object_that_goes_round_in_a_circle_is_found() {
        let begun = Timestamp(0);
        assert_eq!(found(200, 1, begun), Vec::<String>::new());
        assert_eq!(found(400, 51, begun), Vec::<String>::new());
        assert_eq!(found(201, 1, begun), ["machine/a up to entry 202"]);
        assert_eq!(found(201, 1, Timestamp(1_000)), Vec::<String>::new(), "what was there before is not simulated");
    }
}
