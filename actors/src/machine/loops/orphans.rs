//! One search for instances that belong to no machine: list what the provider has of a class, remove what nobody knows,
//! come again. Each class is searched on its own, so that the trouble of one is nobody else's.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{KnownMachine, Sightings, search};
use crate::{
    machine::reconcile::{CallError, Outcome, Retry},
    policy::Reconciliation,
    vocab::Timestamp,
};

/// The search of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What seemed to be orphans so far.
    pub sightings: Sightings,
    pub stage: Stage,
    /// When the next search is due.
    pub next: Option<(Retry, Timestamp)>,
}

/// Where a search stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    #[default]
    Idle,
    /// The provider is asked; these machines were known before it was.
    Listing { machines: BTreeMap<String, KnownMachine> },
    /// These are being removed: the machine's name on each, by provider id.
    Removing { left: BTreeMap<String, String> },
}

/// A command to a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Search, knowing these machines: all of them, as of now.
    Begin {
        machines: BTreeMap<String, KnownMachine>,
    },
    /// All that the provider has of the class: the machine's name on each, by provider id.
    ReportListed(Result<BTreeMap<String, String>, CallError>),
    ReportRemoved {
        provider_id: String,
        result: Result<(), CallError>,
    },
}

/// One thing that happened in a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Begun {
        machines: BTreeMap<String, KnownMachine>,
    },
    /// These are removed; the rest is remembered.
    Searched {
        remove: BTreeMap<String, String>,
        sightings: Sightings,
    },
    Removed {
        provider_id: String,
    },
    /// It is found again in the next search.
    NotRemoved {
        provider_id: String,
        error: CallError,
    },
    /// Nothing is known of what the provider has.
    NotListed {
        error: CallError,
    },
    Ended {
        outcome: Outcome,
        retry: Retry,
        next: Timestamp,
    },
}

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// List everything that the provider has of the class.
    ListMachines,
    /// Remove this instance.
    DeleteMachine { provider_id: String, machine: String },
    /// Search again then.
    SearchAt { until: Timestamp, retry: Retry },
}

/// What should happen. None: the report is about something that is over.
pub fn decide(state: &State, command: &Command, policy: &Reconciliation, now: Timestamp) -> Vec<Event> {
    let mut events = match (&state.stage, command) {
        (Stage::Idle, Command::Begin { machines }) => vec![Event::Begun { machines: machines.clone() }],
        (Stage::Listing { .. }, Command::ReportListed(Err(error))) => vec![Event::NotListed { error: error.clone() }],
        (Stage::Listing { machines }, Command::ReportListed(Ok(instances))) => {
            let found = search(instances, machines, &state.sightings, &policy.orphans, now);
            vec![Event::Searched { remove: found.remove, sightings: found.sightings }]
        }
        (Stage::Removing { left }, Command::ReportRemoved { provider_id, result })
            if left.contains_key(provider_id) =>
        {
            let provider_id = provider_id.clone();
            vec![match result {
                Ok(()) => Event::Removed { provider_id },
                Err(error) => Event::NotRemoved { provider_id, error: error.clone() },
            }]
        }
        _ => return Vec::new(),
    };
    let mut after = state.clone();
    events.iter().for_each(|event| after.evolve(event));
    let is_over = match &after.stage {
        Stage::Idle | Stage::Listing { .. } => false,
        Stage::Removing { left } => left.is_empty(),
    };
    let outcome = match events[..] {
        [Event::NotListed { .. }] => Some(Outcome::Failed),
        _ => is_over.then_some(Outcome::Settled),
    };
    let next = now.after(Retry::Long.ms(policy));
    events.extend(outcome.map(|outcome| Event::Ended { outcome, retry: Retry::Long, next }));
    events
}

impl State {
    /// Takes one event into account.
    pub fn evolve(&mut self, event: &Event) {
        match event {
            Event::Begun { machines } => {
                self.stage = Stage::Listing { machines: machines.clone() };
                self.next = None;
            }
            Event::Searched { remove, sightings } => {
                self.stage = Stage::Removing { left: remove.clone() };
                self.sightings = sightings.clone();
            }
            Event::Removed { provider_id } | Event::NotRemoved { provider_id, .. } => {
                if let Stage::Removing { left } = &mut self.stage {
                    left.remove(provider_id);
                }
            }
            Event::NotListed { .. } => (),
            Event::Ended { retry, next, .. } => {
                self.stage = Stage::Idle;
                self.next = Some((*retry, *next));
            }
        }
    }

    /// What is owed; asked after every step and every restart.
    pub fn pending(&self) -> BTreeSet<Effect> {
        let next = self.next.map(|(retry, until)| Effect::SearchAt { until, retry });
        let calls: Vec<Effect> = match &self.stage {
            Stage::Idle => Vec::new(),
            Stage::Listing { .. } => vec![Effect::ListMachines],
            Stage::Removing { left } => {
                let remove = |(provider_id, machine): (&String, &String)| Effect::DeleteMachine {
                    provider_id: provider_id.clone(),
                    machine: machine.clone(),
                };
                left.iter().map(remove).collect()
            }
        };
        calls.into_iter().chain(next).collect()
    }
}
