//! In which zone a machine's instance is made.
//!
//! ```text
//! open                      the provider chooses, or the declaration says it
//! awaited ─▶ chosen         the machines supervisor chooses: the emptiest zone that is allowed
//!    ▲          │ it could not be made there
//!    └── blamed ┘           another one is tried at once; when all have failed, that was one attempt, and a new round
//!                           begins after the usual wait
//! ```
//!
//! Which failures are a zone's, and whether the next one is tried at once, says the policy ([`crate::policy::Zones`]).
//! Source: Juju's provisioner, which tries the other zones before it uses up a retry.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Event, Instance, Reason, Spec, State, ZoneRule, retries,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::{Decision, Next},
    policy::{LastRound, NextZone},
    vocab::{EffectId, Effort, Fault, FaultCode, Life, Outlook, Zone},
};

/// Where the next instance is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    pub choice: SiteChoice,
    /// Where it could not be made in this round, and why.
    pub blamed: BTreeMap<Zone, Fault>,
}

/// Whether the zone of the next instance is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteChoice {
    /// Nobody here has to choose.
    #[default]
    Open,
    Awaited,
    /// None where the provider has no zones.
    Chosen {
        zone: Option<Zone>,
    },
}

impl Site {
    /// An intent to make an instance is open.
    pub(super) fn asked(spec: Option<&Spec>) -> Self {
        let is_ours = spec.is_some_and(|spec| matches!(spec.zone_rule(), ZoneRule::Spread { .. }));
        let choice = if is_ours { SiteChoice::Awaited } else { SiteChoice::Open };
        Self { choice, blamed: BTreeMap::new() }
    }

    /// The zone was chosen. One that has failed is chosen again only when a new round begins.
    pub(super) fn chosen(&mut self, zone: Option<Zone>) {
        if zone.as_ref().is_some_and(|zone| self.blamed.contains_key(zone)) {
            self.blamed.clear();
        }
        self.choice = SiteChoice::Chosen { zone };
    }

    pub(super) fn blame(&mut self, zone: Zone, fault: Fault) {
        self.blamed.insert(zone, fault);
        self.choice = SiteChoice::Awaited;
    }
}

impl State {
    /// Whether its instance is to be made, and somebody has to say in which zone.
    pub fn awaits_site(&self) -> bool {
        let is_trying = matches!(&self.instance, Instance::Creating(effort) if effort.outlook == Outlook::Trying);
        is_trying && self.site.choice == SiteChoice::Awaited && !self.awaits_start()
    }

    /// What remains of the choice, now that it is known with what it is started: a zone is kept that is still allowed.
    pub(super) fn choice_in_force(&self) -> SiteChoice {
        let ZoneRule::Spread { allowed, .. } = self.zone_rule() else { return SiteChoice::Open };
        match &self.site.choice {
            SiteChoice::Chosen { zone: Some(zone) } if allowed.is_some_and(|allowed| !allowed.contains(zone)) => {
                SiteChoice::Awaited
            }
            SiteChoice::Chosen { zone } => SiteChoice::Chosen { zone: zone.clone() },
            SiteChoice::Open | SiteChoice::Awaited => SiteChoice::Awaited,
        }
    }

    /// The zone that its instance is in, or is to be made in, if that is known.
    pub fn zone(&self) -> Option<Zone> {
        match (&self.instance, &self.site.choice) {
            (Instance::Running { instance, .. }, _) => instance.zone(),
            (Instance::Creating(_), SiteChoice::Chosen { zone }) => zone.clone(),
            (Instance::Creating(_), SiteChoice::Open) => match self.spec.as_deref().map(|_| self.zone_rule())? {
                ZoneRule::Declared(zone) => Some(zone),
                ZoneRule::Spread { .. } | ZoneRule::Provider => None,
            },
            (Instance::Creating(_), SiteChoice::Awaited) => None,
            (Instance::None | Instance::Lost { .. } | Instance::Deleting { .. }, _) => None,
        }
    }
}

/// A create failed: if the zone may be the reason, and another one could do, no attempt is used up yet.
pub(super) fn blame(state: &State, effort: &Effort, attempt: u32, fault: &Fault, facts: &Facts<'_>) -> Option<Event> {
    let SiteChoice::Chosen { zone: Some(zone) } = &state.site.choice else {
        return None;
    };
    let (zones, rule) = (facts.policy.zones, retries::making(state, effort, facts));
    if !zones.blame.is_the_zones(fault.code) || !effort.is_trying(attempt) || state.hold.is_some() {
        return None;
    }
    match (rule.after(effort, fault, facts.now), zones.last_round) {
        (Next::Exhausted { .. }, LastRound::One) | (Next::TooLate { .. } | Next::Hopeless, _) => return None,
        (Next::Exhausted { .. }, LastRound::All) | (Next::Retry { .. } | Next::Ask { .. }, _) => (),
    }
    let until = match zones.next {
        NextZone::AtOnce => None,
        NextZone::AfterWait => Some(facts.now.after(rule.wait_ms(effort, fault))),
    };
    Some(Event::ZoneBlamed { zone: zone.clone(), fault: fault.clone(), until })
}

/// The machines supervisor has chosen.
pub(super) fn site(
    state: &State,
    effect: EffectId,
    zone: Option<&Zone>,
    round_is_new: bool,
    facts: &Facts<'_>,
) -> Verdict {
    let Some(effort) = awaiting(state, effect, facts) else {
        return Ok(Decision::nothing(Reason::SiteNotAwaited));
    };
    let sited = Event::Sited { zone: zone.cloned(), at: facts.now };
    let last = zone.and_then(|zone| state.site.blamed.get(zone)).filter(|_| round_is_new);
    let Some(fault) = last.cloned() else {
        return Ok(Decision::because(Reason::SiteChosen, [sited]));
    };
    let next = match retries::making(state, effort, facts).after(effort, &fault, facts.now) {
        Next::Retry { until } | Next::Ask { until } => {
            // A machine that waits once all zones were tried has waited already.
            let is_over = facts.policy.zones.next == NextZone::AfterWait;
            Event::CreateRetryScheduled { until: if is_over { facts.now } else { until }, fault }
        }
        Next::Exhausted { again } | Next::TooLate { again } => Event::CreateGivenUp { fault, again },
        Next::Hopeless => Event::CreateGivenUp { fault, again: None },
    };
    Ok(Decision::because(Reason::AllZonesFailed, [sited, next]))
}

/// It may be in none of the zones that there are, and the policy says not to wait for one.
pub(super) fn refuse(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    if awaiting(state, effect, facts).is_none() {
        return Ok(Decision::nothing(Reason::SiteNotAwaited));
    }
    let fault = Fault::new(FaultCode::FailedPrecondition, "none of its allowed zones exists");
    Ok(Decision::because(Reason::NoZoneAllowed, [Event::CreateGivenUp { fault, again: None }]))
}

/// The effort that waits for a zone under this id.
fn awaiting<'s>(state: &'s State, effect: EffectId, facts: &Facts<'_>) -> Option<&'s Effort> {
    let Instance::Creating(effort) = &state.instance else { return None };
    let is_awaited =
        state.life == Life::Alive && state.awaits_site() && state.own(facts.journal, facts.stream) == Some(effect);
    is_awaited.then_some(effort)
}
