//! Puts a journal together from what opening found: the writer and its first note, the keeper, who works, and the reading
//! behind.

use std::{
    io,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use uuid::Uuid;

use super::{LocalJournal, after_open, lock};
use crate::{
    AppendError, Done, Intake, OpenError, OpenReport, Settings, Threads,
    background::{BackgroundWriter, CheckpointSchedule, DeferredOpen, archiver::Destination, verify::Verification},
    blocks::Store,
    commit::{
        request::{Batch, Request},
        status::{Keep, WriterStatus, answer},
        writer::{Group, Writer},
    },
    disk::{Disk, crash, free_space::SpaceWatch},
    local::threads::Workers,
    log::compress::Compressor,
    model::note,
    open::{self, AfterOpen, OpenOptions, Opened},
};

/// As [`LocalJournal::open_with`].
pub(super) fn start(
    disk: Arc<dyn Disk>,
    store: &dyn Store,
    id: Uuid,
    now_ms: u64,
    settings: Settings,
) -> Result<(LocalJournal, OpenReport), OpenError> {
    crash::point("before-open");
    // A segment must hold its marks and a block; the upper bound keeps offsets within 32 bits.
    let segment_bytes = settings.segment_bytes.clamp(4096, 256 * 1024 * 1024);
    let may_trust = settings.index_checkpoint;
    let (keep, archive) = (settings.log_keep, settings.log_archive.clone());
    let options = OpenOptions { new_id: id, segment_bytes, may_trust, keep, archive };
    let opened = open::open(disk, store, &options)?;
    let Opened { core, disk, log, tip, head_file, blocks, lock, report, later, archiver, folder, store_synced } =
        opened;
    let status = Arc::new(WriterStatus::default());
    let mut writer = Writer {
        core: core.clone(),
        status: status.clone(),
        disk: disk.clone(),
        log,
        head_file: head_file.clone(),
        epoch: report.epoch,
        tip,
        space: SpaceWatch::new(settings.space_floor_bytes),
        group: Group::default(),
    };
    write_note(&mut writer, &report, now_ms, &*disk)?;
    if let Some(blocks) = &blocks {
        core.set_store(Some(blocks.reader()));
    }
    core.read_ahead(settings.threads == Threads::Own);
    core.set_being_read(later.is_some());
    core.await_store(later.is_some());
    let read_from = later.as_ref().map(|later| later.read_from);
    let (place, deferred) = match later {
        None => (store.for_later(), None),
        Some(AfterOpen { store, as_left, .. }) => {
            let failing = status.clone();
            let fail = Box::new(move |problem| drop(failing.fail(problem)));
            if !as_left {
                core.set_unlooked();
            }
            (Some(store), Some(DeferredOpen { tip: tip.block, as_left, fail }))
        }
    };
    let only_in_store = archiver.as_ref().is_some_and(|archiver| archiver.to == Destination::Nowhere);
    let known = read_from.map_or(0, |read_from| read_from - 1);
    let schedule = CheckpointSchedule {
        folder: folder.clone(),
        epoch: report.epoch,
        known,
        changed: Vec::new(),
        in_memory: known > 0,
    };
    let store_trouble = Arc::new(Mutex::new(report.store_unavailable.clone()));
    let background = BackgroundWriter {
        core: core.clone(),
        head_file: head_file.clone(),
        disk: disk.clone(),
        space: SpaceWatch::new(settings.space_floor_bytes),
        blocks,
        synced: store_synced,
        place,
        deferred,
        compressor: Compressor::new(folder.clone(), core.journal),
        archiver,
        schedule: (may_trust && !only_in_store).then_some(schedule),
        trouble: store_trouble.clone(),
        settings: settings.clone(),
        bytes_since: 0,
        signal: Arc::default(),
    };
    let threads = open::io_error(&*disk, "start the threads for");
    let workers = match settings.threads {
        Threads::Inline => Workers::inline(writer, background, &status),
        Threads::Own => Workers::start(writer, background, &settings, &status).map_err(&threads)?,
    };
    let verification = Verification::default();
    if let Some(read_from) = read_from {
        let verifier =
            after_open::verifier_of(&core, &status, &disk, (tip, read_from), report.epoch, workers.submitter());
        match settings.threads {
            Threads::Inline => verification.start_here(verifier),
            Threads::Own => verification.start(verifier).map_err(&threads)?,
        }
    }
    crash::point("after-open");
    let journal = LocalJournal {
        core,
        status,
        workers,
        store_trouble,
        head_file,
        closed: AtomicBool::new(false),
        lock: Mutex::new(Some(lock)),
        place: if may_trust { store.for_later() } else { None },
        settings,
        disk,
        folder,
        epoch: report.epoch,
        verification,
    };
    Ok((journal, report))
}

/// Appends the opening's note, before anybody else can.
fn write_note(writer: &mut Writer, report: &OpenReport, now_ms: u64, disk: &dyn Disk) -> Result<(), OpenError> {
    let core = writer.core.clone();
    let expected = core.state().index.version(&note::stream());
    let draft = note::writer_opened(core.journal, report.into(), expected, now_ms.max(core.state().head.time_ms));
    let outcome = Arc::new(Mutex::new(None));
    let kept = outcome.clone();
    let done: Done = Box::new(move |answer| *lock(&kept) = Some(answer));
    match Request::new(vec![draft], Intake::Report, Keep::Encoded, done) {
        Ok(request) => writer.commit(Batch::of(request)).give(&writer.status.notices),
        Err((error, done)) => answer(done, Err(error)),
    }
    let outcome = lock(&outcome).take();
    match outcome {
        // On a full disk the journal opens without the note: what runs still has to be reported.
        Some(Ok(_) | Err(AppendError::NearlyFull(_))) => Ok(()),
        Some(Err(error)) => Err(open::io_error(disk, "append to")(io::Error::other(error))),
        None => Err(open::io_error(disk, "append to")(io::Error::other("no answer"))),
    }
}
