//! What should happen to a volume, and why.

use super::{Command, Event, Reason, Rejection, Report, Spec, State, Storage};
use crate::{
    contract::{self, Decision, Next, RetryRule},
    ports::ProvisionedVolume,
    vocab::{EffectId, Effort, Fault, FaultCode, Life, Name, Outlook, Timestamp},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec, facts),
        Command::Remove => remove(state, facts),
        Command::RetryProvisioning => retry_provisioning(state),
        Command::ReserveAttachment { machine } => reserve_attachment(state, machine),
        Command::ReleaseAttachment { machine } => release_attachment(state, machine, facts),
        Command::Wake { .. } => wake(state, facts),
        Command::Report(report) => match report {
            Report::Created { attempt, volume } => report_created(state, *attempt, volume, facts),
            Report::CreateFailed { attempt, fault } => report_create_failed(state, *attempt, fault, facts),
            Report::Destroyed { attempt } => report_destroyed(state, *attempt),
            Report::DestroyFailed { attempt, fault } => report_destroy_failed(state, *attempt, fault, facts),
        },
    }
}

fn declare(state: &State, spec: &Spec, facts: &Facts<'_>) -> Verdict {
    let present = match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) => present,
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            let events = [Event::Declared { spec: spec.clone() }, Event::CreateRequested { at: facts.now }];
            return Ok(Decision::because(Reason::NewlyDeclared, events));
        }
    };
    let changed = [("spec.provider", present.provider != spec.provider), ("spec.size", present.size != spec.size)];
    for (field, differs) in changed {
        if differs {
            return Err(Rejection::Immutable { field: field.into() });
        }
    }
    Ok(Decision::nothing(Reason::AlreadyAsDeclared))
}

fn remove(state: &State, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive => (),
    }
    let mut events = vec![Event::RemovalBegan];
    if state.attached_to.is_some() {
        return Ok(Decision::because(Reason::RemovalBlocked, events));
    }
    events.extend(death(state, facts.now));
    Ok(Decision::because(Reason::RemovalAsked, events))
}

/// It is attached nowhere: it dies, and its storage goes.
fn death(state: &State, now: Timestamp) -> Vec<Event> {
    match &state.storage {
        Storage::None => vec![Event::Died, Event::Removed],
        Storage::Destroying { .. } => vec![Event::Died],
        Storage::Creating(_) | Storage::Provisioned { .. } => {
            vec![Event::Died, Event::DestroyRequested { at: now }]
        }
    }
}

fn retry_provisioning(state: &State) -> Verdict {
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
    if state.life == Life::Dying {
        events.extend(death(state, facts.now));
        return Ok(Decision::because(Reason::LastAttachmentGone, events));
    }
    Ok(Decision::because(Reason::AttachmentGone, events))
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

fn report_created(state: &State, attempt: u32, volume: &ProvisionedVolume, facts: &Facts<'_>) -> Verdict {
    let Storage::Creating(effort) = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if volume.effect != EffectId::of(facts.stream, effort.intent) {
        // A provider that answers with something else has not made what was asked for.
        let fault = Fault::new(FaultCode::Internal, format!("the provider answered with volume {}", volume.volume_id));
        return report_create_failed(state, effort.attempt, &fault, facts);
    }
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    if state.spec.as_ref().is_some_and(|spec| volume.size < spec.size) {
        let text = format!("the provider made only {} of what was asked for", volume.size);
        return report_create_failed(state, effort.attempt, &Fault::new(FaultCode::OutOfRange, text), facts);
    }
    Ok(Decision::because(Reason::StorageMade, [Event::Created { volume: volume.clone() }]))
}

fn report_create_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Storage::Creating(effort) = &state.storage else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::CreateRetryScheduled { until, fault };
    after_failure(effort, attempt, fault, facts, retry, |fault| Event::CreateGivenUp { fault })
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
    let retry = |until, fault| Event::DestroyRetryScheduled { until, fault };
    after_failure(effort, attempt, fault, facts, retry, |fault| Event::DestroyGivenUp { fault })
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
