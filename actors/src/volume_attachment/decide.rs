//! What should happen to an attachment, and why.

use super::{Command, Event, Link, Reason, Rejection, Report, Spec, State, Target};
use crate::{
    contract::{self, Decision, Next, RetryRule},
    ports::AttachmentInfo,
    vocab::{EffectId, Effort, Fault, Life, Outlook, Timestamp},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec),
        Command::Remove => remove(state, facts),
        Command::Retry => retry(state),
        Command::Attach { target } => attach(state, target, facts),
        Command::Detach { machine_effect } => detach(state, *machine_effect, facts),
        Command::Wake { .. } => wake(state, facts),
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
    Err(Rejection::Immutable { field: "spec.readOnly".into() })
}

fn remove(state: &State, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive => (),
    }
    Ok(match &state.link {
        Link::Waiting => Decision::because(Reason::NeverConnected, [Event::RemovalBegan, Event::Removed]),
        Link::Attaching { .. } | Link::Attached { .. } => {
            let events = [Event::RemovalBegan, Event::DetachRequested { at: facts.now }];
            Decision::because(Reason::RemovalAsked, events)
        }
        Link::Detaching { .. } => Decision::because(Reason::RemovalAsked, [Event::RemovalBegan]),
    })
}

fn retry(state: &State) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    match state.effort().map(|effort| &effort.outlook) {
        Some(Outlook::GivenUp { .. } | Outlook::Waiting { .. }) => {
            Ok(Decision::because(Reason::OperatorRetries, [Event::AttemptBegun]))
        }
        Some(Outlook::Trying) | None => Ok(Decision::nothing(Reason::NothingToRetry)),
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

fn wake(state: &State, facts: &Facts<'_>) -> Verdict {
    let Some(Effort { outlook: Outlook::Waiting { until, .. }, .. }) = state.effort() else {
        return Ok(Decision::nothing(Reason::NothingWaits));
    };
    if facts.now < *until {
        return Ok(Decision::nothing(Reason::NotDueYet));
    }
    Ok(Decision::because(Reason::RetryDue, [Event::AttemptBegun]))
}

fn report_attached(state: &State, attempt: u32, info: &AttachmentInfo) -> Verdict {
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
    after_failure(effort, attempt, fault, facts, retry, |fault| Event::AttachGivenUp { fault })
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
    after_failure(effort, attempt, fault, facts, retry, |fault| Event::DetachGivenUp { fault })
}

/// What follows a failed attempt: another one later, or none.
fn after_failure(
    effort: &Effort,
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_>,
    retry: fn(Timestamp, Fault) -> Event,
    give_up: fn(Fault) -> Event,
) -> Verdict {
    if !effort.is_trying(attempt) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let next = RetryRule::from(&facts.policy.storage).after(effort, fault, facts.now);
    let fault = fault.clone();
    Ok(match next {
        Next::Retry { until } => Decision::because(Reason::WorthRetrying, [retry(until, fault)]),
        Next::Ask { until } => Decision::because(Reason::OutcomeUnknown, [retry(until, fault)]),
        Next::Exhausted => Decision::because(Reason::RetriesExhausted, [give_up(fault)]),
        Next::Hopeless => Decision::because(Reason::NotRetryable, [give_up(fault)]),
    })
}
