//! The cases about the machine provisioner: classes, harvest, passes, starts and their retries, zones, parameters.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    machine::provisioning::{
        self, Blame, Command, Effect, Event, Phase, Policy, StartFault, State, TaskState, WorkerState,
    },
    supervisor::machines::{
        HarvestMode,
        classify::{AgentStatus, Class, HasInstance, Known, classify},
        pass::{Claim, LoadFault, Loaded, Parked, PassFault, Provisioner, Seen, worth_retrying},
        start_volumes::{Attachment, ExistingVolume, NewVolume, check_existing, check_new},
        zones::{Wish, Zones},
    },
    vocab::{InstanceId, Life, MachineId, Timestamp, Zone},
};
use serde::Deserialize;
use serde_json::Value;

use super::{Group, Plan, by_top_level_key, read};

/// Groups are top-level keys; two tables have rows without names.
pub(super) fn groups(file: &Value) -> Vec<Group> {
    by_top_level_key(file)
}

pub(super) fn plan(group: &str) -> Option<Plan> {
    Some(Plan::Run(match group {
        "classify" => class,
        "harvest_modes" => harvest_mode,
        "harvest_mode_names" => harvest_mode_name,
        "passes" => passes,
        "start_retry" => start_retry,
        "zones" => zones,
        "transient_retry" => transient_retry,
        "batch_isolation" => batch_isolation,
        "start_volume_params" => start_volume_params,
        "state_machine_task" => task_states,
        "state_machine_worker" => worker_states,
        "worker_sequences" => worker_sequence,
        _ => return None,
    }))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, got: T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

fn life(text: &str) -> Result<Life, String> {
    match text {
        "alive" => Ok(Life::Alive),
        "dying" => Ok(Life::Dying),
        "dead" => Ok(Life::Dead),
        _ => Err(format!("the runner does not know the life {text:?}")),
    }
}

fn machine_id(text: &str) -> Result<MachineId, String> {
    text.parse().map_err(|error| format!("{error}"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassCase {
    machine_id: String,
    life: String,
    instance_id: String,
    status: String,
    instance_status: Option<String>,
    ensure_dead: Option<String>,
    expect: ExpectedClass,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedClass {
    class: String,
    ensure_dead_called: bool,
    error: Option<String>,
}

fn class(case: &Value) -> Result<(), String> {
    let case: ClassCase = read(case)?;
    let machine = machine_id(&case.machine_id)?;
    let known = Known {
        machine: &machine,
        life: life(&case.life)?,
        instance: match case.instance_id.as_str() {
            "present" => HasInstance::Yes,
            "not_provisioned" => HasInstance::NotProvisioned,
            other => HasInstance::Unknown(other.trim_start_matches("error:").to_owned()),
        },
        status: match case.status.as_str() {
            "pending" => AgentStatus::Pending,
            status if status.starts_with("error:") => AgentStatus::Unreadable,
            _ => AgentStatus::Other,
        },
        is_being_provisioned: case.instance_status.as_deref() == Some("provisioning"),
    };
    let got = match classify(known) {
        Err(code) => ExpectedClass { class: "None".into(), ensure_dead_called: false, error: Some(code) },
        Ok(classified) => {
            let failed = case.ensure_dead.filter(|_| classified.ensure_dead);
            let error = failed.map(|error| error.trim_start_matches("error:").to_owned());
            // What cannot be made dead is left alone.
            let class = if error.is_some() { Class::None } else { classified.class };
            ExpectedClass { class: format!("{class:?}"), ensure_dead_called: classified.ensure_dead, error }
        }
    };
    same("class", case.expect, got)
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ModeRow {
    mode: String,
    stops_dead_machines_instances: bool,
    stops_unknown_instances: bool,
    removes_dead_machines: bool,
}

fn mode(text: &str) -> Result<HarvestMode, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn harvest_mode(case: &Value) -> Result<(), String> {
    let case: ModeRow = read(case)?;
    let found = mode(&case.mode)?;
    let got = ModeRow {
        mode: found.to_string(),
        stops_dead_machines_instances: found.stops_dead(),
        stops_unknown_instances: found.stops_unknown(),
        removes_dead_machines: found.removes_dead_machines(),
    };
    same("row", case, got)
}

fn harvest_mode_name(case: &Value) -> Result<(), String> {
    let (text, expected): (String, String) = read(case)?;
    same("mode", expected, text.parse::<HarvestMode>().map_or_else(|_| "error".into(), |mode| mode.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassesCase {
    mode: String,
    machines: BTreeMap<String, Value>,
    cloud: BTreeSet<String>,
    #[serde(default)]
    broker_list_error: bool,
    #[serde(default)]
    stop_error: bool,
    passes: Vec<PassElement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassElement {
    set: Option<PassSet>,
    ids: Option<BTreeSet<String>>,
    mode: Option<String>,
    #[serde(rename = "note")]
    _note: Option<String>,
    expect: ExpectedPass,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassSet {
    #[serde(default)]
    machines: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedPass {
    stopped: Vec<String>,
    removed: Vec<String>,
    started: Vec<String>,
    maintained: Vec<String>,
    error: Option<String>,
    stop_call: Option<Vec<String>>,
}

/// The record of a machine in the store.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Record {
    life: Option<String>,
    instance: Option<String>,
    load_error: bool,
    instance_error: Option<String>,
    remove_error: bool,
    keep_instance: bool,
}

/// The world around the provisioner: a store and a cloud.
struct PassWorld {
    machines: BTreeMap<MachineId, Record>,
    cloud: BTreeSet<InstanceId>,
    list_fails: bool,
    stop_fails: bool,
    provisioner: Provisioner,
}

fn passes(case: &Value) -> Result<(), String> {
    let case: PassesCase = read(case)?;
    let mut records = case.machines;
    let mut world = PassWorld {
        machines: BTreeMap::new(),
        cloud: case.cloud.into_iter().map(InstanceId).collect(),
        list_fails: case.broker_list_error,
        stop_fails: case.stop_error,
        provisioner: Provisioner::new(mode(&case.mode)?),
    };
    world.load(&records)?;
    for (number, element) in case.passes.into_iter().enumerate() {
        if let Some(set) = element.set {
            for (id, fields) in set.machines {
                match fields {
                    Value::Null => drop((records.remove(&id), world.machines.remove(&machine_id(&id)?))),
                    fields => {
                        let id = machine_id(&id)?;
                        let record = world.machines.entry(id).or_default();
                        let new: Record = read(&fields)?;
                        merge(record, new, &fields);
                    }
                }
            }
        }
        let got = match (element.ids, element.mode) {
            (Some(ids), None) => {
                let ids: BTreeSet<MachineId> = ids.iter().map(|id| machine_id(id)).collect::<Result<_, _>>()?;
                world.pass(&ids)
            }
            (None, Some(text)) if world.provisioner.set_mode(mode(&text)?) => world.pass(&BTreeSet::new()),
            (None, Some(_)) => ExpectedPass::default(),
            _ => return Err(format!("element {number} has neither ids nor a mode, or both")),
        };
        same(&format!("element {number}"), element.expect, got)?;
    }
    Ok(())
}

/// Takes over the fields that are named.
fn merge(record: &mut Record, new: Record, fields: &Value) {
    for name in fields.as_object().into_iter().flat_map(|fields| fields.keys()) {
        match name.as_str() {
            "life" => record.life.clone_from(&new.life),
            "instance" => record.instance.clone_from(&new.instance),
            "load_error" => record.load_error = new.load_error,
            "instance_error" => record.instance_error.clone_from(&new.instance_error),
            "remove_error" => record.remove_error = new.remove_error,
            _ => record.keep_instance = new.keep_instance,
        }
    }
}

impl PassWorld {
    fn load(&mut self, records: &BTreeMap<String, Value>) -> Result<(), String> {
        for (id, fields) in records {
            self.machines.insert(machine_id(id)?, read(fields)?);
        }
        Ok(())
    }

    fn loaded(&self, machine: &MachineId) -> Result<Loaded, LoadFault> {
        let record = self.machines.get(machine).ok_or(LoadFault::Gone)?;
        if record.load_error {
            return Err(LoadFault::Unreadable);
        }
        Ok(Loaded {
            life: life(record.life.as_deref().unwrap_or("alive")).map_err(|_| LoadFault::Unreadable)?,
            status: AgentStatus::Pending,
            is_being_provisioned: false,
            keep_instance: record.keep_instance,
        })
    }

    fn claim(&self, machine: &MachineId) -> Claim {
        let Some(record) = self.machines.get(machine) else { return Claim::Gone("not_found".into()) };
        match (&record.instance_error, &record.instance) {
            (Some(code), _) if matches!(code.as_str(), "not_found" | "unauthorized") => Claim::Gone(code.clone()),
            (Some(code), _) => Claim::Unreadable(code.clone()),
            (None, Some(instance)) => Claim::Instance(InstanceId(instance.clone())),
            (None, None) => Claim::NotProvisioned,
        }
    }

    fn pass(&mut self, ids: &BTreeSet<MachineId>) -> ExpectedPass {
        let asked = ids | self.provisioner.known();
        let seen = Seen {
            instances: (!self.list_fails).then(|| self.cloud.clone()),
            changed: ids.iter().map(|id| (id.clone(), self.loaded(id))).collect(),
            claims: asked.iter().map(|id| (id.clone(), self.claim(id))).collect(),
        };
        let mut got = ExpectedPass::default();
        let pass = match self.provisioner.pass(&seen) {
            Ok(pass) => pass,
            Err(fault) => {
                got.error = Some(match fault {
                    PassFault::List => "broker_list".into(),
                    PassFault::Load { .. } => "machine_load".into(),
                    PassFault::Claim { code, .. } => format!("unknown_scan:{code}"),
                });
                return got;
            }
        };
        let stop: Vec<String> = pass.stop.iter().map(ToString::to_string).collect();
        if !stop.is_empty() {
            got.stop_call = Some(stop.clone());
            if self.stop_fails {
                got.error = Some("stop".into());
                return got;
            }
            self.cloud.retain(|instance| !pass.stop.contains(instance));
            got.stopped = stop;
        }
        for machine in &pass.remove {
            if !self.machines.get(machine).is_some_and(|record| record.remove_error) {
                self.machines.remove(machine);
                got.removed.push(machine.to_string());
            }
        }
        self.provisioner.removed(&pass.remove);
        got.maintained = pass.maintain.iter().map(ToString::to_string).collect();
        for machine in pass.start {
            let instance = InstanceId(format!("i-{machine}"));
            if let Some(record) = self.machines.get_mut(&machine) {
                record.instance = Some(instance.to_string());
            }
            self.cloud.insert(instance);
            got.started.push(machine.to_string());
        }
        got
    }
}

/// One machine that is driven by the answers that a case has in store.
struct Driven {
    state: State,
    policy: Policy,
    now: Timestamp,
    entered: Vec<WorkerState>,
    slots: (usize, usize),
}

impl Driven {
    fn new(policy: Policy) -> Self {
        Self { state: State::default(), policy, now: Timestamp(0), entered: Vec::new(), slots: (0, 0) }
    }

    fn tell(&mut self, command: &Command) {
        for event in provisioning::decide(&self.state, command, &self.policy, self.now) {
            let held = self.state.phase.holds_slot();
            provisioning::evolve(&mut self.state, &event);
            if let Event::Entered { phase } = &event {
                self.entered.push(phase.worker());
            }
            match (held, self.state.phase.holds_slot()) {
                (false, true) => self.slots.0 += 1,
                (true, false) => self.slots.1 += 1,
                _ => (),
            }
        }
    }

    fn owes(&self, effect: &Effect) -> bool {
        provisioning::pending(&self.state).contains(effect)
    }

    /// When the next attempt is due, if it waits for that.
    fn due(&self) -> Option<Timestamp> {
        provisioning::pending(&self.state).into_iter().find_map(|effect| match effect {
            Effect::WakeAt(due) => Some(due),
            _ => None,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartRetryCase {
    retry_count: u32,
    retry_delay: u64,
    outcomes: Vec<String>,
    #[serde(default = "ok")]
    record: String,
    #[serde(default = "ok")]
    stop: String,
    worker_stops_at: Option<u64>,
    expect: ExpectedStart,
}

fn ok() -> String {
    "ok".into()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedStart {
    start_calls_at: Vec<u64>,
    status: String,
    message: String,
    instance_recorded: bool,
    #[serde(default)]
    stop_calls: Vec<String>,
    #[serde(default)]
    orphan_journaled: bool,
}

fn started(outcome: &str, id: &str) -> Result<Command, String> {
    let failed = |may_pass, text: &str| {
        Ok(Command::ReportStartFailed(StartFault { may_pass, blame: Blame::Anything, text: text.into() }))
    };
    match outcome.split_once(':') {
        None if outcome == "ok" => Ok(Command::ReportStarted { instance: InstanceId(format!("i-{id}")) }),
        Some(("retryable", text)) => failed(true, text),
        Some(("fatal", text)) => failed(false, text),
        _ => Err(format!("the runner does not know the outcome {outcome:?}")),
    }
}

fn start_retry(case: &Value) -> Result<(), String> {
    let case: StartRetryCase = read(case)?;
    let policy =
        Policy { retries_max: case.retry_count, retry_delay_ms: case.retry_delay * 1_000, ..Policy::juju_2016() };
    let mut machine = Driven::new(policy);
    let mut outcomes = case.outcomes.iter();
    let mut got = ExpectedStart {
        start_calls_at: Vec::new(),
        status: String::new(),
        message: String::new(),
        instance_recorded: false,
        stop_calls: Vec::new(),
        orphan_journaled: false,
    };
    let error = |text: &str| text.strip_prefix("error:").map(str::to_owned);
    machine.tell(&Command::SeeLife(Life::Alive));
    loop {
        let command = match machine.state.phase.clone() {
            Phase::RequestingZone => Command::GrantZone { zone: None, round_is_new: false },
            Phase::Provisioning { .. } => {
                got.start_calls_at.push(machine.now.0 / 1_000);
                started(outcomes.next().ok_or("more starts than outcomes")?, "1")?
            }
            Phase::Registering { .. } => match error(&case.record) {
                None => Command::ReportRecorded,
                Some(text) => Command::ReportRecordFailed { text },
            },
            Phase::RollingBack { instance } => {
                got.stop_calls.push(instance.to_string());
                match error(&case.stop) {
                    None => Command::ReportStopped { instance },
                    Some(text) => Command::ReportStopFailed { instance, text },
                }
            }
            Phase::Pending { .. } => match machine.due() {
                Some(due) if case.worker_stops_at.is_none_or(|stop| due.0 < stop * 1_000) => {
                    machine.now = due;
                    Command::Wake
                }
                _ => break,
            },
            _ => break,
        };
        machine.tell(&command);
    }
    got.status = machine.state.status().into();
    let trouble = machine.state.trouble.as_ref().filter(|_| got.status == "error");
    got.message = trouble.map(|trouble| trouble.problem.text().to_owned()).unwrap_or_default();
    got.instance_recorded = machine.state.instance.is_some();
    got.orphan_journaled = !machine.state.orphans.is_empty();
    same("start", case.expect, got)
}

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

fn zones(case: &Value) -> Result<(), String> {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransientCase {
    api: String,
    machines: Vec<TransientMachine>,
    expect: ExpectedTransient,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransientMachine {
    id: String,
    status: String,
    #[serde(default)]
    transient: bool,
    instance: Option<String>,
    #[serde(default = "alive")]
    life: String,
    #[serde(default)]
    result_error: bool,
    #[serde(default)]
    set_status_error: bool,
}

fn alive() -> String {
    "alive".into()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedTransient {
    reset_to_pending_and_started: Vec<String>,
}

fn transient_retry(case: &Value) -> Result<(), String> {
    let case: TransientCase = read(case)?;
    let mut parked = Vec::new();
    for machine in case.machines.iter().filter(|machine| case.api == "ok" && !machine.result_error) {
        parked.push(Parked {
            machine: machine_id(&machine.id)?,
            life: life(&machine.life)?,
            is_in_error: machine.status == "error",
            may_pass: machine.transient,
            has_instance: machine.instance.is_some(),
        });
    }
    let refused: BTreeSet<&str> =
        case.machines.iter().filter(|machine| machine.set_status_error).map(|machine| machine.id.as_str()).collect();
    // A machine whose reset cannot be recorded stays as it is; the others do not wait for it.
    let got: Vec<String> = worth_retrying(&parked)
        .iter()
        .map(ToString::to_string)
        .filter(|id| !refused.contains(id.as_str()) && begins_again(id))
        .collect();
    same("reset", case.expect, ExpectedTransient { reset_to_pending_and_started: got })
}

/// A machine that has failed for good starts again when it is told to.
fn begins_again(_: &str) -> bool {
    let mut machine = Driven::new(Policy::juju_2016());
    machine.tell(&Command::SeeLife(Life::Alive));
    machine.tell(&Command::RefuseZone);
    let failed = machine.state.phase == Phase::Error;
    machine.tell(&Command::Retry);
    failed && machine.owes(&Effect::RequestZone)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchCase {
    pending: BTreeSet<String>,
    fails: BTreeMap<String, String>,
    then: Option<String>,
    expect: ExpectedBatch,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedBatch {
    error_status: Option<BTreeSet<String>>,
    started: Option<BTreeSet<String>>,
    machine_2_start_at: Option<u64>,
}

/// What is in store for one machine of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lot {
    Starts,
    Unprepared,
    FailsForGood,
    /// And what has become of it cannot be recorded either.
    FailsForGoodUnrecorded,
    FailsFor30s,
}

fn batch_isolation(case: &Value) -> Result<(), String> {
    let case: BatchCase = read(case)?;
    let policy = Policy { retries_max: 3, retry_delay_ms: 10_000, ..Policy::juju_2016() };
    let mut got = ExpectedBatch { error_status: None, started: None, machine_2_start_at: None };
    let (mut in_error, mut has_started) = (BTreeSet::new(), BTreeSet::new());
    for id in &case.pending {
        let lot = match case.fails.get(id).map(String::as_str) {
            None => Lot::Starts,
            Some("provisioning_info" | "instance_config" | "find_tools" | "start_params" | "distribution_group") => {
                Lot::Unprepared
            }
            Some("start_fatal") => Lot::FailsForGood,
            Some("start_fatal+set_status") => Lot::FailsForGoodUnrecorded,
            Some("start_retryable_for_30s") => Lot::FailsFor30s,
            Some(other) => return Err(format!("the runner does not know the step {other:?}")),
        };
        let mut machine = Driven::new(policy.clone());
        let first_start = run_one(&mut machine, lot);
        match case.then.as_deref() {
            None => (),
            // What it is was written down; a restart reads it and goes on from there.
            Some("restart") => drop(run_one(&mut machine, lot)),
            Some(other) => return Err(format!("the runner does not know what {other:?} is")),
        }
        if machine.state.status() == "error" {
            in_error.insert(id.clone());
        }
        if machine.state.instance.is_some() {
            has_started.insert(id.clone());
        }
        if id == "2" {
            got.machine_2_start_at = first_start;
        }
    }
    got.error_status = case.expect.error_status.is_some().then_some(in_error);
    got.started = case.expect.started.is_some().then_some(has_started);
    got.machine_2_start_at = got.machine_2_start_at.filter(|_| case.expect.machine_2_start_at.is_some());
    same("batch", case.expect, got)
}

/// Runs one machine until it waits for nothing; says when it was started first, in seconds.
fn run_one(machine: &mut Driven, lot: Lot) -> Option<u64> {
    let mut first_start = None;
    machine.tell(&Command::SeeLife(Life::Alive));
    loop {
        let command = match machine.state.phase.clone() {
            Phase::RequestingZone if lot == Lot::Unprepared => Command::ReportUnprepared { text: "no".into() },
            Phase::RequestingZone => Command::GrantZone { zone: None, round_is_new: false },
            Phase::Provisioning { .. } => {
                let now_s = machine.now.0 / 1_000;
                first_start.get_or_insert(now_s);
                let fault = |may_pass| StartFault { may_pass, blame: Blame::Anything, text: "no".into() };
                match lot {
                    // The report cannot be written, so nothing changes: it stands where it stood.
                    Lot::FailsForGoodUnrecorded => return first_start,
                    Lot::FailsForGood => Command::ReportStartFailed(fault(false)),
                    Lot::FailsFor30s if now_s <= 30 => Command::ReportStartFailed(fault(true)),
                    _ => Command::ReportStarted { instance: InstanceId("i".into()) },
                }
            }
            Phase::Registering { .. } => Command::ReportRecorded,
            Phase::Pending { .. } => match machine.due() {
                Some(due) => {
                    machine.now = due;
                    Command::Wake
                }
                None => return first_start,
            },
            _ => return first_start,
        };
        machine.tell(&command);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeParamsCase {
    machine: Option<String>,
    volume: Option<VolumeParam>,
    existing_attachment: Option<ExistingParam>,
    expect: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeParam {
    tag: String,
    attachment: Option<AttachmentParam>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttachmentParam {
    machine: String,
    instance_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExistingParam {
    volume: String,
    volume_id: String,
    machine: String,
    instance_id: String,
}

fn start_volume_params(case: &Value) -> Result<(), String> {
    let case: VolumeParamsCase = read(case)?;
    let machine = case.machine.unwrap_or_default();
    let checked = match (&case.volume, &case.existing_attachment) {
        (Some(volume), None) => {
            let attachment = volume.attachment.as_ref();
            let attachment =
                attachment.map(|found| Attachment { machine: &found.machine, instance_id: &found.instance_id });
            check_new(&NewVolume { tag: &volume.tag, attachment }, &machine)
        }
        (None, Some(found)) => {
            let attachment = Attachment { machine: &found.machine, instance_id: &found.instance_id };
            let volume = ExistingVolume { tag: &found.volume, volume_id: &found.volume_id, attachment };
            check_existing(&volume, &machine)
        }
        _ => return Err("one of volume and existing_attachment is to be there".into()),
    };
    same("check", case.expect.as_str(), checked.err().map_or("ok", |fault| fault.code()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    start: String,
    terminal: BTreeSet<String>,
    allowed: BTreeSet<(String, String)>,
    #[serde(default)]
    illegal: BTreeSet<(String, String)>,
    same_state_is_a_no_op: Option<bool>,
}

fn task_states(case: &Value) -> Result<(), String> {
    let table: Table = read(case)?;
    let name = TaskState::as_str;
    same("start", table.start.as_str(), name(State::default().task()))?;
    let terminal = TaskState::ALL.into_iter().filter(|state| state.is_terminal());
    same("terminal", table.terminal, terminal.map(|state| name(state).to_owned()).collect())?;
    let mut pairs = BTreeSet::new();
    for from in TaskState::ALL {
        for to in TaskState::ALL {
            let is_same = from == to;
            if is_same {
                same(name(from), table.same_state_is_a_no_op.unwrap_or(false), from.may_become(to))?;
            } else if from.may_become(to) {
                pairs.insert((name(from).to_owned(), name(to).to_owned()));
            }
        }
    }
    same("illegal pairs that are allowed", BTreeSet::new(), &table.illegal & &pairs)?;
    same("allowed", table.allowed, pairs)
}

fn worker_states(case: &Value) -> Result<(), String> {
    let table: Table = read(case)?;
    let name = WorkerState::as_str;
    same("start", table.start.as_str(), name(State::default().phase.worker()))?;
    let terminal = WorkerState::ALL.into_iter().filter(|state| state.is_terminal());
    same("terminal", table.terminal, terminal.map(|state| name(state).to_owned()).collect())?;
    let pairs = WorkerState::ALL.into_iter().flat_map(|from| {
        let next = WorkerState::ALL.into_iter().filter(move |to| from.may_become(*to));
        next.map(move |to| (name(from).to_owned(), name(to).to_owned()))
    });
    same("allowed", table.allowed, pairs.collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceCase {
    #[serde(default)]
    given: SequenceGiven,
    max_retries: Option<u32>,
    events: Vec<String>,
    states: Vec<String>,
    starts: Option<usize>,
    stops: Option<usize>,
    removed: Option<bool>,
    status: Option<String>,
    slots_acquired: Option<usize>,
    slots_released: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceGiven {
    instance: Option<String>,
    #[serde(default)]
    keep_instance: bool,
}

/// One worker, and what was asked of the world.
struct Sequence {
    machine: Driven,
    /// Answers that are to come as events of their own: a call that one of them answers waits for it.
    to_come: Vec<String>,
    starts: usize,
    stops: usize,
    removed: bool,
}

fn worker_sequence(case: &Value) -> Result<(), String> {
    let case: SequenceCase = read(case)?;
    let retries_max = case.max_retries.unwrap_or(3);
    let mut run = Sequence {
        machine: Driven::new(Policy { retries_max, ..Policy::juju_4_0() }),
        to_come: case.events.clone(),
        starts: 0,
        stops: 0,
        removed: false,
    };
    run.machine.tell(&Command::KeepInstance(case.given.keep_instance));
    if let Some(instance) = &case.given.instance {
        run.machine.tell(&Command::Adopt(InstanceId(instance.clone())));
    }
    for event in &case.events {
        run.to_come.remove(0);
        run.tell(event)?;
        run.answer();
    }
    let states: Vec<String> = run.machine.entered.iter().map(|state| state.as_str().to_owned()).collect();
    same("states", case.states, states)?;
    let check = |what: &str, expected: Option<usize>, got: usize| same(what, expected.unwrap_or(got), got);
    check("starts", case.starts, run.starts)?;
    check("stops", case.stops, run.stops)?;
    check("slots_acquired", case.slots_acquired, run.machine.slots.0)?;
    check("slots_released", case.slots_released, run.machine.slots.1)?;
    same("removed", case.removed.unwrap_or(run.removed), run.removed)?;
    let status = run.machine.state.instance_status().map(str::to_owned);
    same("status", case.status.clone().or_else(|| status.clone()), status)
}

impl Sequence {
    fn tell(&mut self, event: &str) -> Result<(), String> {
        let text = || "as the case says".to_owned();
        let command = match event.split_once(' ') {
            Some(("life", rest)) => Command::SeeLife(life(rest.trim_end_matches(" (while starting)"))?),
            Some(("zone", "failed")) => Command::RefuseZone,
            Some(("zone", zone)) => Command::GrantZone { zone: Some(Zone(zone.into())), round_is_new: false },
            Some(("start", "fails")) => {
                Command::ReportStartFailed(StartFault { may_pass: true, blame: Blame::Anything, text: text() })
            }
            Some(("record", "fails")) => Command::ReportRecordFailed { text: text() },
            None if event == "retry" => {
                self.machine.now = self.machine.due().unwrap_or(self.machine.now);
                Command::Wake
            }
            _ => return Err(format!("the runner does not know the event {event:?}")),
        };
        self.starts += usize::from(matches!(command, Command::ReportStartFailed(_)));
        self.machine.tell(&command);
        Ok(())
    }

    /// Whether the next event is, or comes during, the answer to the call that is under way.
    fn waits_for(&self, answers: &[&str]) -> bool {
        self.to_come.first().is_some_and(|next| answers.contains(&next.as_str()) || next.ends_with("(while starting)"))
    }

    /// Calls that no event answers succeed at once.
    fn answer(&mut self) {
        loop {
            let command = match self.machine.state.phase.clone() {
                Phase::Provisioning { .. } if !self.waits_for(&["start fails"]) => {
                    self.starts += 1;
                    Command::ReportStarted { instance: InstanceId("i-1".into()) }
                }
                Phase::Registering { .. } if !self.waits_for(&["record fails"]) => Command::ReportRecorded,
                Phase::RollingBack { instance } | Phase::Stopping { instance } => {
                    self.stops += 1;
                    Command::ReportStopped { instance }
                }
                Phase::Removing => {
                    self.removed = true;
                    Command::ReportRemoved
                }
                _ => return,
            };
            self.machine.tell(&command);
        }
    }
}
