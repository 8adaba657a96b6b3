//! Drains, in virtual time: a pod is a workload of one machine, and a budget that of an application with other machines.
//!
//! The agent is told what a node tells it; a workload ends, and its volumes leave, as long after that as the case says.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick::actors::{
    document::{Application, Content},
    machine::{Command, Event, Eviction, Removal, Spec, State, TurnOutcome, Workload},
    ports::{Condition, Healthy},
    supervisor::machines::waits_for_eviction,
    testing::name,
    vocab::{Life, Name, Timestamp},
};
use bailiwick::journal::StreamId;
use serde_json::{Map, Value, json};

use super::{
    super::{
        expect::{Expect, differ, sorted},
        given::{Given, Pod},
    },
    Living, read, words,
};

const MACHINE: &str = "m";

/// The original is watched for so long.
const LIMIT_S: u64 = 2000;

/// A drain of a case that takes more steps moves on the spot.
const STEPS_MAX: usize = 1_000;

/// Lengths are given about, within this.
const ABOUT_S: u64 = 5;

/// The original waits so long for volumes to arrive elsewhere, if a case says nothing else.
const ARRIVAL_S: u64 = 90;

pub(in super::super) fn drain(case: &Value) -> Result<(), String> {
    let (given, expect) = read(case)?;
    let mut drain = Drain::of(&given)?;
    drain.begins();
    drain.runs()?;
    drain.compare(expect)
}

pub(in super::super) fn drain_pdb(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut drain = Drain::of(&given)?;
    drain.begins();
    let Some(Eviction::Refused { budget, .. }) = drain.state()?.eviction() else {
        return Err(format!("nobody refuses: {:?}", drain.state()?.eviction()));
    };
    expect.same("misconfigured", budget.is_hopeless())?;
    expect.done()
}

pub(in super::super) fn drain_shared(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut drain = Drain::of(&given)?;
    drain.begins();
    let planned = drain.happened().into_iter().find_map(|event| match event {
        Event::TurnsPlanned { turns } => Some(turns),
        _ => None,
    });
    let expected = expect.take("volumes").ok_or("it expects no volumes")?;
    let turns = planned.ok_or("its workloads do not end one after the other")?;
    differ("workloads", &json!(expected.as_object().map_or(0, Map::len)), &json!(turns.len()))?;
    for turn in turns {
        let own = sorted(&json!(turn.volumes));
        differ(turn.workload.as_str(), &sorted(&expected[turn.workload.as_str()]), &own)?;
    }
    expect.done()
}

/// A machine whose workloads are to end.
struct Drain<'a> {
    given: &'a Given,
    living: Living,
    began: Timestamp,
    /// Which workloads were told to end, and when; in the order in which it was said.
    told: Vec<(&'a Pod, Timestamp)>,
    /// What held the budget is well.
    has_recovered: bool,
}

impl<'a> Drain<'a> {
    fn of(given: &'a Given) -> Result<Self, String> {
        let mut living = Living::under(given);
        living.desk.revise(document(given));
        let workload = |pod: &Pod| Workload {
            name: name(&pod.name),
            command: vec!["w".into()],
            env: [].into(),
            volumes: pod.pvs.iter().map(|volume| name(volume)).collect(),
        };
        let mut pods: Vec<&Pod> = given.pods.iter().collect();
        pods.sort_by_key(|pod| std::cmp::Reverse(pod.priority));
        let mut workloads: Vec<Workload> = pods.into_iter().map(workload).collect();
        if workloads.is_empty() && !given.pdbs.is_empty() {
            workloads =
                vec![Workload { name: name("w"), command: vec!["w".into()], env: [].into(), volumes: [].into() }];
        }
        let volumes: BTreeSet<Name> = workloads.iter().flat_map(|workload| workload.volumes.clone()).collect();
        living.runs(MACHINE, Spec { workloads, ..Spec::with_provider(name("desk")) });
        living.declare_shop(given);
        for volume in volumes {
            living.desk.machine(MACHINE, Command::ReserveAttachment { volume });
        }
        living.supervise();
        let began = living.desk.now;
        Ok(Self { given, living, began, told: Vec::new(), has_recovered: false })
    }

    fn begins(&mut self) {
        self.living.before = self.living.journal.entries().len();
        self.began = self.living.desk.now;
        let removal = Removal { force: self.given.params.force, ..Removal::default() };
        self.living.desk.machine(MACHINE, Command::RemoveWith(removal));
        self.living.supervise();
    }

    fn state(&self) -> Result<&State, String> {
        self.living.desk.machine_state(MACHINE).ok_or_else(|| "nobody knows this machine".to_owned())
    }

    fn happened(&self) -> Vec<Event> {
        self.living.happened_to(&stream())
    }

    /// Goes on until the drain is over, or somebody has to act before it can go on.
    fn runs(&mut self) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            self.agent_acts()?;
            if !self.state()?.is_draining() || self.is_stuck()? {
                return Ok(());
            }
            let next = self.next().ok_or("nobody waits for anything")?;
            self.living.desk.now = next;
            if LIMIT_S * 1000 < next.since(self.began) {
                return Err("the drain hangs".to_owned());
            }
            for (due, _) in self.due().into_iter().filter(|(due, _)| *due <= next) {
                self.living.desk.wake(&stream(), due);
            }
            self.living.supervise();
        }
        Err("the drain moves on the spot".to_owned())
    }

    fn is_stuck(&self) -> Result<bool, String> {
        let eviction = self.state()?.eviction();
        Ok(matches!(eviction, Some(Eviction::Refused { budget, .. }) if budget.is_hopeless()))
    }

    fn due(&self) -> Vec<(Timestamp, StreamId)> {
        self.living.desk.due().into_iter().filter(|(_, of)| *of == stream()).collect()
    }

    /// The next moment at which something happens.
    fn next(&self) -> Option<Timestamp> {
        let now = self.living.desk.now;
        let moments = self.told.iter().flat_map(|(pod, at)| [left_at(pod, *at), detached_at(pod, *at)]);
        let due = self.due().into_iter().map(|(due, _)| due);
        moments.flatten().filter(|at| now < *at).chain(due).min().map(|at| at.max(now))
    }

    /// The agent ends what it is told to end, and says what has ended; volumes leave; others become well.
    fn agent_acts(&mut self) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            let before = self.living.journal.entries().len();
            self.take_in()?;
            let (state, running) = (self.state()?, self.running());
            let report = state.running_effect().and_then(|effect| state.drain_report(effect, &running));
            if let Some(report) = report {
                self.living.desk.agent_says(MACHINE, |_| report);
            }
            self.volumes_leave()?;
            self.others_recover();
            self.living.supervise();
            if self.living.journal.entries().len() == before {
                return Ok(());
            }
        }
        Err("the agent moves on the spot".to_owned())
    }

    fn take_in(&mut self) -> Result<(), String> {
        let documents = &self.living.desk.machines_view().documents;
        let state = self.state()?;
        if !state.is_draining() || waits_for_eviction(state, documents) {
            return Ok(());
        }
        let (goes_on, now) = (state.going_on(), self.living.desk.now);
        let is_told = |pod: &Pod| self.told.iter().any(|(told, _)| told.name == pod.name);
        let ends = |pod: &&Pod| !goes_on.contains(&name(&pod.name)) && !is_told(pod);
        let told: Vec<(&Pod, Timestamp)> = self.given.pods.iter().filter(ends).map(|pod| (pod, now)).collect();
        self.told.extend(told);
        Ok(())
    }

    fn running(&self) -> BTreeSet<Name> {
        let now = self.living.desk.now;
        let has_left = |pod: &Pod| {
            let told = self.told.iter().find(|(told, _)| told.name == pod.name);
            told.and_then(|(pod, at)| left_at(pod, *at)).is_some_and(|left| left <= now)
        };
        self.given.pods.iter().filter(|pod| !has_left(pod)).map(|pod| name(&pod.name)).collect()
    }

    fn volumes_leave(&mut self) -> Result<(), String> {
        let now = self.living.desk.now;
        let have_left = |(pod, at): &&(&Pod, Timestamp)| detached_at(pod, *at).is_some_and(|left| left <= now);
        let left: Vec<Name> =
            self.told.iter().filter(have_left).flat_map(|(pod, _)| &pod.pvs).map(|it| name(it)).collect();
        for volume in left {
            let state = self.state()?;
            let Some(effect) = state.running_effect().filter(|_| state.awaits_detachment_of(&volume)) else { continue };
            self.living.desk.machine(MACHINE, Command::NoteDetached { effect, volume });
        }
        Ok(())
    }

    /// What holds the budget becomes well after so many refusals.
    fn others_recover(&mut self) {
        let refusals = self.asked() as u64;
        let after = self.given.pods.iter().find_map(|pod| pod.evict_ok_after_tries);
        if !self.has_recovered && after.is_some_and(|after| u64::from(after) == refusals) {
            self.has_recovered = true;
            self.living.desk.report_conditions("m-1", words::all_well());
        }
    }

    /// How often the application's budget was asked.
    fn asked(&self) -> usize {
        let is_answer = |event: &&Event| {
            matches!(event, Event::EvictionRefused { .. } | Event::EvictionAllowed { is_forced: false, .. })
        };
        self.happened().iter().filter(is_answer).count()
    }

    /// Whether somebody stayed who was to leave.
    fn has_failed(&self) -> Result<bool, String> {
        use bailiwick::actors::machine::DrainOutcome::TimedOut;
        let stayed = |event: &Event| match event {
            Event::TurnEnded { outcome, .. } => *outcome != TurnOutcome::Done,
            Event::DrainEnded { outcome } => *outcome == TimedOut,
            _ => false,
        };
        Ok(self.is_stuck()? || self.happened().iter().any(stayed))
    }

    fn compare(&self, mut expect: Expect) -> Result<(), String> {
        expect.error("error", self.has_failed()?)?;
        // Whoever goes takes nothing new.
        expect.same("cordoned", matches!(self.state()?.life, Life::Dying | Life::Dead | Life::Removed))?;
        let running = self.running();
        let (told, asked) = (!self.told.is_empty(), self.asked());
        let mut tries: BTreeMap<&str, usize> =
            self.told.iter().map(|(pod, _)| (pod.name.as_str(), asked.max(1))).collect();
        if !told && 0 < asked {
            tries.extend(self.given.pods.iter().map(|pod| (pod.name.as_str(), asked)));
        }
        expect.same("evict_tries", json!(tries))?;
        // What was told nothing ends with the instance.
        let goes = !self.state()?.is_draining();
        let ends_with_it: Vec<&Pod> =
            self.given.pods.iter().filter(|pod| goes && !tries.contains_key(pod.name.as_str())).collect();
        let deleted: BTreeMap<&str, u32> = ends_with_it.iter().map(|pod| (pod.name.as_str(), 1)).collect();
        expect.same("delete_tries", json!(deleted))?;
        let left: Vec<&str> = self.given.pods.iter().map(|pod| pod.name.as_str()).collect();
        let left: Vec<&str> = left.into_iter().filter(|pod| running.contains(&name(pod))).collect();
        expect.same("pods_left", json!(left))?;
        let told = self.told.iter().map(|(pod, _)| (*pod, "evict"));
        let order = told.chain(ends_with_it.into_iter().map(|pod| (pod, "delete")));
        let order: Vec<String> =
            order.filter(|(pod, _)| !pod.pvs.is_empty()).map(|(pod, word)| format!("{word} {}", pod.name)).collect();
        expect.same("volume_pod_order", json!(order))?;
        self.compare_length(&mut expect)?;
        expect.returned()?;
        expect.done()
    }

    /// Nobody here waits for volumes to arrive elsewhere: what the original does of that is taken off.
    fn compare_length(&self, expect: &mut Expect) -> Result<(), String> {
        let Some(about_s) = expect.take("elapsed_s_about").as_ref().and_then(Value::as_u64) else { return Ok(()) };
        let params = &self.given.params;
        let longest_s = params.pv_reattach_timeout_s.unwrap_or(ARRIVAL_S);
        let arrival_s = |pod: &Pod| match pod.reattach_after_s {
            Some(after_s) if params.attachment_events => after_s.min(longest_s),
            _ => longest_s,
        };
        let arrivals = self.given.pods.iter().filter(|pod| pod.detach_after_s.is_some());
        let about_s = about_s.saturating_sub(arrivals.map(arrival_s).sum());
        let elapsed_s = self.living.desk.now.since(self.began) / 1000;
        if ABOUT_S < elapsed_s.abs_diff(about_s) {
            return Err(format!("elapsed_s_about: expected {about_s}, got {elapsed_s}"));
        }
        Ok(())
    }
}

impl Living {
    /// The application whose budget a case is about: the machine, and as many others as the budget expects.
    fn declare_shop(&mut self, given: &Given) {
        let is_refused = |pod: &Pod| pod.evict.as_deref() == Some("429") || pod.evict_ok_after_tries.is_some();
        let (expected, healthy, needed) = match given.pdbs.first() {
            Some(budget) => (budget.expected, budget.healthy, budget.healthy.saturating_sub(budget.allowed)),
            None if given.pods.iter().any(is_refused) => (2, 1, 1),
            None => return,
        };
        let others: Vec<String> = (1..expected).map(|number| format!("{MACHINE}-{number}")).collect();
        let machines = others.iter().map(|other| name(other)).chain([name(MACHINE)]).collect();
        let says = Application { machines, min_available: Some(needed), ..Application::default() };
        self.desk.declare_document("shop", Content::Application(says));
        self.desk.machine(MACHINE, Command::Assign { application: name("shop") });
        for (number, other) in (1..).zip(&others) {
            self.runs(other, Spec::with_provider(name("desk")));
            if healthy <= number {
                let bad = Condition { kind: "DiskPressure".into(), healthy: Healthy::No, text: String::new() };
                self.desk.report_conditions(other, vec![bad]);
            }
        }
    }

    /// A machine that runs, and is well.
    fn runs(&mut self, machine: &str, spec: Spec) {
        self.desk.machine(machine, Command::Declare(Arc::new(spec)));
        self.desk.settle();
        self.desk.report_conditions(machine, words::all_well());
    }
}

/// The policy of the case, with the settings that it says itself.
fn document(given: &Given) -> bailiwick::actors::policy::Document {
    let (params, mut document) = (&given.params, super::document(given));
    let drain = &mut document.reconciliation.drain;
    drain.evictions_max = params.max_evict_retries.unwrap_or(drain.evictions_max);
    drain.timeout_ms = params.drain_timeout_s.map_or(drain.timeout_ms, |seconds| seconds * 1000);
    drain.volume_detach_ms = params.pv_detach_timeout_s.map_or(drain.volume_detach_ms, |seconds| seconds * 1000);
    document
}

fn stream() -> StreamId {
    "machine/m".parse().expect("a stream")
}

fn left_at(pod: &Pod, told: Timestamp) -> Option<Timestamp> {
    pod.gone_after_s.map(|after_s| told.after(after_s * 1000))
}

fn detached_at(pod: &Pod, told: Timestamp) -> Option<Timestamp> {
    pod.detach_after_s.map(|after_s| told.after(after_s * 1000))
}
