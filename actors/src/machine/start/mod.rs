//! What a machine's instance is started with: a machine that needs more than its declaration waits for that.
//!
//! ```text
//! open                         nothing is needed: it starts at once
//! awaited ─▶ refused ─▶ …      something is missing; another reason, or none, follows with the next look
//!    └──────────┴─▶ prepared   the machines supervisor has put together what it needs
//! ```
//!
//! Each attempt is prepared anew: what a document says meanwhile, or the host that runs now, counts for the next one. What is
//! declared anew while it waits counts at once, unless its provider is at work with what was declared before. What it was
//! prepared with stands in its stream, with the revisions of the documents.
//! Source: Juju's provisioner, which puts a machine into error when something is missing; here it waits, and says for what.

mod spec;

use std::collections::BTreeSet;

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

pub use self::spec::{InstanceConfig, StartAgent, StartHost, StartImage, StartParameters, Unstartable};
use super::{
    Event, Instance, Reason, Rejection, Spec, State, ZoneRule,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{Cited, Life, Name, Outlook, Timestamp},
};

/// With what the next instance is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// With its declaration alone.
    #[default]
    Open,
    /// For what is declared and stands on it at version `asked`. Why it could not be prepared, and since when; none before
    /// somebody looked.
    Awaited {
        asked: Version,
        refused: Option<(Unstartable, Timestamp)>,
    },
    Prepared {
        parameters: Box<StartParameters>,
        config: Option<Box<InstanceConfig>>,
    },
}

impl Start {
    /// An intent to make an instance is open.
    fn asked(at: Version, spec: Option<&Spec>, units: &BTreeSet<Name>) -> Self {
        let is_needed = !units.is_empty()
            || spec.is_some_and(|spec| {
                spec.base.is_some() || spec.parent.is_some() || !spec.constraints.spaces.is_empty()
            });
        if is_needed { Self::Awaited { asked: at, refused: None } } else { Self::Open }
    }
}

impl State {
    /// An intent to make its instance is open. A client that makes it asks for what it needs by itself.
    pub(super) fn start_asked_at(&self, at: Version) -> Start {
        if self.is_external() { Start::Open } else { Start::asked(at, self.spec.as_deref(), &self.units) }
    }

    /// Whether its instance is to be made, and somebody has to say with what.
    pub fn awaits_start(&self) -> bool {
        self.start_asked().is_some()
    }

    /// The version at which that start was asked for.
    pub fn start_asked(&self) -> Option<Version> {
        let is_trying = matches!(&self.instance, Instance::Creating(effort) if effort.outlook == Outlook::Trying);
        match self.start {
            Start::Awaited { asked, .. } => is_trying.then_some(asked),
            Start::Open | Start::Prepared { .. } => None,
        }
    }

    /// The next attempt to make its instance is prepared with what is declared now.
    pub(super) fn is_prepared_anew(&mut self, at: Version) {
        if !matches!(self.instance, Instance::Creating(_)) {
            return;
        }
        self.start = self.start_asked_at(at);
        if self.start == Start::Open {
            self.site.choice = self.choice_in_force();
        }
    }

    /// Why its instance cannot be made now, and since when.
    pub fn unstartable(&self) -> Option<&(Unstartable, Timestamp)> {
        match &self.start {
            Start::Awaited { refused, .. } if self.awaits_start() => refused.as_ref(),
            Start::Open | Start::Awaited { .. } | Start::Prepared { .. } => None,
        }
    }

    /// What its instance was, or is to be, started with beside its declaration.
    pub fn parameters(&self) -> Option<&StartParameters> {
        match &self.start {
            Start::Prepared { parameters, .. } => Some(parameters),
            Start::Open | Start::Awaited { .. } => None,
        }
    }

    /// How what is started reaches the control plane; none where nothing is said of that.
    pub fn config(&self) -> Option<&InstanceConfig> {
        match &self.start {
            Start::Prepared { config, .. } => config.as_deref(),
            Start::Open | Start::Awaited { .. } => None,
        }
    }

    /// Who says in which zone its instance is made: as declared, within what it was prepared with, and where its volumes
    /// are.
    pub fn zone_rule(&self) -> ZoneRule<'_> {
        let is_hosted = self.parameters().is_some_and(|parameters| parameters.host.is_some());
        let zone_rule = self.zone_rule_without_volumes();
        // It is where its host is.
        if is_hosted { zone_rule } else { self.volume_zones.within(zone_rule) }
    }

    fn zone_rule_without_volumes(&self) -> ZoneRule<'_> {
        let Some(spec) = self.spec.as_deref() else { return ZoneRule::Provider };
        let (declared, Some(parameters)) = (spec.zone_rule(), self.parameters()) else { return spec.zone_rule() };
        let reachable = Some(&parameters.zones).filter(|zones| !zones.is_empty());
        let apart = parameters.spread.as_ref().map(|application| format!("application/{application}"));
        match declared {
            // It is where its host is.
            _ if parameters.host.is_some() => ZoneRule::Provider,
            ZoneRule::Declared(zone) => ZoneRule::Declared(zone),
            ZoneRule::Provider if reachable.is_none() && apart.is_none() => ZoneRule::Provider,
            ZoneRule::Provider => ZoneRule::Spread { allowed: reachable, group: apart.unwrap_or_default() },
            ZoneRule::Spread { allowed, group } => {
                let group = if group.is_empty() { apart.unwrap_or_default() } else { group };
                ZoneRule::Spread { allowed: reachable.or(allowed), group }
            }
        }
    }
}

/// What it needs has been put together; with a configuration, if there is one.
pub(super) fn prepare(
    state: &State,
    asked: Version,
    (parameters, config): (&StartParameters, Option<&InstanceConfig>),
    cited: &[Cited],
    facts: &Facts<'_>,
) -> Verdict {
    // What was put together before it was declared otherwise, or for an earlier attempt, is not for this one.
    if state.start_asked() != Some(asked) {
        return Ok(Decision::nothing(Reason::StartNotAwaited));
    }
    let (parameters, config) = (Box::new(parameters.clone()), config.cloned().map(Box::new));
    let prepared = Event::StartPrepared { parameters, config, cited: cited.to_vec(), at: facts.now };
    Ok(Decision::because(Reason::StartPrepared, [prepared]))
}

/// Something is missing. The same again is no news.
pub(super) fn refuse(state: &State, asked: Version, why: &Unstartable, cited: &[Cited], facts: &Facts<'_>) -> Verdict {
    if state.start_asked() != Some(asked) || state.unstartable().is_some_and(|(known, _)| known == why) {
        return Ok(Decision::nothing(Reason::StartNotAwaited));
    }
    let refused = Event::StartRefused { why: why.clone(), cited: cited.to_vec(), at: facts.now };
    Ok(Decision::because(Reason::StartRefused, [refused]))
}

/// A unit of an application is to stand on it. What runs already is not made anew for it.
pub(super) fn assign(state: &State, application: &Name) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if state.units.contains(application) {
        return Ok(Decision::nothing(Reason::UnitKnown));
    }
    Ok(Decision::because(Reason::UnitWanted, [Event::UnitAssigned { application: application.clone() }]))
}

pub(super) fn unassign(state: &State, application: &Name) -> Verdict {
    if !state.units.contains(application) {
        return Ok(Decision::nothing(Reason::UnitKnown));
    }
    Ok(Decision::because(Reason::UnitUnwanted, [Event::UnitUnassigned { application: application.clone() }]))
}
