//! How events change a filesystem.

use bailiwick_journal::Version;

use super::{Event, Removal, State, Storage};
use crate::vocab::{Effort, Fault, Life, SkippedStorage, Timestamp};

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { spec } => {
            let destroyed = std::mem::take(&mut state.destroyed);
            let spec = Some(spec.clone());
            *state = State { life: Life::Alive, declared_at: at, spec, destroyed, ..State::default() };
        }
        Event::CreateRequested { backing, over, at: since } => {
            let (backing, over) = (backing.clone(), over.clone());
            state.storage = Storage::Creating { backing, over, effort: Effort::begun(at, *since) };
        }
        Event::TakenFrom { pool } => state.pool = Some(pool.clone()),
        Event::OwnedBy { owner } => state.owner = Some(owner.clone()),
        Event::Claimed { by } => state.claim = Some(by.clone()),
        Event::Kept => {
            state.kept_of = state.claim.take().map(|by| by.machine);
            state.owner = None;
        }
        Event::BackingChanged { backing: now } => {
            if let Storage::Creating { backing, .. } = &mut state.storage {
                *backing = now.clone();
            }
        }
        Event::Created { filesystem } => {
            if let Storage::Creating { effort, .. } = &state.storage {
                state.storage = Storage::Provisioned { intent: effort.intent, filesystem: filesystem.clone() };
                // It was made over them.
                state.destroyed.clear();
                state.was_made = true;
            }
        }
        Event::CreateRetryScheduled { until, fault } | Event::DestroyRetryScheduled { until, fault } => {
            if let Some(effort) = effort_mut(state) {
                effort.wait(*until, fault.clone());
            }
        }
        Event::CreateGivenUp { fault, again } => give_up(state, fault, *again),
        Event::DestroyGivenUp { fault } => give_up(state, fault, None),
        Event::DestroyRequested { at: since } => {
            let of = match &state.storage {
                Storage::Creating { effort, .. } => effort.intent,
                Storage::Provisioned { intent, .. } => *intent,
                Storage::Destroying { of, .. } => *of,
                Storage::None => return,
            };
            state.storage = Storage::Destroying { of, effort: Effort::begun(at, *since) };
        }
        Event::Destroyed | Event::CreateDropped => state.storage = Storage::None,
        Event::Skipped { what: SkippedStorage::Attachment { machine } } => drop(state.attached_to.remove(machine)),
        // A filesystem holds no other; what was not undone goes with `Removed`.
        Event::Skipped { what: SkippedStorage::Filesystem { .. } | SkippedStorage::Undoing { .. } } => (),
        Event::Overdue { at: since } => {
            if let Some(effort) = effort_mut(state) {
                effort.overdue = Some(*since);
            }
        }
        Event::AttemptBegun => {
            if let Some(effort) = effort_mut(state) {
                effort.begin();
            }
        }
        Event::AttachmentReserved { machine } => drop(state.attached_to.insert(machine.clone())),
        Event::AttachmentReleased { machine } => drop(state.attached_to.remove(machine)),
        Event::ReleaseWanted => state.removal = Removal::Release,
        Event::DestroyWanted => state.removal = Removal::Destroy,
        Event::Protected { on } => state.protected = *on,
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Died => state.life = Life::Dead,
        Event::Removed => {
            state.life = Life::Removed;
            state.destroyed.extend(left_on_volume(state));
            state.storage = Storage::None;
        }
    }
}

/// What is left on its volume of one that goes with its data.
fn left_on_volume(state: &State) -> Option<Version> {
    state.backing().filter(|_| state.removal == Removal::Destroy)?;
    match &state.storage {
        Storage::Provisioned { intent, .. } => Some(*intent),
        Storage::Creating { effort, .. } => effort.may_have_left_something().then_some(effort.intent),
        Storage::None | Storage::Destroying { .. } => None,
    }
}

fn effort_mut(state: &mut State) -> Option<&mut Effort> {
    match &mut state.storage {
        Storage::Creating { effort, .. } | Storage::Destroying { effort, .. } => Some(effort),
        Storage::None | Storage::Provisioned { .. } => None,
    }
}

fn give_up(state: &mut State, fault: &Fault, again: Option<Timestamp>) {
    if let Some(effort) = effort_mut(state) {
        effort.give_up(fault.clone(), again);
    }
}
