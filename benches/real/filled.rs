//! A journal that was filled before.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick::{
    actors::{
        contract::{Decider, Entity, Known, NoView, PolicyInForce, Request},
        policy::Document,
        ports::{Clock, ProvisionedVolume},
        vocab::{EffectId, InstanceId, SizeMib, Timestamp, derived_uuid},
        volume::{self, Command as Ask, Report},
    },
    clock::SystemClock,
    config::journal_dir,
    journal::{Config, Intake, Journal, LocalJournal, StreamId},
};
use uuid::Uuid;

use crate::real::Fallible;

/// Volumes that the decisions are about.
const VOLUMES: usize = 1_000;

/// Declared, made, removed, gone, and again: decisions as a node makes them, many in one append.
pub fn fill(data: &Path, entries: u64) -> Fallible<()> {
    let now = SystemClock::new().now().0;
    let dir: PathBuf = journal_dir(data);
    let (journal, _) = LocalJournal::open(Config { dir, now_ms: now, ..Config::default() })?;
    let policy = Arc::new(PolicyInForce { reference: None, document: Document::default() });
    let known = Known { now: Timestamp(now), policy, view: &NoView, view_at: None, journal: journal.id() };
    let streams = (0..VOLUMES).map(|n| StreamId::new(volume::State::KIND, &format!("v{n}")));
    let mut volumes: Vec<Entity<volume::State>> =
        streams.map(|stream| stream.map(Entity::new)).collect::<Result<_, _>>()?;
    // Whole lives only: at the end nothing is owed to anybody.
    let rounds = entries / (VOLUMES as u64 * 4) * 4;
    let mut asked = 0;
    for _ in 0..rounds {
        let mut drafts = Vec::new();
        for volume in &volumes {
            let command = next(journal.id(), volume)?;
            asked += 1;
            let id = derived_uuid(&format!("bench {asked}"));
            let request = Request { command, id, principal: "operator".into(), cause: None, cites: Vec::new() };
            let verdict = volume.decide(&request.command, &known);
            drafts.push(volume.draft(&request, &known, &verdict)?);
        }
        let appended = append(&journal, drafts)?;
        for (volume, entry) in volumes.iter_mut().zip(appended.entries()) {
            volume.take_in(entry)?;
        }
    }
    journal.close()?;
    Ok(())
}

fn append(journal: &LocalJournal, drafts: Vec<bailiwick::journal::Draft>) -> Fallible<bailiwick::journal::Appended> {
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    journal.append(drafts, Intake::Ordinary, Box::new(move |answer| drop(tell.send(answer))));
    Ok(told.recv()??)
}

/// What comes next in this volume's life.
fn next(journal: Uuid, volume: &Entity<volume::State>) -> Fallible<Ask> {
    let provider = "bench".parse()?;
    Ok(match &volume.state().storage {
        volume::Storage::None => Ask::declare(volume::Spec { provider, size: SizeMib(64) }),
        volume::Storage::Creating { effort, .. } => {
            let effect = EffectId::of(journal, volume.stream(), effort.intent);
            let made = ProvisionedVolume { effect, volume_id: InstanceId(format!("{effect}")), size: SizeMib(64) };
            Ask::Report(Report::Created { attempt: effort.attempt, made })
        }
        volume::Storage::Provisioned { .. } => Ask::Remove,
        volume::Storage::Destroying { effort, .. } => Ask::Report(Report::Destroyed { attempt: effort.attempt }),
    })
}
