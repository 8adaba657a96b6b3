//! What the rules come to in a deployment that lives: how far a rollout goes at a time, which of its sets is the new one, what
//! another size does to each of them, and what it tells about itself.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    machine_deployment::{Condition, Counts, Event, OwnedSet, ProgressReason, RollingUpdate, Spec, Strategy, status},
    testing::name,
    vocab::Name,
};
use serde_json::{Value, json};

use super::{
    super::{given, given::Given, read},
    amount, deployment,
    living::{Living, counts_of, sets_of, sizes, written},
    set, spec, template, told_apart,
};

/// The machines of a set that has done what it was told to, and how many of them are available.
fn settled(replicas: u32, available: u32) -> Counts {
    Counts { machines: replicas, active: replicas, ready: available, available, failure: None }
}

/// A set beside the case's, of another template and younger than they are.
fn beside(called: &str, replicas: u32) -> OwnedSet {
    let text = json!({"name": called, "replicas": replicas, "template": called});
    set(&serde_json::from_value(text).expect("a set"))
}

/// One that was scaled, if the case says for what; it may say only one of size and most.
fn scaled(given: &given::Set) -> OwnedSet {
    let set = set(given);
    OwnedSet { sized_for: set.sized_for.or(set.most), most: set.most.or(set.sized_for), ..set }
}

/// How many machines more and less than declared a rollout makes and removes while none of its new ones comes to run.
pub(in super::super) fn fenceposts(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let replicas = given.params.desired.ok_or("how many?")?;
    let of = || {
        let max_surge = amount(given.params.max_surge.as_ref())?;
        let max_unavailable = amount(given.params.max_unavailable.as_ref())?;
        Ok::<_, String>(Strategy::RollingUpdate(RollingUpdate { max_surge, max_unavailable }))
    };
    // What is no amount is refused at apply, and nothing moves.
    let strategy = of();
    let (surge, unavailable) = match &strategy {
        Ok(strategy) => moved(*strategy, replicas)?,
        Err(_) => (0, 0),
    };
    expect.same("surge", surge)?;
    expect.same("unavailable", unavailable)?;
    expect.error("error_present", strategy.is_err())?;
    expect.done()
}

fn moved(strategy: Strategy, replicas: u32) -> Result<(u32, u32), String> {
    let spec = Spec { strategy, ..Spec::of(replicas, template("v1")) };
    let old = beside("old", replicas);
    let mut living = Living::of(spec.clone(), std::slice::from_ref(&old));
    let mut counts = counts_of(std::slice::from_ref(&old));
    while !living.pass(counts)?.iter().all(|event| !matches!(event, Event::SetMade { .. } | Event::Scaled { .. })) {
        let available = |set: &OwnedSet| if set.name == old.name { set.replicas } else { 0 };
        let now = living.state.sets.values().map(|set| (set.name.clone(), settled(set.replicas, available(set))));
        counts = now.collect();
    }
    Ok((surge(spec)?, replicas - living.state.sets[&old.name].replicas))
}

/// By how many machines more than declared its first set is made to go.
fn surge(spec: Spec) -> Result<u32, String> {
    let replicas = spec.replicas;
    let made = Living::of(Spec { paused: false, ..spec }, &[]).pass(BTreeMap::new())?;
    let most = made.into_iter().find_map(|event| match event {
        Event::SetMade { most, .. } => Some(most),
        _ => None,
    });
    Ok(most.ok_or("it makes no set")? - replicas)
}

/// With how few available machines a deployment says that enough are.
pub(in super::super) fn bounds(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = spec(deployment(&given)?)?;
    let replicas = spec.replicas;
    let is_enough = |available: &u32| {
        let own = OwnedSet { template: spec.template.clone(), ..beside("own", replicas) };
        let mut living = Living::of(spec.clone(), &[own]);
        living.happens(Event::Observed { counts: [(name("own"), settled(replicas, *available))].into(), again: None });
        status(&living.state).conditions.contains(&Condition::Available(true))
    };
    let min_available = (0..=replicas).find(is_enough).ok_or("it never has enough")?;
    expect.same("max_surge", surge(spec.clone())?)?;
    expect.same("max_unavailable", replicas - min_available)?;
    expect.same("min_available", min_available)?;
    expect.done()
}

/// One pass; before a recreation makes its machines, there is one after which the old ones have gone.
pub(in super::super) fn new_replicas(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let (spec, sets) = (spec(deployment(&given)?)?, sets_of(&given));
    let new = given.new_set.as_ref().map(|new| name(&new.name)).ok_or("it gives no new set")?;
    let mut living = Living::with(&given, spec.clone(), &sets)?;
    let mut events = living.pass(counts_of(&sets))?;
    if spec.strategy == Strategy::Recreate {
        let now = living.state.sets.values().map(|set| (set.name.clone(), settled(set.replicas, set.replicas)));
        events.extend(living.pass(now.collect())?);
    }
    expect.same("replicas", living.state.sets[&new].replicas)?;
    expect.error("error_present", false)?;
    expect.done()
}

/// What one set of a rollout that is paused has to give away. Others have all that it does not, and their turn comes before,
/// if they have given something away already, or after.
pub(in super::super) fn proportion(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = Spec { paused: true, template: template("in force").into(), ..spec(deployment(&given)?)? };
    let asked = given.new_set.as_ref().map(scaled).ok_or("it gives no set")?;
    let asked = OwnedSet { created: given::ago(1_000), ..asked };
    let most = if spec.replicas == 0 { 0 } else { spec.replicas + surge(spec.clone())? };
    let others = i64::from(most) - given.params.to_add - i64::from(asked.replicas);
    let others = u32::try_from(others).map_err(|_| "no such sets can be".to_owned())?;
    let mut sets = match given.params.added {
        0 => after(others, asked.replicas),
        share => vec![before(others, share, most)?],
    };
    sets.push(asked.clone());
    let mut living = Living::with(&given, spec, &sets)?;
    living.pass(counts_of(&sets))?;
    expect.same("add", i64::from(living.state.sets[&asked.name].replicas) - i64::from(asked.replicas))?;
    expect.done()
}

/// Sets that are younger and none of them larger. The first was scaled when there was to be none, so that it gives away all
/// that is left to be.
fn after(mut machines: u32, largest: u32) -> Vec<OwnedSet> {
    let mut sets = Vec::new();
    while machines > 0 {
        let replicas = machines.min(largest.max(1));
        machines -= replicas;
        let most = sets.is_empty().then_some(0);
        sets.push(OwnedSet { sized_for: most, most, ..beside(&format!("after-{}", sets.len()), replicas) });
    }
    sets
}

/// An older set that gives away so much, because it was scaled for what makes that its share.
fn before(replicas: u32, share: i64, most: u32) -> Result<OwnedSet, String> {
    let left = i64::from(replicas) + share;
    let comes_to =
        |for_most: &u32| (2 * i64::from(replicas * most) + i64::from(*for_most)) / (2 * i64::from(*for_most));
    let for_most = (1..10_000).find(|for_most| comes_to(for_most) == left).ok_or("no set has this share")?;
    let (sized_for, most, created) = (Some(for_most), Some(for_most), given::ago(2_000));
    Ok(OwnedSet { sized_for, most, created, ..beside("before", replicas) })
}

/// Whether a recreation that is paused drops an old set because the new one has all there shall be.
pub(in super::super) fn saturated(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = Spec { paused: true, strategy: Strategy::Recreate, ..spec(deployment(&given)?)? };
    let sets: Vec<OwnedSet> = given.new_set.as_ref().map(scaled).into_iter().chain([beside("beside", 1)]).collect();
    let mut living = Living::with(&given, spec, &sets)?;
    living.pass(counts_of(&sets))?;
    expect.same("saturated", living.state.sets[&name("beside")].replicas == 0)?;
    expect.done()
}

/// The new set is the one that all machines are in when the rollout is over; what revisions there are, another template and
/// an undo tell; and whether one set alone is scaled, another size does.
pub(in super::super) fn find_sets(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let spec = spec(deployment(&given)?)?;
    let sets: Vec<OwnedSet> = given.sets.iter().map(set).collect();
    let (new, shrunk) = rolled(&given, spec.clone(), &sets)?;
    expect.same("new", new.as_ref().map_or(Value::Null, |new| json!(new.as_str())))?;
    let old = sets.iter().map(|set| &set.name).filter(|set| Some(*set) != new.as_ref());
    expect.same_set("old", old.map(|set| json!(set.as_str())).collect::<Value>())?;
    expect.same_set("old_with_replicas", shrunk.iter().map(|set| json!(set.as_str())).collect::<Value>())?;
    let scaled = {
        let mut living =
            Living::with(&given, Spec { paused: true, replicas: spec.replicas + 7, ..spec.clone() }, &sets)?;
        sizes(&living.pass(counts_of(&sets))?)
    };
    let alone = match &scaled[..] {
        [alone] if alone.replicas == spec.replicas + 7 => json!(alone.set.as_str()),
        _ => Value::Null,
    };
    expect.same("active_or_latest", alone)?;
    let another = Spec { template: template("another").into(), ..spec };
    let mut living = Living::with(&given, another.clone(), &sets)?;
    living.pass(counts_of(&sets))?;
    let highest = living.made().ok_or("no set is made for another template")?.revision;
    expect.same("max_revision", highest - 1)?;
    expect.same("last_revision", Living::with(&given, another, &sets)?.undone().unwrap_or(0))?;
    expect.done()
}

/// The set that has all machines after a rollout, if that is one of these, and those that have had to give theirs away.
fn rolled(given: &Given, spec: Spec, sets: &[OwnedSet]) -> Result<(Option<Name>, BTreeSet<Name>), String> {
    let mut living = Living::with(given, spec, sets)?;
    let mut counts = counts_of(sets);
    let mut shrunk = BTreeSet::new();
    for _ in 0..100 {
        let before = living.state.sets.clone();
        let events = living.pass(counts)?;
        let sizes = sizes(&events);
        let shrinks = |set: &Name, now: u32| before.get(set).is_some_and(|before| now < before.replicas);
        shrunk.extend(sizes.iter().filter(|size| shrinks(&size.set, size.replicas)).map(|size| size.set.clone()));
        let now = |set: &OwnedSet| (set.name.clone(), settled(set.replicas, set.replicas));
        counts = living.state.sets.values().map(now).collect();
        if living.state.is_complete() {
            let mut full = living.state.sets.values().filter(|set| set.replicas > 0);
            let new = full.next().map(|set| set.name.clone()).filter(|new| sets.iter().any(|set| set.name == *new));
            return Ok((new, shrunk));
        }
    }
    Err("the rollout has no end".to_owned())
}

/// Whether it is complete a pass on the new counts tells, if it is about the declaration in force. Whether it gets on, and
/// whether it is late, a deployment tells that has yet to become complete.
pub(in super::super) fn progress(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let deployment = deployment(&given)?;
    let before = deployment.status.clone().unwrap_or_default();
    let after = given.params.new_status.as_ref().ok_or("it gives no new status")?;
    let declared = spec(deployment)?;
    let larger = Spec { replicas: declared.replicas + 1, ..declared.clone() };
    let (living, _) = counted(&given, declared.clone(), after)?;
    let is_complete = match after.observed_generation < deployment.generation {
        true => {
            let mut living = living;
            living.happens(Event::SpecChanged { spec: Spec { history_limit: Some(17), ..declared } });
            living.state.is_complete()
        }
        false => living.state.is_complete(),
    };
    expect.same("complete", is_complete)?;
    let (_, told) = counted(&given, larger.clone(), after)?;
    expect.same("progressing", told.contains(&ProgressReason::MachineSetUpdated))?;
    let (living, _) = counted(&given, larger, &before)?;
    expect.same("timed_out", living.state.is_late())?;
    expect.done()
}

/// A deployment that has made its pass on these counts, and what it told.
fn counted(given: &Given, spec: Spec, counts: &given::Totals) -> Result<(Living, Vec<ProgressReason>), String> {
    let of_new = |all: u32| all.min(counts.updated);
    let new = Counts {
        machines: counts.updated,
        active: counts.updated,
        ready: of_new(counts.ready),
        available: of_new(counts.available),
        failure: None,
    };
    let old = Counts {
        machines: counts.replicas - new.machines,
        active: counts.replicas - new.machines,
        ready: counts.ready - new.ready,
        available: counts.available - new.available,
        failure: None,
    };
    let of = |called: &str, counts: Counts| OwnedSet { counts, ..beside(called, counts.machines) };
    let sets = [of("old", old), OwnedSet { template: spec.template.clone(), ..of("new", new) }];
    let mut living = Living::with(given, spec, &sets)?;
    let events = living.pass(counts_of(&sets))?;
    let told = events.iter().filter_map(|event| match event {
        Event::Progressed { progress } => Some(progress.reason),
        _ => None,
    });
    Ok((living, told.collect()))
}

/// What it tells when its machines were counted.
pub(in super::super) fn deployment_status(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let (new, old) = told_apart(&given);
    let sets: Vec<OwnedSet> = new.into_iter().chain(old).collect();
    let mut living = Living::with(&given, spec(deployment(&given)?)?, &sets)?;
    living.happens(Event::Observed { counts: counts_of(&sets), again: None });
    let status = status(&living.state);
    expect.same("replicas", status.totals.machines)?;
    expect.same("updated", status.totals.updated)?;
    expect.same("ready", status.totals.ready)?;
    expect.same("available", status.totals.available)?;
    expect.same("unavailable", status.unavailable)?;
    let conditions: Vec<String> = status.conditions.iter().map(|condition| written(*condition)).collect();
    expect.same_set("conditions", json!(conditions))?;
    expect.done()
}
