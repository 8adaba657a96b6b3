//! What hangs on a machine: the attachments of volumes, and the filesystems that are mounted.

use bailiwick_journal::StreamId;

use super::{
    Event, Reason, Rejection, Skipped, Spec, State,
    death::death,
    ordered_drain,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    storage_rules,
    vocab::{Life, Name},
};

impl State {
    /// Whether anything is attached or mounted, or about to be.
    pub fn holds_storage(&self) -> bool {
        !self.attachments.is_empty() || !self.mounts.is_empty()
    }
}

/// Room for the storage that it asks for itself: with its first event it waits for that, and is not gone before that is.
pub(super) fn claimed(spec: &Spec, machine: &StreamId) -> Vec<Event> {
    let Ok(machine) = machine.name().parse() else { return Vec::new() };
    let reserved = |claimed: storage_rules::Claimed<'_>| {
        let volume = claimed.volume.map(|volume| Event::AttachmentReserved { volume });
        let mount = claimed.filesystem.map(|filesystem| Event::MountReserved { filesystem });
        volume.into_iter().chain(mount)
    };
    storage_rules::claimed(&machine, &spec.storage).flat_map(reserved).collect()
}

pub(super) fn reserve_attachment(state: &State, volume: &Name) -> Verdict {
    let is_there = state.attachments.contains(volume);
    reserve(state, is_there, Event::AttachmentReserved { volume: volume.clone() })
}

pub(super) fn release_attachment(state: &State, volume: &Name, facts: &Facts<'_>) -> Verdict {
    let is_there = state.attachments.contains(volume);
    release(state, is_there, Event::AttachmentReleased { volume: volume.clone() }, facts)
}

pub(super) fn reserve_mount(state: &State, filesystem: &Name) -> Verdict {
    let is_there = state.mounts.contains(filesystem);
    reserve(state, is_there, Event::MountReserved { filesystem: filesystem.clone() })
}

pub(super) fn release_mount(state: &State, filesystem: &Name, facts: &Facts<'_>) -> Verdict {
    let is_there = state.mounts.contains(filesystem);
    release(state, is_there, Event::MountReleased { filesystem: filesystem.clone() }, facts)
}

/// What hangs on it in any way, and is not waited for.
pub(super) fn skipped(state: &State) -> Vec<Event> {
    let sets = state.engaged.iter().map(|set| Skipped::Membership { set: set.clone() });
    let containers = state.containers.iter().map(|container| Skipped::Container { container: container.clone() });
    let volumes = state.attachments.iter().map(|volume| Skipped::Attachment { volume: volume.clone() });
    let mounts = state.mounts.iter().map(|filesystem| Skipped::Mount { filesystem: filesystem.clone() });
    sets.chain(containers).chain(volumes).chain(mounts).map(|what| Event::Skipped { what }).collect()
}

fn reserve(state: &State, is_there: bool, reserved: Event) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if is_there {
        return Err(Rejection::StillReserved);
    }
    Ok(Decision::because(Reason::AttachmentWanted, [reserved]))
}

/// With the last thing that hangs on a machine that is to go, the machine dies.
fn release(state: &State, is_there: bool, released: Event, facts: &Facts<'_>) -> Verdict {
    if !is_there {
        return Ok(Decision::nothing(Reason::AttachmentUnknown));
    }
    let mut events = vec![released];
    let is_last =
        state.attachments.len() + state.mounts.len() == 1 && state.engaged.is_empty() && state.containers.is_empty();
    if state.life == Life::Dying && is_last && !state.is_draining() {
        events.extend(death(state, facts));
        return Ok(Decision::because(Reason::LastAttachmentGone, events));
    }
    Ok(Decision::because(Reason::AttachmentGone, ordered_drain::with_next(state, events, facts)))
}
