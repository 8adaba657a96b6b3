//! What should happen to a machine set, and why.

use super::{
    Command, Event, Plan, Reason, Rejection, Spec, State, freeze, hold, pass,
    pass_end::rest,
    plan::Change,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::{Decider, Decision},
    vocab::{Life, Name, Timestamp},
};

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec),
        Command::Remove => match owner(state) {
            Some(deployment) => Err(Rejection::Owned { deployment: deployment.clone() }),
            None => remove(state),
        },
        Command::RemoveOwned => remove(state),
        Command::Wake { .. } => Ok(wake(state, facts)),
        Command::BeginPass { plan, names } => Ok(begin(state, plan, names, facts)),
        Command::ReportRemovals { told } => {
            let reports = told.iter().map(|(name, is_accepted)| pass::Command::ReportRemoval {
                name: name.to_string(),
                is_accepted: *is_accepted,
            });
            Ok(go_on(state, reports, Reason::MachinesTold, facts))
        }
        Command::ReportBatch { failed } => {
            let failed = usize::try_from(*failed).unwrap_or(usize::MAX);
            Ok(go_on(state, [pass::Command::ReportBatch { failed }], Reason::BatchMade, facts))
        }
        Command::ReportEmpty if state.life == Life::Dying => Ok(Decision::because(Reason::Empty, [Event::Removed])),
        Command::ReportEmpty => Ok(Decision::nothing(Reason::NotEmptyYet)),
        Command::ReportMachines { machines, room } => Ok(freeze::report(state, *machines, *room, facts)),
        Command::Thaw => freeze::thaw(state),
        Command::Hold { reason, until } => hold::hold(state, reason, *until, facts),
        Command::Unhold => hold::unhold(state),
        Command::Protect { on } => protect(state, *on),
    }
}

fn declare(state: &State, spec: &Spec) -> Verdict {
    if spec.replicas > Spec::REPLICAS_MAX {
        return Err(Rejection::TooMany { most: Spec::REPLICAS_MAX });
    }
    if !Spec::is_template(&spec.template) {
        return Err(Rejection::BadTemplate);
    }
    if let Some(deployment) = owner(state).filter(|owner| spec.deployment.as_ref() != Some(owner)) {
        return Err(Rejection::Owned { deployment: deployment.clone() });
    }
    let is_less = state.spec.as_ref().is_some_and(|present| spec.replicas < present.replicas);
    if state.protected && state.life == Life::Alive && is_less {
        return Err(Rejection::Protected);
    }
    match (state.life, &state.spec) {
        (Life::Dying | Life::Dead, _) => Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, Some(present)) if present == spec => Ok(Decision::nothing(Reason::AlreadyAsDeclared)),
        (Life::Alive, Some(_)) => {
            Ok(Decision::because(Reason::SpecDiffers, [Event::SpecChanged { spec: spec.clone() }]))
        }
        (Life::Alive, None) | (Life::Undeclared | Life::Removed, _) => {
            Ok(Decision::because(Reason::NewlyDeclared, [Event::Declared { spec: spec.clone() }]))
        }
    }
}

/// The deployment that it belongs to: what becomes of it is decided there.
fn owner(state: &State) -> Option<&Name> {
    state.spec.as_ref().filter(|_| state.life == Life::Alive)?.deployment.as_ref()
}

fn remove(state: &State) -> Verdict {
    match (state.life, &state.hold) {
        (Life::Undeclared, _) => Err(Rejection::NotDeclared),
        (Life::Removed, _) => Ok(Decision::nothing(Reason::AlreadyGone)),
        (Life::Dying | Life::Dead, _) => Ok(Decision::nothing(Reason::AlreadyGoing)),
        (Life::Alive, _) if state.protected => Err(Rejection::Protected),
        (Life::Alive, Some(hold)) => Err(Rejection::Held { reason: hold.reason.clone() }),
        (Life::Alive, None) => Ok(Decision::because(Reason::RemovalAsked, [Event::RemovalBegan])),
    }
}

/// A deployment scales its sets as it has to: it is protected itself, or not at all.
fn protect(state: &State, on: bool) -> Verdict {
    let owner = state.spec.as_ref().and_then(|spec| spec.deployment.clone());
    match (state.life, owner) {
        (Life::Undeclared | Life::Removed, _) => Err(Rejection::NotDeclared),
        (Life::Dying | Life::Dead, _) => Err(Rejection::Leaving { life: state.life }),
        (Life::Alive, _) if state.protected == on => Ok(Decision::nothing(Reason::ProtectionKnown)),
        (Life::Alive, Some(deployment)) if on => Err(Rejection::Owned { deployment }),
        (Life::Alive, _) => Ok(Decision::because(Reason::ProtectionAsked, [Event::Protected { on }])),
    }
}

fn wake(state: &State, facts: &Facts<'_>) -> Decision<State> {
    let is_due = |until: Option<Timestamp>| until.is_some_and(|until| until <= facts.now);
    let held_until = state.hold.as_ref().and_then(|hold| hold.until);
    let events = [(is_due(held_until), Event::HoldEnded), (is_due(state.rests_until), Event::Rested)];
    let due = events.into_iter().filter_map(|(is_due, event)| is_due.then_some(event));
    match (is_due(held_until), held_until.or(state.rests_until)) {
        (true, _) => Decision::because(Reason::HoldOver, due),
        (false, _) if is_due(state.rests_until) => Decision::because(Reason::RestOver, due),
        (false, Some(_)) => Decision::nothing(Reason::NotDueYet),
        (false, None) => Decision::nothing(Reason::NothingWaits),
    }
}

fn begin(state: &State, plan: &Plan, names: &[Name], facts: &Facts<'_>) -> Decision<State> {
    if !state.is_at_rest() || state.rests_until.is_some() {
        return Decision::nothing(Reason::PassUnderWay);
    }
    let wanted = match &plan.change {
        Change::Create(count) => *count,
        Change::Nothing | Change::HeldByFreeze | Change::Remove(_) => 0,
    };
    let is_idle = plan.stale.is_empty() && matches!(plan.change, Change::Nothing | Change::HeldByFreeze);
    if is_idle || wanted != names.len() {
        return Decision::nothing(Reason::NothingToDo);
    }
    if state.is_held() {
        return Decision::nothing(Reason::OnHold);
    }
    if wanted > 0 && state.frozen.is_some() {
        return Decision::nothing(Reason::HeldByFreeze);
    }
    let named = (wanted > 0).then(|| Event::Named { names: names.to_vec() });
    let pass = go_on(state, [pass::Command::Begin(plan.clone())], Reason::PassPlanned, facts);
    Decision::because(Reason::PassPlanned, named.into_iter().chain(pass.events))
}

/// The pass goes on by these reports. When it has ended and something was refused, it rests before the next one.
fn go_on(
    state: &State,
    reports: impl IntoIterator<Item = pass::Command>,
    reason: Reason,
    facts: &Facts<'_>,
) -> Decision<State> {
    let mut after = state.clone();
    let mut events = Vec::new();
    for report in reports {
        for event in pass::decide(&after.pass, &report).into_iter().map(Event::Pass) {
            after.evolve(facts.next, &event);
            events.push(event);
        }
    }
    if events.is_empty() {
        return Decision::nothing(Reason::StaleReport);
    }
    if after.is_at_rest() && after.was_refused {
        events.push(rest(&after, facts));
    }
    Decision::because(reason, events)
}
