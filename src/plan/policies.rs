//! What another revision of a policy changes, setting by setting.
//!
//! A document says all of a policy: what it leaves out is not as now but as by default, and that is told.

use std::time::Duration;

use bailiwick_actors::policy::{Document, GiveUpBy, Judged, LastRound, NextZone, NoZone, RetryBy, WhenLost, ZoneBlame};

/// The settings that differ, each with what it is and what it becomes: `spec.machines.poll: 1s -> 5s (the default)`.
pub(super) fn changes(present: &Document, wished: &Document) -> Vec<String> {
    let (before, defaults) = (settings(present), settings(&Document::default()));
    let after = settings(wished).into_iter().zip(before).zip(defaults);
    let differing = after.filter(|(((_, after), (_, before)), _)| after != before);
    let mut told: Vec<String> = differing
        .map(|(((name, after), (_, before)), (_, default))| {
            let hint = if after == default { " (the default)" } else { "" };
            format!("spec.{name}: {before} -> {after}{hint}")
        })
        .collect();
    // What no manifest can say differs only if another release wrote it.
    if told.is_empty() && present != wished {
        told.push("spec".to_owned());
    }
    told
}

/// All that a manifest can say, by its name there.
fn settings(document: &Document) -> Vec<(&'static str, String)> {
    let Document { machines, storage, harvest, reconciliation: health, retries, zones, replica_sets } = document;
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
        ("health.nodeConditions", format!("[{}]", health.node_conditions.join(", "))),
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
        ("retries.by", retry_by(retries.by).to_owned()),
        ("retries.permanentMax", retries.permanent_max.to_string()),
        ("retries.judged", judged(retries.judged).to_owned()),
        ("retries.giveUpBy", give_up_by(retries.give_up_by).to_owned()),
        ("retries.short", period(health.retry_short_ms)),
        ("retries.medium", period(health.retry_medium_ms)),
        ("retries.long", period(health.retry_long_ms)),
        ("zones.blame", zone_blame(zones.blame).to_owned()),
        ("zones.next", next_zone(zones.next).to_owned()),
        ("zones.lastRound", last_round(zones.last_round).to_owned()),
        ("zones.whenNone", no_zone(zones.when_none).to_owned()),
        ("replicaSets.rules", replica_sets.rules.to_string()),
    ]
}

/// As a manifest writes it: `1h30m`, `500ms`.
fn period(ms: u64) -> String {
    let told = jiff::SignedDuration::try_from(Duration::from_millis(ms)).map(|period| format!("{period:#}"));
    told.map_or_else(|_| format!("{ms}ms"), |told| told.replace(' ', ""))
}

fn when_lost(when: WhenLost) -> &'static str {
    match when {
        WhenLost::Replace => "replace",
        WhenLost::Keep => "keep",
        WhenLost::Ignore => "ignore",
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
        let told = changes(&present, &policy("{machines: {poll: 90s}}"));
        let default = Document::default().harvest.mode;
        assert_eq!(
            told,
            [
                "spec.machines.poll: 1s -> 1m30s".to_owned(),
                format!("spec.harvest.mode: all -> {default} (the default)")
            ]
        );
        assert_eq!(changes(&present, &present), [""; 0]);
    }

    #[test]
    fn every_setting_of_a_manifest_is_told_as_a_manifest_writes_it() {
        // Given a document in which every setting is what no default is, written from the table itself
        let other = |(name, value): &(&'static str, String)| {
            let value = match *name {
                "machines.whenLost" => "keep".to_owned(),
                "harvest.mode" => "all".to_owned(),
                "retries.by" => "fault-code".to_owned(),
                "storage.mountDir" => "/srv/storage".to_owned(),
                "replicaSets.rules" => "juju-2019".to_owned(),
                "retries.judged" => "first".to_owned(),
                "retries.giveUpBy" => "age".to_owned(),
                "zones.blame" => "any".to_owned(),
                "zones.next" => "after-wait".to_owned(),
                "zones.lastRound" => "one".to_owned(),
                "zones.whenNone" => "give-up".to_owned(),
                "health.nodeConditions" => "[Odd]".to_owned(),
                _ if value.parse::<u32>().is_ok() => format!("{}", value.parse::<u32>().unwrap() + 1),
                _ => "1h17m3s5ms".to_owned(),
            };
            (*name, value)
        };
        let wanted: Vec<(&str, String)> = settings(&Document::default()).iter().map(other).collect();
        let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
        for (name, value) in &wanted {
            let (section, field) = name.split_once('.').expect("a section");
            match sections.iter_mut().find(|(known, _)| *known == section) {
                Some((_, fields)) => fields.push(format!("{field}: {value}")),
                None => sections.push((section, vec![format!("{field}: {value}")])),
            }
        }
        let sections: Vec<String> =
            sections.iter().map(|(name, fields)| format!("{name}: {{{}}}", fields.join(", "))).collect();
        // When it is read, then the table tells what was written
        assert_eq!(settings(&policy(&format!("{{{}}}", sections.join(", ")))), wanted);
    }
}
