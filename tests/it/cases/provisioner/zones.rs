//! Spreading over zones: whom the machines supervisor sends where, and what becomes of who fails there.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    ports::Operation,
    testing::{Answer, Asked},
    vocab::{FaultCode, Zone},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        lab::{Lab, Making, fails, making},
        read,
    },
    policy, same,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZonesCase {
    zones: BTreeMap<String, BTreeSet<String>>,
    retry_count: u32,
    machines: Vec<ZoneMachine>,
    expect: BTreeMap<String, ExpectedZones>,
    population_after: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneMachine {
    id: String,
    #[serde(default)]
    outcomes: Vec<String>,
    zones: Option<BTreeSet<Zone>>,
    derived: Option<BTreeSet<Zone>>,
    group: Option<BTreeSet<String>>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedZones {
    zones_tried: Vec<Option<String>>,
    result: String,
    zone: Option<String>,
    kind: Option<String>,
}

/// The reasons to give up that the original tells apart.
const KINDS: [(&str, &str); 2] = [("no-zone-allowed", "no_suitable_zone"), ("retries-exhausted", "start_failed")];

/// The label by which machines are kept apart.
const APART: &str = "apart";

pub(super) fn zones(case: &Value) -> Result<(), String> {
    let case: ZonesCase = read(case)?;
    let mut lab = Lab::new(policy(case.retry_count, 0));
    lab.desk.provider.zones = case.zones.keys().map(|zone| Zone(zone.clone())).collect();
    let groups: Vec<&BTreeSet<String>> = case.machines.iter().filter_map(|machine| machine.group.as_ref()).collect();
    for (zone, ids) in &case.zones {
        for id in ids {
            let group = groups.iter().position(|group| group.contains(id));
            lab.declare(id, |spec| {
                spec.placement = None;
                spec.constraints.zones = [Zone(zone.clone())].into();
                keep_apart(spec, group.map_or_else(|| id.clone(), |group| format!("group-{group}")));
            });
        }
    }
    lab.desk.list();
    lab.run_attempts();
    let mut got = BTreeMap::new();
    let mut number = 0..;
    for wanted in &case.machines {
        let group = wanted.group.as_ref().and_then(|_| number.next());
        got.insert(wanted.id.clone(), start(&mut lab, wanted, group)?);
    }
    same("machines", case.expect, got)?;
    let all: BTreeSet<&String> = case.zones.values().flatten().chain(case.machines.iter().map(|one| &one.id)).collect();
    let of = |zone: &String| {
        let is_there = |id: &&&String| {
            making(&lab.state(id)) == Making::Started && lab.state(id).zone() == Some(Zone(zone.clone()))
        };
        all.iter().filter(is_there).map(|id| (*id).clone()).collect::<BTreeSet<String>>()
    };
    same("population_after", case.population_after, case.zones.keys().map(|zone| (zone.clone(), of(zone))).collect())
}

fn keep_apart(spec: &mut bailiwick::actors::machine::Spec, group: String) {
    spec.spread = Some(APART.into());
    spec.labels.insert(APART.into(), group);
}

/// One machine is made, or is not.
fn start(lab: &mut Lab, wanted: &ZoneMachine, group: Option<usize>) -> Result<ExpectedZones, String> {
    let allowed = allowed(wanted, &lab.desk.provider.zones);
    let outcomes = wanted.outcomes.iter().map(|outcome| answer(outcome)).collect::<Result<Vec<_>, _>>()?;
    lab.creates(&wanted.id, outcomes);
    lab.declare(&wanted.id, |spec| {
        spec.constraints.zones = allowed;
        if let Some(group) = group {
            keep_apart(spec, format!("group-{group}"));
        }
    });
    lab.desk.list();
    lab.run_attempts();
    let (stream, asked) = (Lab::stream(&wanted.id), Asked::Operation(Operation::CreateMachine));
    let calls = lab.desk.provider.calls.iter();
    let starts = calls.filter(|call| call.asked == asked && call.stream.as_ref() == Some(&stream));
    let zones_tried = starts.map(|call| call.zone.as_ref().map(ToString::to_string)).collect();
    let state = lab.state(&wanted.id);
    let last = lab.entries(&wanted.id).last().map(|entry| entry.header.meta.code.clone()).unwrap_or_default();
    let kind = KINDS.iter().find(|(reason, _)| *reason == last).map(|(_, kind)| (*kind).to_owned());
    Ok(match making(&state) {
        Making::Started => {
            let zone = state.zone().map(|zone| zone.to_string());
            ExpectedZones { zones_tried, result: "started".into(), zone, kind: None }
        }
        _ => ExpectedZones { zones_tried, result: "error".into(), zone: None, kind },
    })
}

/// Where a machine may be: what it asks for, and what follows from its placement, subnets and volumes. One of which nothing
/// is asked may be anywhere.
fn allowed(wanted: &ZoneMachine, listed: &BTreeSet<Zone>) -> BTreeSet<Zone> {
    match (&wanted.zones, &wanted.derived) {
        (Some(asked), Some(derived)) => asked & derived,
        (Some(zones), None) | (None, Some(zones)) => zones.clone(),
        (None, None) => listed.clone(),
    }
}

/// Whose fault a failure is, as what a provider answers here.
fn answer(outcome: &str) -> Result<Answer, String> {
    match outcome.split_once(':') {
        None if outcome == "ok" => Ok(Answer::Done),
        Some(("err", "zone_independent")) => Ok(fails(FaultCode::Unauthenticated, "zone_independent")),
        Some(("err", text)) => Ok(fails(FaultCode::Internal, text)),
        _ => Err(format!("the runner does not know the outcome {outcome:?}")),
    }
}
