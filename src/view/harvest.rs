//! What would become of instances that nobody knows, under the policy in force or under another mode.

use bailiwick_actors::{
    contract::Decider,
    machine, policy,
    supervisor::machines::{
        Sighting, SightingStatus,
        harvest::{Outlook, outlook},
    },
    vocab::{EffectId, HarvestMode, Timestamp, sort_by},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::Serialize;

use super::Fleet;
use crate::words::{count, due};

/// One instance that no machine claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unknown {
    /// What its provider calls it.
    pub instance: Option<String>,
    /// The id that it was made under.
    pub effect: String,
    /// The machine whose name it bears.
    pub machine: String,
    pub provider: String,
    pub running: bool,
    /// In how many complete lists it was noted as unknown.
    pub sightings: u32,
    pub unknown_since: Option<String>,
    /// `stop`, `wait`, `spare` or `kept`.
    pub verdict: &'static str,
    pub why: String,
    /// When it could be stopped at the earliest, if that waits for the grace period.
    pub not_before_ms: Option<u64>,
}

/// The dry run of a harvest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DryRun {
    pub mode: HarvestMode,
    /// Whether that mode is in force, or only asked about.
    pub in_force: bool,
    pub sightings_min: u32,
    pub grace_ms: u64,
    /// By provider and id.
    pub unknown: Vec<Unknown>,
}

/// What a harvest would do with everything that was seen last.
pub fn harvest(fleet: &Fleet, mode: Option<HarvestMode>) -> DryRun {
    let in_force = fleet.policy().harvest;
    let rule = policy::Harvest { mode: mode.unwrap_or(in_force.mode), ..in_force };
    let mut unknown: Vec<Unknown> = fleet
        .seen
        .sightings
        .iter()
        .filter(|(_, sighting)| sighting.status != SightingStatus::Gone)
        .filter_map(|(effect, sighting)| row(fleet, *effect, sighting, &rule))
        .collect();
    sort_by(&mut unknown, |a, b| (&a.provider, &a.instance, &a.effect).cmp(&(&b.provider, &b.instance, &b.effect)));
    DryRun {
        mode: rule.mode,
        in_force: rule.mode == in_force.mode,
        sightings_min: rule.sightings_min,
        grace_ms: rule.grace_ms,
        unknown,
    }
}

/// The instances whose deletion their provider has confirmed and that it lists all the same: which machine's, what becomes of
/// each, and since when.
pub(super) fn still_listed(fleet: &Fleet) -> impl Iterator<Item = (Unknown, Timestamp)> {
    let rule = fleet.policy().harvest;
    let listed = fleet.seen.sightings.iter().filter(|(_, sighting)| sighting.status != SightingStatus::Gone);
    listed.filter_map(move |(effect, sighting)| {
        let unclaimed = sighting.unclaimed.filter(|unclaimed| unclaimed.was_deleted)?;
        Some((row(fleet, *effect, sighting, &rule)?, unclaimed.since))
    })
}

fn row(fleet: &Fleet, effect: EffectId, sighting: &Sighting, rule: &policy::Harvest) -> Option<Unknown> {
    let stream = StreamId::new(machine::State::KIND, sighting.machine.as_str()).expect("names are checked");
    let state = fleet.machines.get(stream.name());
    let is_kept = state.is_some_and(|state| state.kept.contains(&effect));
    if !is_kept && state.is_some_and(|state| state.claims(fleet.journal, &stream).contains(&effect)) {
        return None;
    }
    let mut not_before_ms = None;
    let (verdict, why) = match (&sighting.unclaimed, is_kept) {
        (_, true) => ("kept", format!("an operator disowned it from machine/{}", sighting.machine)),
        (None, _) => ("wait", "it was not yet seen as unknown in a complete list".to_owned()),
        (Some(unclaimed), _) => match outlook(unclaimed, rule) {
            Outlook::Due if unclaimed.was_deleted => {
                ("stop", format!("machine/{} had it deleted, but its provider still lists it", sighting.machine))
            }
            Outlook::Due => ("stop", "it is unknown, was seen often enough, and its grace period is over".into()),
            Outlook::Sightings { more } => {
                ("wait", format!("it must be seen in {}", count(more as usize, "more complete list")))
            }
            Outlook::Grace { until } if until <= fleet.time => {
                ("wait", "its grace period is over; the next complete list decides".into())
            }
            Outlook::Grace { until } => {
                not_before_ms = Some(until.0);
                ("wait", format!("its grace period ends {}", due(fleet.time, until)))
            }
            Outlook::Spared => ("spare", format!("mode {} leaves unknown instances alone", rule.mode)),
            Outlook::Told => ("stop", format!("machine/{} was ordered to delete it", sighting.machine)),
        },
    };
    Some(Unknown {
        instance: sighting.instance.as_ref().map(|instance| instance.instance.to_string()),
        effect: effect.to_string(),
        machine: sighting.machine.to_string(),
        provider: sighting.provider.to_string(),
        running: sighting.status == SightingStatus::Running,
        sightings: sighting.unclaimed.map_or(0, |unclaimed| unclaimed.times),
        unknown_since: sighting.unclaimed.map(|unclaimed| Timestamp(unclaimed.since.0).to_string()),
        verdict,
        why,
        not_before_ms,
    })
}
