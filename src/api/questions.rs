//! Questions over HTTP.

use actix_web::{HttpResponse, http::StatusCode, web};
use bailiwick_actors::{document::Role, replay::Options, shell::AskError};
use bailiwick_journal::{Position, StreamId};
use serde_json::Value;

use super::{
    access::Need,
    errors::Failure,
    query::{DiffParameters, LIMIT_DEFAULT, PAGE_MAX, Parameters, Query, ReplayParameters, about, moment, selector},
    routes::{Routes, SMALL},
    shared::Shared,
    wire::{change::Rehearse, problem::Problem},
};
use crate::view::{self, At, Only};

type Answer = Result<web::Json<Value>, Failure>;

pub(super) fn routes(routes: &mut Routes<'_>) {
    let view = Need::Role(Role::View);
    routes
        .get("/node", view, node)
        .get("/metrics", view, metrics)
        .get("/status", view, status)
        .get("/clock", view, clock)
        .get("/pending", view, pending)
        .get("/storage", view, storage)
        .get("/pools", view, pools)
        .get("/log", view, log)
        .get("/schedule", view, schedule)
        .get("/diff", view, diff)
        .get("/audit/replay", view, replay)
        .post("/audit/rehearse", view, SMALL, rehearse)
        .get("/why/{entity:.*}", view, why)
        .get("/why-not/{wanted}/{entity:.*}", view, why_not)
        .get("/harvest", view, harvest)
        .get("/entities/{kind}", view, list)
        .get("/entities/{entity:.*}", view, describe);
}

async fn node(shared: web::Data<Shared>) -> Answer {
    let stats = shared.node.stats().await?;
    let journal = shared.node.journal();
    let head = journal.head();
    Ok(web::Json(serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "journal": journal.id(),
        "position": head.position,
        "time": shared.node.now(),
        "clock": shared.node.clock(),
        "actors": stats.actors,
        "idleActors": stats.idle,
        "waitingCommands": stats.asks,
        "runningCalls": stats.calls,
        "quarantined": stats.quarantined,
        "onlyCounted": stats.only_counted,
    })))
}

/// The one answer that is no JSON: those who collect gauges read this.
async fn metrics(shared: web::Data<Shared>) -> Result<HttpResponse, Failure> {
    shared.node.look_at_host();
    let text = shared.node.look(view::metrics)?;
    Ok(HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(text))
}

async fn status(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    shared.node.look_at_host();
    answer(&shared, Query::Status { at: at(&parameters)? }).await
}

async fn clock(shared: web::Data<Shared>) -> Answer {
    answer(&shared, Query::Clock).await
}

async fn storage(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    answer(&shared, Query::Storage { at: at(&parameters)? }).await
}

async fn pools(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    answer(&shared, Query::Pools { at: at(&parameters)? }).await
}

async fn pending(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    match at(&parameters)? {
        // Only a running node knows what it has seen, and whom it has told what is wanted.
        None => Ok(web::Json(serde_json::json!(shared.node.pending().await?))),
        at => answer(&shared, Query::Pending { at }).await,
    }
}

async fn log(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    bounded(&parameters)?;
    answer(&shared, Query::Log { filter: parameters.into_inner() }).await
}

/// Refuses to gather more in memory than a page.
fn bounded(parameters: &Parameters) -> Result<(), Failure> {
    let Some(limit) = parameters.limit.filter(|limit| *limit > PAGE_MAX) else { return Ok(()) };
    let message = format!("limit={limit} is more than a page, which has {PAGE_MAX}");
    Err(Failure::new(StatusCode::BAD_REQUEST, "page-too-large", message)
        .next("ask page by page: `at=@POSITION`, with the position before the oldest entry of the last page"))
}

async fn schedule(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    bounded(&parameters)?;
    let limit = parameters.limit.unwrap_or(LIMIT_DEFAULT);
    answer(&shared, Query::Schedule { limit, at: at(&parameters)? }).await
}

async fn diff(shared: web::Data<Shared>, parameters: web::Query<DiffParameters>) -> Answer {
    let DiffParameters { from, to, entity, kind } = parameters.into_inner();
    let only = match (entity, kind) {
        (Some(entity), _) => Only::Entity(entity),
        (None, Some(kind)) => Only::Kind(kind),
        (None, None) => Only::All,
    };
    let to = to.as_deref().map(read).transpose()?;
    answer(&shared, Query::Diff { from: read(&from)?, to, only }).await
}

async fn replay(shared: web::Data<Shared>, parameters: web::Query<ReplayParameters>) -> Answer {
    let options = Options { all: parameters.all, to: parameters.to.map(Position) };
    answer(&shared, Query::Replay { options }).await
}

/// Decides history again under the settings in the body.
async fn rehearse(shared: web::Data<Shared>, wish: web::Json<Rehearse>) -> Answer {
    let Rehearse { document, to } = wish.into_inner();
    let options = Options { all: true, to: to.map(Position) };
    answer(&shared, Query::Rehearse { document: Box::new(document), options }).await
}

async fn why(shared: web::Data<Shared>, entity: web::Path<String>, parameters: web::Query<Parameters>) -> Answer {
    let about = about(&entity, parameters.side.as_deref())?;
    answer(&shared, Query::Why { about, forward: parameters.forward, at: at(&parameters)? }).await
}

async fn why_not(
    shared: web::Data<Shared>,
    path: web::Path<(String, String)>,
    parameters: web::Query<Parameters>,
) -> Answer {
    let (wanted, entity) = path.into_inner();
    answer(&shared, Query::WhyNot { entity: stream(&entity)?, wanted, at: at(&parameters)? }).await
}

async fn harvest(shared: web::Data<Shared>, parameters: web::Query<Parameters>) -> Answer {
    answer(&shared, Query::Harvest { mode: parameters.mode, at: at(&parameters)? }).await
}

async fn list(shared: web::Data<Shared>, kind: web::Path<String>, parameters: web::Query<Parameters>) -> Answer {
    let selector = parameters.selector.as_deref().map(selector).transpose()?.unwrap_or_default();
    answer(&shared, Query::List { kind: kind.into_inner(), selector, at: at(&parameters)? }).await
}

async fn describe(shared: web::Data<Shared>, entity: web::Path<String>, parameters: web::Query<Parameters>) -> Answer {
    answer(&shared, Query::Describe { entity: stream(&entity)?, at: at(&parameters)? }).await
}

/// Folding history may take a while: it runs beside the worker, so that heartbeats are not held up. Only so many that read
/// all of history run at once; the others wait for their turn, and whoever hangs up while he waits is forgotten.
async fn answer(shared: &Shared, query: Query) -> Answer {
    let turn = match query.takes_its_time() {
        true => Some(shared.histories.clone().acquire_owned().await.map_err(|_| AskError::Stopping)?),
        false => None,
    };
    let node = shared.node.clone();
    let answered = web::block(move || {
        let journal = node.journal();
        if query.is_about_now() {
            let answer = node.look(|fleet| query.resolved(fleet.time, &fleet.calendar).answer(&*journal, fleet));
            return answer.map_err(Failure::from)?.map_err(Failure::from);
        }
        let answer = query.answer_from(&*journal, node.now()).map_err(Failure::from);
        drop(turn);
        answer
    });
    let ended = |_| Failure::from(Problem { code: "stopping".into(), ..Problem::default() });
    Ok(web::Json(answered.await.map_err(ended)??))
}

fn at(parameters: &Parameters) -> Result<Option<At>, Failure> {
    parameters.at.as_deref().map(read).transpose()
}

fn read(text: &str) -> Result<At, Failure> {
    let bad = || Problem {
        code: "bad-request".into(),
        message: format!("{text:?} is not a moment"),
        next_step: Some("write @POSITION, milliseconds since 1970, or -MILLISECONDS ago".into()),
        ..Problem::default()
    };
    Ok(moment(text).ok_or_else(bad)?)
}

fn stream(text: &str) -> Result<StreamId, Failure> {
    text.parse().map_err(|error: bailiwick_journal::InvalidStreamId| {
        Failure::from(Problem { code: "bad-request".into(), message: error.to_string(), ..Problem::default() })
    })
}
