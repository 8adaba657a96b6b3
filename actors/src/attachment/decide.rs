//! What should happen to an attachment, and why.

use super::{Attached, Command, Event, Link, Reason, Rejection, Report, State, state::is_external};
use crate::{
    contract::{self, Attempted, Decision, Failed, RetryRule},
    vocab::{EffectId, Fault, Life, Outlook, SkippedStorage},
};

type Facts<'a, A> = contract::Facts<'a, State<A>>;
type Verdict<A> = contract::Verdict<State<A>>;

pub(super) fn decide<A: Attached>(state: &State<A>, command: &Command<A>, facts: &Facts<'_, A>) -> Verdict<A> {
    match command {
        Command::Declare(spec) => declare(state, spec),
        Command::Remove => remove(state, facts),
        Command::RemoveForced => remove_forced(state, facts),
        Command::Retry => retry(state),
        Command::Attach { target } => attach(state, target, facts),
        Command::Detach { machine_effect } => detach(state, *machine_effect, facts),
        Command::TakeOver { target, info } => take_over(state, target, info),
        Command::Reattach => reattach(state, facts),
        Command::NoteGone { machine_effect } => note_gone(state, *machine_effect),
        Command::Wake { due } => {
            let overdue = (Reason::Overdue, Event::Overdue { at: facts.now });
            let efforts = (state.effort(), state.undoing());
            Ok(contract::wake_to_undo(efforts, (*due, facts.now), overdue, Event::AttemptBegun))
        }
        Command::Report(report) => match report {
            Report::Attached { attempt, info } => report_attached(state, *attempt, info),
            Report::AttachFailed { attempt, fault } => report_attach_failed(state, *attempt, fault, facts),
            Report::Detached { attempt } => report_detached(state, *attempt),
            Report::DetachFailed { attempt, fault } => report_detach_failed(state, *attempt, fault, facts),
        },
    }
}

fn declare<A: Attached>(state: &State<A>, spec: &A::Spec) -> Verdict<A> {
    let present = match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) => present,
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            return Ok(Decision::because(Reason::NewlyDeclared, [Event::Declared { spec: spec.clone() }]));
        }
    };
    if present == spec {
        return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
    }
    Err(Rejection::Immutable { field: A::differs_in(present, spec).into() })
}

fn remove<A: Attached>(state: &State<A>, facts: &Facts<'_, A>) -> Verdict<A> {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Dying if !matches!(state.link, Link::Detaching { .. }) => {
            return Ok(Decision::because(Reason::LinkLeft, parting(state, facts)));
        }
        Life::Dying | Life::Dead => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive => (),
    }
    let reason = if state.may_be_attached() { Reason::RemovalAsked } else { Reason::NeverConnected };
    let mut events = vec![Event::RemovalBegan];
    events.extend(parting(state, facts));
    Ok(Decision::because(reason, events))
}

/// It goes at once; that it may still be attached is recorded.
fn remove_forced<A: Attached>(state: &State<A>, facts: &Facts<'_, A>) -> Verdict<A> {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive | Life::Dying | Life::Dead => (),
    }
    let intent = match &state.link {
        Link::Attaching { effort, .. } if state.may_be_attached() => effort.intent,
        Link::Attached { intent, .. } | Link::Detaching { of: intent, .. } => *intent,
        Link::Waiting | Link::Attaching { .. } => return remove(state, facts),
    };
    let mut events = Vec::new();
    if state.life == Life::Alive {
        events.push(Event::RemovalBegan);
    }
    let what = SkippedStorage::Undoing { effect: EffectId::of(facts.journal, facts.stream, intent) };
    events.extend([Event::Skipped { what }, Event::Removed]);
    Ok(Decision::because(Reason::RemovalForced, events))
}

/// What is left to do for the dying: it is detached, unless it is attached nowhere for certain.
fn parting<A: Attached>(state: &State<A>, facts: &Facts<'_, A>) -> Vec<Event<A>> {
    match &state.link {
        Link::Waiting => vec![Event::Removed],
        Link::Attaching { .. } if !state.may_be_attached() => vec![Event::AttachDropped, Event::Removed],
        Link::Attaching { .. } | Link::Attached { .. } => vec![Event::DetachRequested { at: facts.now }],
        Link::Detaching { .. } => Vec::new(),
    }
}

fn retry<A: Attached>(state: &State<A>) -> Verdict<A> {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    Ok(contract::try_again(state.effort(), Event::AttemptBegun))
}

fn take_over<A: Attached>(state: &State<A>, target: &A::Target, info: &A::Info) -> Verdict<A> {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if state.link != Link::Waiting {
        return Ok(Decision::nothing(Reason::AlreadyConnected));
    }
    let reason = if is_external::<A>(target) { Reason::CameWithInstance } else { Reason::AttachedAtCreation };
    let event = Event::TakenOver { target: target.clone(), info: info.clone() };
    Ok(Decision::because(reason, [event]))
}

fn reattach<A: Attached>(state: &State<A>, facts: &Facts<'_, A>) -> Verdict<A> {
    match (state.life, &state.link) {
        // Nobody could be asked whether it still is.
        (Life::Alive, Link::Attached { target, .. }) if is_external::<A>(target) => {
            Ok(Decision::nothing(Reason::AlreadyConnected))
        }
        (Life::Alive, Link::Attached { .. }) => {
            Ok(Decision::because(Reason::NewSession, [Event::ReattachRequested { at: facts.now }]))
        }
        (Life::Undeclared | Life::Removed, _) => Err(Rejection::NotDeclared),
        (Life::Alive | Life::Dying | Life::Dead, _) => Ok(Decision::nothing(Reason::NotAttached)),
    }
}

fn attach<A: Attached>(state: &State<A>, target: &A::Target, facts: &Facts<'_, A>) -> Verdict<A> {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    match &state.link {
        Link::Waiting => {
            let event = Event::AttachRequested { target: target.clone(), at: facts.now };
            Ok(Decision::because(Reason::BothReady, [event]))
        }
        Link::Attaching { target: then, effort, .. }
            if is_renamed::<A>(then, target) && effort.outlook != Outlook::Trying =>
        {
            let event = Event::Retargeted { target: target.clone() };
            Ok(Decision::because(Reason::TargetMoved, [event]))
        }
        Link::Attaching { .. } | Link::Attached { .. } | Link::Detaching { .. } => {
            Ok(Decision::nothing(Reason::AlreadyConnected))
        }
    }
}

/// Whether the same two things are named otherwise than before.
fn is_renamed<A: Attached>(then: &A::Target, now: &A::Target) -> bool {
    then != now && A::machine_effect(then) == A::machine_effect(now)
}

fn detach<A: Attached>(state: &State<A>, machine_effect: EffectId, facts: &Facts<'_, A>) -> Verdict<A> {
    match &state.link {
        Link::Attaching { target, .. } | Link::Attached { target, .. }
            if A::machine_effect(target) == machine_effect =>
        {
            Ok(Decision::because(Reason::MachineWent, [Event::DetachRequested { at: facts.now }]))
        }
        Link::Waiting | Link::Attaching { .. } | Link::Attached { .. } | Link::Detaching { .. } => {
            Ok(Decision::nothing(Reason::NotConnectedThere))
        }
    }
}

/// Nobody was asked to detach it: it ends with its instance, whether or not it was to go before.
fn note_gone<A: Attached>(state: &State<A>, machine_effect: EffectId) -> Verdict<A> {
    let is_there = |target: &&A::Target| is_external::<A>(target) && A::machine_effect(target) == machine_effect;
    if state.target().filter(is_there).is_none() {
        return Ok(Decision::nothing(Reason::NotConnectedThere));
    }
    let removed = (state.life != Life::Alive).then_some(Event::Removed);
    Ok(Decision::because(Reason::GoneWithInstance, std::iter::once(Event::WentWithInstance).chain(removed)))
}

fn report_attached<A: Attached>(state: &State<A>, attempt: u32, info: &A::Info) -> Verdict<A> {
    let Link::Attaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(Decision::because(Reason::LinkMade, [Event::Attached { info: info.clone() }]))
}

fn report_attach_failed<A: Attached>(
    state: &State<A>,
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_, A>,
) -> Verdict<A> {
    let Link::Attaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::AttachRetryScheduled { until, fault };
    let failed =
        Failed { effort, attempt, fault, retry, give_up: |fault, again| Event::AttachGivenUp { fault, again } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Making), facts.now))
}

fn report_detached<A: Attached>(state: &State<A>, attempt: u32) -> Verdict<A> {
    let Link::Detaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(match state.life {
        Life::Alive => Decision::because(Reason::LinkUndone, [Event::Detached]),
        Life::Undeclared | Life::Dying | Life::Dead | Life::Removed => {
            Decision::because(Reason::LinkUndoneForGood, [Event::Detached, Event::Removed])
        }
    })
}

fn report_detach_failed<A: Attached>(
    state: &State<A>,
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_, A>,
) -> Verdict<A> {
    let Link::Detaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::DetachRetryScheduled { until, fault };
    let failed = Failed { effort, attempt, fault, retry, give_up: |fault, _| Event::DetachGivenUp { fault } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Removing), facts.now))
}
