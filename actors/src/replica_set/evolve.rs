//! How events change a replica set.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{Event, Phase, Spec, State, flags, rhythm::Retries};
use crate::{
    ports::replica_set::{Action, Member, MemberId, Observation},
    vocab::{
        Fault, FaultCode, Life, Timestamp,
        guard::{self, Guard},
    },
};

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { spec } => declare(state, at, spec.clone()),
        Event::SpecChanged { spec } => change(state, spec.clone()),
        Event::Published { endpoints } => state.published = Some(endpoints.clone()),
        Event::ServersWanted { servers } => {
            if let Some(spec) = &mut state.spec {
                spec.servers = *servers;
            }
        }
        Event::LookBegun => begin(state, at, Phase::Looking),
        Event::Seen { observation } => {
            see(state, observation);
            (state.seen, state.seen_at) = (Some(observation.clone()), at);
            settle(state, at);
        }
        Event::SeenSame => {
            if let Some(observation) = state.seen.take() {
                see(state, &observation);
                state.seen = Some(observation);
            }
            state.seen_at = at;
            settle(state, at);
        }
        Event::SeenNotBegun => {
            state.seen_at = at;
            settle(state, at);
        }
        Event::LookFailed { until, fault } => {
            state.look_retries = Retries(state.look_retries.0.saturating_add(1));
            let step = interrupted(state);
            begin(state, at, Phase::Waiting { until: *until, fault: fault.clone(), step });
        }
        Event::StepBegun { step, base, at: since } => {
            state.flags = flags::before(&state.flags, step);
            if !guard::holds(Guard::FlagsFollowTheCommitted) {
                let leaving: BTreeSet<MemberId> = step.action.leaving().collect();
                state.flags.retain(|id| !leaving.contains(id));
            }
            if matches!(step.action, Action::Initiate { .. }) {
                state.initiating_since.get_or_insert(*since);
            }
            begin(state, at, Phase::Stepping { step: step.clone(), base: *base });
        }
        Event::StepDone => {
            state.step_retries = Retries(0);
            // A later step was taken, so an earlier one of which nobody knew can not follow it any more.
            state.doubtful.clear();
            begin(state, at, Phase::Looking);
        }
        Event::SteppedDown { until } => {
            if !guard::holds(Guard::LookAfterStepDown) {
                return begin(state, at, Phase::Settled);
            }
            let fault = Fault::new(FaultCode::Unavailable, "the primary stepped down; another member takes over");
            after_step(state, at, *until, &fault);
        }
        Event::StepRefused { until, fault } => {
            state.step_retries = Retries(state.step_retries.0.saturating_add(1));
            after_step(state, at, *until, fault);
        }
        Event::StepUnknown { until, fault } => {
            state.step_retries = Retries(state.step_retries.0.saturating_add(1));
            if let Phase::Stepping { step, .. } = &state.phase {
                state.doubtful.extend(step.action.promoted());
            }
            after_step(state, at, *until, fault);
        }
        Event::Protected { on } => state.protected = *on,
        Event::Removed => {
            state.life = Life::Removed;
            begin(state, at, Phase::Idle);
        }
    }
}

fn declare(state: &mut State, at: Version, spec: Spec) {
    let servers_declared = Some(spec.servers);
    *state = State { life: Life::Alive, declared_at: at, spec: Some(spec), servers_declared, ..State::default() };
    begin(state, at, Phase::Looking);
}

/// A declaration that changes nothing else, or the number of servers, is about that number. Any other leaves open
/// whether the number is its own or was asked for.
fn change(state: &mut State, spec: Spec) {
    if state.spec.as_ref().is_none_or(|present| present.servers != spec.servers || *present == spec) {
        state.servers_declared = Some(spec.servers);
    }
    state.spec = Some(spec);
}

fn begin(state: &mut State, at: Version, phase: Phase) {
    (state.phase, state.phase_at) = (phase, at);
}

/// A look while nothing else was under way begins no new phase: the next poll is of the same round.
fn settle(state: &mut State, at: Version) {
    state.look_retries = Retries(0);
    if state.phase != Phase::Settled {
        begin(state, at, Phase::Settled);
    }
}

fn after_step(state: &mut State, at: Version, until: Timestamp, fault: &Fault) {
    let step = interrupted(state);
    begin(state, at, Phase::Waiting { until, fault: fault.clone(), step });
}

/// The step that the present phase is about, for people.
fn interrupted(state: &State) -> Option<crate::ports::replica_set::Step> {
    match &state.phase {
        Phase::Stepping { step, .. } => Some(step.clone()),
        Phase::Waiting { step, .. } => step.clone(),
        Phase::Idle | Phase::Looking | Phase::Settled => None,
    }
}

/// Flags follow what was read, and only go down with what was read as committed; never those that are in doubt.
fn see(state: &mut State, observation: &Observation) {
    let configuration = &observation.configuration;
    let committed: Option<&[Member]> = configuration.committed.then_some(&configuration.members);
    state.flags = flags::after(&state.flags, committed);
    let voters = configuration.members.iter().filter(|member| member.is_voter()).map(|member| member.id);
    state.flags.extend(voters);
    state.flags.extend(state.doubtful.iter().copied());
}
