//! Connects what reads behind an opening with the journal it belongs to.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use crate::{
    Done, Intake, JournalNote,
    background::verify::Verifier,
    commit::{
        request::Request,
        status::{Keep, WriterStatus, answer},
    },
    core::Core,
    disk::Disk,
    local::threads::Submitter,
    log::commit_log::Tip,
    model::note,
};

/// How long a note of a repair is waited for.
const NOTE_WAIT: Duration = Duration::from_secs(1);

/// What reads behind the opening, and whom it tells.
pub(super) fn verifier_of(
    core: &Arc<Core>,
    status: &Arc<WriterStatus>,
    disk: &Arc<dyn Disk>,
    (tip, read_from): (Tip, u32),
    epoch: u64,
    submitter: Submitter,
) -> Verifier {
    let submitter = Arc::new(submitter);
    let building = submitter.clone();
    let (noting, failing) = (core.clone(), status.clone());
    let note = move |note: &JournalNote| {
        let (expected, time_ms) = {
            let state = noting.state();
            (state.index.version(&note::stream()), state.head.time_ms)
        };
        let draft = note::history_repaired(noting.journal, note, epoch, expected, time_ms);
        let (tell, told) = mpsc::sync_channel(1);
        let done: Done = Box::new(move |answer| {
            if let Err(error) = answer {
                tracing::error!(%error, "the note of a repair could not be appended");
            }
            let _ = tell.send(());
        });
        match Request::new(vec![draft], Intake::Report, Keep::Encoded, done) {
            Ok(request) => submitter.submit(request),
            Err((error, done)) => answer(done, Err(error)),
        }
        // A waiter for the end of the reading then finds the note; but the commit thread may be the one that ends us.
        let _ = told.recv_timeout(NOTE_WAIT);
    };
    Verifier {
        core: core.clone(),
        disk: disk.clone(),
        tip,
        read_from,
        rebuild_store: Box::new(move |problem| building.build_anew(problem)),
        note: Box::new(note),
        fail: Box::new(move |problem| drop(failing.fail(problem))),
    }
}
