//! Spreading over zones.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    machine::provisioning::{Blame, Command, Phase, Policy, StartFault},
    supervisor::machines::zones::{Wish, Zones},
    vocab::{InstanceId, Life, MachineId, Zone},
};
use serde::Deserialize;
use serde_json::Value;

use super::{super::read, machine_id, same, starts::Driven};

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
    group: Option<BTreeSet<MachineId>>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedZones {
    zones_tried: Vec<Option<String>>,
    result: String,
    zone: Option<String>,
    kind: Option<String>,
}

pub(super) fn zones(case: &Value) -> Result<(), String> {
    let case: ZonesCase = read(case)?;
    let mut table = BTreeMap::new();
    for (zone, machines) in &case.zones {
        let machines = machines.iter().map(|id| machine_id(id)).collect::<Result<BTreeSet<_>, _>>()?;
        table.insert(Zone(zone.clone()), machines);
    }
    let mut zones = Zones::new(table);
    let mut got = BTreeMap::new();
    for wanted in &case.machines {
        got.insert(wanted.id.clone(), start_in_zones(wanted, case.retry_count, &mut zones)?);
    }
    same("machines", case.expect, got)?;
    let name = |(zone, machines): (&Zone, &BTreeSet<MachineId>)| {
        (zone.to_string(), machines.iter().map(ToString::to_string).collect())
    };
    same("population_after", case.population_after, zones.machines().iter().map(name).collect())
}

fn start_in_zones(wanted: &ZoneMachine, retries_max: u32, zones: &mut Zones) -> Result<ExpectedZones, String> {
    let id = machine_id(&wanted.id)?;
    let mut machine = Driven::new(Policy { retries_max, retry_delay_ms: 0, ..Policy::juju_4_0() });
    let mut outcomes = wanted.outcomes.iter();
    let mut tried = Vec::new();
    machine.tell(&Command::SeeLife(Life::Alive));
    loop {
        let command = match machine.state.phase.clone() {
            Phase::RequestingZone => {
                let (constraint, derived, group) =
                    (wanted.zones.as_ref(), wanted.derived.as_ref(), wanted.group.as_ref());
                match zones.choose(&Wish { machine: &id, constraint, derived, group }) {
                    Ok(choice) => {
                        zones.place(&id, &choice);
                        Command::GrantZone { zone: choice.zone, round_is_new: choice.round_is_new }
                    }
                    Err(_) => Command::RefuseZone,
                }
            }
            Phase::Provisioning { zone } => {
                tried.push(zone.as_ref().map(ToString::to_string));
                match outcomes.next().map_or("ok", String::as_str).split_once(':') {
                    None => Command::ReportStarted { instance: InstanceId(format!("i-{id}")) },
                    Some(("err", text)) => {
                        let blame = if text == "zone_independent" { Blame::Anything } else { Blame::Zone };
                        match &zone {
                            Some(zone) if blame == Blame::Zone => zones.blame(&id, zone),
                            _ => zones.leave(&id),
                        }
                        Command::ReportStartFailed(StartFault { may_pass: true, blame, text: text.into() })
                    }
                    Some(other) => return Err(format!("the runner does not know the outcome {other:?}")),
                }
            }
            Phase::Registering { .. } => Command::ReportRecorded,
            Phase::Pending { .. } => Command::Wake,
            Phase::Running => {
                let zone = tried.last().cloned().flatten();
                return Ok(ExpectedZones { zones_tried: tried, result: "started".into(), zone, kind: None });
            }
            _ => {
                zones.forget(&id);
                let kind = machine.state.trouble.as_ref().map(|trouble| trouble.problem.code().to_owned());
                return Ok(ExpectedZones { zones_tried: tried, result: "error".into(), zone: None, kind });
            }
        };
        machine.tell(&command);
    }
}
