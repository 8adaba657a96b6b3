//! What should happen to a filesystem, and why.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId};

use super::{Claim, Command, Event, Reason, Rejection, Removal, Report, Spec, State, Storage};
use crate::{
    contract::{self, Attempted, Decision, Failed, RetryRule},
    ports::{Backing, ProvisionedFilesystem},
    storage_rules::FromPool,
    vocab::{EffectId, Fault, FaultCode, Life, Name, Outlook, SkippedStorage, Timestamp, WayOut},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    let removes = matches!(command, Command::Remove | Command::Release | Command::Destroy | Command::RemoveForced);
    if removes && state.protected && state.life == Life::Alive {
        return Err(Rejection::Protected);
    }
    match command {
        Command::Protect { on } => protect(state, *on),
        Command::Declare(spec) => declare(state, spec, None),
        Command::DeclareFrom { spec, pool } => declare(state, spec, Some(pool)),
        Command::DeclareFor { spec, pool, owner } => declare_for(state, spec, pool.as_ref(), owner),
        Command::Claim(claim) => claimed(state, claim),
        Command::Keep => keep(state),
        Command::Remove => remove(state, Vec::new(), Reason::RemovalAsked, facts),
        Command::Release => release(state, facts),
        Command::Destroy => destroy(state, facts),
        Command::RemoveForced => remove_forced(state, facts),
        Command::RetryProvisioning => retry_provisioning(state),
        Command::ReserveAttachment { machine } => reserve_attachment(state, machine),
        Command::ReleaseAttachment { machine } => release_attachment(state, machine, facts),
        Command::Create { backing, over } => create(state, backing.as_ref(), over, facts),
        Command::Wake { due } => {
            let overdue = (Reason::Overdue, Event::Overdue { at: facts.now });
            let efforts = (state.effort(), state.undoing());
            Ok(contract::wake_to_undo(efforts, (*due, facts.now), overdue, Event::AttemptBegun))
        }
        Command::Report(report) => match report {
            Report::Created { attempt, filesystem } => report_created(state, *attempt, filesystem, facts),
            Report::CreateFailed { attempt, fault } => report_create_failed(state, *attempt, fault, facts),
            Report::Destroyed { attempt } => report_destroyed(state, *attempt),
            Report::DestroyFailed { attempt, fault } => report_destroy_failed(state, *attempt, fault, facts),
        },
    }
}

fn declare(state: &State, spec: &Spec, pool: Option<&FromPool>) -> Verdict {
    let present = match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) => present,
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            let mut events = vec![Event::Declared { spec: spec.clone() }];
            events.extend(pool.map(|pool| Event::TakenFrom { pool: pool.clone() }));
            return Ok(Decision::because(Reason::NewlyDeclared, events));
        }
    };
    let changed = [
        ("spec.provider", present.provider != spec.provider),
        ("spec.size", present.size != spec.size),
        ("spec.volume", present.backing != spec.backing),
        ("spec.machine", present.machine != spec.machine),
        // What the pool says by now is the business of those that come after.
        ("spec.pool", state.pool.as_ref().map(|pool| &pool.name) != pool.map(|pool| &pool.name)),
    ];
    match changed.into_iter().find(|(_, differs)| *differs) {
        Some((field, _)) => Err(Rejection::Immutable { field: field.into() }),
        None => Ok(Decision::nothing(Reason::AlreadyAsDeclared)),
    }
}

/// As [`declare`], for something that needs it. What is there for its own sake stays so.
fn declare_for(state: &State, spec: &Spec, pool: Option<&FromPool>, owner: &StreamId) -> Verdict {
    if state.life == Life::Alive && state.owner.as_ref() != Some(owner) {
        return Err(Rejection::Immutable { field: "owner".into() });
    }
    let mut decision = declare(state, spec, pool)?;
    if !decision.events.is_empty() {
        decision.events.push(Event::OwnedBy { owner: owner.clone() });
    }
    Ok(decision)
}

/// As [`declare`], for a machine of a set, and with room for its attachment there from the first event on.
fn claimed(state: &State, claim: &Claim) -> Verdict {
    match state.life {
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.claim.as_ref() == Some(&claim.by) => {
            return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
        }
        Life::Alive => return Err(Rejection::NotOfMachine { machine: claim.by.machine.clone() }),
        Life::Undeclared | Life::Removed => (),
    }
    let mut events = vec![Event::Declared { spec: claim.spec.clone() }];
    events.extend(claim.pool.iter().map(|pool| Event::TakenFrom { pool: pool.clone() }));
    events.extend(claim.owner.iter().map(|owner| Event::OwnedBy { owner: owner.clone() }));
    events.push(Event::Claimed { by: claim.by.clone() });
    events.push(Event::AttachmentReserved { machine: claim.by.machine.clone() });
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

fn create(state: &State, backing: Option<&Backing>, over: &BTreeSet<Cite>, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    match &state.storage {
        Storage::None => {
            let event = Event::CreateRequested { backing: backing.cloned(), over: over.clone(), at: facts.now };
            Ok(Decision::because(Reason::NeedsMet, [event]))
        }
        Storage::Creating { backing: then, effort, .. }
            if then.as_ref() != backing && effort.outlook != Outlook::Trying =>
        {
            Ok(Decision::because(Reason::DeviceMoved, [Event::BackingChanged { backing: backing.cloned() }]))
        }
        Storage::Creating { .. } | Storage::Provisioned { .. } | Storage::Destroying { .. } => {
            Ok(Decision::nothing(Reason::AlreadyBegun))
        }
    }
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
    let mut events = first;
    events.push(Event::RemovalBegan);
    if !state.attached_to.is_empty() {
        return Ok(Decision::because(Reason::RemovalBlocked, events));
    }
    events.extend(death(state, facts.now));
    Ok(Decision::because(asked, events))
}

/// What it would wait for next is skipped: its attachments, or else the end of what was made of it.
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
    let machines = state.attached_to.iter().cloned();
    events.extend(machines.map(|machine| skipped(SkippedStorage::Attachment { machine })));
    events.extend(death(state, facts.now));
    Ok(Decision::because(Reason::RemovalForced, events))
}

/// It is mounted nowhere: it dies, and its storage goes.
fn death(state: &State, now: Timestamp) -> Vec<Event> {
    let is_under_way = state.effort().is_some_and(|effort| effort.outlook == Outlook::Trying);
    if state.backing().is_some() && !is_under_way {
        // Only data on its volume: it goes with that.
        return vec![Event::Died, Event::Removed];
    }
    let mut events = vec![Event::Died];
    events.extend(after_death(state, now));
    events
}

/// What is left to do for the dead: nothing if there is no storage, nor can there be any.
fn after_death(state: &State, now: Timestamp) -> Vec<Event> {
    match &state.storage {
        Storage::Destroying { .. } => Vec::new(),
        Storage::Creating { effort, .. } if !effort.may_have_left_something() => {
            vec![Event::CreateDropped, Event::Removed]
        }
        Storage::None => vec![Event::Removed],
        Storage::Creating { .. } | Storage::Provisioned { .. } => vec![Event::DestroyRequested { at: now }],
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

fn reserve_attachment(state: &State, machine: &Name) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if state.attached_to.contains(machine) {
        return Err(Rejection::StillReserved);
    }
    let event = Event::AttachmentReserved { machine: machine.clone() };
    Ok(Decision::because(Reason::AttachmentWanted, [event]))
}

fn release_attachment(state: &State, machine: &Name, facts: &Facts<'_>) -> Verdict {
    if !state.attached_to.contains(machine) {
        return Ok(Decision::nothing(Reason::AttachmentUnknown));
    }
    let mut events = vec![Event::AttachmentReleased { machine: machine.clone() }];
    if state.life == Life::Dying && state.attached_to.len() == 1 {
        events.extend(death(state, facts.now));
        return Ok(Decision::because(Reason::LastAttachmentGone, events));
    }
    Ok(Decision::because(Reason::AttachmentGone, events))
}

fn report_created(state: &State, attempt: u32, made: &ProvisionedFilesystem, facts: &Facts<'_>) -> Verdict {
    let Storage::Creating { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if made.effect != EffectId::of(facts.journal, facts.stream, effort.intent) {
        // A provider that answers with something else has not made what was asked for.
        let text = format!("the provider answered with filesystem {}", made.filesystem_id);
        return report_create_failed(state, effort.attempt, &Fault::new(FaultCode::Internal, text), facts);
    }
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    // One on a volume is as large as the volume is.
    let wanted = state.spec.as_ref().filter(|spec| spec.backing.is_none()).map(|spec| spec.size);
    if wanted.is_some_and(|wanted| made.size < wanted) {
        let text = format!("the provider created only {} of what was requested", made.size);
        return report_create_failed(state, effort.attempt, &Fault::new(FaultCode::OutOfRange, text), facts);
    }
    Ok(Decision::because(Reason::StorageMade, [Event::Created { filesystem: made.clone() }]))
}

fn report_create_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Storage::Creating { effort, .. } = &state.storage else {
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
    // It was told to go while it was being made, and its volume has left the machine: nobody else reaches it.
    if state.backing().is_some() && state.machine().is_none() && fault.code == FaultCode::Unavailable {
        return Ok(Decision::because(Reason::GoesWithVolume, [Event::Destroyed, Event::Removed]));
    }
    // Its data is to stay: whoever cannot let go of it is not asked to destroy it.
    if state.removal == Removal::Release && fault.code == FaultCode::Unimplemented && effort.is_trying(attempt) {
        return Ok(Decision::because(Reason::CannotRelease, [Event::DestroyGivenUp { fault: fault.clone() }]));
    }
    let retry = |until, fault| Event::DestroyRetryScheduled { until, fault };
    let failed = Failed { effort, attempt, fault, retry, give_up: |fault, _| Event::DestroyGivenUp { fault } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Removing), facts.now))
}
