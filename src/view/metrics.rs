//! How everything is, as gauges and counters in the text form that Prometheus reads; put together anew for everybody who asks.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use bailiwick_actors::{
    ports::Operation,
    replica_set::State,
    shell::{Answered, BudgetSeen, CallTime, RegistryStats},
    supervisor::peer_group::metrics::{Gauge, NAME, gauges},
    vocab::{FaultCode, Life, Name},
};
use bailiwick_journal::Position;

use super::{Fleet, MachineDeploymentRow, SinkSeen, Upcoming, machine_deployments, status, upcoming};

const AHEAD: &str = "bailiwick_clock_ahead_seconds";

/// What only a running node knows of its own work.
#[derive(Clone, Debug, Default)]
pub struct Load {
    pub registry: RegistryStats,
    /// Provider, operation, and the calls that are over.
    pub calls: Vec<(Option<Name>, Operation, CallTime)>,
    /// What was answered to them, an item each.
    pub answers: Vec<(Answered, u64)>,
}

/// All gauges and counters. What a member says counts as of when its set was looked at last.
///
/// Source: Juju's gauge of replica set members; members that name no machine are left out there, too.
pub fn metrics(fleet: &Fleet, load: &Load) -> String {
    let sets: Vec<(&str, &State)> = fleet
        .replica_sets
        .iter()
        .filter(|(_, folded)| folded.state.life == Life::Alive)
        .map(|(name, folded)| (name, &folded.state))
        .collect();
    let mut text = String::new();
    head(&mut text, NAME, "1 if the member is healthy, 0 if it is not");
    for (set, state) in &sets {
        let Some(seen) = &state.seen else { continue };
        for Gauge { id, address, state, healthy } in gauges(&seen.configuration.members, &seen.statuses) {
            let labels = [("set", *set), ("machine", &id), ("address", &address), ("state", state.name())];
            line(&mut text, NAME, &labels, u64::from(healthy));
        }
    }
    let mut gauge = |name: &str, help: &str, value: fn(&State) -> u64| {
        head(&mut text, name, help);
        sets.iter().for_each(|(set, state)| line(&mut text, name, &[("set", set)], value(state)));
    };
    gauge("bailiwick_replica_set_voters", "members that vote", |state| state.voters() as u64);
    gauge("bailiwick_replica_set_servers_wanted", "members that should vote", |state| {
        state.spec.as_ref().map_or(0, |spec| u64::from(spec.servers))
    });
    let help = "consecutive steps that were refused or whose outcome is unknown";
    gauge("bailiwick_replica_set_failed_steps", help, |state| u64::from(state.step_retries.0));
    entities(&mut text, fleet);
    decisions(&mut text, fleet);
    journal(&mut text, fleet);
    sinks(&mut text, fleet);
    node(&mut text, load);
    calls(&mut text, load);
    budgets(&mut text, fleet);
    deployments(&mut text, fleet);
    if let Some(room) = fleet.host.room {
        let mut gauge = |name: &str, help: &str, value: u64| {
            head(&mut text, name, help);
            let _ = writeln!(text, "{name} {value}");
        };
        gauge("bailiwick_disk_free_bytes", "free space on the disk of the data directory", room.free_bytes);
        let help = "space on that disk that is kept for reports of running work; with less, new commands are refused";
        gauge("bailiwick_disk_reserved_bytes", help, room.reserved_bytes);
    }
    if let Some(clock) = fleet.clock {
        head(
            &mut text,
            AHEAD,
            "how far the node's time is ahead of the host's clock, in seconds; negative if it is behind",
        );
        let ahead_ms = i128::from(fleet.calendar.shown(fleet.time).0) - i128::from(clock.0);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{AHEAD} {}", ahead_ms as f64 / 1000.0);
    }
    text
}

/// How many there are of each kind in each status, and how many need somebody.
fn entities(text: &mut String, fleet: &Fleet) {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let all = fleet.statuses();
    for (stream, status) in all.iter().filter(|(stream, _)| fleet.exists(stream)) {
        *counts.entry((stream.kind(), status)).or_default() += 1;
    }
    head(text, "bailiwick_entities", "objects that exist, by kind and status");
    for ((kind, status), count) in counts {
        line(text, "bailiwick_entities", &[("kind", kind), ("status", status)], count);
    }
    head(text, "bailiwick_trouble", "objects in trouble: what `bailiwick status` lists first");
    let _ = writeln!(text, "bailiwick_trouble {}", status(fleet).trouble.len());
    let due: Vec<Upcoming> = upcoming(fleet, usize::MAX);
    head(text, "bailiwick_schedule", "what will happen by itself at a due time");
    let _ = writeln!(text, "bailiwick_schedule {}", due.len());
    head(text, "bailiwick_schedule_overdue", "what should have happened by now, and has not yet");
    let overdue = due.iter().filter(|due| due.in_ms == 0).count();
    let _ = writeln!(text, "bailiwick_schedule_overdue {overdue}");
}

fn decisions(text: &mut String, fleet: &Fleet) {
    const DECISIONS: &str = "bailiwick_decisions_total";
    headed(
        text,
        DECISIONS,
        "counter",
        "decisions in the journal, by what they are about, their outcome and their reason",
    );
    for (kind, outcome, reason, count) in fleet.decisions.all() {
        line(text, DECISIONS, &[("kind", kind), ("outcome", outcome), ("reason", reason)], count);
    }
}

fn journal(text: &mut String, fleet: &Fleet) {
    headed(text, "bailiwick_journal_position", "counter", "the last entry of the journal");
    let _ = writeln!(text, "bailiwick_journal_position {}", fleet.position);
    let Some(stats) = &fleet.host.journal else { return };
    let all: [(&str, &str, &str, u64); 6] = [
        ("groups_total", "counter", "groups of entries that became durable since the node started", stats.groups),
        ("appends_waiting", "gauge", "appends that wait to become durable", stats.waiting as u64),
        (
            "store_behind_blocks",
            "gauge",
            "blocks that are durable in the log and not in the store yet",
            stats.store_behind,
        ),
        (
            "store_misses_total",
            "counter",
            "reads that the store should have answered and the log did, since the node started",
            stats.store_misses,
        ),
        ("segments", "gauge", "segments of the log, the one that is written to included", stats.segments.into()),
        ("segments_to_compress", "gauge", "full segments of the log that are not compressed yet", {
            stats.segments_to_compress.into()
        }),
    ];
    for (name, kind, help, value) in all {
        let name = format!("bailiwick_journal_{name}");
        headed(text, &name, kind, help);
        let _ = writeln!(text, "{name} {value}");
    }
}

/// Of every event sink.
fn sinks(text: &mut String, fleet: &Fleet) {
    let mut all = |name: &str, help: &str, value: fn(&SinkSeen, Position) -> u64| {
        head(text, name, help);
        let sinks = fleet.host.sinks.iter();
        sinks.for_each(|(sink, seen)| line(text, name, &[("sink", sink.as_str())], value(seen, fleet.position)));
    };
    let help = "entries that the event sink was not told yet";
    all("bailiwick_event_sink_behind", help, |seen, head| head.0.saturating_sub(seen.told.0));
    let help = "1 if the event sink cannot be told, 0 if it can";
    all("bailiwick_event_sink_failing", help, |seen, _| u64::from(seen.trouble.is_some()));
}

fn node(text: &mut String, load: &Load) {
    let of = &load.registry;
    let counted =
        "decisions that were counted and not recorded, because they said once more that nothing had to be done";
    let all: [(&str, &str, &str, u64); 7] = [
        ("bailiwick_actors", "gauge", "objects in memory", of.actors as u64),
        ("bailiwick_actors_idle", "gauge", "objects in memory that do nothing", of.idle as u64),
        (
            "bailiwick_actors_quarantined",
            "gauge",
            "objects whose commands make the node panic",
            of.quarantined.len() as u64,
        ),
        ("bailiwick_commands_waiting", "gauge", "commands that wait for their answers", of.asks as u64),
        ("bailiwick_provider_items_running", "gauge", "items of provider calls under way", of.calls as u64),
        ("bailiwick_decisions_only_counted_total", "counter", counted, of.only_counted),
        (
            "bailiwick_actor_restarts_total",
            "counter",
            "objects that a command made panic since the node started, each rebuilt from the journal",
            of.crashes,
        ),
    ];
    for (name, kind, help, value) in all {
        headed(text, name, kind, help);
        let _ = writeln!(text, "{name} {value}");
    }
    const BROKEN: &str = "bailiwick_invariants_broken_total";
    let help = "how often something that has to hold of every object came not to hold since the node started";
    headed(text, BROKEN, "counter", help);
    for ((kind, invariant), count) in &of.broken {
        line(text, BROKEN, &[("kind", kind), ("invariant", invariant)], *count);
    }
}

/// How long the calls to each provider took since the node started.
fn calls(text: &mut String, load: &Load) {
    const CALLS: &str = "bailiwick_provider_call_duration_seconds";
    headed(text, CALLS, "histogram", "how long calls to providers took since the node started");
    let engine = "replica-set engine";
    for (provider, operation, time) in &load.calls {
        let (provider, operation) = (provider.as_ref().map_or(engine, Name::as_str), operation.told());
        let labels = [("provider", provider), ("operation", operation.as_str())];
        let mut bucket = |bound: &str, count: u64| {
            line(text, &format!("{CALLS}_bucket"), &[labels[0], labels[1], ("le", bound)], count);
        };
        for (bound_ms, count) in CallTime::BOUNDS_MS.iter().zip(time.within) {
            bucket(&(*bound_ms as f64 / 1000.0).to_string(), count);
        }
        bucket("+Inf", time.calls);
        let name = format!("{CALLS}_sum");
        let _ = writeln!(text, "{}", labelled(&name, &labels, time.total_ms as f64 / 1000.0));
        line(text, &format!("{CALLS}_count"), &labels, time.calls);
    }
    const ITEMS: &str = "bailiwick_provider_items_total";
    headed(text, ITEMS, "counter", "what providers were asked for since the node started, several of them in one call");
    for (provider, operation, time) in &load.calls {
        let provider = provider.as_ref().map_or(engine, Name::as_str);
        line(text, ITEMS, &[("provider", provider), ("operation", &operation.told())], time.items);
    }
    const ANSWERS: &str = "bailiwick_provider_answers_total";
    headed(
        text,
        ANSWERS,
        "counter",
        "what providers answered since the node started, by outcome: ok, or the code of the fault",
    );
    for ((provider, kind, fault), count) in &load.answers {
        let provider = provider.as_ref().map_or(engine, Name::as_str);
        let labels =
            [("provider", provider), ("call", kind.as_str()), ("outcome", fault.map_or("ok", FaultCode::as_str))];
        line(text, ANSWERS, &labels, *count);
    }
}

/// Of every provider with a call budget.
fn budgets(text: &mut String, fleet: &Fleet) {
    let seen = &fleet.budgets.seen;
    let mut all = |name: &str, kind: &str, help: &str, value: fn(&BudgetSeen) -> u64| {
        headed(text, name, kind, help);
        seen.iter().for_each(|seen| line(text, name, &[("provider", seen.provider.as_str())], value(seen)));
    };
    let help = "calls to the provider since the node started, each paid from its budget";
    all("bailiwick_provider_calls_total", "counter", help, |seen| seen.calls);
    let help = "calls to the provider that wait for its budget";
    all("bailiwick_provider_calls_waiting", "gauge", help, |seen| seen.waiting as u64);
    let help = "entities whose orders wait for the budget of their provider";
    all("bailiwick_provider_orders_waiting", "gauge", help, |seen| seen.streams.len() as u64);
}

type OfDeployment = (&'static str, &'static str, fn(&MachineDeploymentRow) -> u64);

/// What is told of each machine deployment.
const OF_DEPLOYMENTS: [OfDeployment; 7] = [
    ("bailiwick_machine_deployment_replicas_wanted", "machines it should have", |row| row.replicas.into()),
    ("bailiwick_machine_deployment_machines", "machines it has", |row| row.machines.into()),
    ("bailiwick_machine_deployment_updated", "machines of its present template", |row| row.updated_machines.into()),
    ("bailiwick_machine_deployment_ready", "machines that are ready", |row| row.ready_machines.into()),
    ("bailiwick_machine_deployment_available", "machines that were ready for long enough", |row| {
        row.available_machines.into()
    }),
    ("bailiwick_machine_deployment_paused", "1 if its rollout is paused, 0 if it is not", |row| row.paused.into()),
    ("bailiwick_machine_deployment_frozen", "1 if a set of it is frozen, 0 if none is", |row| row.frozen.into()),
];

fn deployments(text: &mut String, fleet: &Fleet) {
    let rows = machine_deployments(fleet);
    for (name, help, value) in OF_DEPLOYMENTS {
        head(text, name, help);
        rows.iter().for_each(|row| line(text, name, &[("deployment", &row.name)], value(row)));
    }
}

fn head(text: &mut String, name: &str, help: &str) {
    headed(text, name, "gauge", help);
}

fn headed(text: &mut String, name: &str, kind: &str, help: &str) {
    text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
}

fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: u64) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{}", labelled(name, labels, value));
}

fn labelled(name: &str, labels: &[(&str, &str)], value: impl fmt::Display) -> String {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
    format!("{name}{{{}}} {value}", labels.join(","))
}

/// As the text form wants it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_are_escaped() {
        let mut text = String::new();
        line(&mut text, "x", &[("a", "one \"two\"\n\\three")], 7);
        assert_eq!(text, "x{a=\"one \\\"two\\\"\\n\\\\three\"} 7\n");
    }

    #[test]
    fn without_sets_there_are_only_the_names() {
        let text = metrics(&Fleet::default(), &Load::default());
        let values = text.lines().filter(|line| !line.starts_with("# "));
        assert!(values.clone().all(|line| line.ends_with(" 0")) && values.count() == 11, "{text}");
        assert!(text.contains("# TYPE bailiwick_replica_set_member gauge"), "{text}");
    }
}
