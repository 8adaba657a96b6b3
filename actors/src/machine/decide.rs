//! What should happen to a machine, and why.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Cause, Command, DrainOutcome, Event, Instance, Leaving, Node, Reason, Rejection, Removal, RemovalReason, Report,
    Skipped, Spec, State, Step, adoption, attachments, attempts, bootstrap, class_snapshot, containers, death,
    diagnosis, draining, eviction, farewell, foreign_instance, health, hold, is_overdue, juju, membership,
    ordered_drain, placement, progress, protection, provider_reports, start,
    verdict::{Facts, Verdict},
    volume_zones,
};
use crate::{
    contract::Decision,
    policy::WhenLost,
    ports::Condition,
    vocab::{EffectId, Life, Outlook, Timestamp},
};

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec, facts),
        Command::Site { effect, zone, round_is_new } => {
            placement::site(state, *effect, zone.as_ref(), *round_is_new, facts)
        }
        Command::RefuseSite { effect } => placement::refuse(state, *effect, facts),
        Command::TakeClass { effect, copy } => class_snapshot::take(state, *effect, copy, facts),
        Command::Prepare { asked, parameters, config, cited } => {
            start::prepare(state, *asked, (parameters, config.as_deref()), cited, facts)
        }
        Command::AllowEviction { effect, workloads } => eviction::allow(state, *effect, workloads, facts),
        Command::RefuseEviction { effect, workload, budget } => {
            eviction::refuse(state, *effect, workload, budget, facts)
        }
        Command::NoteDetached { effect, volume } => ordered_drain::note_detached(state, *effect, volume, facts),
        Command::RefuseStart { asked, why, cited } => start::refuse(state, *asked, why, cited, facts),
        Command::Assign { application } => start::assign(state, application),
        Command::Unassign { application } => start::unassign(state, application),
        Command::ReserveContainer { container } => containers::reserve(state, container),
        Command::ReleaseContainer { container } => containers::release(state, container, facts),
        Command::NoteVolume { volume, zone } => volume_zones::note(state, volume, zone),
        Command::Remove => remove(state, Removal::default(), facts),
        Command::RemoveWith(removal) => remove(state, *removal, facts),
        Command::RetryProvisioning => retry_provisioning(state, facts),
        Command::ReserveAttachment { volume } => attachments::reserve_attachment(state, volume),
        Command::ReleaseAttachment { volume } => attachments::release_attachment(state, volume, facts),
        Command::ReserveMount { filesystem } => attachments::reserve_mount(state, filesystem),
        Command::ReleaseMount { filesystem } => attachments::release_mount(state, filesystem, facts),
        Command::Wake { .. } => wake(state, facts),
        Command::Hold { reason, until } => hold::hold(state, reason, *until, facts),
        Command::Unhold => hold::unhold(state, facts),
        Command::KeepFailed { effect } => diagnosis::lay(state, *effect, facts),
        Command::Keep { until } => diagnosis::keep(state, *until, facts),
        Command::Unkeep => diagnosis::let_go(state),
        Command::Client(command) => juju::decide(state, command, facts),
        Command::Protect { on } => protection::protect(state, *on, facts),
        Command::Adopt { provider, instance } => adoption::adopt(state, provider, instance, facts),
        Command::Disown => adoption::disown(state),
        Command::Reprieve { effect } => health::reprieve(state, *effect, facts),
        Command::JudgeAnew { effect, since } => health::judge_anew(state, *effect, *since, facts),
        Command::GiveUp { effect } => health::give_up(state, *effect, facts),
        Command::Engage { set } => membership::engage(state, set),
        Command::Disengage { set } => membership::disengage(state, set, facts),
        Command::RemoveStray { provider, instance } => {
            adoption::remove_stray(state, (provider, instance), Reason::StrayUnknown, facts)
        }
        Command::RemoveReturned { provider, instance } => {
            adoption::remove_stray(state, (provider, instance), Reason::StrayReturned, facts)
        }
        Command::Report(report) => match report {
            Report::Created { attempt, instance } => {
                provider_reports::created(state, *attempt, instance, juju::came_alone(state), facts)
            }
            Report::CreatedWith { attempt, instance, network, storage } => {
                provider_reports::created(state, *attempt, instance, juju::came_with(state, network, storage), facts)
            }
            Report::CreateFailed { attempt, fault } => provider_reports::create_failed(state, *attempt, fault, facts),
            Report::Deleted { attempt } => provider_reports::deleted(state, *attempt, facts),
            Report::DeleteFailed { attempt, fault } => provider_reports::delete_failed(state, *attempt, fault, facts),
            Report::Lost { effect } => report_lost(state, *effect, facts),
            Report::Node { effect, conditions } => report_node(state, *effect, conditions, facts),
            Report::NodeSilent { effect, last_seen } => report_node_silent(state, *effect, *last_seen, facts),
            Report::Joined { effect, token, node } => bootstrap::report(state, *effect, token, node, facts),
            Report::NodeChanged { effect, node } => bootstrap::report_node(state, *effect, node, facts),
            Report::Drained { effect } => draining::report_drained(state, *effect, facts),
            Report::WorkloadsEnded { effect, workloads } => {
                ordered_drain::report_ended(state, *effect, workloads, facts)
            }
            Report::Progress { effect, text, percent } => progress::report(state, *effect, text, *percent, facts),
            Report::StartedByOther { effect, instance, nonce } => {
                foreign_instance::report(state, *effect, instance, nonce, facts)
            }
            Report::StrayDeleted { effect, attempt } => adoption::report_deleted(state, *effect, *attempt),
            Report::StrayDeleteFailed { effect, attempt, fault } => {
                adoption::report_delete_failed(state, *effect, *attempt, fault, facts)
            }
        },
    }
}

fn declare(state: &State, spec: &Arc<Spec>, facts: &Facts<'_>) -> Verdict {
    let present = match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => return Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) => present,
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            let mut events = vec![Event::Declared { spec: spec.clone() }];
            events.extend(attachments::claimed(spec, facts.stream));
            events.push(Event::CreateRequested { at: facts.now });
            return Ok(Decision::because(Reason::NewlyDeclared, events));
        }
    };
    if present == spec {
        return Ok(Decision::nothing(Reason::AlreadyAsDeclared));
    }
    let fixed = [
        ("spec.provider", present.provider != spec.provider),
        // A machine of a set is the set's, and nobody else's machine becomes so.
        ("spec.set", present.set != spec.set),
        ("spec.parent", present.parent != spec.parent),
        ("spec.storage", present.storage != spec.storage),
    ];
    if let Some((field, _)) = fixed.into_iter().find(|(_, differs)| *differs) {
        return Err(Rejection::Immutable { field: field.into() });
    }
    Ok(Decision::because(Reason::SpecDiffers, [Event::SpecChanged { spec: spec.clone() }]))
}

fn remove(state: &State, removal: Removal, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared => return Err(Rejection::NotDeclared),
        Life::Removed => return Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Dead => return skip_deletion(state, removal, facts),
        Life::Dying if !removal.force => return Ok(Decision::nothing(Reason::AlreadyGoing)),
        Life::Alive | Life::Dying => (),
    }
    if state.protected && state.life == Life::Alive {
        return Err(Rejection::Protected);
    }
    if let (Some(hold), false) = (&state.hold, removal.force) {
        return Err(Rejection::Held { reason: hold.reason.clone() });
    }
    let mut after = state.clone();
    let mut events = Vec::new();
    if removal.keep_instance && !state.keeps_instance {
        events.push(Event::InstanceToStay);
        after.keeps_instance = true;
    }
    if state.life == Life::Alive {
        let why = (removal.why != RemovalReason::default()).then_some(Event::RemovalExplained { why: removal.why });
        events.extend(why.into_iter().chain([Event::RemovalBegan { at: facts.now }]));
    }
    if !removal.force {
        let (reason, rest) = farewell::farewell(&after, facts);
        events.extend(rest);
        return Ok(Decision::because(reason, events));
    }
    if state.is_draining() {
        events.push(Event::DrainEnded { outcome: DrainOutcome::Forced });
    }
    events.extend(attachments::skipped(state));
    let waits_for_nothing = state.is_free() && !state.is_draining();
    let death = death::death(&after, facts);
    let reason = if waits_for_nothing { Reason::RemovalAsked } else { Reason::RemovalForced };
    let reason = if death::is_spared(&death) { Reason::InstanceSpared } else { reason };
    events.extend(death);
    Ok(Decision::because(reason, events))
}

/// It is dead and its instance is being deleted: a forced removal does not wait for the provider to confirm that.
fn skip_deletion(state: &State, removal: Removal, facts: &Facts<'_>) -> Verdict {
    let (Instance::Deleting { of, effort }, true) = (&state.instance, removal.force) else {
        return Ok(Decision::nothing(Reason::AlreadyGoing));
    };
    // A client may never come to say that it is gone.
    if effort.outlook == Outlook::Trying && !state.is_external() {
        return Ok(Decision::nothing(Reason::DeletionUnderWay));
    }
    let effect = state.effect_of(facts.journal, facts.stream, *of);
    let skipped = Event::Skipped { what: Skipped::DeletionOf { effect } };
    let events = [skipped, Event::InstanceLeft { effect, why: Leaving::Forced }, Event::Removed];
    Ok(Decision::because(Reason::RemovalForced, events))
}

fn retry_provisioning(state: &State, facts: &Facts<'_>) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    if state.is_kept_by_protection() {
        return Err(Rejection::Protected);
    }
    match &state.instance {
        Instance::Creating(effort) | Instance::Deleting { effort, .. } => match effort.outlook {
            Outlook::GivenUp { .. } | Outlook::Waiting { .. } => {
                Ok(Decision::because(Reason::OperatorRetries, [Event::AttemptBegun]))
            }
            Outlook::Trying => adoption::retry(state),
        },
        Instance::Lost { .. } => {
            Ok(Decision::because(Reason::OperatorRetries, [Event::DeleteRequested { at: facts.now }]))
        }
        Instance::None if state.life == Life::Alive => {
            Ok(Decision::because(Reason::OperatorRetries, [Event::CreateRequested { at: facts.now }]))
        }
        // Its time is over and it waits for room, or for its zone: an operator does not.
        Instance::Running { instance, .. } if is_overdue(state) => {
            let mut released = state.clone();
            released.hold = None;
            let decision = health::give_up(&released, instance.effect, facts)?;
            Ok(Decision::because(Reason::OperatorRetries, decision.events))
        }
        Instance::None | Instance::Running { .. } => adoption::retry(state),
    }
}

fn wake(state: &State, facts: &Facts<'_>) -> Verdict {
    if draining::until(state).is_some_and(|until| until <= facts.now) {
        let events = draining::end(state, DrainOutcome::TimedOut, facts);
        return Ok(Decision::because(Reason::DrainTimedOut, events));
    }
    let again = eviction::due(state, facts.now);
    if !again.is_empty() {
        return Ok(Decision::because(Reason::RetryDue, again));
    }
    if ordered_drain::until(state).is_some_and(|until| until <= facts.now) {
        return Ok(Decision::because(Reason::TurnTimedOut, ordered_drain::with_next(state, Vec::new(), facts)));
    }
    if diagnosis::until(state).is_some_and(|until| until <= facts.now) {
        return Ok(Decision::because(Reason::AsideOver, [Event::AsideEnded]));
    }
    if let Some(overdue) = health::overdue(state, facts.now) {
        // Whatever else is due wakes it again.
        return Ok(Decision::because(Reason::TimeOver, [overdue]));
    }
    if let Some(held) = &state.hold {
        return hold::wake(state, held, facts);
    }
    let due = attempts::due(state, facts.now);
    if !due.is_empty() {
        return Ok(Decision::because(Reason::RetryDue, due));
    }
    let times = [health::until(state), draining::until(state), diagnosis::until(state)];
    let waits = attempts::waiting(state).next().is_some() || times.iter().any(Option::is_some);
    Ok(Decision::nothing(if waits { Reason::NotDueYet } else { Reason::NothingWaits }))
}

fn report_lost(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    if state.running_effect() != Some(effect) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let mut events = vec![Event::InstanceLost { at: facts.now }];
    if state.is_draining() {
        // Nothing is left to be drained; whatever waited for that goes on.
        match state.life {
            Life::Dying if !state.is_free() => (),
            Life::Dying => events.extend([Event::Died, Event::DeleteRequested { at: facts.now }]),
            _ => events.push(Event::DeleteRequested { at: facts.now }),
        }
        return Ok(Decision::because(Reason::InstanceGone, events));
    }
    if facts.policy.machines.when_lost == WhenLost::Keep || state.life != Life::Alive {
        return Ok(Decision::because(Reason::InstanceGoneKept, events));
    }
    if state.protected {
        return Ok(Decision::because(Reason::InstanceGoneProtected, events));
    }
    if state.aside.is_some() {
        return Ok(Decision::because(Reason::InstanceGoneAside, events));
    }
    if state.hold.is_some() {
        events.push(Event::Withheld { step: Step::Replace, at: facts.now });
        return Ok(Decision::because(Reason::OnHold, events));
    }
    // What is left of it goes first: another instance is made only after its absence is confirmed.
    events.push(Event::DeleteRequested { at: facts.now });
    Ok(Decision::because(Reason::InstanceGone, events))
}

fn report_node(state: &State, effect: EffectId, conditions: &[Condition], facts: &Facts<'_>) -> Verdict {
    if state.running_effect() != Some(effect) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let seen: BTreeMap<String, Condition> = conditions.iter().map(|c| (c.kind.clone(), c.clone())).collect();
    if matches!(&state.node, Node::Reporting { conditions, .. } if !Condition::are_news(conditions, &seen)) {
        return Ok(Decision::nothing(Reason::NodeUnchanged));
    }
    let health = health::told(state, &seen, facts);
    let event = Event::NodeReported { conditions: seen.into_values().collect(), at: facts.now };
    Ok(Decision::because(Reason::NodeSeen, std::iter::once(event).chain(health)))
}

fn report_node_silent(state: &State, effect: EffectId, last_seen: Timestamp, facts: &Facts<'_>) -> Verdict {
    let known = matches!(state.node, Node::Reporting { .. } | Node::Silent);
    if state.running_effect() != Some(effect) || !known {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    if facts.now.since(last_seen) <= facts.policy.machines.node_stale_ms {
        return Ok(Decision::nothing(Reason::NodeNotSilentLongEnough));
    }
    let health = health::suspicion(state, Cause::Silent, facts);
    let stale = Event::NodeWentStale { last_seen };
    // Nobody answers who could say that the workloads have ended.
    let drain = if state.is_draining() { draining::end(state, DrainOutcome::Silent, facts) } else { Vec::new() };
    Ok(Decision::because(Reason::NodeTooSilent, std::iter::once(stale).chain(health).chain(drain)))
}
