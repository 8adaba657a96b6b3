//! What should happen to a volume or a filesystem, and why.

use bailiwick_journal::StreamId;

use super::{Command, Declaration, Event, Provisioned, Reason, Rejection, Removal, Report, State, Storage};
use crate::{
    contract::{self, Attempted, Decision, Failed, RetryRule},
    vocab::{EffectId, Fault, FaultCode, Life, Name, SkippedStorage, Timestamp, WayOut},
};

type Facts<'a, K> = contract::Facts<'a, State<K>>;
type Verdict<K> = contract::Verdict<State<K>>;

pub(super) fn decide<K: Provisioned>(state: &State<K>, command: &Command<K>, facts: &Facts<'_, K>) -> Verdict<K> {
    if removes(command) && state.protected && state.life == Life::Alive {
        return Err(Rejection::Protected);
    }
    match command {
        Command::Protect { on } => protect(state, *on),
        Command::Declare(declaration) => declare(state, declaration, K::declared_beside(state), facts),
        Command::Claim(claim) => claimed(state, claim),
        Command::Keep => keep(state),
        Command::Remove => remove(state, Vec::new(), Reason::RemovalAsked, facts),
        Command::Release => release(state, facts),
        Command::Destroy => destroy(state, facts),
        Command::RemoveForced => remove_forced(state, facts),
        Command::RetryProvisioning => retry_provisioning(state),
        Command::ReserveAttachment { machine } => reserve_attachment(state, machine),
        Command::ReleaseAttachment { machine } => release_attachment(state, machine, facts),
        Command::Wake { due } => {
            let overdue = (Reason::Overdue, Event::Overdue { at: facts.now });
            let efforts = (state.effort(), state.undoing());
            Ok(contract::wake_to_undo(efforts, (*due, facts.now), overdue, Event::AttemptBegun))
        }
        Command::Report(report) => match report {
            Report::Created { attempt, made } => report_created(state, *attempt, made, facts),
            Report::CreateFailed { attempt, fault } => report_create_failed(state, *attempt, fault, facts),
            Report::Destroyed { attempt } => report_destroyed(state, *attempt),
            Report::DestroyFailed { attempt, fault } => report_destroy_failed(state, *attempt, fault, facts),
            Report::Own(report) => K::report(state, report, facts),
        },
        Command::Own(own) => K::decide(state, own, facts),
    }
}

fn removes<K: Provisioned>(command: &Command<K>) -> bool {
    match command {
        Command::Remove | Command::Release | Command::Destroy | Command::RemoveForced => true,
        Command::Own(own) => K::removes(own),
        _ => false,
    }
}

/// Only the living are asked for anything new.
pub(crate) fn alive<K: Provisioned>(state: &State<K>) -> Result<(), Rejection> {
    match state.life {
        Life::Undeclared | Life::Removed => Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => Err(Rejection::Leaving { life: state.life }),
        Life::Alive => Ok(()),
    }
}

/// What is there for its own sake stays so. `beside` is a field that differs and is not in the declaration.
pub(crate) fn declare<K: Provisioned>(
    state: &State<K>,
    declaration: &Declaration<K>,
    beside: Option<&'static str>,
    facts: &Facts<'_, K>,
) -> Verdict<K> {
    match state.life {
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Undeclared | Life::Removed => {
            let mut begun = K::begin(declaration, facts.now);
            begun.events.insert(0, Event::Declared { spec: declaration.spec.clone() });
            return Ok(Decision::because(begun.reason, begun.events));
        }
        Life::Alive => (),
    }
    match state.differences(declaration).first().copied().or(beside) {
        Some(field) => Err(Rejection::Immutable { field: field.into() }),
        None => Ok(Decision::nothing(Reason::AlreadyAsDeclared)),
    }
}

/// As [`declare`], for a machine of a set, and with room for its attachment there from the first event on.
fn claimed<K: Provisioned>(state: &State<K>, claim: &K::Claim) -> Verdict<K> {
    let claim = K::claimed(claim);
    match state.life {
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.claim.as_ref() == Some(claim.by) => {
            return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
        }
        Life::Alive => return Err(Rejection::NotOfMachine { machine: claim.by.machine.clone() }),
        Life::Undeclared | Life::Removed => (),
    }
    let mut events = vec![Event::Declared { spec: claim.spec.clone() }];
    events.extend(claim.pool.map(|pool| Event::TakenFrom { pool: pool.clone() }));
    events.extend(claim.owner.map(|owner: &StreamId| Event::OwnedBy { owner: owner.clone() }));
    events.push(Event::Claimed { by: claim.by.clone() });
    let [before, after] = claim.around;
    events.extend(before);
    events.push(Event::AttachmentReserved { machine: claim.by.machine.clone() });
    events.extend(after);
    Ok(Decision::because(Reason::MachineAsks, events))
}

fn keep<K: Provisioned>(state: &State<K>) -> Verdict<K> {
    alive(state)?;
    match state.claim {
        None => Ok(Decision::nothing(Reason::NotClaimed)),
        Some(_) => Ok(Decision::because(Reason::MachineGoes, [Event::Kept])),
    }
}

/// As [`remove`], with its data kept, as long as nothing of that is being destroyed.
fn release<K: Provisioned>(state: &State<K>, facts: &Facts<'_, K>) -> Verdict<K> {
    match state.removal.turned_to(Removal::Release, state.life, state.undoing()) {
        WayOut::Instead => Ok(Decision::because(Reason::ReleaseInstead, [Event::ReleaseWanted])),
        WayOut::TooLate => Err(Rejection::BeingDestroyed),
        WayOut::AsRemoved | WayOut::DestroyedInstead => {
            remove(state, vec![Event::ReleaseWanted], Reason::ReleaseAsked, facts)
        }
    }
}

/// As [`remove`]; what was to be released is destroyed, unless its provider is being asked for that right now.
fn destroy<K: Provisioned>(state: &State<K>, facts: &Facts<'_, K>) -> Verdict<K> {
    let instead = |events| Ok(Decision::because(Reason::DestroyInstead, events));
    match state.removal.turned_to(Removal::Destroy, state.life, state.undoing()) {
        WayOut::Instead => instead(vec![Event::DestroyWanted]),
        WayOut::DestroyedInstead => instead(vec![Event::DestroyWanted, Event::DestroyRequested { at: facts.now }]),
        WayOut::TooLate => Err(Rejection::BeingReleased),
        WayOut::AsRemoved => remove(state, Vec::new(), Reason::RemovalAsked, facts),
    }
}

pub(crate) fn remove<K: Provisioned>(
    state: &State<K>,
    first: Vec<Event<K>>,
    asked: Reason,
    facts: &Facts<'_, K>,
) -> Verdict<K> {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Dead if !matches!(state.storage, Storage::Destroying { .. }) => {
            return Ok(Decision::because(Reason::StorageLeft, after_death(state, facts.now)));
        }
        Life::Dying | Life::Dead => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive => (),
    }
    if let Some(filesystem) = K::holds(state) {
        return Err(Rejection::HoldsFilesystem { filesystem: filesystem.clone() });
    }
    let mut events = first;
    events.push(Event::RemovalBegan);
    if !state.attached_to.is_empty() {
        return Ok(Decision::because(Reason::RemovalBlocked, events));
    }
    events.extend(death(state, facts.now));
    Ok(Decision::because(asked, events))
}

/// What it would wait for next is skipped: what it holds and its attachments, or else the end of its storage.
fn remove_forced<K: Provisioned>(state: &State<K>, facts: &Facts<'_, K>) -> Verdict<K> {
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
    let filesystem = K::holds(state).cloned();
    events.extend(filesystem.map(|filesystem| skipped(SkippedStorage::Filesystem { filesystem })));
    let machines = state.attached_to.iter().cloned();
    events.extend(machines.map(|machine| skipped(SkippedStorage::Attachment { machine })));
    events.extend(death(state, facts.now));
    Ok(Decision::because(Reason::RemovalForced, events))
}

/// It is attached nowhere: it dies, and its storage goes.
pub(crate) fn death<K: Provisioned>(state: &State<K>, now: Timestamp) -> Vec<Event<K>> {
    let mut events = vec![Event::Died];
    if K::needs_undoing(state) {
        events.extend(after_death(state, now));
    } else {
        events.push(Event::Removed);
    }
    events
}

/// What is left to do for the dead: nothing if there is no storage, nor can there be any.
fn after_death<K: Provisioned>(state: &State<K>, now: Timestamp) -> Vec<Event<K>> {
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
fn protect<K: Provisioned>(state: &State<K>, on: bool) -> Verdict<K> {
    alive(state)?;
    if state.protected == on {
        return Ok(Decision::nothing(Reason::ProtectionKnown));
    }
    Ok(Decision::because(Reason::ProtectionAsked, [Event::Protected { on }]))
}

fn retry_provisioning<K: Provisioned>(state: &State<K>) -> Verdict<K> {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    Ok(contract::try_again(state.effort(), Event::AttemptBegun))
}

fn reserve_attachment<K: Provisioned>(state: &State<K>, machine: &Name) -> Verdict<K> {
    alive(state)?;
    if state.attached_to.contains(machine) {
        return Err(Rejection::StillReserved);
    }
    K::has_room(state, machine)?;
    let event = Event::AttachmentReserved { machine: machine.clone() };
    Ok(Decision::because(Reason::AttachmentWanted, [event]))
}

fn release_attachment<K: Provisioned>(state: &State<K>, machine: &Name, facts: &Facts<'_, K>) -> Verdict<K> {
    if !state.attached_to.contains(machine) {
        return Ok(Decision::nothing(Reason::AttachmentUnknown));
    }
    let mut events = vec![Event::AttachmentReleased { machine: machine.clone() }];
    if state.life == Life::Dying && state.attached_to.len() == 1 && K::holds(state).is_none() {
        events.extend(death(state, facts.now));
        return Ok(Decision::because(Reason::LastAttachmentGone, events));
    }
    Ok(Decision::because(Reason::AttachmentGone, events))
}

pub(crate) fn report_created<K: Provisioned>(
    state: &State<K>,
    attempt: u32,
    made: &K::Made,
    facts: &Facts<'_, K>,
) -> Verdict<K> {
    let Storage::Creating { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let told = K::made(made);
    if told.effect != EffectId::of(facts.journal, facts.stream, effort.intent) {
        // A provider that answers with something else has not made what was asked for.
        let text = format!("the provider answered with {} {}", K::KIND, told.id);
        return report_create_failed(state, effort.attempt, &Fault::new(FaultCode::Internal, text), facts);
    }
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    let size_min = state.spec.as_ref().and_then(K::size_min);
    if size_min.is_some_and(|size_min| told.size < size_min) {
        let text = format!("the provider created only {} of what was requested", told.size);
        return report_create_failed(state, effort.attempt, &Fault::new(FaultCode::OutOfRange, text), facts);
    }
    Ok(Decision::because(Reason::StorageMade, [Event::Created { made: made.clone() }]))
}

fn report_create_failed<K: Provisioned>(
    state: &State<K>,
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_, K>,
) -> Verdict<K> {
    let Storage::Creating { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::CreateRetryScheduled { until, fault };
    let failed =
        Failed { effort, attempt, fault, retry, give_up: |fault, again| Event::CreateGivenUp { fault, again } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Making), facts.now))
}

fn report_destroyed<K: Provisioned>(state: &State<K>, attempt: u32) -> Verdict<K> {
    let Storage::Destroying { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(Decision::because(Reason::StorageAbsent, [Event::Destroyed, Event::Removed]))
}

fn report_destroy_failed<K: Provisioned>(
    state: &State<K>,
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_, K>,
) -> Verdict<K> {
    let Storage::Destroying { effort, .. } = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if let Some(reason) = K::is_gone_all_the_same(state, fault) {
        return Ok(Decision::because(reason, [Event::Destroyed, Event::Removed]));
    }
    // Its data is to stay: a provider that cannot let go of it is not asked to destroy it.
    if state.removal == Removal::Release && fault.code == FaultCode::Unimplemented && effort.is_trying(attempt) {
        return Ok(Decision::because(Reason::CannotRelease, [Event::DestroyGivenUp { fault: fault.clone() }]));
    }
    let retry = |until, fault| Event::DestroyRetryScheduled { until, fault };
    let failed = Failed { effort, attempt, fault, retry, give_up: |fault, _| Event::DestroyGivenUp { fault } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Removing), facts.now))
}
