//! What the supervisor has seen, what it may be told, and what it answers.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Cite, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    contract::{Code, Stored, reasons},
    machine,
    policy::{Document, Outage},
    ports::{InstanceStatus, MachineInstance},
    supervisor::Order,
    vocab::{EffectId, Fault, FaultCode, Name, Timestamp, Zone},
};

/// What was seen of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub sightings: BTreeMap<EffectId, Sighting>,
    /// The providers that did not answer when they were asked last.
    pub failing: BTreeMap<Name, Fault>,
    /// Since when providers cannot be reached that did not answer when they were asked last.
    pub unreachable: BTreeMap<Name, Timestamp>,
    /// Since when providers are out: they could not be reached for so long that nothing is replaced there.
    pub out: BTreeMap<Name, Timestamp>,
    /// Since when providers answer again that were out.
    pub back: BTreeMap<Name, Timestamp>,
    /// The moment that each provider's newest observation describes: an older list is worth nothing any more.
    pub observed: BTreeMap<Name, Timestamp>,
    /// The zones in which each provider can make something, as it told last.
    pub zones: BTreeMap<Name, BTreeSet<Zone>>,
    /// The machines that are not replaced, or not made, now, and why.
    pub withheld: BTreeMap<Name, Withholding>,
    /// By provider: the machines of which nothing follows before it has said how their instances are.
    pub questions: BTreeMap<Name, BTreeSet<Name>>,
    /// What providers answered to that, as long as it matters.
    pub found: BTreeMap<Name, Found>,
    /// The events that said so.
    pub noted: Noted,
}

/// A provider was asked about a machine's instance, and has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub effect: EffectId,
    /// The moment that the answer describes.
    pub as_of: Timestamp,
    /// The event that said so.
    pub noted: Version,
}

/// The last events of the supervisor's own stream about what it knows: orders cite them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// By instance: how it was seen last.
    pub sightings: BTreeMap<EffectId, Version>,
    /// By provider: its zones.
    pub zones: BTreeMap<Name, Version>,
    /// By provider: that it answers again, having been out.
    pub back: BTreeMap<Name, Version>,
    /// By machine: what is withheld from it.
    pub withheld: BTreeMap<Name, Version>,
}

/// One instance, as it was seen last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub provider: Name,
    pub machine: Name,
    pub status: SightingStatus,
    /// As it was when it was seen first; none if it was only ever missed.
    pub instance: Option<MachineInstance>,
    /// That no machine claims it.
    pub unclaimed: Option<Unclaimed>,
}

/// An instance that no machine claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unclaimed {
    /// The moments of the first and the last complete list that had it, as far as they were worth noting.
    pub since: Timestamp,
    pub last: Timestamp,
    /// In how many complete lists it was noted.
    pub times: u32,
    /// Whether the machine whose name it bears was told to remove it.
    pub told: bool,
    /// Whether its machine had it deleted, and its provider said that it was gone: it is known to be ours.
    pub was_deleted: bool,
}

impl Unclaimed {
    /// The same, seen in one more list.
    #[must_use]
    pub fn seen_again(self, as_of: Timestamp) -> Self {
        Self { last: self.last.max(as_of), times: self.times.saturating_add(1), ..self }
    }
}

/// How an instance was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SightingStatus {
    Running,
    Stopped,
    /// It was there, or should have been, and a complete list did not have it.
    Gone,
}

/// One difference between what was seen last and what is seen now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    Appeared {
        instance: MachineInstance,
    },
    StatusChanged {
        effect: EffectId,
        status: InstanceStatus,
    },
    Vanished {
        effect: EffectId,
        machine: Name,
    },
    /// It is gone and nobody asks for it any more.
    Forgotten {
        effect: EffectId,
    },
    /// It is there, in a complete list, and no machine claims it.
    Unclaimed {
        effect: EffectId,
    },
    /// A machine claims it after all.
    Claimed {
        effect: EffectId,
    },
    /// As `Unclaimed`; its machine had it deleted, and its provider said that it was gone.
    Returned {
        effect: EffectId,
    },
}

impl Change {
    /// The instance that it is about.
    pub fn effect(&self) -> EffectId {
        match self {
            Self::Appeared { instance } => instance.effect,
            Self::StatusChanged { effect, .. }
            | Self::Vanished { effect, .. }
            | Self::Forgotten { effect }
            | Self::Unclaimed { effect }
            | Self::Claimed { effect }
            | Self::Returned { effect } => *effect,
        }
    }
}

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// A list of this provider, as of that moment, differs from what was known.
    Observe { provider: Name, as_of: Timestamp, changes: Vec<Change> },
    /// A provider could not be asked.
    ReportListFailed { provider: Name, fault: Fault },
    /// A provider that could not be asked answers again.
    ReportListRecovered { provider: Name },
    /// These machines have changed: look whether something follows.
    Look { machines: Vec<Name> },
    /// A provider has other zones than were known.
    ObserveZones { provider: Name, zones: BTreeSet<Zone> },
    /// A provider was asked about these machines, each with its instance, and has them as of that moment.
    ReportFound { provider: Name, as_of: Timestamp, machines: Vec<(Name, EffectId)> },
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Observed {
        provider: Name,
        as_of: Timestamp,
        changes: Vec<Change>,
    },
    ListFailed {
        provider: Name,
        fault: Fault,
        at: Timestamp,
    },
    /// The provider answers; an outage, if there was one, is over.
    ListRecovered {
        provider: Name,
        at: Timestamp,
    },
    Issued {
        order: Order,
        /// What it rests on.
        cites: Vec<Cite>,
    },
    /// What should follow for a machine does not, for this reason.
    Withheld {
        machine: Name,
        why: Withholding,
    },
    /// Nothing is withheld from it any more.
    Released {
        machine: Name,
    },
    /// A provider has these zones from now on.
    ZonesListed {
        provider: Name,
        zones: BTreeSet<Zone>,
    },
    /// It could not be reached for as long as the policy bears: none of its machines is replaced.
    OutageBegan {
        provider: Name,
        /// Since when it could not be reached.
        since: Timestamp,
        at: Timestamp,
    },
    /// A provider was asked about these instances, and has them.
    Found {
        provider: Name,
        as_of: Timestamp,
        machines: Vec<(Name, EffectId)>,
    },
}

/// Why a machine is not replaced, or not made, now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Withholding {
    /// All machines of its zone are silent or gone: the fault is more likely the zone's, or ours.
    ZoneSilent { zone: Zone },
    /// As many machines as may be are being replaced already.
    BudgetSpent,
    /// No zone that it may be in is there.
    NoZone,
    /// All machines are silent or gone: the fault is more likely the node's way to them.
    AllSilent,
    /// Its provider could not be reached for a while: nobody can say what is true of its machines.
    ProviderOut { provider: Name },
    /// Its provider is being asked about its instance.
    Asking { provider: Name },
    /// Its instance runs there, as its provider has said: only its agent is silent.
    RunsThere { provider: Name },
}

/// An order that waits for its target's answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Send the order with this command id.
    Send { command: Uuid },
}

reasons! {
    /// Why.
    pub enum Reason {
        WorldDiffers = "world-differs", "the list differs from the last one";
        OrdersFollow = "orders-follow", "the observed state requires it";
        NothingFollows = "nothing-follows", "the observed state requires nothing";
        NothingNew = "nothing-new", "it is already known";
        ProviderSilent = "provider-silent", "the provider did not answer";
        ProviderBack = "provider-back", "the provider answers again";
        ListTooOld = "list-too-old", "a newer list is known";
        ReplacementsHeld = "replacements-held", "replacements were held back, or released";
        ZonesDiffer = "zones-differ", "the provider's zones changed";
        ProviderOut = "provider-out", "the provider has not answered for too long";
        InstancesFound = "instances-found", "the provider was asked about these instances, and still has them";
    }
}

/// It refuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match *self {}
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
impl Stored for Event {
    const SCHEMA: u16 = 1;
}
impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}

impl State {
    /// Takes in what happened.
    pub(super) fn take(&mut self, at: Version, event: &Event) {
        match event {
            Event::Observed { provider, as_of, changes } => {
                let newest = self.observed.entry(provider.clone()).or_default();
                *newest = (*newest).max(*as_of);
                for change in changes {
                    self.take_in(provider, *as_of, change);
                    match change {
                        Change::Forgotten { effect } => drop(self.noted.sightings.remove(effect)),
                        seen => drop(self.noted.sightings.insert(seen.effect(), at)),
                    }
                }
            }
            Event::ListFailed { provider, fault, at } => {
                self.failing.insert(provider.clone(), fault.clone());
                if is_unreachable(fault.code) {
                    self.unreachable.entry(provider.clone()).or_insert(*at);
                } else {
                    self.unreachable.remove(provider);
                }
            }
            Event::OutageBegan { provider, since, .. } => {
                self.out.insert(provider.clone(), *since);
            }
            Event::ListRecovered { provider, at: time } => {
                self.failing.remove(provider);
                self.unreachable.remove(provider);
                if self.out.remove(provider).is_some() {
                    self.back.insert(provider.clone(), *time);
                    self.noted.back.insert(provider.clone(), at);
                }
            }
            Event::Issued {
                order:
                    Order::Machine {
                        command:
                            machine::Command::RemoveStray { instance, .. }
                            | machine::Command::RemoveReturned { instance, .. },
                        ..
                    },
                ..
            } => {
                if let Some(unclaimed) = self.unclaimed_mut(instance.effect) {
                    unclaimed.told = true;
                }
            }
            Event::Withheld { machine, why } => {
                self.has_answered(machine);
                if let Withholding::Asking { provider } = why {
                    self.questions.entry(provider.clone()).or_default().insert(machine.clone());
                }
                self.withheld.insert(machine.clone(), why.clone());
                self.noted.withheld.insert(machine.clone(), at);
            }
            Event::Released { machine } => {
                self.has_answered(machine);
                self.found.remove(machine);
                self.withheld.remove(machine);
                self.noted.withheld.remove(machine);
            }
            Event::Found { as_of, machines, .. } => {
                let found = |effect: &EffectId| Found { effect: *effect, as_of: *as_of, noted: at };
                self.found.extend(machines.iter().map(|(machine, effect)| (machine.clone(), found(effect))));
            }
            Event::ZonesListed { provider, zones } => {
                self.zones.insert(provider.clone(), zones.clone());
                self.noted.zones.insert(provider.clone(), at);
            }
            // Other orders are a matter of the view, which sees their answers too.
            Event::Issued { .. } => (),
        }
    }
}

impl State {
    /// Whether a list of this provider is older than what was seen of it already.
    pub fn is_too_old(&self, provider: &Name, as_of: Timestamp) -> bool {
        self.observed.get(provider).is_some_and(|newest| as_of < *newest)
    }

    /// Whether something is learnt from it that a provider could not be asked for this reason.
    pub fn learns_from(&self, provider: &Name, code: FaultCode, now: Timestamp, rules: &Outage) -> bool {
        self.failing.get(provider).is_none_or(|known| known.code != code) || self.is_over(provider, code, now, rules)
    }

    /// Whether a provider that cannot be reached now could not be for so long that it counts as out.
    pub(super) fn is_over(&self, provider: &Name, code: FaultCode, now: Timestamp, rules: &Outage) -> bool {
        let is_long = |since: &Timestamp| rules.after_ms != 0 && rules.after_ms < now.since(*since);
        is_unreachable(code) && !self.out.contains_key(provider) && self.unreachable.get(provider).is_some_and(is_long)
    }

    /// How soon a provider that could not be asked is asked again, if that is sooner than otherwise; none if that says
    /// nothing more.
    pub fn asks_again_ms(&self, provider: &Name, policy: &Document) -> Option<u64> {
        let rules = &policy.reconciliation.outage;
        let is_open = rules.after_ms != 0 && !self.out.contains_key(provider);
        (is_open && rules.check_ms < policy.machines.poll_ms).then_some(rules.check_ms)
    }

    /// Nobody waits any more for what a provider says about a machine's instance.
    fn has_answered(&mut self, machine: &Name) {
        let Some(Withholding::Asking { provider }) = self.withheld.get(machine) else { return };
        if let Some(asked) = self.questions.get_mut(provider) {
            asked.remove(machine);
            if asked.is_empty() {
                self.questions.remove(provider);
            }
        }
    }

    fn unclaimed_mut(&mut self, effect: EffectId) -> Option<&mut Unclaimed> {
        self.sightings.get_mut(&effect)?.unclaimed.as_mut()
    }

    fn saw_unclaimed(&mut self, effect: EffectId, as_of: Timestamp, was_deleted: bool) {
        let Some(sighting) = self.sightings.get_mut(&effect) else { return };
        let first = Unclaimed { since: as_of, last: as_of, times: 1, told: false, was_deleted };
        let seen = sighting.unclaimed.map_or(first, |known| known.seen_again(as_of));
        sighting.unclaimed = Some(Unclaimed { was_deleted, ..seen });
    }

    fn take_in(&mut self, provider: &Name, as_of: Timestamp, change: &Change) {
        match change {
            Change::Appeared { instance } => {
                let sighting = Sighting {
                    provider: provider.clone(),
                    machine: instance.machine.clone(),
                    status: instance.status.into(),
                    instance: Some(instance.clone()),
                    unclaimed: None,
                };
                self.sightings.insert(instance.effect, sighting);
            }
            Change::StatusChanged { effect, status } => {
                if let Some(sighting) = self.sightings.get_mut(effect) {
                    sighting.status = (*status).into();
                }
            }
            Change::Vanished { effect, machine } => {
                let instance = self.sightings.get(effect).and_then(|known| known.instance.clone());
                let (provider, machine, status) = (provider.clone(), machine.clone(), SightingStatus::Gone);
                let gone = Sighting { provider, machine, status, instance, unclaimed: None };
                self.sightings.insert(*effect, gone);
            }
            Change::Forgotten { effect } => {
                self.sightings.remove(effect);
            }
            Change::Unclaimed { effect } => self.saw_unclaimed(*effect, as_of, false),
            Change::Returned { effect } => self.saw_unclaimed(*effect, as_of, true),
            Change::Claimed { effect } => {
                if let Some(sighting) = self.sightings.get_mut(effect) {
                    sighting.unclaimed = None;
                }
            }
        }
    }
}

/// Whether a provider that answers so, or does not, cannot be reached.
fn is_unreachable(code: FaultCode) -> bool {
    matches!(code, FaultCode::Unavailable | FaultCode::DeadlineExceeded)
}

impl From<InstanceStatus> for SightingStatus {
    fn from(status: InstanceStatus) -> Self {
        match status {
            InstanceStatus::Running => Self::Running,
            InstanceStatus::Stopped => Self::Stopped,
        }
    }
}
