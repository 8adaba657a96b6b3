//! How a call for a machine is tried again after a failure.

use super::{
    Event, Reason, State,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::{Decision, Next, RetryRule},
    vocab::{Effort, Fault, Timestamp},
};

/// How the making of its instance is tried again.
pub(super) fn making(state: &State, effort: &Effort, facts: &Facts<'_>) -> RetryRule {
    RetryRule::of_making(facts.policy, effort.since, state.in_force(facts.policy).creation_timeout_ms)
}

/// What follows a failed attempt: another one later, or none.
pub(super) fn after_failure(
    (effort, rule): (&Effort, RetryRule),
    attempt: u32,
    fault: &Fault,
    facts: &Facts<'_>,
    retry: impl FnOnce(Timestamp, Fault) -> Event,
    give_up: impl FnOnce(Fault, Option<Timestamp>) -> Event,
) -> Verdict {
    if !effort.is_trying(attempt) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let next = rule.after(effort, fault, facts.now);
    let fault = fault.clone();
    Ok(match next {
        Next::Retry { until } => Decision::because(Reason::WorthRetrying, [retry(until, fault)]),
        Next::Ask { until } => Decision::because(Reason::OutcomeUnknown, [retry(until, fault)]),
        Next::Exhausted { again } => Decision::because(Reason::RetriesExhausted, [give_up(fault, again)]),
        Next::TooLate { again } => Decision::because(Reason::TookTooLong, [give_up(fault, again)]),
        Next::Hopeless => Decision::because(Reason::NotRetryable, [give_up(fault, None)]),
    })
}
