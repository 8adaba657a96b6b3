//! Drains, in virtual time: a pod is a workload of one machine, and a budget that of an application with other machines.
//!
//! The agent is told what a node tells it; a workload ends, and its volumes leave, as long after that as the case says.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick::actors::{
    document::{Application, Content},
    machine::{Command, Event, Removal, Spec, State, Turn, TurnOutcome, TurnStep, Workload},
    ports::{Condition, Healthy},
    supervisor::machines::going_on,
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
    let refused = drain.turns()?.iter().find_map(|turn| match &turn.step {
        TurnStep::Refused { budget, .. } => Some(budget.is_hopeless()),
        _ => None,
    });
    expect.same("misconfigured", refused.ok_or("nobody refuses")?)?;
    expect.done()
}

pub(in super::super) fn drain_shared(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut drain = Drain::of(&given)?;
    drain.begins();
    let expected = expect.take("volumes").ok_or("it expects no volumes")?;
    let turns = drain.turns()?;
    differ("workloads", &json!(expected.as_object().map_or(0, Map::len)), &json!(turns.len()))?;
    for turn in turns {
        let workload = turn.plan.workload.as_str();
        differ(workload, &sorted(&expected[workload]), &sorted(&json!(turn.plan.volumes)))?;
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
        // Only who has a budget is of the application that has one.
        let workload = |pod: &Pod| Workload {
            volumes: pod.pvs.iter().map(|volume| name(volume)).collect(),
            priority: pod.priority,
            grace_ms: Some(pod.grace_s * 1000),
            application: Some(name(if has_budget(given, pod) { "shop" } else { "rest" })),
            ..Workload::new(name(&pod.name), vec!["w".into()])
        };
        let mut workloads: Vec<Workload> = given.pods.iter().map(workload).collect();
        if workloads.is_empty() && !given.pdbs.is_empty() {
            workloads = vec![Workload::new(name("w"), vec!["w".into()])];
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

    fn turns(&self) -> Result<&[Turn], String> {
        Ok(&self.state()?.turns().ok_or("it is not drained")?.all)
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

    /// Whether nothing of it moves before somebody changes a budget.
    fn is_stuck(&self) -> Result<bool, String> {
        let Some(turns) = self.state()?.turns() else { return Ok(false) };
        let is_hopeless = |step: &TurnStep| matches!(step, TurnStep::Refused { budget, .. } if budget.is_hopeless());
        let mut steps = turns.all.iter().map(|turn| &turn.step);
        Ok(steps.clone().any(is_hopeless) && steps.all(|step| is_hopeless(step) || *step == TurnStep::Over))
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
            let goes_on = going_on(state, &self.living.desk.machines_view().documents);
            let report = state.running_effect().and_then(|effect| state.drain_report(effect, &running, &goes_on));
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
        if !state.is_draining() {
            return Ok(());
        }
        let (goes_on, now) = (going_on(state, documents), self.living.desk.now);
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
        let refusals = self.asked().len();
        let after = self.given.pods.iter().find_map(|pod| pod.evict_ok_after_tries);
        if !self.has_recovered && after.is_some_and(|after| after as usize == refusals) {
            self.has_recovered = true;
            self.living.desk.report_conditions("m-1", words::all_well());
        }
    }

    /// The workloads whose end was asked for, once for each time.
    fn asked(&self) -> Vec<Name> {
        let asked = |event: Event| match event {
            Event::EvictionRefused { workload, .. } | Event::TurnBegan { workload, is_forced: false, .. } => {
                Some(workload)
            }
            _ => None,
        };
        self.happened().into_iter().filter_map(asked).collect()
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
        let asked = self.asked();
        // Where nobody has to be asked, telling is asking.
        let mut tries: BTreeMap<&str, usize> = self.told.iter().map(|(pod, _)| (pod.name.as_str(), 1)).collect();
        let times = |workload: &Name| asked.iter().filter(|other| *other == workload).count();
        tries.extend(asked.iter().map(|workload| (workload.as_str(), times(workload))));
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
        let first = asked.iter().enumerate().filter(|(at, workload)| !asked[..*at].contains(workload));
        let told = first.filter_map(|(_, workload)| Some((self.pod(workload)?, "evict")));
        let order = told.chain(ends_with_it.into_iter().map(|pod| (pod, "delete")));
        let order: Vec<String> =
            order.filter(|(pod, _)| !pod.pvs.is_empty()).map(|(pod, word)| format!("{word} {}", pod.name)).collect();
        expect.same("volume_pod_order", json!(order))?;
        self.compare_length(&mut expect)?;
        expect.returned()?;
        expect.done()
    }

    fn pod(&self, workload: &Name) -> Option<&'a Pod> {
        self.given.pods.iter().find(|pod| pod.name == workload.as_str())
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
        let (expected, healthy, needed) = match given.pdbs.first() {
            Some(budget) => (budget.expected, budget.healthy, budget.healthy.saturating_sub(budget.allowed)),
            None if given.pods.iter().any(|pod| has_budget(given, pod)) => (2, 1, 1),
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

fn has_budget(given: &Given, pod: &Pod) -> bool {
    let is_refused = pod.evict.as_deref() == Some("429") || pod.evict_ok_after_tries.is_some();
    is_refused || given.pdbs.iter().any(|budget| budget.pod == pod.name)
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
