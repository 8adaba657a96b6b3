//! A provider that cannot be reached: when nothing is replaced any more, and what happens when it answers again.

use std::cmp::Reverse;

use bailiwick::actors::{
    machine::Event,
    testing::name,
    vocab::{Fault, FaultCode},
};
use serde_json::{Map, Value, json};

use super::{
    super::given::{Given, Machine, NOW, ago},
    Living, Step, document, past, read, stream,
};

/// How often the original looks, in seconds; ours asks its providers as often as its policy says.
const LOOK_S: u64 = 60;

/// What has happened before the look of a case.
enum Earlier<'a> {
    /// To a machine.
    Machine(&'a Machine, Step),
    /// The provider did not answer.
    Unreachable,
}

/// One look: the provider is asked. What the original reads there (a node that is not there) is our list.
pub(in super::super) fn safety_api(case: &Value) -> Result<(), String> {
    let (given, mut expect) = read(case)?;
    let mut living = Living::under(&given);
    let mut policy = document(&given);
    policy.machines.poll_ms = LOOK_S * 1_000;
    living.desk.revise(policy.clone());
    for (age_s, earlier) in story(&given)? {
        match earlier {
            Earlier::Machine(machine, step) => living.happens(machine, age_s, step),
            Earlier::Unreachable => {
                living.desk.now = living.desk.now.max(ago(age_s));
                ask(&mut living, false);
            }
        }
    }
    living.supervise();
    living.desk.now = living.desk.now.max(NOW);
    living.before = living.journal.entries().len();
    let target_up = given.params.target_up.ok_or("it does not say whether the provider answers")?;
    let again_ms = living.desk.machines_seen().asks_again_ms(&name("desk"), &policy).filter(|_| !target_up);
    ask(&mut living, target_up);
    living.supervise();
    let seen = living.desk.machines_seen();
    expect.same("frozen", seen.out.contains_key(&name("desk")))?;
    expect.same("inactive_timer_running", seen.unreachable.contains_key(&name("desk")))?;
    expect.same("next_check_s", json!([again_ms.unwrap_or(policy.machines.poll_ms) / 1_000]))?;
    // Nothing is queued: whoever is judged anew is told so at once.
    expect.take("machine_requeues_s");
    let mut machines = Map::new();
    for machine in given.machine.iter().chain(&given.others) {
        machines.insert(machine.name.clone(), told(&living, machine)?);
    }
    let expected = expect.take("machines").unwrap_or_default();
    expect.put("machines", without_texts(expected));
    expect.same("machines", machines)?;
    expect.done()
}

/// What has happened before, in the order of time.
fn story(given: &Given) -> Result<Vec<(u64, Earlier<'_>)>, String> {
    let mut story = Vec::new();
    for machine in given.machine.iter().chain(&given.others) {
        story.extend(past(machine, None)?.into_iter().map(|(age_s, step)| (age_s, Earlier::Machine(machine, step))));
    }
    let inactive_s = given.params.inactive_s;
    let ages = match given.frozen {
        // It is out only if it could not be reached for longer than it may be.
        true => vec![inactive_s.unwrap_or(0) + 45, inactive_s.unwrap_or(0) + 5],
        false => inactive_s.into_iter().collect(),
    };
    story.extend(ages.into_iter().map(|age_s| (age_s, Earlier::Unreachable)));
    story.sort_by_key(|(age_s, _)| Reverse(*age_s));
    Ok(story)
}

fn ask(living: &mut Living, answers: bool) {
    let fault = || Fault::new(FaultCode::Unavailable, "nobody answers");
    living.desk.provider.list_fails = (!answers).then(fault);
    living.desk.list();
}

/// A machine in the original's words: as it was if nothing happened to it. Whose time begins anew is Running there, until the next pass finds it as before; here it
/// stays under suspicion, with all its time.
fn told(living: &Living, machine: &Machine) -> Result<Value, String> {
    let happened = living.happened_to(&stream(machine));
    Ok(match &happened[..] {
        [] => json!({"phase": machine.phase, "type": "", "state": ""}),
        [Event::BecameSuspect { .. }] => json!({"phase": "Running", "type": "HealthCheck", "state": "Successful"}),
        other => return Err(format!("{}: {other:?}", machine.name)),
    })
}

fn without_texts(mut machines: Value) -> Value {
    let fields = machines.as_object_mut().into_iter().flat_map(|machines| machines.values_mut());
    fields.filter_map(Value::as_object_mut).for_each(|fields| drop(fields.remove("description")));
    machines
}
