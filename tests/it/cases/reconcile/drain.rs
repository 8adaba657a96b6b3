//! Drains, on virtual time.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    machine::drain::{
        Answer, Budget, Command, Effect, How, Outcome, Plan, Pod, PodOwner, Report, State, decide, own_volumes,
    },
    vocab::Timestamp,
};
use serde_json::{Value, json};

use super::{
    given::{self, Given},
    policy, read,
};

/// The original is watched for so long.
const LIMIT_S: u64 = 2000;

/// Lengths are given about, within this.
const ABOUT_S: u64 = 5;

/// A drain that takes more steps moves on the spot.
const STEPS_MAX: usize = 100_000;

const BEGIN: Timestamp = Timestamp(1_000_000);

fn budget_of(budget: &given::Budget) -> Budget {
    Budget {
        pods_expected: budget.expected,
        pods_healthy: budget.healthy,
        evictions_allowed: budget.allowed,
        generation: budget.generation,
        generation_seen: budget.observed_generation,
    }
}

fn pods(given: &Given) -> Result<Vec<Pod>, String> {
    let pod = |pod: &given::Pod| {
        let owner = match (pod.mirror, pod.owner.as_str()) {
            (true, _) => PodOwner::Mirror,
            (false, "DaemonSet") => PodOwner::Daemon,
            (false, "ReplicaSet") => PodOwner::Other,
            (false, "") => PodOwner::Nobody,
            (false, other) => return Err(format!("there is no owner {other:?}")),
        };
        let priority = if given.params.no_priority { 0 } else { pod.priority };
        let volumes = pod.pvs.clone();
        Ok(Pod { name: pod.name.clone(), priority, owner, grace_ms: pod.grace_s * 1000, volumes })
    };
    given.pods.iter().map(pod).collect()
}

pub(super) fn budget(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let budget = given.pdbs.first().ok_or("it gives no budget")?;
    expect.same("misconfigured", budget_of(budget).is_misconfigured())?;
    expect.done()
}

pub(super) fn shared(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let own = own_volumes(&pods(&given)?);
    let Some(Value::Object(mut expected)) = expect.take("volumes") else {
        return Err("it expects no volumes".to_owned());
    };
    for (pod, own) in own {
        let expected = expected.remove(&pod).unwrap_or_default();
        super::expect::differ(&pod, &super::expect::sorted(&expected), &super::expect::sorted(&json!(own)))?;
    }
    super::expect::differ("volumes", &json!({}), &json!(expected))?;
    expect.done()
}

/// A node with its pods.
struct Sim<'a> {
    given: &'a Given,
    now: Timestamp,
    /// What will be reported, and when.
    coming: BTreeMap<(Timestamp, usize), Report>,
    told: BTreeSet<(String, How, u32)>,
    gone_at: BTreeMap<String, Timestamp>,
    is_cordoned: bool,
    evictions: BTreeMap<String, u32>,
    deletions: BTreeMap<String, u32>,
    volume_pods: Vec<String>,
}

impl Sim<'_> {
    fn will(&mut self, after_s: u64, report: Report) {
        let place = self.coming.len() + self.told.len() * 100;
        self.coming.insert((self.now.after(after_s * 1000), place), report);
    }

    fn perform(&mut self, effect: &Effect) -> Result<Option<Report>, String> {
        Ok(match effect {
            Effect::Cordon => Some(self.cordon()),
            Effect::List => Some(Report::Pods(pods(self.given)?)),
            Effect::Tell { pod, how, attempt, .. } => {
                if !self.told.insert((pod.clone(), *how, *attempt)) {
                    return Ok(None);
                }
                Some(Report::Told { pod: pod.clone(), how: *how, answer: self.tell(pod, *how)? })
            }
            Effect::WakeAt(_) => None,
        })
    }

    fn cordon(&mut self) -> Report {
        self.is_cordoned = self.given.params.cordon_error.is_none();
        if self.is_cordoned { Report::Cordoned } else { Report::CordonFailed }
    }

    fn tell(&mut self, name: &str, how: How) -> Result<Answer, String> {
        let pod = self.given.pods.iter().find(|pod| pod.name == name).ok_or("there is no such pod")?;
        let (tries, word) = match how {
            How::Evict => (self.evictions.entry(name.to_owned()).or_default(), "evict"),
            How::Delete => (self.deletions.entry(name.to_owned()).or_default(), "delete"),
        };
        *tries += 1;
        let tries = *tries;
        let entry = format!("{word} {name}");
        if !pod.pvs.is_empty() && !self.volume_pods.contains(&entry) {
            self.volume_pods.push(entry);
        }
        let refused = || {
            let budget = self.given.pdbs.iter().find(|budget| budget.pod == name);
            Answer::Refused(budget.map(budget_of))
        };
        let answer = match how {
            How::Evict if pod.evict_ok_after_tries.is_some_and(|after| tries <= after) => refused(),
            How::Evict => match pod.evict.as_deref() {
                None => Answer::Accepted,
                Some("429") => refused(),
                Some("404") => Answer::Gone,
                Some(_) => Answer::Failed,
            },
            How::Delete if pod.delete.is_some() => Answer::Failed,
            How::Delete => Answer::Accepted,
        };
        if answer == Answer::Accepted {
            self.leaves(pod);
        }
        Ok(answer)
    }

    fn leaves(&mut self, pod: &given::Pod) {
        if let Some(after_s) = pod.gone_after_s {
            self.gone_at.insert(pod.name.clone(), self.now.after(after_s * 1000));
            self.will(after_s, Report::PodGone { pod: pod.name.clone() });
        }
        for volume in &pod.pvs {
            if let Some(after_s) = pod.detach_after_s {
                self.will(after_s, Report::VolumeLeft { volume: volume.clone() });
            }
            if let Some(after_s) = pod.reattach_after_s.filter(|_| self.given.params.attachment_events) {
                self.will(after_s, Report::VolumeArrived { volume: volume.clone() });
            }
        }
    }

    /// Goes on to the next moment at which something happens; answers what is told to the drain.
    fn next(&mut self, state: &State) -> Option<Command> {
        let wake = state.pending().into_iter().find_map(|effect| match effect {
            Effect::WakeAt(at) => Some(at),
            _ => None,
        });
        let coming = self.coming.keys().next().copied();
        match (coming, wake) {
            (Some((at, place)), wake) if wake.is_none_or(|wake| at <= wake) => {
                self.now = self.now.max(at);
                self.coming.remove(&(at, place)).map(Command::Report)
            }
            (_, Some(wake)) => {
                self.now = self.now.max(wake);
                Some(Command::Wake)
            }
            (_, None) => None,
        }
    }
}

fn plan(given: &Given) -> Plan {
    let (params, policy) = (&given.params, policy(given));
    let ms = |seconds: Option<u64>, absent_s: u64| seconds.unwrap_or(absent_s) * 1000;
    Plan {
        is_forced: params.force,
        can_evict: !params.no_eviction_api,
        sees_volumes_arrive: params.attachment_events,
        evictions_max: params.max_evict_retries.unwrap_or(360),
        timeout_ms: ms(params.drain_timeout_s, 7200),
        volume_detach_ms: ms(params.pv_detach_timeout_s, 120),
        volume_reattach_ms: ms(params.pv_reattach_timeout_s, 90),
        ..Plan::new(&policy, BEGIN)
    }
}

pub(super) fn drain(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut sim = Sim {
        given: &given,
        now: BEGIN,
        coming: BTreeMap::new(),
        told: BTreeSet::new(),
        gone_at: BTreeMap::new(),
        is_cordoned: false,
        evictions: BTreeMap::new(),
        deletions: BTreeMap::new(),
        volume_pods: Vec::new(),
    };
    let is_node_there = given.params.node_gone_after_s != Some(0);
    if let Some(after_s) = given.params.node_gone_after_s {
        sim.will(after_s, Report::NodeGone);
    }
    let state = run(&mut sim, &Command::Begin { plan: Box::new(plan(&given)), needs_cordon: is_node_there })?;
    let outcome = state.outcome().ok_or("the drain hangs")?;
    match expect.take("error") {
        Some(expected) if expected == "timed_out" => {
            super::expect::differ("timed out", &json!(true), &json!(matches!(outcome, Outcome::TimedOut { .. })))?;
        }
        Some(expected) => {
            super::expect::differ("error", &json!(!expected.is_null()), &json!(*outcome != Outcome::Done))?;
        }
        None => (),
    }
    expect.same("cordoned", sim.is_cordoned)?;
    expect.same("evict_tries", json!(sim.evictions))?;
    expect.same("delete_tries", json!(sim.deletions))?;
    expect.same("volume_pod_order", json!(sim.volume_pods))?;
    let is_left = |pod: &&given::Pod| sim.gone_at.get(&pod.name).is_none_or(|at| *at > sim.now);
    let left: Vec<&str> = given.pods.iter().filter(is_left).map(|pod| pod.name.as_str()).collect();
    expect.same("pods_left", json!(left))?;
    if let Some(about_s) = expect.take("elapsed_s_about").as_ref().and_then(Value::as_u64) {
        let elapsed_s = sim.now.since(BEGIN) / 1000;
        if elapsed_s.abs_diff(about_s) > ABOUT_S {
            return Err(format!("elapsed_s_about: expected {about_s}, got {elapsed_s}"));
        }
    }
    expect.returned()?;
    expect.done()
}

fn run(sim: &mut Sim<'_>, begin: &Command) -> Result<State, String> {
    let mut state = State::default();
    let mut command = Some(begin.clone());
    let mut steps = 0;
    while let Some(next) = command.filter(|_| steps < STEPS_MAX) {
        steps += 1;
        for event in decide(&state, &next, sim.now) {
            state.evolve(&event);
        }
        if state.outcome().is_some() || sim.now.since(BEGIN) > LIMIT_S * 1000 {
            break;
        }
        let mut answer = None;
        for effect in state.pending() {
            answer = sim.perform(&effect)?;
            if answer.is_some() {
                break;
            }
        }
        command = match answer {
            Some(report) => Some(Command::Report(report)),
            None => sim.next(&state),
        };
    }
    Ok(state)
}
