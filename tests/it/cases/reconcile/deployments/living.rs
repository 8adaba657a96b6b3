//! A deployment that lives: what has happened to it, what it is told, and what its sets shall be then.

use std::collections::BTreeMap;

use bailiwick::actors::{
    contract::{Decider, Facts, NoView},
    machine_deployment::{Command, Condition, Counts, Event, OwnedSet, Size, Spec, State, Strategy, status},
    policy::Document,
    testing::name,
    vocab::Name,
};
use bailiwick_journal::Version;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    super::{expect::differ, given::Given, given::NOW, read},
    deployment, progress_of, set, spec, told_apart, totals,
};

/// `Available=True:MinimumReplicasAvailable`.
pub(super) fn written(condition: Condition) -> String {
    let (kind, truth, reason) = condition.told();
    format!("{kind}={truth}:{reason}")
}

/// What the new set is called, where a pass makes one.
const MADE: &str = "made-here";

/// A deployment, and how many events it has had.
pub(super) struct Living {
    pub(super) state: State,
    version: Version,
}

impl Living {
    /// One with these sets, each with its revision and with what it was scaled for.
    pub(super) fn of(spec: Spec, sets: &[OwnedSet]) -> Self {
        let mut living = Self { state: State::default(), version: Version::ZERO };
        living.happens(Event::Declared { spec });
        for set in sets {
            living.comes_to(set);
        }
        living
    }

    /// The same, which has also told what the case says.
    pub(super) fn with(given: &Given, spec: Spec, sets: &[OwnedSet]) -> Result<Self, String> {
        let mut living = Self::of(spec, sets);
        let deployment = deployment(given)?;
        if let Some(progress) = progress_of(deployment)? {
            living.happens(Event::Progressed { progress });
        }
        if let Some(status) = &deployment.status {
            living.happens(Event::Counted { totals: totals(status) });
        }
        Ok(living)
    }

    pub(super) fn happens(&mut self, event: Event) {
        self.version = self.version.next();
        self.state.evolve(self.version, &event);
    }

    fn comes_to(&mut self, set: &OwnedSet) {
        let OwnedSet { replicas, created, .. } = *set;
        let (set_name, template) = (set.name.clone(), set.template.clone());
        self.happens(Event::Adopted { set: set_name.clone(), template, replicas, created });
        self.happens(Event::Renumbered { set: set_name.clone(), revision: set.revision });
        if let (Some(sized_for), Some(most)) = (set.sized_for, set.most) {
            self.happens(Event::Scaled { set: set_name, replicas, sized_for, most });
        }
    }

    /// It is told how many machines its sets have. What it decides.
    pub(super) fn pass(&mut self, counts: BTreeMap<Name, Counts>) -> Result<Vec<Event>, String> {
        self.ask(Command::Observe { counts, free: name(MADE), again: None })
    }

    /// The set that a pass has made.
    pub(super) fn made(&self) -> Option<&OwnedSet> {
        self.state.sets.get(&name(MADE))
    }

    /// The revision that an undo goes back to; none if there is none to go back to.
    pub(super) fn undone(&mut self) -> Option<u64> {
        let events = self.ask(Command::Undo { revision: None }).ok()?;
        events.iter().find_map(|event| match event {
            Event::RolledBack { revision } => Some(*revision),
            _ => None,
        })
    }

    fn ask(&mut self, command: Command) -> Result<Vec<Event>, String> {
        let (stream, policy) = ("machine-deployment/case".parse().expect("a stream"), Document::default());
        let next = self.version.next();
        let facts = Facts { stream: &stream, next, now: NOW, policy: &policy, view: &NoView, journal: Uuid::nil() };
        let decision = self.state.decide(&command, &facts).map_err(|rejection| rejection.to_string())?;
        decision.events.iter().for_each(|event| self.happens(event.clone()));
        Ok(decision.events)
    }

    /// Its sets, as the cases write them; a new one is called after its template.
    fn sets(&self, has_revisions: bool) -> Value {
        let mut sets = Map::new();
        for set in self.state.sets.values().filter(|set| !set.leaves) {
            let mut row = json!({"replicas": set.replicas});
            if let Some(sized_for) = set.sized_for {
                row["desired_annotation"] = json!(sized_for.to_string());
            }
            if let Some(most) = set.most {
                row["max_annotation"] = json!(most.to_string());
            }
            if has_revisions {
                row["revision"] = json!(set.revision.to_string());
            }
            let version = set.template.labels.get("version").map_or("", String::as_str);
            let called =
                if set.name.as_str() == MADE { format!("(created) class-{version}") } else { set.name.to_string() };
            sets.insert(called, row);
        }
        Value::Object(sets)
    }
}

pub(super) fn counts_of(sets: &[OwnedSet]) -> BTreeMap<Name, Counts> {
    sets.iter().map(|set| (set.name.clone(), set.counts)).collect()
}

/// The case's sets, of which it says which one is new.
pub(super) fn sets_of(given: &Given) -> Vec<OwnedSet> {
    let (new, old) = told_apart(given);
    old.into_iter().chain(new).collect()
}

/// How a set was scaled by events.
pub(super) fn sizes(events: &[Event]) -> Vec<Size> {
    let size = |event: &Event| match event {
        Event::Scaled { set, replicas, .. } => Some(Size { set: set.clone(), replicas: *replicas }),
        _ => None,
    };
    events.iter().filter_map(size).collect()
}

pub(in super::super) fn rolling_step(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let sets = sets_of(&given);
    let mut living = Living::with(&given, spec(deployment(&given)?)?, &sets)?;
    let before = living.state.sets.clone();
    let sizes = sizes(&living.pass(counts_of(&sets))?);
    let moved = |is_it: fn(u32, u32) -> bool| sizes.iter().any(|size| is_it(before[&size.set].replicas, size.replicas));
    expect.same("scaled_up", moved(|before, after| after > before))?;
    expect.same("scaled_down", moved(|before, after| after < before))?;
    expect.error("error_present", false)?;
    expect.same("sets", living.sets(false))?;
    expect.done()
}

pub(in super::super) fn rolling_run(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut sets = sets_of(&given);
    let is_available = given.params.new_available.as_deref() != Some("never");
    let new = given.new_set.as_ref().map(|new| name(&new.name)).ok_or("it gives no new set")?;
    let mut living = Living::with(&given, spec(deployment(&given)?)?, &sets)?;
    let mut steps = Vec::new();
    loop {
        for set in &mut sets {
            if set.name == new && !is_available {
                (set.counts.ready, set.counts.available) = (0, 0);
            }
        }
        if sizes(&living.pass(counts_of(&sets))?).is_empty() {
            break;
        }
        let step = living.state.sets.values().map(|set| (set.name.to_string(), json!(set.replicas)));
        steps.push(Value::Object(step.collect()));
        // The sets have made and removed what they were to.
        for set in &mut sets {
            let all = living.state.sets[&set.name].replicas;
            set.counts = Counts { machines: all, active: all, ready: all, available: all, failure: None };
        }
        if steps.len() > 100 {
            return Err("it goes on for ever".to_owned());
        }
    }
    expect.same("steps", json!(steps))?;
    expect.error("error_present", false)?;
    expect.done()
}

/// Whoever is paused is only scaled.
pub(in super::super) fn scale(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let sets = sets_of(&given);
    let spec = Spec { paused: true, ..spec(deployment(&given)?)? };
    let mut living = Living::with(&given, spec, &sets)?;
    living.pass(counts_of(&sets))?;
    expect.error("error_present", false)?;
    expect.same("sets", living.sets(false))?;
    expect.done()
}

/// Beside the old sets there is a new one that has all it shall have, so that nothing is left to do but to clean up.
pub(in super::super) fn cleanup(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let deployment = deployment(&given)?;
    let mut spec = Spec { paused: true, ..spec(deployment)? };
    if given.old_sets.iter().any(|set| set.replicas > 0) {
        // Several active sets of a recreation keep their sizes while it is paused.
        spec.strategy = Strategy::Recreate;
    }
    let (_, mut sets) = told_apart(&given);
    let all = spec.replicas;
    let counts = Counts { machines: all, active: all, ready: all, available: all, failure: None };
    sets.push(OwnedSet {
        name: name("newest"),
        revision: 1_000,
        template: spec.template.clone(),
        replicas: all,
        sized_for: None,
        most: None,
        created: NOW,
        leaves: false,
        counts,
    });
    let mut living = Living::with(&given, spec, &sets)?;
    living.pass(counts_of(&sets))?;
    let mut left = living.sets(false);
    left.as_object_mut().ok_or("sets are an object")?.remove("newest");
    expect.error("error_present", false)?;
    let expected = expect.take("sets").unwrap_or_else(|| json!({}));
    differ("sets", &expected, &left)?;
    expect.done()
}

pub(in super::super) fn reconcile(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let deployment = deployment(&given)?;
    let spec = spec(deployment)?;
    let mut sets: Vec<OwnedSet> = given.sets.iter().map(set).collect();
    if let Some(first) = sets.first_mut() {
        // Machines of a case are those of its first set.
        let seen = u32::try_from(given.machines.len()).map_err(|error| error.to_string())?;
        first.counts.machines = first.counts.machines.max(seen);
    }
    let mut living = Living::with(&given, spec, &sets)?;
    living.pass(counts_of(&sets))?;
    let in_force = living.state.template().ok_or("it has no template")?;
    let told = status(&living.state);
    let conditions: Vec<String> = told.conditions.iter().map(|condition| written(*condition)).collect();
    expect.same("template", in_force.labels.get("version").map_or("", String::as_str))?;
    expect.same_set("conditions", json!(conditions))?;
    expect.error("error_present", false)?;
    // It is done at once, or refused: nothing of it waits for a pass.
    expect.same("rollback_pending", false)?;
    expect.same("sets", living.sets(true))?;
    expect.done()
}
