//! The cases about storage: timelines, sizes, directives, pools, waiting, what is due when, and what providers run.

mod asked;
mod providers;
mod rules;
mod timelines;

use bailiwick::actors::{
    schedule::{Timetable, backoff_ms},
    vocab::Timestamp,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Case, Group, Plan, by_top_level_key, read};

/// Groups are top-level keys; what a case of a table is called differs from table to table.
pub(super) fn groups(file: &Value) -> Vec<Group> {
    let mut groups = by_top_level_key(file);
    for (group, cases) in &mut groups {
        match group.as_str() {
            "sizes" => cases.iter_mut().for_each(|(name, case)| *name = text_of(&case[0])),
            "directives" => cases.iter_mut().for_each(|(name, case)| *name = text_of(&case["text"])),
            "directive_maps" => cases.iter_mut().for_each(|(name, case)| *name = words_of(&case["args"])),
            "pool_names" => *cases = pool_names(cases),
            _ => (),
        }
    }
    groups
}

pub(super) fn plan(group: &str) -> Option<Plan> {
    Some(match group {
        "sizes" => Plan::Living(asked::size),
        "backoff" => Plan::Run(backoff),
        "schedule" => Plan::Run(schedule),
        "timelines" => Plan::Living(timelines::timeline),
        "directives" => Plan::Living(asked::directive),
        "directive_maps" => Plan::Run(rules::directive_map),
        "pool_names" => Plan::Living(asked::pool_name),
        "providers" => Plan::Run(providers::provider),
        "ebs_validation" => Plan::Run(rules::ebs),
        _ => return None,
    })
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn words_of(list: &Value) -> String {
    list.as_array().into_iter().flatten().map(text_of).collect::<Vec<_>>().join(" ")
}

/// The group is one object with a list of names and one of texts that are none; a case is one of the texts. What else it
/// holds, other than what is for the reader, is a case that fails.
fn pool_names(group: &[Case]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (key, content) in group.iter().filter_map(|(_, group)| group.as_object()).flatten() {
        match (key.as_str(), content.as_array()) {
            ("valid" | "invalid", Some(texts)) => {
                cases.extend(texts.iter().map(|text| (text_of(text), json!([text, key == "valid"]))));
            }
            ("pattern" | "source", _) => (),
            _ => cases.push((key.clone(), content.clone())),
        }
    }
    cases
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Backoff {
    min: f64,
    max: f64,
    factor: u32,
    delays: Vec<f64>,
    attempt_times: Vec<f64>,
}

fn backoff(case: &Value) -> Result<(), String> {
    let case: Backoff = read(case)?;
    if case.factor != 2 {
        return Err(format!("waits are doubled, a factor of {} cannot be asked for", case.factor));
    }
    let delay = |attempt: u32| backoff_ms(attempt, ms(case.min), ms(case.max));
    let attempts = |count: usize| 1..=u32::try_from(count).expect("few attempts");
    let delays: Vec<u64> = attempts(case.delays.len()).map(delay).collect();
    same("delays", &case.delays, &delays)?;
    let mut passed = 0;
    let times: Vec<u64> = attempts(case.attempt_times.len())
        .map(|attempt| {
            passed += delay(attempt);
            passed
        })
        .collect();
    same("attempt_times", &case.attempt_times, &times)
}

fn same(what: &str, expected_s: &[f64], got_ms: &[u64]) -> Result<(), String> {
    let expected_ms: Vec<u64> = expected_s.iter().copied().map(ms).collect();
    if expected_ms == got_ms { Ok(()) } else { Err(format!("{what}: expected {expected_ms:?} ms, got {got_ms:?}")) }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Schedule {
    steps: Vec<Vec<Value>>,
}

fn schedule(case: &Value) -> Result<(), String> {
    let case: Schedule = read(case)?;
    let mut timetable: Timetable<String, String> = Timetable::default();
    let mut now = Timestamp(0);
    for (number, step) in case.steps.iter().enumerate() {
        let wrong = |difference: String| Err(format!("step {number} {}: {difference}", Value::from(step.clone())));
        let (Some(what), arguments) = (step.first().and_then(Value::as_str), step.get(1..).unwrap_or_default()) else {
            return wrong("no step".to_owned());
        };
        match (what, arguments) {
            ("add", [Value::String(key), Value::String(value), Value::Number(due)]) => {
                timetable.add(key.clone(), value.clone(), Timestamp(ms(due.as_f64().unwrap_or(f64::NAN))));
            }
            ("remove", [Value::String(key)]) => drop(timetable.remove(key)),
            ("advance", [Value::Number(seconds)]) => now = now.after(ms(seconds.as_f64().unwrap_or(f64::NAN))),
            ("next", [expected]) => {
                let delay = timetable.next_due().map(|due| due.since(now));
                if delay != expected.as_f64().map(ms) || (expected.as_f64().is_none() && !expected.is_null()) {
                    return wrong(format!("the next is due in {delay:?} ms"));
                }
            }
            ("ready", [Value::Array(expected)]) => {
                let values: Vec<Value> = timetable.ready(now).into_iter().map(|(_, value)| value.into()).collect();
                if values != *expected {
                    return wrong(format!("ready are {}", Value::from(values)));
                }
            }
            _ => return wrong("the runner does not know this step".to_owned()),
        }
    }
    Ok(())
}

fn ms(seconds: f64) -> u64 {
    assert!(seconds.is_finite() && seconds >= 0.0, "{seconds} is no time of a case");
    (seconds * 1_000.0).round() as u64
}
