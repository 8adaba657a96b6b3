//! What operators ask of one machine, beside declaring and removing it.

use actix_web::{http::StatusCode, web};
use bailiwick_actors::{
    contract::Decider,
    machine,
    ports::{InstanceStatus, MachineInstance},
    shell::AnyCommand,
    supervisor::machines::SightingStatus,
    vocab::{Name, Timestamp},
};
use bailiwick_journal::{Outcome, StreamId};
use uuid::Uuid;

use super::{
    asker::Asker,
    changes::decided,
    errors::{Failure, not_recorded},
    wire::change::{CorrectClock, Decided, Operate, Verb},
};
use crate::{
    handle::CorrectError,
    view::{Correction, Fleet, on_node_time},
};

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config.route("/operate", web::post().to(operate)).route("/clock/correct", web::post().to(correct_clock));
}

/// Records by how much the node's time is ahead of the clock.
async fn correct_clock(asker: Asker, wish: web::Json<CorrectClock>) -> Result<web::Json<Correction>, Failure> {
    let (node, id) = (asker.node.clone(), wish.into_inner().id.unwrap_or_else(Uuid::new_v4));
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

async fn operate(asker: Asker, operate: web::Json<Operate>) -> Result<web::Json<Decided>, Failure> {
    let Operate { entity, verb, id } = operate.into_inner();
    if entity.kind() != machine::State::KIND {
        let message = format!("this works for machines only, not for a {}", entity.kind());
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", message));
    }
    let command = asker.node.look(|fleet| command(fleet, &entity, verb))??;
    let answer = asker.node.ask(entity, AnyCommand::Machine(command), id.unwrap_or_else(Uuid::new_v4)).await?;
    if answer.outcome == Outcome::Refused {
        return Err(Failure::new(StatusCode::CONFLICT, "refused", format!("{}: {}", answer.stream, answer.text)));
    }
    Ok(web::Json(decided(&answer)))
}

fn command(fleet: &Fleet, entity: &StreamId, verb: Verb) -> Result<machine::Command, Failure> {
    if !fleet.exists(entity) {
        return Err(Failure::new(StatusCode::NOT_FOUND, "not-found", format!("{entity} not found"))
            .next("`bailiwick get machines` lists all machines"));
    }
    Ok(match verb {
        Verb::Hold { reason, until_ms, for_ms } => {
            let clock = fleet.clock.unwrap_or(fleet.time);
            let at = until_ms.map(|ms| on_node_time(Timestamp(ms), fleet.time, clock));
            machine::Command::Hold { reason, until: for_ms.map(|ms| fleet.time.after(ms)).or(at) }
        }
        Verb::Unhold => machine::Command::Unhold,
        Verb::Disown => machine::Command::Disown,
        Verb::Adopt { instance } => {
            let (provider, instance) = found(fleet, entity, instance.as_deref())?;
            machine::Command::Adopt { provider, instance }
        }
    })
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
