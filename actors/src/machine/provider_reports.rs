//! What follows from how a provider's call for a machine's own instance went.

use super::{
    Event, Instance, Reason, Rejection, State, Step, adoption, health, placement,
    retries::{after_failure, making},
    verdict::{Facts, Verdict},
};
use crate::{
    contract::{Attempted, Decision, RetryRule},
    ports::MachineInstance,
    vocab::{Fault, FaultCode, Life, Outlook},
};

/// `beside` is what follows from what came with the instance.
pub(super) fn created(
    state: &State,
    attempt: u32,
    instance: &MachineInstance,
    beside: Vec<Event>,
    facts: &Facts<'_>,
) -> Verdict {
    let Instance::Creating(effort) = &state.instance else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let name = facts.stream.name();
    let asked_for = state.effect_of(facts.journal, facts.stream, effort.intent);
    if instance.effect != asked_for || instance.machine.as_str() != name {
        // A provider that answers with something else has not made what was asked for.
        let text = format!("the provider answered with instance {} of machine {}", instance.instance, instance.machine);
        return create_failed(state, effort.attempt, &Fault::new(FaultCode::Internal, text), facts);
    }
    if let Some(nonce) = adoption::other_nonce(instance, facts) {
        // Another control plane has the same id. What is there is not ours, whatever it is called.
        let text = format!("another control plane started instance {}: it reports nonce {nonce}", instance.instance);
        if effort.outlook != Outlook::Trying {
            return Ok(Decision::nothing(Reason::StaleReport));
        }
        // That is what the instance says, not what the provider answers: asked again, it is the same.
        let fault = Fault::new(FaultCode::PermissionDenied, text);
        return Ok(Decision::because(Reason::NotRetryable, [Event::CreateGivenUp { fault, again: None }]));
    }
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    // A late answer to an earlier attempt at the same intent is as good: it is the same instance.
    let made = Event::Created { instance: instance.clone(), at: facts.now };
    let events = [made, health::join_awaited(state, facts)].into_iter().chain(beside);
    Ok(Decision::because(Reason::InstanceMade, events))
}

pub(super) fn create_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Instance::Creating(effort) = &state.instance else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if let Some(blamed) = placement::blame(state, effort, attempt, fault, facts) {
        return Ok(Decision::because(Reason::ZoneFailed, [blamed]));
    }
    let retry = |until, fault| Event::CreateRetryScheduled { until, fault };
    let give_up = |fault, again| Event::CreateGivenUp { fault, again };
    after_failure((effort, making(state, effort, facts)), attempt, fault, facts, retry, give_up)
}

pub(super) fn deleted(state: &State, attempt: u32, facts: &Facts<'_>) -> Verdict {
    let Instance::Deleting { effort, .. } = &state.instance else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(match state.life {
        Life::Dead => Decision::because(Reason::InstanceAbsent, [Event::Deleted, Event::Removed]),
        Life::Alive if state.hold.is_some() => {
            let events = [Event::Deleted, Event::Withheld { step: Step::Create, at: facts.now }];
            Decision::because(Reason::OnHold, events)
        }
        Life::Alive => {
            let events = [Event::Deleted, Event::CreateRequested { at: facts.now }];
            Decision::because(Reason::ReplacementDue, events)
        }
        // It is dying and waits for its attachments; no other instance is made for it.
        Life::Dying | Life::Undeclared | Life::Removed => Decision::because(Reason::InstanceAbsent, [Event::Deleted]),
    })
}

pub(super) fn delete_failed(state: &State, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    let Instance::Deleting { effort, .. } = &state.instance else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::DeleteRetryScheduled { until, fault };
    let rule = RetryRule::of_machine(facts.policy, Attempted::Removing);
    after_failure((effort, rule), attempt, fault, facts, retry, |fault, _| Event::DeleteGivenUp { fault })
}
