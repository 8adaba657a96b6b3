//! The settings of a policy by the names and in the words of a manifest, and what another revision changes.
//!
//! A document says all of a policy: what it leaves out is not as now but as by default, and that is told.

use bailiwick_actors::policy::{
    AskReading, Document, DrainOrder, GiveUpBy, Judged, LastRound, NextZone, NoZone, ReportReading, RetryBy,
    TaintReading, UndeployedReading, WhenLost, ZoneBlame,
};

use serde_json::{Map, Value};

use super::declared::windows;
use crate::words::{windows_told, written_period as period};

/// The settings that differ, each with what it is and what it becomes: `spec.machines.poll: 1s -> 5s (the default)`.
pub fn policy_changes(present: &Document, wished: &Document) -> Vec<String> {
    let (before, defaults) = (settings(present), settings(&Document::default()));
    let after = settings(wished).into_iter().zip(before).zip(defaults);
    let differing = after.filter(|(((_, after), (_, before)), _)| after != before);
    differing
        .map(|(((name, after), (_, before)), (_, default))| {
            let hint = if after == default { " (the default)" } else { "" };
            format!("spec.{name}: {before} -> {after}{hint}")
        })
        .collect()
}

/// All that a document says, as a manifest would say it: `{"machines": {"attemptsMax": 11, "poll": "5s"}}`.
pub(super) fn as_declared(document: &Document) -> Value {
    let mut sections = Map::new();
    // Without a folder there is nothing to write.
    let is_said = |name: &str| name != "storage.mountDir" || document.storage.mount_dir.is_some();
    for (name, told) in settings(document).into_iter().filter(|(name, _)| is_said(name)) {
        let (section, field) = name.split_once('.').unwrap_or(("", name));
        let value = match name {
            "health.nodeConditions" => document.reconciliation.node_conditions.clone().into(),
            "rollouts.windows" => windows(&document.rollouts.windows),
            _ => told.parse::<u64>().map_or(Value::String(told), Value::from),
        };
        let section = sections.entry(section).or_insert_with(|| Value::Object(Map::new()));
        if let Some(fields) = section.as_object_mut() {
            fields.insert(field.to_owned(), value);
        }
    }
    Value::Object(sections)
}

/// All that a document says, by its name in a manifest.
fn settings(document: &Document) -> Vec<(&'static str, String)> {
    let Document { machines, storage, harvest, reconciliation: health, retries, zones, replica_sets, rollouts } =
        document;
    vec![
        ("machines.attemptsMax", machines.attempts_max.to_string()),
        ("machines.retryFirst", period(machines.retry_first_ms)),
        ("machines.retryMax", period(machines.retry_max_ms)),
        ("machines.callTimeout", period(machines.call_timeout_ms)),
        ("machines.poll", period(machines.poll_ms)),
        ("machines.nodeStale", period(machines.node_stale_ms)),
        ("machines.restartGrace", period(machines.restart_grace_ms)),
        ("machines.whenLost", when_lost(machines.when_lost).to_owned()),
        ("storage.attemptsMax", storage.attempts_max.to_string()),
        ("storage.retryFirst", period(storage.retry_first_ms)),
        ("storage.retryMax", period(storage.retry_max_ms)),
        ("storage.callTimeout", period(storage.call_timeout_ms)),
        ("storage.mountDir", storage.mount_dir.clone().unwrap_or_else(|| "none".to_owned())),
        ("harvest.mode", harvest.mode.to_string()),
        ("harvest.sightingsMin", harvest.sightings_min.to_string()),
        ("harvest.grace", period(harvest.grace_ms)),
        ("health.creationTimeout", period(health.creation_timeout_ms)),
        ("health.healthTimeout", period(health.health_timeout_ms)),
        ("health.recheck", period(health.health_recheck_ms)),
        ("health.nodeConditions", format!("[{}]", health.node_conditions.join(", "))),
        ("health.bareReport", bare_report(health.readings.bare_report).to_owned()),
        ("health.criticalTaint", critical_taint(health.readings.critical_taint).to_owned()),
        ("health.undeployed", undeployed(health.readings.undeployed).to_owned()),
        ("health.askProvider", ask_provider(health.readings.ask_provider).to_owned()),
        ("health.replacementsMax", health.throttle.replacements_max.to_string()),
        ("health.zoneSilentMin", health.throttle.zone_silent_min.to_string()),
        ("health.allSilentMin", health.outage.all_silent_min.to_string()),
        ("health.outageAfter", period(health.outage.after_ms)),
        ("health.outageCheck", period(health.outage.check_ms)),
        ("health.overshootUp", health.overshoot.up.to_string()),
        ("health.overshootDown", health.overshoot.down.to_string()),
        ("health.evictionRetry", period(health.drain.eviction_retry_ms)),
        ("health.evictionsMax", health.drain.evictions_max.to_string()),
        ("health.workloadEnd", period(health.drain.end_buffer_ms)),
        ("health.volumeDetach", period(health.drain.volume_detach_ms)),
        ("health.drainTimeout", period(health.drain.timeout_ms)),
        ("health.drainSkipAfter", period(health.drain.skip_after_ms)),
        ("health.drainOrder", drain_order(health.drain.order).to_owned()),
        ("health.keepFailed", period(health.keep.failed_ms)),
        ("health.keepFailedMax", health.keep.most.to_string()),
        ("retries.by", retry_by(retries.by).to_owned()),
        ("retries.permanentMax", retries.permanent_max.to_string()),
        ("retries.judged", judged(retries.judged).to_owned()),
        ("retries.giveUpBy", give_up_by(retries.give_up_by).to_owned()),
        ("retries.again", period(retries.again_ms)),
        ("retries.short", period(health.retry_short_ms)),
        ("retries.medium", period(health.retry_medium_ms)),
        ("retries.long", period(health.retry_long_ms)),
        ("zones.blame", zone_blame(zones.blame).to_owned()),
        ("zones.next", next_zone(zones.next).to_owned()),
        ("zones.lastRound", last_round(zones.last_round).to_owned()),
        ("zones.whenNone", no_zone(zones.when_none).to_owned()),
        ("replicaSets.rules", replica_sets.rules.to_string()),
        ("rollouts.windows", windows_told(&rollouts.windows)),
    ]
}

fn when_lost(when: WhenLost) -> &'static str {
    match when {
        WhenLost::Replace => "replace",
        WhenLost::Keep => "keep",
        WhenLost::Ignore => "ignore",
    }
}

fn bare_report(reading: ReportReading) -> &'static str {
    match reading {
        ReportReading::Healthy => "healthy",
        ReportReading::Unhealthy => "unhealthy",
    }
}

fn critical_taint(reading: TaintReading) -> &'static str {
    match reading {
        TaintReading::HoldsAll => "holds-all",
        TaintReading::HoldsJoining => "holds-joining",
    }
}

fn undeployed(reading: UndeployedReading) -> &'static str {
    match reading {
        UndeployedReading::Everyone => "everyone",
        UndeployedReading::Unlimited => "unlimited",
    }
}

fn ask_provider(reading: AskReading) -> &'static str {
    match reading {
        AskReading::Never => "never",
        AskReading::First => "first",
        AskReading::Decides => "decides",
    }
}

fn give_up_by(by: GiveUpBy) -> &'static str {
    match by {
        GiveUpBy::Attempts => "attempts",
        GiveUpBy::Age => "age",
    }
}

fn retry_by(by: RetryBy) -> &'static str {
    match by {
        RetryBy::Backoff => "backoff",
        RetryBy::FaultCode => "fault-code",
    }
}

fn drain_order(order: DrainOrder) -> &'static str {
    match order {
        DrainOrder::LowestFirst => "lowest-first",
        DrainOrder::HighestFirst => "highest-first",
    }
}

fn judged(which: Judged) -> &'static str {
    match which {
        Judged::Each => "each",
        Judged::First => "first",
    }
}

fn zone_blame(blame: ZoneBlame) -> &'static str {
    match blame {
        ZoneBlame::Capacity => "capacity",
        ZoneBlame::Any => "any",
    }
}

fn next_zone(next: NextZone) -> &'static str {
    match next {
        NextZone::AtOnce => "at-once",
        NextZone::AfterWait => "after-wait",
    }
}

fn last_round(round: LastRound) -> &'static str {
    match round {
        LastRound::All => "all",
        LastRound::One => "one",
    }
}

fn no_zone(none: NoZone) -> &'static str {
    match none {
        NoZone::Wait => "wait",
        NoZone::GiveUp => "give-up",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::{self, Known, Source, Wish};

    fn policy(spec: &str) -> Document {
        let text = format!("{{apiVersion: bailiwick/v1, kind: Policy, metadata: {{name: default}}, spec: {spec}}}");
        let manifest = manifest::parse(&[Source::new("inline", text)], &Known::default()).expect("valid");
        match &manifest.documents[0].wish {
            Wish::Policy { document, .. } => (**document).clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_left_out_is_told_to_go_back_to_its_default() {
        let present = policy("{machines: {poll: 1s}, harvest: {mode: all}}");
        let told = policy_changes(&present, &policy("{machines: {poll: 90s}}"));
        let default = Document::default().harvest.mode;
        assert_eq!(
            told,
            [
                "spec.machines.poll: 1s -> 1m30s".to_owned(),
                format!("spec.harvest.mode: all -> {default} (the default)")
            ]
        );
        assert_eq!(policy_changes(&present, &present), [""; 0]);
    }

    #[test]
    fn what_is_described_can_be_written_into_a_manifest() {
        let told = as_declared(&Document::default());
        assert_eq!(told.pointer("/machines/attemptsMax"), Some(&json!(11)));
        assert_eq!(policy(&told.to_string()), Document::default());
    }

    /// The paths to all that a stored document says, down to single values.
    fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| leaves(value, &format!("{path}/{name}"), found));
            }
            _ => found.push(path.to_owned()),
        }
    }

    /// A stored value's alternatives. What a word may be instead is what the document's own reader says about a wrong one.
    fn others(document: &Value, path: &str) -> Vec<Value> {
        let value = document.pointer(path).expect("it is there");
        let mut wrong = document.clone();
        match value {
            Value::Number(number) => return vec![json!(number.as_u64().expect("a whole number") + 7)],
            Value::Array(_) if path == "/rollouts/windows" => {
                return vec![json!([{"days": ["sat", "sun"], "fromMinute": 1_320, "forMs": 14_400_000}])];
            }
            Value::Array(_) => return vec![json!([]), json!(["Odd", "Even"])],
            Value::Null => return vec![json!("/srv/storage")],
            _ => *wrong.pointer_mut(path).expect("it is there") = json!("no such word"),
        }
        let error = serde_json::from_value::<Document>(wrong).expect_err("no such word").to_string();
        let (_, known) = error.split_once("expected").unwrap_or_else(|| panic!("{path}: {error}"));
        known.split('`').skip(1).step_by(2).map(|word| json!(word)).filter(|word| word != value).collect()
    }

    /// A manifest's `spec` that says one setting: `{health: {undeployed: unlimited}}`.
    fn saying(told: &str) -> String {
        let (name, values) = told.strip_prefix("spec.").and_then(|told| told.split_once(": ")).expect("a setting");
        let (section, field) = name.split_once('.').expect("in a section");
        let (_, value) = values.split_once(" -> ").expect("what it becomes");
        format!("{{{section}: {{{field}: {value}}}}}")
    }

    #[test]
    fn every_field_of_a_policy_is_told_and_can_be_set_by_a_manifest() {
        // Given all that a stored policy says, whether or not anybody thought of it here
        let default = Document::default();
        let stored = serde_json::to_value(&default).expect("it can be written");
        let mut paths = Vec::new();
        leaves(&stored, "", &mut paths);
        assert_eq!(paths.len(), settings(&default).len(), "{paths:#?}");
        for path in paths {
            let others = others(&stored, &path);
            assert!(!others.is_empty(), "{path} is always the same");
            for other in others {
                let mut changed = stored.clone();
                *changed.pointer_mut(&path).expect("it is there") = other.clone();
                let changed: Document = serde_json::from_value(changed).expect("a policy");
                // When it alone is different
                let told = policy_changes(&default, &changed);
                // Then that is told, and a manifest that says what was told makes it so
                let [told] = told.as_slice() else { panic!("{path} as {other} is told as {told:?}") };
                assert_eq!(policy(&saying(told)), changed, "{path}: {told}");
                let [back] = &policy_changes(&changed, &default)[..] else {
                    panic!("{path} has no way back from {other}")
                };
                assert!(back.ends_with("(the default)"), "{back}");
            }
        }
    }

    #[test]
    fn all_that_another_systems_policy_chooses_is_told() {
        let told = policy_changes(&Document::default(), &policy("{like: gardener-0.49}"));
        for choice in [
            "spec.health.bareReport: healthy -> unhealthy",
            "spec.health.criticalTaint: holds-all -> holds-joining",
            "spec.health.undeployed: everyone -> unlimited",
        ] {
            assert!(told.iter().any(|line| line == choice), "{choice}: {told:#?}");
        }
    }
}
