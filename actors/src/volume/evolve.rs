//! How events change a volume.

use bailiwick_journal::Version;

use super::{Event, Removal, State, Storage};
use crate::vocab::{Effort, Fault, Life, SkippedStorage, Timestamp};

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { spec } => {
            *state = State { life: Life::Alive, declared_at: at, spec: Some(spec.clone()), ..State::default() };
        }
        Event::CreateRequested { at: since } => state.storage = Storage::Creating(Effort::begun(at, *since)),
        Event::WantedOn { machine } => state.wanted_on = Some(machine.clone()),
        Event::CreateRequestedAt { place, at: since } => {
            state.place = Some(place.clone());
            state.storage = Storage::Creating(Effort::begun(at, *since));
        }
        Event::Described { facts } => state.facts = Some(facts.clone()),
        Event::AttachedAtCreation { at_creation } => state.at_creation = Some(at_creation.clone()),
        Event::ReleaseWanted => state.removal = Removal::Release,
        Event::DestroyWanted => state.removal = Removal::Destroy,
        Event::Lost { at: since } => state.lost = Some(*since),
        Event::Found => state.lost = None,
        Event::FilesystemReserved { filesystem } => state.filesystem = Some(filesystem.clone()),
        Event::FilesystemReleased { leaves, .. } => {
            state.filesystem = None;
            if leaves.instead {
                state.leftovers.clear();
            }
            state.leftovers.extend(leaves.of.iter().map(|of| (of.clone(), at)));
        }
        Event::Skipped { what: SkippedStorage::Filesystem { .. } } => state.filesystem = None,
        Event::TakenFrom { pool } => state.pool = Some(pool.clone()),
        Event::SitedIn { zone } => state.zone = Some(zone.clone()),
        Event::OwnedBy { owner } => state.owner = Some(owner.clone()),
        Event::Claimed { by } => state.claim = Some(by.clone()),
        Event::Kept => {
            state.kept_of = state.claim.take().map(|by| by.machine);
            // What is there for the filesystem on it stays so.
            state.owner = state.owner.take().filter(|owner| owner.kind() == "filesystem");
        }
        Event::ImportWanted { volume_id } => state.import = Some(volume_id.clone()),
        Event::Created { volume } => {
            if let Storage::Creating(effort) = &state.storage {
                state.storage = Storage::Provisioned { intent: effort.intent, volume: volume.clone() };
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
                Storage::Creating(effort) => effort.intent,
                Storage::Provisioned { intent, .. } => *intent,
                Storage::Destroying { of, .. } => *of,
                Storage::None => return,
            };
            state.storage = Storage::Destroying { of, effort: Effort::begun(at, *since) };
            state.lost = None;
        }
        Event::Destroyed | Event::CreateDropped | Event::Skipped { what: SkippedStorage::Undoing { .. } } => {
            state.storage = Storage::None;
        }
        Event::Returned { provider, of, at: since } => {
            state.life = Life::Dead;
            state.removal = Removal::Destroy;
            state.storage = Storage::Destroying { of: *of, effort: Effort::begun(at, *since) };
            if let Some(spec) = &mut state.spec {
                spec.provider = provider.clone();
            }
        }
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
        Event::AttachmentReserved { machine } => state.attached_to = Some(machine.clone()),
        Event::AttachmentReleased { .. } | Event::Skipped { what: SkippedStorage::Attachment { .. } } => {
            state.attached_to = None;
            state.at_creation = None;
        }
        Event::Protected { on } => state.protected = *on,
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Died => state.life = Life::Dead,
        Event::Removed => state.life = Life::Removed,
    }
}

fn effort_mut(state: &mut State) -> Option<&mut Effort> {
    match &mut state.storage {
        Storage::Creating(effort) | Storage::Destroying { effort, .. } => Some(effort),
        Storage::None | Storage::Provisioned { .. } => None,
    }
}

fn give_up(state: &mut State, fault: &Fault, again: Option<Timestamp>) {
    if let Some(effort) = effort_mut(state) {
        effort.give_up(fault.clone(), again);
    }
}
