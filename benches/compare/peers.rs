//! Other embedded stores. sled is always here; the others come with the feature `compare`.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Fallible,
    writers::{Round, Run, Shape, summary},
};

/// Threads that share a plain sled, one key for each entry: what one writes without thinking further. `flush` of sled is
/// no durability point, hence the `fdatasync`.
pub fn sled_threads(dir: &Path, time: Duration) -> Fallible<Run> {
    let db = sled::Config::new().path(dir.join("sled")).flush_every_ms(None).open()?;
    let tree = db.open_tree("entries")?;
    let file = Arc::new(std::fs::OpenOptions::new().write(true).open(dir.join("sled/db"))?);
    let (begun, until) = (Instant::now(), Instant::now() + time);
    let threads: Vec<_> = (0..64)
        .map(|writer| {
            let (db, tree, file) = (db.clone(), tree.clone(), file.clone());
            std::thread::spawn(move || {
                let mut round = Round::of(writer, 64, 16);
                let mut latencies = Vec::new();
                while Instant::now() < until {
                    let (draft, stream) = round.next();
                    let asked = Instant::now();
                    let key = key(stream, draft.expected.0 + 1);
                    tree.insert(key, crate::load::bytes(&draft)).expect("sled takes the entry");
                    db.flush().expect("sled flushes");
                    file.sync_data().expect("the file is synced");
                    latencies.push(asked.elapsed());
                }
                latencies
            })
        })
        .collect();
    let mut all = Vec::new();
    for thread in threads {
        all.extend(thread.join().map_err(|_| "a writer broke")?);
    }
    Ok(summary(all, begun.elapsed()))
}

fn key(stream: u64, version: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&stream.to_be_bytes());
    key[8..].copy_from_slice(&version.to_be_bytes());
    key
}

#[cfg(not(feature = "compare"))]
pub fn run(_peer: &str, _dir: &Path, _shape: Shape, _time: Duration) -> Fallible<Run> {
    Err("needs --features compare".into())
}

#[cfg(feature = "compare")]
pub use with_peers::run;

#[cfg(feature = "compare")]
mod with_peers {
    use super::*;
    use crate::{
        stores::{Item, Store},
        writers,
    };

    pub fn run(peer: &str, dir: &Path, shape: Shape, time: Duration) -> Fallible<Run> {
        match peer {
            "redb" => writers::against(Box::new(Redb(redb::Database::create(dir.join("redb"))?)), shape, time),
            "sqlite" => writers::against(Box::new(Sqlite::create(dir)?), shape, time),
            "batpak" => batpak_threads(dir, time),
            other => Err(format!("nothing is known of {other}").into()),
        }
    }

    struct Redb(redb::Database);

    const ENTRIES: redb::TableDefinition<'_, (u64, u64), &[u8]> = redb::TableDefinition::new("entries");

    impl Store for Redb {
        fn commit(&mut self, group: &[Item]) -> Fallible<()> {
            let transaction = self.0.begin_write()?;
            {
                let mut table = transaction.open_table(ENTRIES)?;
                for item in group {
                    table.insert((item.stream, item.version), item.bytes.as_slice())?;
                }
            }
            transaction.commit()?;
            Ok(())
        }
    }

    struct Sqlite(rusqlite::Connection);

    impl Sqlite {
        fn create(dir: &Path) -> Fallible<Self> {
            let connection = rusqlite::Connection::open(dir.join("sqlite"))?;
            connection.execute_batch(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
                 CREATE TABLE entries(stream INTEGER, version INTEGER, bytes BLOB, PRIMARY KEY(stream, version)) WITHOUT ROWID;",
            )?;
            Ok(Self(connection))
        }
    }

    impl Store for Sqlite {
        fn commit(&mut self, group: &[Item]) -> Fallible<()> {
            let transaction = self.0.transaction()?;
            {
                let mut insert = transaction.prepare_cached("INSERT INTO entries VALUES(?1, ?2, ?3)")?;
                for item in group {
                    insert.execute((item.stream.cast_signed(), item.version.cast_signed(), &item.bytes))?;
                }
            }
            transaction.commit()?;
            Ok(())
        }
    }

    /// batpak has a commit thread of its own, and a way to be asked that waits for it.
    fn batpak_threads(dir: &Path, time: Duration) -> Fallible<Run> {
        use batpak::{
            prelude::{Coordinate, EventKind},
            store::{AppendOptions, Store, StoreConfig, SyncMode},
        };
        let config = StoreConfig::new(dir.join("batpak"))
            .with_sync_every_n_events(1)
            .with_sync_mode(SyncMode::SyncData)
            .with_group_commit_max_batch(1_024);
        let store = Arc::new(Store::open(config)?);
        let kind = EventKind::custom(0xF, 1);
        let (begun, until) = (Instant::now(), Instant::now() + time);
        let threads: Vec<_> = (0..64)
            .map(|writer| {
                let store = store.clone();
                std::thread::spawn(move || {
                    let mut round = Round::of(writer, 64, 16);
                    let mut latencies = Vec::new();
                    while Instant::now() < until {
                        let (draft, stream) = round.next();
                        let bytes = crate::load::bytes(&draft);
                        let asked = Instant::now();
                        let place = Coordinate::new(format!("m:{stream}"), "s").expect("a coordinate");
                        let operation = draft.meta.command_id.to_string();
                        let once = batpak::id::IdempotencyKey::for_operation("b", &[&operation]);
                        let options = AppendOptions::new().with_idempotency(once);
                        let appended = store.append_with_options(&place, kind, &bytes, options);
                        drop(appended.expect("batpak takes the entry"));
                        latencies.push(asked.elapsed());
                    }
                    latencies
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a writer broke")?);
        }
        Ok(summary(all, begun.elapsed()))
    }
}
