//! How a pass ends before its time, and how long the set rests after a refusal.

use super::{Event, State, pass, verdict::Facts};

/// The end of a pass that is under way: what was ordered is carried out, and nothing more is.
pub(super) fn cut_short(state: &State, facts: &Facts<'_>) -> Vec<Event> {
    let has_failed = match state.pass {
        pass::State::Idle | pass::State::Over => return Vec::new(),
        pass::State::Creating { has_failed, .. } | pass::State::Removing { has_failed, .. } => has_failed,
        pass::State::RemovingStale { .. } => false,
    };
    let ended = Event::Pass(pass::Event::PassEnded { has_failed });
    std::iter::once(ended).chain(state.was_refused.then(|| rest(state, facts))).collect()
}

/// After a refusal it tries again soon, and ever more rarely while that goes on: a machine may be held for weeks, and each
/// try is journaled.
pub(super) fn rest(state: &State, facts: &Facts<'_>) -> Event {
    let periods = &facts.policy.reconciliation;
    let doubled = periods.retry_short_ms.saturating_mul(1 << state.rests.min(16));
    Event::Resting { until: facts.now.after(doubled.min(periods.retry_medium_ms.max(periods.retry_short_ms))) }
}
