//! What should happen to a filesystem attachment, and why.

use super::{Command, Event, Link, Reason, Rejection, Report, Spec, State, Target};
use crate::{
    contract::{self, Attempted, Decision, Failed, RetryRule},
    ports::FilesystemAttachmentInfo,
    vocab::{EffectId, Fault, Life, Outlook, SkippedStorage},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec),
        Command::Remove => remove(state, facts),
        Command::RemoveForced => remove_forced(state, facts),
        Command::Retry => retry(state),
        Command::Attach { target } => attach(state, target, facts),
        Command::Detach { machine_effect } => detach(state, *machine_effect, facts),
        Command::Reattach => reattach(state, facts),
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

fn declare(state: &State, spec: &Spec) -> Verdict {
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
    let field = if present.path == spec.path { "spec.readOnly" } else { "spec.path" };
    Err(Rejection::Immutable { field: field.into() })
}

fn remove(state: &State, facts: &Facts<'_>) -> Verdict {
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
fn remove_forced(state: &State, facts: &Facts<'_>) -> Verdict {
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
fn parting(state: &State, facts: &Facts<'_>) -> Vec<Event> {
    match &state.link {
        Link::Waiting => vec![Event::Removed],
        Link::Attaching { .. } if !state.may_be_attached() => vec![Event::AttachDropped, Event::Removed],
        Link::Attaching { .. } | Link::Attached { .. } => vec![Event::DetachRequested { at: facts.now }],
        Link::Detaching { .. } => Vec::new(),
    }
}

fn retry(state: &State) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    Ok(contract::try_again(state.effort(), Event::AttemptBegun))
}

fn reattach(state: &State, facts: &Facts<'_>) -> Verdict {
    match (state.life, &state.link) {
        (Life::Alive, Link::Attached { .. }) => {
            Ok(Decision::because(Reason::NewSession, [Event::ReattachRequested { at: facts.now }]))
        }
        (Life::Undeclared | Life::Removed, _) => Err(Rejection::NotDeclared),
        (Life::Alive | Life::Dying | Life::Dead, _) => Ok(Decision::nothing(Reason::NotAttached)),
    }
}

fn attach(state: &State, target: &Target, facts: &Facts<'_>) -> Verdict {
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
        Link::Attaching { target: then, effort, .. } if then != target && effort.outlook != Outlook::Trying => {
            let event = Event::Retargeted { target: target.clone() };
            Ok(Decision::because(Reason::TargetMoved, [event]))
        }
        Link::Attaching { .. } | Link::Attached { .. } | Link::Detaching { .. } => {
            Ok(Decision::nothing(Reason::AlreadyConnected))
        }
    }
}

fn detach(state: &State, machine_effect: EffectId, facts: &Facts<'_>) -> Verdict {
    match &state.link {
        Link::Attaching { target, .. } | Link::Attached { target, .. } if target.machine_effect == machine_effect => {
            Ok(Decision::because(Reason::MachineWent, [Event::DetachRequested { at: facts.now }]))
        }
        Link::Waiting | Link::Attaching { .. } | Link::Attached { .. } | Link::Detaching { .. } => {
            Ok(Decision::nothing(Reason::NotConnectedThere))
        }
    }
}

fn report_attached(state: &State, attempt: u32, info: &FilesystemAttachmentInfo) -> Verdict {
    let Link::Attaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(Decision::because(Reason::LinkMade, [Event::Attached { info: info.clone() }]))
}

fn report_attach_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Link::Attaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::AttachRetryScheduled { until, fault };
    let failed =
        Failed { effort, attempt, fault, retry, give_up: |fault, again| Event::AttachGivenUp { fault, again } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Making), facts.now))
}

fn report_detached(state: &State, attempt: u32) -> Verdict {
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

fn report_detach_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Link::Detaching { effort, .. } = &state.link else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::DetachRetryScheduled { until, fault };
    let failed = Failed { effort, attempt, fault, retry, give_up: |fault, _| Event::DetachGivenUp { fault } };
    Ok(failed.decide(RetryRule::of_storage(facts.policy, Attempted::Removing), facts.now))
}
