//! How events change a volume or a filesystem.

use bailiwick_journal::Version;

use super::{Event, Provisioned, Removal, State, Storage, kind::Step};
use crate::vocab::{Effort, Fault, Life, SkippedStorage, Timestamp};

pub(super) fn evolve<K: Provisioned>(state: &mut State<K>, at: Version, event: &Event<K>) {
    match event {
        Event::Declared { spec } => {
            let own = K::kept_when_declared(std::mem::take(&mut state.own));
            *state = State { life: Life::Alive, declared_at: at, spec: Some(spec.clone()), own, ..State::default() };
        }
        Event::CreateRequested { base, at: since } => {
            state.storage = Storage::Creating { base: base.clone(), effort: Effort::begun(at, *since) };
            K::stepped(state, Step::Requested { base });
        }
        Event::ReleaseWanted => state.removal = Removal::Release,
        Event::DestroyWanted => state.removal = Removal::Destroy,
        Event::TakenFrom { pool } => state.pool = Some(pool.clone()),
        Event::OwnedBy { owner } => state.owner = Some(owner.clone()),
        Event::Claimed { by } => state.claim = Some(by.clone()),
        Event::Kept => {
            state.kept_of = state.claim.take().map(|by| by.machine);
            // What is there for the filesystem on it stays so.
            state.owner = state.owner.take().filter(|owner| owner.kind() == "filesystem");
        }
        Event::Created { made } => {
            if let Storage::Creating { effort, .. } = &state.storage {
                state.storage = Storage::Provisioned { intent: effort.intent, made: made.clone() };
                K::stepped(state, Step::Created);
            }
        }
        Event::CreateRetryScheduled { until, fault } | Event::DestroyRetryScheduled { until, fault } => {
            if let Some(effort) = state.effort_mut() {
                effort.wait(*until, fault.clone());
            }
        }
        Event::CreateGivenUp { fault, again } => give_up(state, fault, *again),
        Event::DestroyGivenUp { fault } => give_up(state, fault, None),
        Event::DestroyRequested { at: since } => {
            if let Some(of) = state.intent() {
                state.storage = Storage::Destroying { of, effort: Effort::begun(at, *since) };
                K::stepped(state, Step::Undoing);
            }
        }
        Event::Destroyed | Event::CreateDropped => state.storage = Storage::None,
        Event::Overdue { at: since } => {
            if let Some(effort) = state.effort_mut() {
                effort.overdue = Some(*since);
            }
        }
        Event::AttemptBegun => {
            if let Some(effort) = state.effort_mut() {
                effort.begin();
            }
        }
        Event::AttachmentReserved { machine } => drop(state.attached_to.insert(machine.clone())),
        Event::AttachmentReleased { machine } => release(state, machine),
        Event::Skipped { what } => {
            match what {
                SkippedStorage::Attachment { machine } => release(state, machine),
                SkippedStorage::Undoing { .. } => state.storage = Storage::None,
                SkippedStorage::Filesystem { .. } => (),
            }
            K::stepped(state, Step::Skipped(what));
        }
        Event::Protected { on } => state.protected = *on,
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Died => state.life = Life::Dead,
        Event::Removed => {
            state.life = Life::Removed;
            K::stepped(state, Step::Removed);
            state.storage = Storage::None;
        }
        Event::Own(own) => K::evolve(state, at, own),
    }
}

fn release<K: Provisioned>(state: &mut State<K>, machine: &crate::vocab::Name) {
    state.attached_to.remove(machine);
    K::stepped(state, Step::Released);
}

fn give_up<K: Provisioned>(state: &mut State<K>, fault: &Fault, again: Option<Timestamp>) {
    if let Some(effort) = state.effort_mut() {
        effort.give_up(fault.clone(), again);
    }
}

impl<K: Provisioned> State<K> {
    fn effort_mut(&mut self) -> Option<&mut Effort> {
        match &mut self.storage {
            Storage::Creating { effort, .. } | Storage::Destroying { effort, .. } => Some(effort),
            Storage::None | Storage::Provisioned { .. } => None,
        }
    }
}
