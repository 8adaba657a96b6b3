//! Why a set or a replica set is not as declared, and why a member does not vote.

use bailiwick_actors::{
    contract::{Decider, NoView},
    machine::{self, Instance},
    machine_deployment, machine_set,
    ports::replica_set::{MemberState, MemberStatus, StepReason},
    replica_set,
    supervisor::replica_sets::begins_on,
    vocab::{Life, Name, Timestamp},
};
use bailiwick_journal::StreamId;

use super::{
    Fleet,
    machine_sets::{cut_off, machine_set_row},
    members::{MemberRow, member_row, members_of},
    planned::planned,
    replica_sets::replica_set_row,
    unmet::Unmet,
    why_not::{A_REQUEST, APPLY, NO_REQUEST, THE_END, declared, missing, why_not},
};
use crate::words::count;

pub(super) fn of_machine_set(fleet: &Fleet, name: &str, wanted: &str) -> Option<Option<Unmet>> {
    let folded = fleet.machine_sets.folded(name)?;
    let (state, row) = (&folded.state, machine_set_row(fleet, name, folded));
    let stream = StreamId::new(machine_set::State::KIND, name).ok()?;
    let is_of_set = |state: &machine::State| {
        let set = state.spec.as_ref().and_then(|spec| spec.set.as_ref());
        state.life.exists() && set.is_some_and(|set| set.as_str() == name)
    };
    let machines = || fleet.machines.iter().filter(|(_, machine)| is_of_set(&machine.state));
    if wanted == "removed" {
        let left = machines().next().map(|(machine, _)| format!("machine/{machine}"));
        let deployment = state.spec.as_ref().and_then(|spec| spec.deployment.as_ref());
        let by_owner = deployment.filter(|_| state.life == Life::Alive).map(|owner| owned(fleet, owner));
        let by_hold = state.hold.as_ref().filter(|_| state.life == Life::Alive).map(|hold| {
            let because = format!("it is held ({}), and {NO_REQUEST}", hold.reason);
            let by = format!("`bailiwick unhold {stream}`, then `bailiwick delete {stream}`");
            Unmet::new("the end of its hold", because, by).looked_at(hold.until)
        });
        return Some(by_owner.or(by_hold).or_else(|| removed(fleet, &stream, state.life, left)));
    }
    if let Some(unmet) = declared(state.life) {
        return Some(Some(unmet));
    }
    if let Some(hold) = &state.hold {
        let because = format!("it is held: {}", hold.reason);
        let unmet = Unmet::of_operator("the end of its hold", because, format!("bailiwick unhold {stream}"));
        return Some(Some(unmet.looked_at(hold.until)));
    }
    let replicas = usize::try_from(row.replicas).unwrap_or(usize::MAX);
    let is_protected = |(name, _): &(&str, _)| {
        StreamId::new(machine::State::KIND, name).is_ok_and(|machine| fleet.is_protected(&machine))
    };
    // Whatever else it waits for: it keeps what it has too many of, and so creates nothing.
    if let Some((kept, _)) = machines().find(is_protected).filter(|_| replicas < row.machines) {
        let has = count(row.machines, "machine");
        let because = format!("it has {has} and should have {replicas}, and machine/{kept} is protected");
        let command = format!("bailiwick unprotect machine/{kept}");
        return Some(Some(Unmet::of_operator("the end of its machines' protection", because, command)));
    }
    let lacks = row.machines < replicas || !row.failed_machines.is_empty();
    if let Some(frozen) = row.frozen.filter(|_| lacks) {
        let by = format!("the end of machines that are being removed, or `bailiwick thaw {stream}`");
        return Some(Some(Unmet::new("the end of its freeze", format!("it is {frozen}"), by)));
    }
    if let Some(because) = cut_off(fleet, state).filter(|_| lacks) {
        let by = "an answer of the provider, which the node keeps polling";
        return Some(Some(Unmet::new("an answer from its provider", because, by)));
    }
    if let Some(until) = state.rests_until {
        let unmet = Unmet::new("accepted machines", "one of its machines was refused", "its next attempt");
        return Some(Some(unmet.looked_at(Some(until))));
    }
    if row.machines != replicas {
        let because = if row.machines < replicas {
            format!("it has {} of {}", row.machines, count(replicas, "machine"))
        } else {
            format!("it has {} and should have {replicas}", count(row.machines, "machine"))
        };
        let mut others = machines().filter(|_| replicas < row.machines);
        if let Some((leaving, _)) = others.find(|(_, machine)| machine.state.life == Life::Dying) {
            let unmet = unmet_of(fleet, &format!("machine/{leaving}"), "removed", "the declared number of machines");
            return Some(Some(Unmet { because: format!("{because}; {}", unmet.because), ..unmet }));
        }
        let by =
            if row.machines < replicas { "the set creates the missing ones" } else { "the set removes the surplus" };
        return Some(Some(Unmet::new("the declared number of machines", because, by)));
    }
    if wanted == "at-its-number" {
        return Some(None);
    }
    if let Some((machine, _)) = machines().find(|(_, machine)| !machine.state.is_ready() && !machine.state.is_aside()) {
        return Some(Some(unmet_of(fleet, &format!("machine/{machine}"), "ready", "ready machines")));
    }
    if row.ready {
        return Some(None);
    }
    Some(Some(Unmet::new("completion of its pass", "a pass is under way", "nothing to do: it completes by itself")))
}

pub(super) fn of_machine_deployment(fleet: &Fleet, name: &str, wanted: &str) -> Option<Option<Unmet>> {
    let state = &fleet.machine_deployments.folded(name)?.state;
    let stream = StreamId::new(machine_deployment::State::KIND, name).ok()?;
    let is_there = |set: &&machine_deployment::OwnedSet| {
        fleet.machine_sets.get(set.name.as_str()).is_some_and(|set| set.life.exists())
    };
    if wanted == "removed" {
        let left = state.sets.values().find(is_there).map(|set| format!("machine-set/{}", set.name));
        return Some(removed(fleet, &stream, state.life, left));
    }
    if let Some(unmet) = declared(state.life) {
        return Some(Some(unmet));
    }
    if state.is_complete() {
        return Some(None);
    }
    if state.is_paused() {
        let command = format!("bailiwick rollout resume {name}");
        return Some(Some(Unmet::of_operator("a rollout that is not paused", "its rollout is paused", command)));
    }
    if let Some(opens) = state.awaits {
        let because = "its rollout replaces machines only in its windows, and none is open";
        let by = format!("the next window, or `bailiwick rollout now {name}`");
        return Some(Some(Unmet::new("an open window", because, by).looked_at(Some(opens))));
    }
    let (Some(spec), Some(template)) = (&state.spec, state.template()) else { return Some(None) };
    let found = machine_deployment::find(&state.sets, &template);
    let as_wanted = |set: &machine_deployment::OwnedSet| {
        let counts = set.counts;
        counts.machines == set.replicas && counts.available == set.replicas && counts.active == set.replicas
    };
    let next = state.due();
    let sets = found.new.into_iter().chain(found.old.iter().copied());
    if wanted == "at-its-number" && state.told.machines == spec.replicas {
        return Some(None);
    }
    for set in sets.filter(|set| !as_wanted(set)) {
        let entity = format!("machine-set/{}", set.name);
        // It is not there yet, or is ready, and the deployment has not seen that: both are the deployment's own to mend.
        if entity.parse().is_ok_and(|stream| missing(fleet, &stream).is_none()) {
            continue;
        }
        let answer = unmet_of(fleet, &entity, "ready", "available machines");
        let is_another = answer.blocked_by.as_deref() != Some(entity.as_str());
        if is_another || answer.awaited_command().is_some() || set.counts.failure.is_some() {
            return Some(Some(answer));
        }
    }
    let totals = &state.told;
    let because = format!("{}/{} machines are updated, {} available", totals.updated, spec.replicas, totals.available);
    Some(Some(
        Unmet::new("completion of its rollout", because, "nothing to do: it completes by itself").looked_at(next),
    ))
}

pub(super) fn of_replica_set(fleet: &Fleet, name: &str, wanted: &str) -> Option<Option<Unmet>> {
    let folded = fleet.replica_sets.folded(name)?;
    let (state, row) = (&folded.state, replica_set_row(fleet, name, folded));
    let stream = StreamId::new(replica_set::State::KIND, name).ok()?;
    if wanted == "removed" {
        return Some(removed(fleet, &stream, state.life, None));
    }
    if let Some(unmet) = declared(state.life) {
        return Some(Some(unmet));
    }
    let servers = usize::try_from(row.servers).unwrap_or(usize::MAX);
    let is_at_number = row.voters == servers;
    if row.ready || (wanted == "at-its-number" && is_at_number) {
        return Some(None);
    }
    if let Some(unmet) = not_begun(fleet, state) {
        return Some(Some(unmet));
    }
    if let Some(unmet) = unhealthy_voter(fleet, name, state).filter(|_| is_at_number) {
        return Some(Some(unmet));
    }
    let due = next_look(state);
    let sick = members_of(fleet, name, state).into_iter().find(|member| !member.healthy);
    let (precondition, missing) = match (is_at_number, &row.leader, sick) {
        (false, ..) => ("the declared number of voters", format!("{} of {servers} servers vote", row.voters)),
        (true, None, _) => ("a leader", "none of its members led when it was last read".to_owned()),
        (true, Some(_), Some(sick)) => ("healthy members", format!("member {} is not healthy", sick.name)),
        (true, Some(_), None) => ("its settled state", "the node is still at work on it".to_owned()),
    };
    let (because, by) = match (&row.held, row.plan.first(), &row.detail) {
        (Some(held), ..) => {
            (format!("{missing}: {held}"), "nothing to do: the node plans again once this clears".to_owned())
        }
        (None, Some(step), _) => (missing, step.clone()),
        (None, None, detail) if !is_at_number && state.is_settled() => {
            let because = match detail {
                Some(detail) if detail.starts_with(&missing) => detail.clone(),
                Some(detail) => format!("{missing}: {detail}"),
                None => missing,
            };
            let by = match catches_up(state) {
                true => "nothing to do: its member votes once it has caught up",
                false => "a seat in its declaration on another machine that exists, or a server that answers again",
            };
            (because, by.to_owned())
        }
        (None, None, Some(detail)) => (format!("{missing}: {detail}"), NEXT_READ.to_owned()),
        (None, None, None) => (missing, NEXT_READ.to_owned()),
    };
    Some(Some(Unmet::new(precondition, because, by).looked_at(due)))
}

/// Whether a member that has no vote yet answers and is copying its data.
fn catches_up(state: &replica_set::State) -> bool {
    let Some(seen) = &state.seen else { return false };
    let has_no_vote = |id| seen.configuration.members.iter().any(|member| member.id == id && !member.is_voter());
    let copies = |status: &MemberStatus| {
        matches!(status.state, MemberState::Startup2 | MemberState::Recovering) && status.healthy
    };
    seen.statuses.iter().any(|status| copies(status) && has_no_vote(status.id))
}

/// Settled sets are read again once their servers say something else, others at the time that is told.
const NEXT_READ: &str = "the next read of its state";

/// What a set lacks that has all its voters: the first of them that is not healthy, unless the set goes on by itself.
fn unhealthy_voter(fleet: &Fleet, set: &str, state: &replica_set::State) -> Option<Unmet> {
    let planned = planned(fleet, set, state);
    if !state.is_settled() || !planned.steps.is_empty() || planned.held.is_some() {
        return None;
    }
    let sick = members_of(fleet, set, state).into_iter().find(|member| member.votes && !member.healthy)?;
    let as_seen = sick.state.map(str::to_ascii_lowercase).unwrap_or_else(|| "not seen".to_owned());
    let because = format!("member {} is not healthy: its server was {as_seen} when it was last read", sick.name);
    let by = match &sick.machine {
        Some(machine) => format!("its server answers again, or machine/{machine} is replaced"),
        None => "its server answers again".to_owned(),
    };
    // One that no machine stands behind has no stream of its own.
    let blocked_by = sick.version.is_some().then(|| format!("member/{}", sick.name));
    Some(Unmet { blocked_by, ..Unmet::new("healthy members", because, by).looked_at(next_look(state)) })
}

/// What a set waits for that nobody has begun yet: the machine that it begins on.
fn not_begun(fleet: &Fleet, state: &replica_set::State) -> Option<Unmet> {
    const FIRST: &str = "its first server";
    let spec = state.spec.as_ref().filter(|_| state.is_settled() && state.seen.is_none())?;
    let Some(seat) = begins_on(&fleet.machines, spec) else {
        let by = "`bailiwick apply` it with a seat on a machine that exists";
        return Some(Unmet::new(FIRST, "the machines of all its seats are gone", by));
    };
    let machine = format!("machine/{}", seat.machine);
    let is_running =
        fleet.machines.get(seat.machine.as_str()).is_some_and(|it| matches!(it.instance, Instance::Running { .. }));
    (!is_running).then(|| unmet_of(fleet, &machine, "running", FIRST))
}

pub(super) fn of_member(fleet: &Fleet, name: &str, wanted: &str) -> Option<Option<Unmet>> {
    let folded = fleet.members.folded(name)?;
    let row = member_row(fleet, name, folded);
    let set = format!("replica-set/{}", row.set);
    let is_gone = matches!(folded.state.life, Life::Removed | Life::Undeclared);
    match wanted {
        "removed" if is_gone => return Some(None),
        "removed" => {
            let by = "remove its machine, or its seat in the replica set";
            return Some(Some(Unmet::new(
                "the loss of its seat",
                format!("{set} still lists it as {}", as_noun(row.status)),
                by,
            )));
        }
        _ => (),
    }
    if let Some(unmet) = declared(folded.state.life) {
        return Some(Some(unmet));
    }
    if row.votes && (wanted == "voting" || row.healthy) {
        return Some(None);
    }
    let due = fleet.replica_sets.get(&row.set).and_then(next_look);
    if row.votes {
        let because = format!(
            "it was {} when the state of {set} was last read",
            row.state.unwrap_or("not seen").to_ascii_lowercase()
        );
        return Some(Some(Unmet::new("a healthy server", because, "its server answers and catches up").looked_at(due)));
    }
    if let Some(unmet) = voters_suffice(fleet, &row) {
        return Some(Some(unmet));
    }
    let is_new =
        folded.state.because == Some(StepReason::NoVoteInvolved) && matches!(row.status, "joining" | "learner");
    let why = match row.why {
        Some(why) if !is_new => why,
        // That its joining changed no vote says why that was done at once, not why it has none.
        Some(_) => "it is still catching up".to_owned(),
        None => format!("it is {}", as_noun(row.status)),
    };
    let by = format!("the next step of {set}: `bailiwick why-not {set} at-its-number`");
    Some(Some(Unmet::new("a vote", why, by).looked_at(due)))
}

/// That its set has as many voters as it should, if nothing else keeps it from a vote.
fn voters_suffice(fleet: &Fleet, row: &MemberRow) -> Option<Unmet> {
    let state = fleet.replica_sets.get(&row.set).filter(|state| state.is_settled())?;
    let servers = usize::try_from(state.spec.as_ref()?.servers).ok()?;
    let because = format!("replica-set/{} has {} of the {servers} voters it should have", row.set, state.voters());
    let by = format!("`bailiwick enable-ha NUMBER {}` with a larger number", row.set);
    let is_chosen = !planned(fleet, &row.set, state).not_chosen.contains_key(row.machine.as_ref()?.as_str());
    (servers <= state.voters() && is_chosen).then(|| Unmet::new("a vote", because, by))
}

/// "a voter", "joining".
fn as_noun(status: &str) -> String {
    if matches!(status, "learner" | "voter" | "stranger") { format!("a {status}") } else { status.to_owned() }
}

/// What another entity lacks, as what is missing here.
pub(super) fn unmet_of(fleet: &Fleet, other: &str, wanted: &str, precondition: &'static str) -> Unmet {
    let answer = other.parse::<StreamId>().ok().and_then(|stream| why_not(fleet, &stream, wanted));
    match answer.map(|answer| answer.unmet) {
        Some(Some(unmet)) => Unmet {
            precondition,
            because: format!("{other}: {}", unmet.because),
            blocked_by: Some(unmet.blocked_by.unwrap_or_else(|| other.to_owned())),
            ..unmet
        },
        Some(None) if wanted != "removed" => {
            Unmet::new(precondition, format!("{other} is {wanted}"), "nothing to do: it completes by itself")
        }
        _ if wanted == "removed" => Unmet::new(precondition, format!("{other} is gone"), "it completes by itself"),
        _ => Unmet {
            blocked_by: Some(other.to_owned()),
            // What a set names, the set declares.
            command: (!is_named_by_set(fleet, other)).then(|| APPLY.to_owned()),
            ..Unmet::new(precondition, format!("{other} does not exist"), "`bailiwick apply` its manifest")
        },
    }
}

/// Whether a machine has a name that a living set gives: `web-3` of set `web`.
fn is_named_by_set(fleet: &Fleet, entity: &str) -> bool {
    let numbered = entity.strip_prefix("machine/").and_then(|name| name.rsplit_once('-'));
    let set = numbered.filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit())).map(|(set, _)| set);
    set.and_then(|set| fleet.machine_sets.get(set)).is_some_and(|state| state.life == Life::Alive)
}

/// What is missing for the removal of a set that goes with its deployment, and not by itself.
fn owned(fleet: &Fleet, deployment: &Name) -> Unmet {
    let life = fleet.machine_deployments.get(deployment.as_str()).map(|owner| owner.life);
    let owner = format!("machine-deployment/{deployment}");
    if life == Some(Life::Alive) {
        let because = format!("it belongs to {owner}, which is not being removed");
        Unmet::new(A_REQUEST, because, format!("`bailiwick delete {owner}`"))
    } else {
        Unmet::new(THE_END, format!("{owner} is being removed"), "nothing to do: it completes by itself")
    }
}

fn removed(fleet: &Fleet, entity: &StreamId, life: Life, left: Option<String>) -> Option<Unmet> {
    match life {
        Life::Removed | Life::Undeclared => None,
        Life::Alive => {
            let by = format!("`bailiwick delete {entity}`");
            Some(Unmet::new(A_REQUEST, NO_REQUEST, by))
        }
        Life::Dying | Life::Dead => Some(match left {
            Some(machine) => unmet_of(fleet, &machine, "removed", "the removal of its machines"),
            None => Unmet::new(THE_END, "its removal is under way", "nothing to do: it completes by itself"),
        }),
    }
}

/// When the state of a replica set is read next by itself.
fn next_look(state: &replica_set::State) -> Option<Timestamp> {
    let due = |effect| match effect {
        replica_set::Effect::WakeAt(due) => Some(due),
        _ => None,
    };
    state.pending(&NoView).into_iter().filter_map(due).min()
}
