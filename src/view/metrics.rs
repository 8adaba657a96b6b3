//! How replica sets and machine deployments are, as gauges in the text form that Prometheus reads; put together anew for everybody who asks.

use std::fmt::Write;

use bailiwick_actors::{
    replica_set::State,
    shell::BudgetSeen,
    supervisor::peer_group::metrics::{Gauge, NAME, gauges},
    vocab::Life,
};

use super::{Fleet, MachineDeploymentRow, machine_deployments};

const AHEAD: &str = "bailiwick_clock_ahead_seconds";

/// All gauges. What a member says counts as of when its set was looked at last.
///
/// Source: Juju's gauge of replica set members; members that name no machine are left out there, too.
pub fn metrics(fleet: &Fleet) -> String {
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
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
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
        let text = metrics(&Fleet::default());
        assert!(text.lines().all(|line| line.starts_with("# ")), "{text}");
        assert!(text.contains("# TYPE bailiwick_replica_set_member gauge"), "{text}");
    }
}
