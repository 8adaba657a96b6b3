//! Instances that bear a machine's name and were not made for its present intent: taken over, let go of, or removed.
//!
//! Everything that may happen to an instance of a name is decided in the one stream of that name. So an instance is never
//! taken over and removed at the same time, whatever a supervisor's view says.

use super::{
    Event, Instance, Leaving, Reason, Rejection, State, Step, health,
    retries::after_failure,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::{Attempted, Decision, RetryRule},
    ports::{InstanceStatus, MachineInstance},
    vocab::{EffectId, Fault, Life, Name, Nonce, Outlook},
};

pub(super) fn adopt(state: &State, provider: &Name, instance: &MachineInstance, facts: &Facts<'_>) -> Verdict {
    match (state.life, &state.spec) {
        (Life::Undeclared | Life::Removed, _) | (_, None) => return Err(Rejection::NotDeclared),
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(spec)) if spec.provider != *provider => {
            return Err(Rejection::OtherProvider { provider: provider.clone() });
        }
        (Life::Alive, Some(_)) => (),
    }
    if instance.machine.as_str() != facts.stream.name() {
        return Err(Rejection::NotItsName { machine: instance.machine.clone() });
    }
    if instance.status != InstanceStatus::Running {
        return Err(Rejection::NotRunning);
    }
    if state.strays.contains_key(&instance.effect) {
        return Err(Rejection::BeingRemoved);
    }
    if let Some(nonce) = other_nonce(instance, facts) {
        return Err(Rejection::OtherNonce { nonce: nonce.to_owned() });
    }
    let own = state.own(facts.journal, facts.stream);
    let adopted = Event::Adopted { instance: instance.clone(), at: facts.now };
    match &state.instance {
        Instance::Running { .. } if own == Some(instance.effect) => Ok(Decision::nothing(Reason::AlreadyItsOwn)),
        Instance::Running { instance, .. } => Err(Rejection::HasInstance { instance: instance.instance.clone() }),
        Instance::Deleting { .. } => Err(Rejection::Busy),
        Instance::Creating(effort) if effort.outlook == Outlook::Trying => Err(Rejection::Busy),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } => {
            // What was, or may have been, made for the present intent is not wanted any more.
            let provider = provider.clone();
            let is_other = |own: &EffectId| *own != instance.effect && !state.of_others.contains(own);
            let left = own.filter(is_other).map(|effect| Event::StrayFound {
                effect,
                provider,
                instance: None,
                at: facts.now,
            });
            let joining = health::join_awaited(state, facts);
            Ok(Decision::because(Reason::OperatorAdopts, [adopted, joining].into_iter().chain(left)))
        }
    }
}

/// The nonce that it reports, if that is not the one under which this control plane starts such an instance. A provider
/// need not keep nonces.
pub(super) fn other_nonce<'a>(instance: &'a MachineInstance, facts: &Facts<'_>) -> Option<&'a str> {
    let reported = instance.nonce()?;
    (reported != Nonce::of(facts.journal, instance.effect).as_str()).then_some(reported)
}

pub(super) fn disown(state: &State) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    let Some(effect) = state.running_effect() else {
        return Err(Rejection::NoInstance);
    };
    let event = Event::InstanceLeft { effect, why: Leaving::OperatorKeeps };
    Ok(Decision::because(Reason::OperatorDisowns, [event]))
}

pub(super) fn remove_stray(
    state: &State,
    (provider, instance): (&Name, &MachineInstance),
    because: Reason,
    facts: &Facts<'_>,
) -> Verdict {
    let effect = instance.effect;
    if instance.machine.as_str() != facts.stream.name() {
        return Err(Rejection::NotItsName { machine: instance.machine.clone() });
    }
    if state.own(facts.journal, facts.stream) == Some(effect) {
        return Ok(Decision::nothing(Reason::AlreadyItsOwn));
    }
    if state.kept.contains(&effect) {
        return Ok(Decision::nothing(Reason::StrayKept));
    }
    if state.of_others.contains(&effect) {
        return Ok(Decision::nothing(Reason::StartedByOther));
    }
    if state.strays.contains_key(&effect) {
        return Ok(Decision::nothing(Reason::StrayGoing));
    }
    let (provider, instance) = (provider.clone(), Some(instance.instance.clone()));
    let mut events = vec![Event::StrayFound { effect, provider, instance, at: facts.now }];
    if state.hold.is_some() {
        events.push(Event::Withheld { step: Step::RemoveStray, at: facts.now });
    }
    Ok(Decision::because(because, events))
}

pub(super) fn report_deleted(state: &State, effect: EffectId, attempt: u32) -> Verdict {
    let Some(stray) = state.strays.get(&effect) else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if stray.effort.attempt < attempt {
        return Err(Rejection::UnknownAttempt { attempt });
    }
    Ok(Decision::because(Reason::StrayAbsent, [Event::StrayGone { effect }]))
}

pub(super) fn report_delete_failed(
    state: &State,
    effect: EffectId,
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_>,
) -> Verdict {
    let Some(stray) = state.strays.get(&effect) else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    let retry = |until, fault| Event::StrayRetryScheduled { effect, until, fault };
    let effort = (&stray.effort, RetryRule::of_machine(facts.policy, Attempted::Removing));
    after_failure(effort, attempt, fault, facts, retry, |fault, _| Event::StrayGivenUp { effect, fault })
}

/// Nothing of its own is to be tried again; perhaps a stray is.
pub(super) fn retry(state: &State) -> Verdict {
    let over = state.strays.iter().filter(|(_, stray)| stray.effort.outlook != Outlook::Trying);
    let events: Vec<Event> = over.map(|(effect, _)| Event::StrayAttemptBegun { effect: *effect }).collect();
    if events.is_empty() {
        return Ok(Decision::nothing(Reason::NothingToRetry));
    }
    Ok(Decision::because(Reason::OperatorRetries, events))
}
