//! What operators ask of one machine, or of one machine set, beside declaring and removing it.

use actix_web::{http::StatusCode, web};
use bailiwick_actors::{
    contract::Decider,
    document::Role,
    machine, machine_set,
    ports::{InstanceStatus, MachineInstance},
    shell::AnyCommand,
    supervisor::machines::SightingStatus,
    vocab::{Name, Timestamp},
};
use bailiwick_journal::{Outcome, StreamId};
use uuid::Uuid;

use super::{
    access::Need,
    asker::{Asker, Seen},
    changes::decided,
    errors::{Failure, not_recorded},
    query::no_entity,
    routes::{Routes, SMALL},
    wire::change::{CorrectClock, Decided, Operate, Verb},
};
use crate::{
    handle::CorrectError,
    plan::protecting,
    view::{Correction, Fleet, on_node_time},
};

pub(super) fn routes(routes: &mut Routes<'_>) {
    routes
        .post(
            "/operate",
            Need::Role(Role::Operate),
            SMALL,
            "Holds, keeps, adopts, disowns or protects an object",
            operate,
        )
        // All times that anybody sees depend on it.
        .post(
            "/clock/correct",
            Need::Role(Role::Admin),
            SMALL,
            "Records by how much the node's time is ahead",
            correct_clock,
        );
}

/// Records by how much the node's time is ahead of the clock.
async fn correct_clock(asker: Asker, wish: web::Json<CorrectClock>) -> Result<web::Json<Correction>, Failure> {
    let (node, id) = (asker.to_change_all()?.clone(), wish.into_inner().id.unwrap_or_else(Uuid::new_v4));
    let corrected = web::block(move || node.correct_clock(id)).await;
    let ended = |_| Failure::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the node is stopping");
    match corrected.map_err(ended)? {
        Ok(correction) => Ok(web::Json(correction)),
        Err(error @ (CorrectError::Nothing | CorrectError::Behind(_))) => {
            Err(Failure::new(StatusCode::CONFLICT, "refused", error.to_string())
                .next("`bailiwick clock show` compares the two"))
        }
        Err(CorrectError::Append(error)) => Err(not_recorded("the correction was not recorded", &error)),
        Err(CorrectError::Read(error)) => Err(error.into()),
    }
}

async fn operate(asker: Asker, seen: Seen, operate: web::Json<Operate>) -> Result<web::Json<Decided>, Failure> {
    let Operate { entity, verb, id } = operate.into_inner();
    let node = asker.to_change_one(&entity, seen)?;
    let command = node.look(|fleet| command(fleet, &entity, verb))??;
    let answer = node.ask(entity, command, id.unwrap_or_else(Uuid::new_v4)).await?;
    if answer.outcome == Outcome::Refused {
        return Err(Failure::new(StatusCode::CONFLICT, "refused", format!("{}: {}", answer.stream, answer.text)));
    }
    Ok(web::Json(decided(&answer)))
}

fn command(fleet: &Fleet, entity: &StreamId, verb: Verb) -> Result<AnyCommand, Failure> {
    let (is_machine, is_set) = (entity.kind() == machine::State::KIND, entity.kind() == machine_set::State::KIND);
    let (works_for, is_meant) = match verb {
        Verb::Protect | Verb::Unprotect => {
            let kinds = "machines, volumes, filesystems, machine sets, machine deployments and replica sets";
            (kinds, protecting(entity, true).is_some())
        }
        Verb::Hold { .. } | Verb::Unhold => ("machines and machine sets", is_machine || is_set),
        Verb::Thaw => ("machine sets", is_set),
        Verb::Adopt { .. } | Verb::Disown | Verb::Keep { .. } | Verb::Unkeep => ("machines", is_machine),
    };
    if !is_meant {
        let message = format!("only {works_for} can be used here, not a {}", entity.kind());
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", message));
    }
    if !fleet.exists(entity) {
        return Err(no_entity(fleet, entity).into());
    }
    let of_machine = |command: machine::Command| AnyCommand::from(command);
    Ok(match verb {
        Verb::Hold { reason, until_ms, for_ms } => match (is_set, end_of_hold(fleet, until_ms, for_ms)) {
            (true, until) => AnyCommand::from(machine_set::Command::Hold { reason, until }),
            (false, until) => of_machine(machine::Command::Hold { reason, until }),
        },
        Verb::Unhold if is_set => AnyCommand::from(machine_set::Command::Unhold),
        Verb::Unhold => of_machine(machine::Command::Unhold),
        Verb::Protect | Verb::Unprotect => {
            let on = matches!(verb, Verb::Protect);
            protecting(entity, on).expect("it was looked whether it can be")
        }
        Verb::Thaw => AnyCommand::from(machine_set::Command::Thaw),
        Verb::Disown => of_machine(machine::Command::Disown),
        Verb::Keep { for_ms } => of_machine(machine::Command::Keep { until: fleet.time.after(for_ms) }),
        Verb::Unkeep => of_machine(machine::Command::Unkeep),
        Verb::Adopt { instance } => {
            let (provider, instance) = found(fleet, entity, instance.as_deref())?;
            of_machine(machine::Command::Adopt { provider, instance })
        }
    })
}

/// When a hold ends by the node's time; none if an operator ends it.
fn end_of_hold(fleet: &Fleet, until_ms: Option<u64>, for_ms: Option<u64>) -> Option<Timestamp> {
    let clock = fleet.clock.unwrap_or(fleet.time);
    let at = until_ms.map(|ms| on_node_time(Timestamp(ms), fleet.time, clock));
    for_ms.map(|ms| fleet.time.after(ms)).or(at)
}

/// The instance that is meant: of this machine's name, seen last as being there, and not the machine's own.
fn found(fleet: &Fleet, entity: &StreamId, wanted: Option<&str>) -> Result<(Name, MachineInstance), Failure> {
    let own = fleet.machines.get(entity.name()).and_then(|state| state.own(fleet.journal, entity));
    let mut candidates: Vec<(Name, MachineInstance)> = Vec::new();
    for (effect, sighting) in &fleet.seen.sightings {
        let (Some(instance), SightingStatus::Running | SightingStatus::Stopped) = (&sighting.instance, sighting.status)
        else {
            continue;
        };
        let is_named = wanted.is_none_or(|wanted| instance.instance.0 == wanted || effect.to_string() == wanted);
        let is_meant = is_named && sighting.machine.as_str() == entity.name();
        if is_meant && (wanted.is_some() || own != Some(*effect)) {
            let status = match sighting.status {
                SightingStatus::Running => InstanceStatus::Running,
                SightingStatus::Stopped | SightingStatus::Gone => InstanceStatus::Stopped,
            };
            candidates.push((sighting.provider.clone(), MachineInstance { status, ..instance.clone() }));
        }
    }
    match <[_; 1]>::try_from(candidates) {
        Ok([one]) => Ok(one),
        Err(none) if none.is_empty() => {
            let message = format!("no provider lists an unmanaged instance for {entity}");
            Err(Failure::new(StatusCode::NOT_FOUND, "not-found", message)
                .next("`bailiwick harvest --dry-run` lists unmanaged instances; one that was just disowned appears after the next poll of its provider"))
        }
        Err(several) => {
            let names: Vec<String> = several.iter().map(|(_, instance)| instance.instance.to_string()).collect();
            let message = format!("several instances have the name of {entity}: {}", names.join(", "));
            Err(Failure::new(StatusCode::BAD_REQUEST, "ambiguous", message).next("choose one with --instance"))
        }
    }
}
