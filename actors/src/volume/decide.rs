//! What should happen to a volume that is asked or undergoes what only volumes do.

use bailiwick_journal::Version;

use super::{
    AtCreation, Declaration, Event, Leftovers, OwnCommand, OwnEvent, OwnReport, Place, Reason, Rejection, State,
    Storage, Tags, VolumeFacts, Where,
};
use crate::{
    contract::{self, Decision},
    ports::ProvisionedVolume,
    storage::{alive, death, declare, remove, report_created},
    vocab::{EffectId, InstanceId, Life, Name, SizeMib, Zone},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &OwnCommand, facts: &Facts<'_>) -> Verdict {
    match command {
        OwnCommand::Create { place } => create(state, place, None, facts),
        OwnCommand::CreateIn { place, zone } => create(state, place, Some(zone), facts),
        OwnCommand::RemoveWithFilesystem => remove_with_filesystem(state, facts),
        OwnCommand::DestroyReturned { provider, of } => destroy_returned(state, provider, *of, facts),
        OwnCommand::ReserveFilesystem { filesystem } => reserve_filesystem(state, filesystem),
        OwnCommand::DeclareTagged { declaration, tags } => declare_tagged(state, declaration, tags, facts),
        OwnCommand::ReleaseFilesystem { filesystem, leaves } => release_filesystem(state, filesystem, leaves, facts),
    }
}

pub(super) fn report(state: &State, report: &OwnReport, facts: &Facts<'_>) -> Verdict {
    match report {
        OwnReport::Made { attempt, volume, facts: told, attached } => {
            report_made(state, *attempt, volume, (told, attached.as_ref()), facts)
        }
        OwnReport::Lost { effect } => report_lost(state, *effect, facts),
        OwnReport::Found { effect } => report_found(state, *effect),
        OwnReport::CameWith { place, zone, volume_id, size, facts: told } => {
            let zone = zone.clone().map(|zone| OwnEvent::SitedIn { zone });
            let described = OwnEvent::Described { facts: told.clone() };
            came_with(state, place, (volume_id, *size), zone.into_iter().chain([described]), facts)
        }
        OwnReport::WentWith { machine_effect } => went_with(state, *machine_effect, facts),
        OwnReport::InstanceReplaced { machine_effect } => instance_replaced(state, *machine_effect),
    }
}

/// Nobody is asked to destroy it. What is persistent stays, and so does what is protected or still attached.
fn went_with(state: &State, machine_effect: EffectId, facts: &Facts<'_>) -> Verdict {
    let is_its = state.own.place.as_ref().is_some_and(|place| place.machine_effect == machine_effect);
    let is_held = state.protected || !state.attached_to.is_empty() || state.own.filesystem.is_some();
    if state.life != Life::Alive || !is_its || !state.goes_with_instance() || is_held {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let events = std::iter::once(Event::RemovalBegan).chain(death(state, facts.now));
    Ok(Decision::because(Reason::WentWithInstance, events))
}

/// It waits again, whoever protects it: what came with the instance is gone, and is told to be so.
fn instance_replaced(state: &State, machine_effect: EffectId) -> Verdict {
    let is_its = state.own.place.as_ref().is_some_and(|place| place.machine_effect == machine_effect);
    if state.life != Life::Alive || !is_its || !state.goes_with_instance() {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    Ok(Decision::because(Reason::InstanceReplaced, [Event::Own(OwnEvent::WentToComeAgain)]))
}

fn create(state: &State, place: &Place, zone: Option<&Zone>, facts: &Facts<'_>) -> Verdict {
    alive(state)?;
    if state.storage != Storage::None {
        return Ok(Decision::nothing(Reason::AlreadyBegun));
    }
    let mut events = vec![Event::CreateRequested { base: Where::At(place.clone()), at: facts.now }];
    events.extend(zone.map(|zone| Event::Own(OwnEvent::SitedIn { zone: zone.clone() })));
    Ok(Decision::because(Reason::MachineReady, events))
}

/// As any removal, where the filesystem on it goes as well: it waits for that.
fn remove_with_filesystem(state: &State, facts: &Facts<'_>) -> Verdict {
    match (state.life, &state.own.filesystem) {
        (Life::Alive, Some(_)) => Ok(Decision::because(Reason::AwaitsFilesystem, [Event::RemovalBegan])),
        _ => remove(state, Vec::new(), Reason::RemovalAsked, facts),
    }
}

/// Only what is gone can have come back. Where the name was taken again, what is left of the earlier one goes after that.
fn destroy_returned(state: &State, provider: &Name, of: Version, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared => Err(Rejection::NotDeclared),
        Life::Alive | Life::Dying | Life::Dead => Ok(Decision::nothing(Reason::DeclaredAnew)),
        Life::Removed => {
            let event = OwnEvent::Returned { provider: provider.clone(), of, at: facts.now };
            Ok(Decision::because(Reason::StorageReturned, [Event::Own(event)]))
        }
    }
}

fn reserve_filesystem(state: &State, filesystem: &Name) -> Verdict {
    alive(state)?;
    match &state.own.filesystem {
        None => {
            let event = OwnEvent::FilesystemReserved { filesystem: filesystem.clone() };
            Ok(Decision::because(Reason::FilesystemWanted, [Event::Own(event)]))
        }
        Some(present) => Err(Rejection::HoldsFilesystem { filesystem: present.clone() }),
    }
}

fn release_filesystem(state: &State, filesystem: &Name, leaves: &Leftovers, facts: &Facts<'_>) -> Verdict {
    if state.own.filesystem.as_ref() != Some(filesystem) {
        return Ok(Decision::nothing(Reason::FilesystemUnknown));
    }
    let released = OwnEvent::FilesystemReleased { filesystem: filesystem.clone(), leaves: leaves.clone() };
    let mut events = vec![Event::Own(released)];
    if state.life == Life::Dying && state.attached_to.is_empty() {
        events.extend(death(state, facts.now));
    }
    Ok(Decision::because(Reason::FilesystemGone, events))
}

fn report_made(
    state: &State,
    attempt: u32,
    volume: &ProvisionedVolume,
    (told, attached): (&VolumeFacts, Option<&AtCreation>),
    facts: &Facts<'_>,
) -> Verdict {
    let mut decision = report_created(state, attempt, volume, facts)?;
    if decision.reason == Reason::StorageMade {
        decision.events.push(Event::Own(OwnEvent::Described { facts: told.clone() }));
        let attached = attached.cloned();
        decision.events.extend(attached.map(|at_creation| Event::Own(OwnEvent::AttachedAtCreation { at_creation })));
    }
    Ok(decision)
}

fn declare_tagged(state: &State, declaration: &Declaration, tags: &Tags, facts: &Facts<'_>) -> Verdict {
    let beside = (state.own.tags != *tags).then_some("spec.tags");
    let mut decision = declare(state, declaration, beside, facts)?;
    if !decision.events.is_empty() {
        decision.events.insert(1, Event::Own(OwnEvent::Tagged { tags: tags.clone() }));
    }
    Ok(decision)
}

/// Nobody is asked for it: it is there with the instance of its machine.
fn came_with(
    state: &State,
    place: &Place,
    (volume_id, size): (&InstanceId, SizeMib),
    own: impl Iterator<Item = OwnEvent>,
    facts: &Facts<'_>,
) -> Verdict {
    alive(state)?;
    if state.storage != Storage::None || !state.is_external() {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let effect = EffectId::of(facts.journal, facts.stream, facts.next);
    let made = ProvisionedVolume { effect, volume_id: volume_id.clone(), size };
    let came = OwnEvent::CameWith { place: place.clone(), made };
    Ok(Decision::because(Reason::CameWithInstance, std::iter::once(came).chain(own).map(Event::Own)))
}

/// It is only told: what is not shown may come back, and nothing is made in its place.
fn report_lost(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    match (state.made(), state.own.lost) {
        (Some(made), None) if made.effect == effect => {
            Ok(Decision::because(Reason::StorageLost, [Event::Own(OwnEvent::Lost { at: facts.now })]))
        }
        _ => Ok(Decision::nothing(Reason::StaleReport)),
    }
}

fn report_found(state: &State, effect: EffectId) -> Verdict {
    match (state.made(), state.own.lost) {
        (Some(made), Some(_)) if made.effect == effect => {
            Ok(Decision::because(Reason::StorageFound, [Event::Own(OwnEvent::Found)]))
        }
        _ => Ok(Decision::nothing(Reason::StaleReport)),
    }
}
