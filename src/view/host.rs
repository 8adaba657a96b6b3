//! What is wrong with the node itself: its disk and its journal. None of it is any one machine's trouble.

use std::collections::BTreeMap;

use bailiwick_actors::vocab::{Name, Timestamp};
use bailiwick_journal::{Position, Room, Stats};
use schemars::JsonSchema;
use serde::Serialize;

use crate::words::count;

/// How the node itself is, as it knows while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// What is left on the disk of the data directory; none if it does not say.
    pub room: Option<Room>,
    /// How the journal is doing; none before somebody has looked.
    pub journal: Option<Stats>,
    pub trouble: Vec<HostTrouble>,
    /// How far each event sink was told.
    pub sinks: BTreeMap<Name, SinkSeen>,
}

/// An event sink, as the node knows it while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkSeen {
    /// The last decision that it was told, or that it need not be told.
    pub told: Position,
    /// Why it cannot be told more, and since when.
    pub trouble: Option<(String, Timestamp)>,
}

impl SinkSeen {
    /// What `status` says of it, if it is not told.
    pub fn told_trouble(&self, name: &Name, head: Position) -> Option<HostTrouble> {
        let (why, since) = self.trouble.as_ref()?;
        let waiting = count(usize::try_from(head.0.saturating_sub(self.told.0)).unwrap_or(usize::MAX), "entry");
        let why = format!("event sink {name} is not told, {waiting} behind: {why}");
        Some(HostTrouble { status: "sink", why, since_ms: since.0 })
    }
}

/// One thing that is wrong with the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostTrouble {
    /// `disk-full`, `degraded`, `failed`, `sink` or `clock`.
    pub status: &'static str,
    pub why: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
}

impl Host {
    /// What is known now. What was wrong before keeps the moment at which it was first seen.
    pub fn now(room: Option<Room>, stats: &Stats, before: &Self, now: Timestamp) -> Self {
        let full = room.filter(Room::is_short).map(|room| {
            let why =
                format!("{room}; only removals, holds and reports of running work are recorded until there is room");
            ("disk-full", why)
        });
        let degraded = stats.degraded.as_ref().map(|problem| {
            (
                "degraded",
                format!("{problem}; the log is whole, and the store is opened again when the node is restarted"),
            )
        });
        let failed = stats.failed.as_ref().map(|error| ("failed", error.to_string()));
        let known = |status| before.trouble.iter().find(|trouble| trouble.status == status);
        let trouble = [full, degraded, failed].into_iter().flatten().map(|(status, why)| {
            let since_ms = known(status).map_or(now.0, |trouble| trouble.since_ms);
            HostTrouble { status, why, since_ms }
        });
        Self { room, journal: Some(stats.clone()), trouble: trouble.collect(), sinks: before.sinks.clone() }
    }

    /// What has begun since `before`, and what has ended.
    pub fn changes<'a>(&'a self, before: &'a Self) -> (Vec<&'a HostTrouble>, Vec<&'a HostTrouble>) {
        (self.without(before), before.without(self))
    }

    fn without<'a>(&'a self, other: &Self) -> Vec<&'a HostTrouble> {
        let is_there = |trouble: &HostTrouble| other.trouble.iter().any(|other| other.status == trouble.status);
        self.trouble.iter().filter(|trouble| !is_there(trouble)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bailiwick_journal::{
        LocalJournal,
        disk::{SimulatedDisk, Space},
    };
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_disk_that_fills_up_is_trouble_since_it_was_seen_first_and_until_there_is_room() {
        let disk = SimulatedDisk::new();
        let (journal, _) = LocalJournal::simulated(&disk, Uuid::from_u128(7), 1_000).expect("new");
        let journal = Arc::new(journal);
        let total = 1 << 30;
        let look = |free, before: &Host, now| {
            disk.set_space(Space { free, total });
            Host::now(journal.room(), &journal.stats(), before, Timestamp(now))
        };
        let well = look(total / 2, &Host::default(), 1_000);
        assert_eq!(well.trouble, []);

        let full = look(180 * 1024, &well, 2_000);
        assert_eq!(full.trouble[0].status, "disk-full");
        assert!(full.trouble[0].why.starts_with("180 KiB free, 51 MiB reserved; "), "{full:?}");
        assert_eq!(full.changes(&well), (vec![&full.trouble[0]], vec![]));

        let fuller = look(90 * 1024, &full, 3_000);
        assert_eq!(fuller.trouble[0].since_ms, 2_000, "it is the same trouble");
        assert_eq!(fuller.changes(&full), (vec![], vec![]));

        let emptied = look(total / 2, &fuller, 4_000);
        assert_eq!((emptied.trouble.len(), emptied.changes(&fuller).1.len()), (0, 1));
    }
}
