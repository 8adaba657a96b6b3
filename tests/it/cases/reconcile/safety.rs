//! What keeps many machines from being made or replaced for one cause: sets with too many of them.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick::actors::{
    machine::{self, Spec},
    machine_deployment, machine_set,
    policy::Document,
    testing::name,
};
use serde_json::{Value, json};

use super::{
    super::lab::Lab,
    deployments,
    given::{Given, Set},
    policy_name, read,
};

/// What the deployment of a case is called.
const DEPLOYMENT: &str = "deployment";

/// The machines all belong to the first set. Each set looks once how many it has.
pub(super) fn freeze(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut lab = Lab::new(Document::named(policy_name(&given)).expect("a policy of ours"));
    let first = given.sets.first().ok_or("it gives no set")?;
    for member in &given.machines {
        lab.declare(&member.name, |spec| spec.set = Some(name(&first.name)));
    }
    lab.search();
    if let Some(deployment) = &given.deployment {
        let spec = deployments::spec(deployment)?;
        lab.desk.machine_deployment(DEPLOYMENT, machine_deployment::Command::Declare(spec));
    }
    let declare = |lab: &mut Lab, set: &Set| lab.desk.machine_set(&set.name, declaration(&given, set));
    declare(&mut lab, first);
    if first.is_frozen() {
        had_more(&mut lab, first)?;
    }
    for other in &given.sets[1..] {
        declare(&mut lab, other);
    }
    lab.desk.look();
    lab.desk.carry_out();
    let is_frozen = |set: &str| lab.desk.machine_set_state(set).is_some_and(|state| state.frozen.is_some());
    let sets = given.sets.iter().map(|set| {
        let frozen = is_frozen(&set.name);
        (set.name.clone(), json!({"frozen_label": frozen, "frozen_condition": frozen}))
    });
    expect.same("sets", json!(sets.collect::<BTreeMap<_, _>>()))?;
    // A deployment is as frozen as its sets: it has no freeze of its own.
    expect.same("deployment_frozen", given.sets.iter().any(|set| is_frozen(&set.name)))?;
    expect.error("error_present", false)?;
    expect.returned()?;
    expect.done()
}

fn declaration(given: &Given, set: &Set) -> machine_set::Command {
    let replicas = u32::try_from(set.replicas).unwrap_or(u32::MAX);
    let template = Arc::new(Spec::with_provider(name("desk")));
    let deployment = given.deployment.as_ref().map(|_| name(DEPLOYMENT));
    machine_set::Command::Declare(machine_set::Spec { replicas, template, priorities: [].into(), deployment })
}

/// It is frozen because it had so many machines once; those that the case does not give went since.
fn had_more(lab: &mut Lab, set: &Set) -> Result<(), String> {
    let more: Vec<String> = (0..50).map(|number| format!("earlier-{number}")).collect();
    for machine in &more {
        lab.declare(machine, |spec| spec.set = Some(name(&set.name)));
    }
    lab.desk.look();
    lab.desk.carry_out();
    if lab.desk.machine_set_state(&set.name).is_none_or(|state| state.frozen.is_none()) {
        return Err("so many machines do not freeze it".to_owned());
    }
    for machine in &more {
        lab.desk.machine(machine, machine::Command::Remove);
    }
    while lab.desk.perform() {}
    match more.iter().find(|machine| lab.state(machine).life.exists()) {
        Some(machine) => Err(format!("{machine} is still there")),
        None => Ok(()),
    }
}
