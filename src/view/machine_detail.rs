//! What a machine waits for, in words, and its name for people.

use bailiwick_actors::{
    machine::{self, Health, Instance, Node, RemovalReason, TurnStep, rules::CRITICAL_TAINT},
    vocab::{Life, Name, Timestamp},
};

use super::{
    Fleet, clients,
    effort::{effort_detail, told},
};
use crate::words::{count, due, join, short_of, until, withheld};

pub(super) fn machine_detail(state: &machine::State, now: Timestamp) -> Option<String> {
    let held = state.hold.as_ref().map(|hold| {
        let would: Vec<&str> = hold.withheld.iter().map(|step| withheld(*step)).collect();
        let ends = hold.until.map(|at| format!(" {}", until(now, at))).unwrap_or_default();
        let noted = if would.is_empty() { String::new() } else { format!("; holds back {}", would.join(" and ")) };
        format!("held{ends}: {}{noted}", hold.reason)
    });
    let strays = state.strays.values().filter_map(|stray| {
        let name = stray.instance.as_ref().map_or_else(|| "instance".to_owned(), |name| format!("instance {name}"));
        Some(format!("deleting stray {name}: {}", effort_detail(&stray.effort, now)?))
    });
    // Why it goes comes first: what is done about it follows from that.
    let goes = state.goes_because().map(|why| match (why, state.life) {
        (RemovalReason::Deleted, _) => "being removed as requested".to_owned(),
        (why, Life::Alive) => format!("drained because {why}"),
        (why, _) => format!("being removed because {why}"),
    });
    let kept = state.is_kept_by_protection().then(|| "protected, so it is not replaced".to_owned());
    let aside = state.aside.filter(|_| state.life == Life::Alive).map(|aside| match aside.is_over {
        false => format!("kept for diagnosis {}", until(now, aside.until)),
        true => "no longer kept for diagnosis; its set removes it".to_owned(),
    });
    let now_done = own_detail(state, now).into_iter().chain(told(state));
    let parts: Vec<String> =
        held.into_iter().chain(goes).chain(aside).chain(kept).chain(now_done).chain(strays).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// How a machine is called by people: one that stands in another has its host's id, what it is, and a number, if its name is
/// made of these: `0/lxd/0` is `0-lxd-0` in machine `0`.
pub(super) fn machine_id(fleet: &Fleet, name: &str) -> String {
    let state = fleet.machines.get(name);
    let parent = state.and_then(|state| state.spec.as_ref()?.parent.as_ref());
    let inside = parent.and_then(|parent| Some((parent, name.strip_prefix(parent.as_str())?.strip_prefix('-')?)));
    let parts = inside.and_then(|(parent, inside)| Some((parent, inside.rsplit_once('-')?)));
    match parts {
        Some((parent, (kind, number))) if number.parse::<u32>().is_ok() && !kind.contains('-') => {
            format!("{}/{kind}/{number}", machine_id(fleet, parent.as_str()))
        }
        _ => name.to_owned(),
    }
}

fn own_detail(state: &machine::State, now: Timestamp) -> Option<String> {
    if state.is_external() {
        return clients::awaited(state).map(|awaited| awaited.because);
    }
    if let Some(detail) = state.effort().and_then(|effort| effort_detail(effort, now)) {
        return Some(detail);
    }
    if let Some((why, _)) = state.unstartable() {
        return Some(format!("cannot start: {why}"));
    }
    if let Some(drain) = state.drain.as_ref().filter(|drain| drain.outcome.is_none()) {
        let draining = format!("draining {}", until(now, drain.until));
        let parts: Vec<String> = [draining].into_iter().chain(turns(&drain.turns, now)).collect();
        return Some(parts.join("; "));
    }
    match (&state.instance, &state.node) {
        (Instance::Lost { since, .. }, _) => Some(format!("its instance has been gone since {since}")),
        (Instance::Running { .. }, Node::Silent) => {
            Some(format!("no health report yet{}", time_left(&state.health, now, REPORTS)))
        }
        (Instance::Running { .. }, Node::Stale { last_seen, .. }) => {
            Some(format!("no health report since {last_seen}{}", time_left(&state.health, now, REPORTS)))
        }
        (Instance::Running { .. }, Node::Reporting { conditions, .. }) => {
            let bad = conditions.values().filter(|condition| !condition.healthy.is_yes());
            let bad: Vec<String> = bad.map(|condition| format!("{}: {}", condition.kind, condition.text)).collect();
            match (bad.is_empty(), state.lacks_components()) {
                (true, true) => {
                    Some(format!("{}{}", lacks_components(), time_left(&state.health, now, "the taint is removed")))
                }
                (true, false) => None,
                (false, _) => {
                    Some(format!("{}{}", bad.join("; "), time_left(&state.health, now, "it becomes healthy")))
                }
            }
        }
        (Instance::None | Instance::Creating(_) | Instance::Deleting { .. }, _) => None,
    }
}

/// What keeps a machine from being ready although nothing else is wrong with it.
pub(super) fn lacks_components() -> String {
    format!("its node has the taint {CRITICAL_TAINT}")
}

/// Whose turn it is among the workloads that end in an order, what is waited for, and who comes next.
fn turns(turns: &machine::Turns, now: Timestamp) -> impl Iterator<Item = String> {
    let present = turns.all.iter().filter_map(move |turn| told_of_turn(turn, now));
    let asked = turns.all.iter().filter(|turn| matches!(turn.step, TurnStep::Asked { .. }));
    let next: Vec<&Name> = asked.map(|turn| &turn.plan.workload).collect();
    let has_next = turns.has_order() && !next.is_empty();
    present.chain(has_next.then(|| format!("next: {}", join(next))))
}

fn told_of_turn(turn: &machine::Turn, now: Timestamp) -> Option<String> {
    let workload = &turn.plan.workload;
    Some(match &turn.step {
        TurnStep::Asked { .. } | TurnStep::Over => return None,
        TurnStep::Refused { attempt, budget, until: again } => format!(
            "workload {workload} keeps running ({}; refused {}, next check {})",
            short_of(budget),
            count(*attempt as usize, "time"),
            due(now, *again),
        ),
        TurnStep::Ending { until: ends } => format!("workload {workload} has {} to stop", until(now, *ends)),
        TurnStep::Detaching { volumes, until: ends } => {
            let ends = until(now, *ends);
            format!("workload {workload} stopped; its volumes have {ends} to detach: {}", join(volumes))
        }
    })
}

/// What a machine of which nothing is heard is given time for.
const REPORTS: &str = "its health is reported";

/// How long a machine that is not healthy has left, and what would help.
fn time_left(health: &Health, now: Timestamp, unless: &str) -> String {
    match health {
        Health::Joining { until: at, .. } => format!("; it has {} to become healthy", until(now, *at)),
        Health::Suspect { until: at, .. } => format!("; it will be given up {} unless {unless}", due(now, *at)),
        Health::Overdue { since, .. } => format!("; its time ran out at {since}"),
        Health::Unjudged | Health::Well { .. } => String::new(),
    }
}
