//! What should happen to a volume, and why.

use bailiwick_journal::{StreamId, Version};

use super::{
    AtCreation, Claim, Command, Event, Leftovers, Place, Reason, Rejection, Removal, Report, Spec, State, Storage,
    VolumeFacts,
};
use crate::{
    contract::{self, Attempted, Decision, Failed, RetryRule},
    ports::ProvisionedVolume,
    storage_rules::FromPool,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Life, Name, SkippedStorage, Timestamp, WayOut, Zone},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    let removes = matches!(
        command,
        Command::Remove | Command::Release | Command::Destroy | Command::RemoveForced | Command::RemoveWithFilesystem
    );
    if removes && state.protected && state.life == Life::Alive {
        return Err(Rejection::Protected);
    }
    match command {
        Command::Protect { on } => protect(state, *on),
        Command::Declare(spec) => declare(state, spec, None, None, facts),
        Command::DeclareOn { spec, machine } => declare(state, spec, Some(machine), None, facts),
        Command::DeclareFrom { spec, machine, pool } => declare(state, spec, machine.as_ref(), Some(pool), facts),
        Command::DeclareFor { spec, machine, pool, owner } => {
            declare_for(state, &Declared { spec, machine: machine.as_ref(), pool: pool.as_ref() }, owner, facts)
        }
        Command::Claim(claim) => claimed(state, claim),
        Command::Keep => keep(state),
        Command::Create { place } => create(state, place, None, facts),
        Command::CreateIn { place, zone } => create(state, place, Some(zone), facts),
        Command::Remove => remove(state, Vec::new(), Reason::RemovalAsked, facts),
        Command::Release => release(state, facts),
        Command::Destroy => destroy(state, facts),
        Command::RemoveWithFilesystem => remove_with_filesystem(state, facts),
        Command::RemoveForced => remove_forced(state, facts),
        Command::Import { spec, volume_id, machine } => import(state, spec, volume_id, machine.as_ref(), facts),
        Command::DestroyReturned { provider, of } => destroy_returned(state, provider, *of, facts),
        Command::RetryProvisioning => retry_provisioning(state),
        Command::ReserveAttachment { machine } => reserve_attachment(state, machine),
        Command::ReleaseAttachment { machine } => release_attachment(state, machine, facts),
        Command::ReserveFilesystem { filesystem } => reserve_filesystem(state, filesystem),
        Command::ReleaseFilesystem { filesystem, leaves } => release_filesystem(state, filesystem, leaves, facts),
        Command::Wake { due } => {
            let overdue = (Reason::Overdue, Event::Overdue { at: facts.now });
            let efforts = (state.effort(), state.undoing());
            Ok(contract::wake_to_undo(efforts, (*due, facts.now), overdue, Event::AttemptBegun))
        }
        Command::Report(report) => match report {
            Report::Created { attempt, volume } => report_created(state, *attempt, volume, None, facts),
            Report::Made { attempt, volume, facts: told, attached } => {
                report_created(state, *attempt, volume, Some((told, attached.as_ref())), facts)
            }
            Report::CreateFailed { attempt, fault } => report_create_failed(state, *attempt, fault, facts),
            Report::Destroyed { attempt } => report_destroyed(state, *attempt),
            Report::DestroyFailed { attempt, fault } => report_destroy_failed(state, *attempt, fault, facts),
            Report::Lost { effect } => report_lost(state, *effect, facts),
            Report::Found { effect } => report_found(state, *effect),
        },
    }
}

/// On a machine it is made once that machine has an instance; anywhere, at once.
fn declare(state: &State, spec: &Spec, machine: Option<&Name>, pool: Option<&FromPool>, facts: &Facts<'_>) -> Verdict {
    let present = match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) => present,
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            let mut events = vec![Event::Declared { spec: spec.clone() }];
            events.extend(pool.map(|pool| Event::TakenFrom { pool: pool.clone() }));
            let Some(machine) = machine else {
                events.push(Event::CreateRequested { at: facts.now });
                return Ok(Decision::because(Reason::NewlyDeclared, events));
            };
            events.push(Event::WantedOn { machine: machine.clone() });
            return Ok(Decision::because(Reason::WaitsForMachine, events));
        }
    };
    let changed = [
        ("spec.provider", present.provider != spec.provider),
        ("spec.size", present.size != spec.size),
        ("spec.machine", state.wanted_on.as_ref() != machine),
        // What the pool says by now is the business of those that come after.
        ("spec.pool", state.pool.as_ref().map(|pool| &pool.name) != pool.map(|pool| &pool.name)),
    ];
    for (field, differs) in changed {
        if differs {
            return Err(Rejection::Immutable { field: field.into() });
        }
    }
    Ok(Decision::nothing(Reason::AlreadyAsDeclared))
}

/// What is declared.
struct Declared<'c> {
    spec: &'c Spec,
    machine: Option<&'c Name>,
    pool: Option<&'c FromPool>,
}

/// As [`declare`], for something that needs it. What is there for its own sake stays so.
fn declare_for(state: &State, wanted: &Declared<'_>, owner: &StreamId, facts: &Facts<'_>) -> Verdict {
    if state.life == Life::Alive && state.owner.as_ref() != Some(owner) {
        return Err(Rejection::Immutable { field: "owner".into() });
    }
    let mut decision = declare(state, wanted.spec, wanted.machine, wanted.pool, facts)?;
    if !decision.events.is_empty() {
        decision.events.insert(1, Event::OwnedBy { owner: owner.clone() });
    }
    Ok(decision)
}

/// As [`declare`], where a machine of a set is, and with room for it and for the filesystem on it from the first event on.
fn claimed(state: &State, claim: &Claim) -> Verdict {
    match state.life {
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.claim.as_ref() == Some(&claim.by) => {
            return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
        }
        Life::Alive => return Err(Rejection::NotOfMachine { machine: claim.by.machine.clone() }),
        Life::Undeclared | Life::Removed => (),
    }
    let machine = || claim.by.machine.clone();
    let mut events = vec![Event::Declared { spec: claim.spec.clone() }];
    events.push(Event::TakenFrom { pool: claim.pool.clone() });
    events.extend(claim.owner.iter().map(|owner| Event::OwnedBy { owner: owner.clone() }));
    events.push(Event::Claimed { by: claim.by.clone() });
    events.push(Event::WantedOn { machine: machine() });
    events.push(Event::AttachmentReserved { machine: machine() });
    let filesystem = claim.filesystem.iter().cloned();
    events.extend(filesystem.map(|filesystem| Event::FilesystemReserved { filesystem }));
    Ok(Decision::because(Reason::MachineAsks, events))
}

fn keep(state: &State) -> Verdict {
    match (state.life, &state.claim) {
        (Life::Undeclared | Life::Removed, _) => Err(Rejection::NotDeclared),
        (Life::Dying | Life::Dead, _) => Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, None) => Ok(Decision::nothing(Reason::NotClaimed)),
        (Life::Alive, Some(_)) => Ok(Decision::because(Reason::MachineGoes, [Event::Kept])),
    }
}

/// As [`declare`], for what its provider has already. Asked again with the same it is declared already.
fn import(state: &State, spec: &Spec, volume_id: &InstanceId, machine: Option<&Name>, facts: &Facts<'_>) -> Verdict {
    if state.life == Life::Alive && state.import.as_ref() != Some(volume_id) {
        return Err(Rejection::Immutable { field: "spec.import".into() });
    }
    let mut decision = declare(state, spec, machine, None, facts)?;
    if !decision.events.is_empty() {
        decision.events.insert(1, Event::ImportWanted { volume_id: volume_id.clone() });
    }
    Ok(decision)
}

fn create(state: &State, place: &Place, zone: Option<&Zone>, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if state.storage != Storage::None {
        return Ok(Decision::nothing(Reason::AlreadyBegun));
    }
    let mut events = vec![Event::CreateRequestedAt { place: place.clone(), at: facts.now }];
    events.extend(zone.map(|zone| Event::SitedIn { zone: zone.clone() }));
    Ok(Decision::because(Reason::MachineReady, events))
}

/// As [`remove`], with its data kept, as long as nothing of that is being destroyed.
fn release(state: &State, facts: &Facts<'_>) -> Verdict {
    match state.removal.turned_to(Removal::Release, state.life, state.undoing()) {
        WayOut::Instead => Ok(Decision::because(Reason::ReleaseInstead, [Event::ReleaseWanted])),
        WayOut::TooLate => Err(Rejection::BeingDestroyed),
        WayOut::AsRemoved | WayOut::DestroyedInstead => {
            remove(state, vec![Event::ReleaseWanted], Reason::ReleaseAsked, facts)
        }
    }
}

/// As [`remove`]; what was to be released is destroyed, unless its provider is being asked for that right now.
fn destroy(state: &State, facts: &Facts<'_>) -> Verdict {
    let instead = |events| Ok(Decision::because(Reason::DestroyInstead, events));
    match state.removal.turned_to(Removal::Destroy, state.life, state.undoing()) {
        WayOut::Instead => instead(vec![Event::DestroyWanted]),
        WayOut::DestroyedInstead => instead(vec![Event::DestroyWanted, Event::DestroyRequested { at: facts.now }]),
        WayOut::TooLate => Err(Rejection::BeingReleased),
        WayOut::AsRemoved => remove(state, Vec::new(), Reason::RemovalAsked, facts),
    }
}

fn remove(state: &State, first: Vec<Event>, asked: Reason, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Dead if !matches!(state.storage, Storage::Destroying { .. }) => {
            return Ok(Decision::because(Reason::StorageLeft, after_death(state, facts.now)));
        }
        Life::Dying | Life::Dead => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive => (),
    }
    if let Some(filesystem) = &state.filesystem {
        return Err(Rejection::HoldsFilesystem { filesystem: filesystem.clone() });
    }
    let mut events = first;
    events.push(Event::RemovalBegan);
    if state.attached_to.is_some() {
        return Ok(Decision::because(Reason::RemovalBlocked, events));
    }
    events.extend(death(state, facts.now));
    Ok(Decision::because(asked, events))
}

/// As [`remove`], where the filesystem on it goes as well: it waits for that.
fn remove_with_filesystem(state: &State, facts: &Facts<'_>) -> Verdict {
    match (state.life, &state.filesystem) {
        (Life::Alive, Some(_)) => Ok(Decision::because(Reason::AwaitsFilesystem, [Event::RemovalBegan])),
        _ => remove(state, Vec::new(), Reason::RemovalAsked, facts),
    }
}

/// What it would wait for next is skipped: the filesystem on it and its attachment, or else the end of its storage.
fn remove_forced(state: &State, facts: &Facts<'_>) -> Verdict {
    let skipped = |what| Event::Skipped { what };
    match (state.life, &state.storage) {
        (Life::Undeclared, _) => return Err(Rejection::NotDeclared),
        (Life::Removed, _) => return Ok(Decision::nothing(Reason::AlreadyGone)),
        (Life::Dead, Storage::Destroying { of, .. }) => {
            let what = SkippedStorage::Undoing { effect: EffectId::of(facts.journal, facts.stream, *of) };
            return Ok(Decision::because(Reason::RemovalForced, [skipped(what), Event::Removed]));
        }
        (Life::Dead, _) => return remove(state, Vec::new(), Reason::RemovalAsked, facts),
        (Life::Alive | Life::Dying, _) => (),
    }
    let mut events = Vec::new();
    if state.life == Life::Alive {
        events.push(Event::RemovalBegan);
    }
    let filesystem = state.filesystem.iter().cloned();
    events.extend(filesystem.map(|filesystem| skipped(SkippedStorage::Filesystem { filesystem })));
    let machine = state.attached_to.iter().cloned();
    events.extend(machine.map(|machine| skipped(SkippedStorage::Attachment { machine })));
    events.extend(death(state, facts.now));
    Ok(Decision::because(Reason::RemovalForced, events))
}

/// It is attached nowhere: it dies, and its storage goes.
fn death(state: &State, now: Timestamp) -> Vec<Event> {
    let mut events = vec![Event::Died];
    events.extend(after_death(state, now));
    events
}

/// What is left to do for the dead: nothing if there is no storage, nor can there be any.
fn after_death(state: &State, now: Timestamp) -> Vec<Event> {
    match &state.storage {
        Storage::Destroying { .. } => Vec::new(),
        Storage::Creating(effort) if !effort.may_have_left_something() => {
            vec![Event::CreateDropped, Event::Removed]
        }
        Storage::None => vec![Event::Removed],
        Storage::Creating(_) | Storage::Provisioned { .. } => vec![Event::DestroyRequested { at: now }],
    }
}

/// Only what is gone can have come back. Where the name was taken again, what is left of the earlier one goes after that.
fn destroy_returned(state: &State, provider: &Name, of: Version, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared => Err(Rejection::NotDeclared),
        Life::Alive | Life::Dying | Life::Dead => Ok(Decision::nothing(Reason::DeclaredAnew)),
        Life::Removed => {
            let event = Event::Returned { provider: provider.clone(), of, at: facts.now };
            Ok(Decision::because(Reason::StorageReturned, [event]))
        }
    }
}

/// What comes of a wish that something is not to be removed, or may be again.
fn protect(state: &State, on: bool) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.protected == on => Ok(Decision::nothing(Reason::ProtectionKnown)),
        Life::Alive => Ok(Decision::because(Reason::ProtectionAsked, [Event::Protected { on }])),
    }
}

fn retry_provisioning(state: &State) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    Ok(contract::try_again(state.effort(), Event::AttemptBegun))
}

fn reserve_filesystem(state: &State, filesystem: &Name) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    match &state.filesystem {
        None => {
            let event = Event::FilesystemReserved { filesystem: filesystem.clone() };
            Ok(Decision::because(Reason::FilesystemWanted, [event]))
        }
        Some(present) => Err(Rejection::HoldsFilesystem { filesystem: present.clone() }),
    }
}

fn release_filesystem(state: &State, filesystem: &Name, leaves: &Leftovers, facts: &Facts<'_>) -> Verdict {
    if state.filesystem.as_ref() != Some(filesystem) {
        return Ok(Decision::nothing(Reason::FilesystemUnknown));
    }
    let mut events = vec![Event::FilesystemReleased { filesystem: filesystem.clone(), leaves: leaves.clone() }];
    if state.life == Life::Dying && state.attached_to.is_none() {
        events.extend(death(state, facts.now));
    }
    Ok(Decision::because(Reason::FilesystemGone, events))
}

fn reserve_attachment(state: &State, machine: &Name) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    match &state.attached_to {
        None => {
            let event = Event::AttachmentReserved { machine: machine.clone() };
            Ok(Decision::because(Reason::AttachmentWanted, [event]))
        }
        Some(present) if present == machine => Err(Rejection::StillReserved),
        Some(present) => Err(Rejection::AttachedElsewhere { machine: present.clone() }),
    }
}

fn release_attachment(state: &State, machine: &Name, facts: &Facts<'_>) -> Verdict {
    if state.attached_to.as_ref() != Some(machine) {
        return Ok(Decision::nothing(Reason::AttachmentUnknown));
    }
    let mut events = vec![Event::AttachmentReleased { machine: machine.clone() }];
    if state.life == Life::Dying && state.filesystem.is_none() {
        events.extend(death(state, facts.now));
        return Ok(Decision::because(Reason::LastAttachmentGone, events));
    }
    Ok(Decision::because(Reason::AttachmentGone, events))
}

fn report_created(
    state: &State,
    attempt: u32,
    volume: &ProvisionedVolume,
    told: Option<(&VolumeFacts, Option<&AtCreation>)>,
    facts: &Facts<'_>,
) -> Verdict {
    let Storage::Creating(effort) = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if volume.effect != EffectId::of(facts.journal, facts.stream, effort.intent) {
        // A provider that answers with something else has not made what was asked for.
        let fault = Fault::new(FaultCode::Internal, format!("the provider answered with volume {}", volume.volume_id));
        return report_create_failed(state, effort.attempt, &fault, facts);
    }
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    if state.spec.as_ref().is_some_and(|spec| volume.size < spec.size) {
        let text = format!("the provider created only {} of what was requested", volume.size);
        return report_create_failed(state, effort.attempt, &Fault::new(FaultCode::OutOfRange, text), facts);
    }
    let mut events = vec![Event::Created { volume: volume.clone() }];
    if let Some((told, attached)) = told {
        events.push(Event::Described { facts: told.clone() });
        events.extend(attached.cloned().map(|at_creation| Event::AttachedAtCreation { at_creation }));
    }
    Ok(Decision::because(Reason::StorageMade, events))
}

fn report_create_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Storage::Creating(effort) = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::CreateRetryScheduled { until, fault };
    let failed =
        Failed { effort, attempt, fault, retry, give_up: |fault, again| Event::CreateGivenUp { fault, again } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Making), facts.now))
}

fn report_destroyed(state: &State, attempt: u32) -> Verdict {
    let Storage::Destroying { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(Decision::because(Reason::StorageAbsent, [Event::Destroyed, Event::Removed]))
}

fn report_destroy_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Storage::Destroying { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    // Its data is to stay: whoever cannot let go of it is not asked to destroy it.
    if state.removal == Removal::Release && fault.code == FaultCode::Unimplemented && effort.is_trying(attempt) {
        return Ok(Decision::because(Reason::CannotRelease, [Event::DestroyGivenUp { fault: fault.clone() }]));
    }
    let retry = |until, fault| Event::DestroyRetryScheduled { until, fault };
    let failed = Failed { effort, attempt, fault, retry, give_up: |fault, _| Event::DestroyGivenUp { fault } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Removing), facts.now))
}

/// It is only told: what is not shown may come back, and nothing is made in its place.
fn report_lost(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    match (&state.storage, state.lost) {
        (Storage::Provisioned { volume, .. }, None) if volume.effect == effect => {
            Ok(Decision::because(Reason::StorageLost, [Event::Lost { at: facts.now }]))
        }
        _ => Ok(Decision::nothing(Reason::StaleReport)),
    }
}

fn report_found(state: &State, effect: EffectId) -> Verdict {
    match (&state.storage, state.lost) {
        (Storage::Provisioned { volume, .. }, Some(_)) if volume.effect == effect => {
            Ok(Decision::because(Reason::StorageFound, [Event::Found]))
        }
        _ => Ok(Decision::nothing(Reason::StaleReport)),
    }
}
