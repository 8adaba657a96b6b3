//! What stands under an effect id of ours and was started by another control plane: nothing of it is touched.
//!
//! Two control planes can have the same ids: one of them was started from a copy of the other's journal. What is there then
//! tells another nonce. It is neither taken for the machine's own, nor deleted, nor harvested. A machine that has not seen its
//! instance with the right nonce yet has the provider asked first, right before anything is deleted
//! ([`State::has_proof_of`]).

use bailiwick_journal::Version;

use super::{
    Event, Instance, Reason, State, provider_reports,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Nonce, Outlook},
};

impl State {
    /// Whether what was made, or taken over, at a version was seen, and was ours.
    pub fn has_proof_of(&self, intent: Version) -> bool {
        self.proven == Some(intent)
    }
}

/// The provider shows an instance of somebody else under this id.
pub(super) fn report(
    state: &State,
    effect: EffectId,
    instance: &InstanceId,
    nonce: &str,
    facts: &Facts<'_>,
) -> Verdict {
    if nonce == Nonce::of(facts.journal, effect).as_str() {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let (instance, nonce) = (instance.clone(), nonce.to_owned());
    let text = format!("another control plane started instance {instance}: it reports nonce {nonce}");
    let seen = Event::StartedByOther { effect, instance, nonce, at: facts.now };
    let is_own = state.own(facts.journal, facts.stream) == Some(effect);
    let rest = match &state.instance {
        _ if state.strays.contains_key(&effect) => Vec::new(),
        Instance::Creating(effort) if is_own && effort.outlook == Outlook::Trying => {
            vec![Event::CreateGivenUp { fault: Fault::new(FaultCode::PermissionDenied, text), again: None }]
        }
        // There is nothing of its own.
        Instance::Deleting { effort, .. } if is_own => provider_reports::deleted(state, effort.attempt, facts)?.events,
        Instance::Creating(_) | Instance::Deleting { .. } => return Ok(Decision::nothing(Reason::StaleReport)),
        Instance::None | Instance::Running { .. } | Instance::Lost { .. } => {
            return Ok(Decision::nothing(Reason::StaleReport));
        }
    };
    Ok(Decision::because(Reason::StartedByOther, std::iter::once(seen).chain(rest)))
}
