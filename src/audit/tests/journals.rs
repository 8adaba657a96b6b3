//! Journals to audit, and copies of them with something changed.

use std::sync::Arc;

use bailiwick_actors::{
    policy::Document,
    testing::{Desk, name},
    vocab::{Fault, FaultCode, Timestamp},
};
use bailiwick_journal::{
    Draft, Entry, EntryKind, Filter, Journal, LocalJournal, Position, Version, append_blocking, disk::SimulatedDisk,
};
use uuid::Uuid;

pub(crate) const ID: Uuid = Uuid::from_u128(7);

pub(crate) fn empty() -> Arc<dyn Journal> {
    let (journal, _) = LocalJournal::simulated(&SimulatedDisk::new(), ID, 1_000).expect("a new journal");
    Arc::new(journal)
}

/// Machines, volumes and attachments that come and go, with failures, a lost instance, and another policy.
pub(crate) fn busy(journal: &Arc<dyn Journal>) -> Desk {
    let mut desk = Desk::new(journal.clone());
    desk.revise(Document::default());
    let unlucky = "machine/web".parse().expect("a stream");
    let fault = |code| Fault::new(code, "not now");
    desk.faults.insert(unlucky, [fault(FaultCode::Unavailable), fault(FaultCode::DeadlineExceeded)].into());
    desk.declare_machine("web");
    desk.declare_machine("db");
    desk.declare_volume("data");
    desk.attach("db", "data");
    desk.settle();
    desk.now = desk.now.after(5);
    desk.report_node("db", true);
    // Once all are well nobody waits for anything.
    while desk.wake_next() {
        desk.settle();
        desk.report_node("web", true);
    }
    let mut document = Document::default();
    document.machines.attempts_max = 3;
    desk.revise(document);
    desk.now = desk.now.after(1_000);
    desk.lose("db");
    desk.settle();
    desk.machine("web", bailiwick_actors::machine::Command::Remove);
    desk.settle();
    desk.now = Timestamp(desk.now.0 + 60_000);
    desk.volume("data", bailiwick_actors::volume::Command::ReserveAttachment { machine: name("web") });
    desk.volume("data", bailiwick_actors::volume::Command::Remove);
    desk.settle();
    desk
}

pub(crate) fn entries(journal: &dyn Journal) -> Vec<Arc<Entry>> {
    let all = journal.read(Position(1), journal.head().position, &Filter::all());
    all.collect::<Result<_, _>>().expect("a readable journal")
}

/// The journal again, entry by entry, each as `change` leaves it.
pub(crate) fn copied(journal: &dyn Journal, change: impl FnMut(&Entry, &mut Draft)) -> Arc<dyn Journal> {
    let copy = empty();
    copied_to(journal, &copy, change);
    copy
}

/// The same into a journal that is there.
pub(crate) fn copied_to(journal: &dyn Journal, copy: &Arc<dyn Journal>, mut change: impl FnMut(&Entry, &mut Draft)) {
    for entry in entries(journal) {
        // Every journal notes its own opening.
        if entry.header.meta.kind == EntryKind::Note {
            continue;
        }
        let Entry { header, command, facts, verdict, events } = (*entry).clone();
        let mut draft = Draft {
            stream: header.stream.clone(),
            expected: Version::ZERO,
            meta: header.meta.clone(),
            command,
            facts,
            verdict,
            events,
        };
        change(&entry, &mut draft);
        draft.expected = copy.version(&draft.stream);
        append_blocking(&**copy, vec![draft]).expect("the copy takes it");
    }
}
