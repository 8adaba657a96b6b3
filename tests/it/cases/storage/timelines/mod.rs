//! Timelines: one supervisor of one scope in virtual time, with a provider and a store that do as the case says.
//!
//! What is asked of the product is what a node asks of it: the storage supervisor looks and decides, its orders go to the
//! entities, what those are owed goes out in turns, and how it went comes back as reports. The runner plays the store (what
//! it holds becomes what the entities have been through, once the supervisor is woken for them), the provider, and time.

mod desk;
mod given;
mod provider;
mod story;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use self::{desk::Desk, given::Given, story::Expect};
use super::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Timeline {
    given: Given,
    events: Vec<Happening>,
    until: f64,
    expect: Expect,
}

/// Something that happens to the store, and what the supervisor is woken with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Happening {
    at: f64,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    #[serde(default)]
    notify: Vec<(String, Value)>,
}

pub(super) fn timeline(case: &Value) -> Result<(), String> {
    let reader = ["name", "source", "seed_deviation", "decision", "older"];
    let mut case = case.clone();
    if let Some(fields) = case.as_object_mut() {
        fields.retain(|name, _| !reader.contains(&name.as_str()));
    }
    let case: Timeline = read(&case)?;
    let until = super::ms(case.until);
    let mut desk = Desk::new(case.given)?;
    let mut happenings = case.events.into_iter().peekable();
    let mut now = 0;
    loop {
        desk.go_to(now);
        while let Some(happening) = happenings.next_if(|happening| super::ms(happening.at) <= now) {
            desk.set(happening.set)?;
            for (kind, what) in happening.notify {
                desk.notify(&kind, &what)?;
            }
        }
        desk.work()?;
        let next_event = happenings.peek().map(|happening| super::ms(happening.at));
        let next = [next_event, desk.next_due()].into_iter().flatten().min();
        match next {
            Some(next) if next <= until => now = next.max(now),
            _ => break,
        }
    }
    case.expect.compare(&desk.tell())
}

#[test]
fn a_wrong_timeline_fails_at_its_first_difference() {
    let timeline = |expected_time: u64| {
        serde_json::json!({
            "given": {"scope": "model", "providers": {"dummy": {"dynamic": true}},
                "filesystems": {"filesystem-1": {"life": "alive", "provider": "dummy", "size": 7}},
                "script": {"create_filesystems": {"filesystem-1": ["err:no"]}}},
            "events": [{"at": 0, "notify": [["filesystems", ["filesystem-1"]]]}],
            "until": 0,
            "expect": {
                "calls": [{"at": 0, "op": "create_filesystems", "source": "dummy",
                    "args": [{"filesystem": "filesystem-1", "size": 7, "backing": null}]}],
                "statuses": [[0, "filesystem-1", "pending", "no"]],
                "recorded": [], "removed": [],
                "scheduled_at_end": {"filesystem-1": expected_time},
            },
        })
    };
    assert_eq!(self::timeline(&timeline(30)), Ok(()));
    let difference = self::timeline(&timeline(31)).expect_err("it is due after 30 s");
    assert!(difference.starts_with("scheduled_at_end"), "{difference}");
    let mut unknown = timeline(30);
    unknown["given"]["colour"] = "red".into();
    assert!(self::timeline(&unknown).is_err(), "a word that the runner does not know");
}
