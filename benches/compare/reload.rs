//! Reading 1,000 entities of 100 events each into memory: the journal beside cqrs-es on SQLite.

use std::{path::Path, sync::mpsc, time::Instant};

use bailiwick::journal::{Config, Intake, Journal, LocalJournal};

use crate::{
    Fallible, Options, quiet, reading,
    table::{Good, Row, Table},
};

const RELOAD: &str = "reload of 1,000 streams of 100 entries / cqrs-es on SQLite";
const STREAMS: u64 = 1_000;
const EACH: u64 = 100;

pub fn measure(options: &Options, table: &mut Table) -> Fallible<()> {
    if !options.wants(RELOAD) {
        return Ok(());
    }
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let journal = fill(&scratch.path().join("journal"))?;
    let peer = match peer::Filled::fill(scratch.path(), STREAMS, EACH) {
        Ok(peer) => peer,
        Err(error) => {
            table.leave_out(RELOAD, &error.to_string());
            return Ok(());
        }
    };
    let (mut quotients, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        quiet::wait(options.patience)?;
        let begun = Instant::now();
        let states = reading::rebuild(&journal)?;
        let own = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let loaded = peer.reload()?;
        let other = begun.elapsed().as_secs_f64();
        if states as u64 != STREAMS || loaded != STREAMS {
            return Err("not every stream was read".into());
        }
        quotients.push(other / own);
        ours.push((STREAMS * EACH) as f64 / own);
        theirs.push((STREAMS * EACH) as f64 / other);
    }
    let median = crate::commits::median;
    let sides = format!("{:.0}/s | cqrs-es: {:.0}/s", median(ours), median(theirs));
    table.add(Row { name: RELOAD, value: median(quotients), target: 40.0, stretch: 80.0, good: Good::AtLeast, sides });
    Ok(())
}

fn fill(dir: &Path) -> Fallible<LocalJournal> {
    let (journal, _) = LocalJournal::open(Config { dir: dir.to_owned(), now_ms: 1, ..Config::default() })?;
    let (tell, told) = mpsc::channel();
    let mut round = crate::writers::Round::of(0, 1, STREAMS);
    for _ in 0..STREAMS * EACH {
        let tell = tell.clone();
        let done = move |answer: Result<_, _>| {
            // Whoever fills may have given up.
            let _ = tell.send(answer.is_ok());
        };
        journal.append(vec![round.next().0], Intake::Ordinary, Box::new(done));
        if !told.try_iter().all(|taken| taken) {
            return Err("an entry was refused".into());
        }
        // The queue is bounded.
        while journal.stats().waiting > 1_024 {
            std::thread::yield_now();
        }
    }
    drop(tell);
    if !told.iter().all(|taken| taken) {
        return Err("an entry was refused".into());
    }
    Ok(journal)
}

#[cfg(not(feature = "compare"))]
mod peer {
    use super::*;

    pub struct Filled;

    impl Filled {
        pub fn fill(_dir: &Path, _streams: u64, _each: u64) -> Fallible<Self> {
            Err("needs --features compare".into())
        }

        pub fn reload(&self) -> Fallible<u64> {
            Err("needs --features compare".into())
        }
    }
}

#[cfg(feature = "compare")]
mod peer {
    use cqrs_es::{
        Aggregate, CqrsFramework, DomainEvent, EventStore, event_sink::EventSink, persist::PersistedEventStore,
    };
    use serde::{Deserialize, Serialize};
    use sqlite_es::SqliteEventRepository;
    use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
    use tokio::runtime::Runtime;

    use super::*;
    use crate::load;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Happened(load::Event);

    impl DomainEvent for Happened {
        fn event_type(&self) -> String {
            "happened".into()
        }

        fn event_version(&self) -> String {
            "1".into()
        }
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub struct State {
        version: u64,
        at_us: u64,
    }

    impl Aggregate for State {
        const TYPE: &'static str = "machine";
        type Command = Vec<load::Event>;
        type Event = Happened;
        type Error = std::fmt::Error;
        type Services = ();

        async fn handle(
            &mut self,
            events: Vec<load::Event>,
            _: &(),
            sink: &EventSink<Self>,
        ) -> Result<(), Self::Error> {
            for event in events {
                sink.write(Happened(event), self).await;
            }
            Ok(())
        }

        fn apply(&mut self, Happened(event): Happened) {
            (self.version, self.at_us) = (event.version, event.at_us);
        }
    }

    type Events = PersistedEventStore<SqliteEventRepository, State>;

    pub struct Filled {
        runtime: Runtime,
        store: Events,
        streams: u64,
    }

    impl Filled {
        pub fn fill(dir: &Path, streams: u64, each: u64) -> Fallible<Self> {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            let store = runtime.block_on(async {
                let options = SqliteConnectOptions::new()
                    .filename(dir.join("cqrs"))
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full);
                let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
                for table in [
                    "CREATE TABLE events (aggregate_type text NOT NULL, aggregate_id text NOT NULL, sequence integer \
                     CHECK (sequence >= 0) NOT NULL, event_type text NOT NULL, event_version text NOT NULL, payload text \
                     NOT NULL, metadata text NOT NULL, PRIMARY KEY (aggregate_type, aggregate_id, sequence)) STRICT",
                    "CREATE TABLE snapshots (aggregate_type text NOT NULL, aggregate_id text NOT NULL, last_sequence \
                     integer NOT NULL, current_snapshot integer NOT NULL, payload text NOT NULL, PRIMARY KEY \
                     (aggregate_type, aggregate_id, last_sequence)) STRICT",
                ] {
                    sqlx::query(table).execute(&pool).await?;
                }
                let store = || Events::new_event_store(SqliteEventRepository::new(pool.clone()));
                let framework = CqrsFramework::new(store(), vec![], ());
                for stream in 0..streams {
                    let events = (1..=each).map(|version| load::event(stream, version)).collect();
                    framework.execute(&format!("entity-{stream:08}"), events).await?;
                }
                Fallible::Ok(store())
            })?;
            Ok(Self { runtime, store, streams })
        }

        pub fn reload(&self) -> Fallible<u64> {
            self.runtime.block_on(async {
                let mut loaded = 0;
                for stream in 0..self.streams {
                    self.store.load_aggregate(&format!("entity-{stream:08}")).await?;
                    loaded += 1;
                }
                Ok(loaded)
            })
        }
    }
}
