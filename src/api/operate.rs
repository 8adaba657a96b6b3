//! What operators ask of one machine, or of one machine set, beside declaring and removing it.

use actix_web::{http::StatusCode, web};
use bailiwick_actors::document::Role;
use uuid::Uuid;

use super::{
    access::Need,
    asker::{Asker, Seen},
    changes::answered,
    errors::{Failure, not_recorded},
    routes::{Routes, SMALL},
    wire::change::{CorrectClock, Decided, Operate},
};
use crate::{handle::CorrectError, view::Correction};

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
    answered(&node, node.operate(&entity, verb, id.unwrap_or_else(Uuid::new_v4)).await)
}
