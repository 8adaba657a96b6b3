//! What stands in the way of a machine's removal.

use bailiwick_actors::{
    contract::Decider,
    machine::{self, Instance},
    member,
    vocab::{Life, Outlook},
    volume_attachment,
};
use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};

use super::{Fleet, replica_sets::planned, rows::attachment_detail};

/// One thing that has to go, or to end, first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// What is blocked.
    pub entity: String,
    /// What blocks it: an entity, or the machine's own instance.
    pub by: String,
    pub why: String,
}

/// What blocks the removal of a machine that was asked to go; nothing for one that was not, or is gone.
pub fn blockers(fleet: &Fleet, entity: &StreamId) -> Vec<Blocker> {
    let state = match fleet.machines.get(entity.name()) {
        Some(state) if entity.kind() == machine::State::KIND => state,
        _ => return Vec::new(),
    };
    let blocker = |by: String, why: String| Blocker { entity: entity.to_string(), by, why };
    match state.life {
        Life::Dying => {
            let attachment = |volume: &bailiwick_actors::vocab::Name| {
                let name = format!("{}:{volume}", entity.name());
                let status = fleet.attachments.get(&name).map_or("reserved", volume_attachment::State::status);
                let detail = fleet.attachments.get(&name).and_then(|state| attachment_detail(fleet, &name, state));
                let why =
                    detail.map_or_else(|| format!("it is {status}"), |detail| format!("it is {status}: {detail}"));
                blocker(format!("volume-attachment/{name}"), why)
            };
            let drain = state.drain.as_ref().filter(|drain| drain.outcome.is_none()).map(|drain| {
                let why = format!("they were told to end at {}, and are waited for until {}", drain.since, drain.until);
                blocker(format!("the workloads of {entity}"), why)
            });
            let engaged = state.engaged.iter().map(|set| {
                let name = format!("{set}:{}", entity.name());
                let status = fleet.members.get(&name).map_or("not known", member::State::status);
                let held = fleet.replica_sets.get(set.as_str()).and_then(|of| planned(fleet, set.as_str(), of).held);
                let why = held.map_or_else(String::new, |held| format!(", and the set does nothing: {held}"));
                blocker(format!("member/{name}"), format!("it is {status}{why}"))
            });
            drain.into_iter().chain(engaged).chain(state.attachments.iter().map(attachment)).collect()
        }
        Life::Dead => match &state.instance {
            Instance::Deleting { effort, .. } => {
                let why = match &effort.outlook {
                    Outlook::Trying => format!("its provider is asked to delete it, attempt {}", effort.attempt),
                    Outlook::Waiting { until, fault } => format!("{fault}; attempt {} at {until}", effort.attempt),
                    Outlook::GivenUp { fault } => format!("given up after attempt {}: {fault}", effort.attempt),
                };
                vec![blocker(format!("the instance of {entity}"), why)]
            }
            _ => Vec::new(),
        },
        Life::Undeclared | Life::Alive | Life::Removed => Vec::new(),
    }
}
