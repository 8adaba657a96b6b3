//! Questions over HTTP.

use std::sync::Arc;

use actix_web::{http::StatusCode, web};
use bailiwick_actors::{document::Role, replay::Options, shell::AskError};
use bailiwick_journal::{Position, StreamId};
use serde_json::Value;

use super::{
    access::Need,
    answers::Part,
    asker::Asker,
    connection::HungUp,
    described::{Media, Sent, Told},
    errors::Failure,
    lists::{AnyDescription, AnyRow},
    query::{LIMIT_DEFAULT, PAGE_MAX, Parameters, Query, ToldWhy, about, moment, selector},
    routes::{Routes, SMALL},
    shared::Shared,
    wire::{
        change::BacktestRequest,
        node::AboutNode,
        problem::Problem,
        question::{
            AtParameters, DiffParameters, HarvestParameters, ListParameters, ReplayParameters, ScheduleParameters,
            WhyParameters,
        },
    },
};
use crate::{
    audit,
    view::{self, At, Only},
    words::Line,
};

type Answer<T> = Result<Told<T>, Failure>;

pub(super) fn routes(routes: &mut Routes<'_>) {
    let view = Need::Role(Role::View);
    routes
        .get("/node", view, "The node itself: its release, its journal, its load", node)
        .get("/metrics", view, "Gauges and counters for Prometheus", metrics)
        .get("/status", view, "How everything is, trouble first", status)
        .get("/clock", view, "How the node's time compares with the clock", clock)
        .get("/pending", view, "What is declared and not there yet", pending)
        .get("/storage", view, "What storage there is, where it is attached, and how", storage)
        .get("/pools", view, "The pools that storage can come from", pools)
        .get(
            "/policy/revisions",
            view,
            "The revisions of the policy, who set them, and what they say",
            policy_revisions,
        )
        .get("/log", view, "Decisions, in the order in which they were made", log)
        .get("/schedule", view, "What happens next by itself", schedule)
        .get("/diff", view, "What is different between two moments", diff)
        .get("/audit/replay", view, "Decides history again and compares", replay)
        .post("/audit/backtest", view, SMALL, "Decides history again under another policy", backtest)
        .get("/why/{entry}", view, "What led to one entry, `@17`, or followed from it", why_entry)
        .get("/why/{kind}/{name:.*}", view, "What led to the last thing that mattered about an object", why)
        .get("/why-not/{goal}/{kind}/{name:.*}", view, "What an object still needs to be like this", why_not)
        .get("/harvest", view, "Instances that nobody knows, and what would become of them", harvest)
        .get(LIST, view, "The objects of a kind", list)
        .get(DESCRIBE, view, "Everything about one object", describe);
}

/// The path that lists the objects of a kind.
pub(super) const LIST: &str = "/entities/{kind}";
/// The path that describes one object.
pub(super) const DESCRIBE: &str = "/entities/{kind}/{name:.*}";

async fn node(shared: web::Data<Shared>) -> Result<web::Json<AboutNode>, Failure> {
    let stats = shared.node.stats().await?;
    let journal = shared.node.journal();
    Ok(web::Json(AboutNode {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        journal: journal.id(),
        position: journal.head().position,
        time: shared.node.now(),
        clock: shared.node.clock(),
        actors: stats.actors,
        idle_actors: stats.idle,
        waiting_commands: stats.asks,
        running_calls: stats.calls,
        quarantined: stats.quarantined,
        only_counted: stats.only_counted,
    }))
}

/// What Prometheus reads.
#[derive(Debug)]
pub(super) enum Exposition {}

impl Media for Exposition {
    const TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";
}

/// The one answer that is no JSON: those who collect gauges read this.
pub(super) async fn metrics(shared: web::Data<Shared>) -> Result<Sent<Exposition>, Failure> {
    shared.node.look_at_host();
    let times = shared.node.call_times();
    let load = view::Load { registry: shared.node.stats().await?, calls: times.seen(), answers: times.answers() };
    Ok(Sent::body(shared.node.look(|fleet| view::metrics(fleet, &load))?))
}

async fn status(shared: web::Data<Shared>, asker: Asker, wanted: web::Query<AtParameters>) -> Answer<view::Status> {
    shared.node.look_at_host();
    answer(&shared, &asker, Query::Status { at: wanted.moment()? }).await
}

async fn clock(shared: web::Data<Shared>, asker: Asker) -> Answer<view::ClockReport> {
    answer(&shared, &asker, Query::Clock).await
}

async fn storage(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<AtParameters>,
) -> Answer<Vec<view::StorageRow>> {
    answer(&shared, &asker, Query::Storage { at: wanted.moment()? }).await
}

async fn policy_revisions(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<AtParameters>,
) -> Answer<Vec<view::PolicyRevision>> {
    answer(&shared, &asker, Query::PolicyRevisions { at: wanted.moment()? }).await
}

async fn pools(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<AtParameters>,
) -> Answer<Vec<view::PoolRow>> {
    answer(&shared, &asker, Query::Pools { at: wanted.moment()? }).await
}

async fn pending(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<AtParameters>,
) -> Answer<Vec<view::Pending>> {
    match wanted.moment()? {
        // Only a running node knows what it has seen, and whom it has told what is wanted.
        None => Ok(Told::of(serde_json::json!(shared.node.pending().await?))),
        at => answer(&shared, &asker, Query::Pending { at }).await,
    }
}

async fn log(shared: web::Data<Shared>, asker: Asker, wanted: web::Query<Parameters>) -> Answer<Vec<Line>> {
    bounded(wanted.limit)?;
    answer(&shared, &asker, Query::Log { filter: wanted.into_inner() }).await
}

/// Refuses to gather more in memory than a page.
fn bounded(limit: Option<usize>) -> Result<(), Failure> {
    let Some(limit) = limit.filter(|limit| *limit > PAGE_MAX) else { return Ok(()) };
    let message = format!("limit={limit} is more than a page, which has {PAGE_MAX}");
    Err(Failure::new(StatusCode::BAD_REQUEST, "page-too-large", message)
        .next("ask page by page: `at=@POSITION`, with the position before the oldest entry of the last page"))
}

async fn schedule(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<ScheduleParameters>,
) -> Answer<Vec<view::Upcoming>> {
    bounded(wanted.limit)?;
    let limit = wanted.limit.unwrap_or(LIMIT_DEFAULT);
    answer(&shared, &asker, Query::Schedule { limit, at: read_some(wanted.at.as_deref())? }).await
}

async fn diff(shared: web::Data<Shared>, asker: Asker, wanted: web::Query<DiffParameters>) -> Answer<view::Diff> {
    let DiffParameters { from, to, entity, kind } = wanted.into_inner();
    let only = match (entity, kind) {
        (Some(entity), _) => Only::Entity(entity),
        (None, Some(kind)) => Only::Kind(kind),
        (None, None) => Only::All,
    };
    in_turn(&shared, &asker, Query::Diff { from: read(&from)?, to: read_some(to.as_deref())?, only }).await
}

async fn replay(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<ReplayParameters>,
) -> Answer<audit::ReplayReport> {
    let options = Options { all: wanted.all, to: wanted.to.map(Position) };
    in_turn(&shared, &asker, Query::Replay { options }).await
}

/// Decides history again under the settings in the body.
async fn backtest(
    shared: web::Data<Shared>,
    asker: Asker,
    wish: web::Json<BacktestRequest>,
) -> Answer<audit::Backtest> {
    let BacktestRequest { document, to } = wish.into_inner();
    let options = Options { all: true, to: to.map(Position) };
    in_turn(&shared, &asker, Query::Backtest { document: Box::new(document), options }).await
}

async fn why_entry(
    shared: web::Data<Shared>,
    asker: Asker,
    entry: web::Path<String>,
    wanted: web::Query<WhyParameters>,
) -> Answer<ToldWhy> {
    ask_why(&shared, &asker, &entry, &wanted).await
}

async fn why(
    shared: web::Data<Shared>,
    asker: Asker,
    entity: web::Path<(String, String)>,
    wanted: web::Query<WhyParameters>,
) -> Answer<ToldWhy> {
    let (kind, name) = entity.into_inner();
    ask_why(&shared, &asker, &format!("{kind}/{name}"), &wanted).await
}

async fn ask_why(shared: &Shared, asker: &Asker, text: &str, wanted: &WhyParameters) -> Answer<ToldWhy> {
    let about = about(text, wanted.side.as_deref())?;
    answer(shared, asker, Query::Why { about, forward: wanted.forward, at: read_some(wanted.at.as_deref())? }).await
}

async fn why_not(
    shared: web::Data<Shared>,
    asker: Asker,
    path: web::Path<(String, String, String)>,
    wanted: web::Query<AtParameters>,
) -> Answer<view::WhyNot> {
    let (goal, kind, name) = path.into_inner();
    answer(&shared, &asker, Query::WhyNot { entity: stream(&kind, &name)?, wanted: goal, at: wanted.moment()? }).await
}

async fn harvest(
    shared: web::Data<Shared>,
    asker: Asker,
    wanted: web::Query<HarvestParameters>,
) -> Answer<view::DryRun> {
    answer(&shared, &asker, Query::Harvest { mode: wanted.mode, at: read_some(wanted.at.as_deref())? }).await
}

async fn list(
    shared: web::Data<Shared>,
    asker: Asker,
    kind: web::Path<String>,
    wanted: web::Query<ListParameters>,
) -> Answer<Vec<AnyRow>> {
    let selector = wanted.selector.as_deref().map(selector).transpose()?.unwrap_or_default();
    answer(&shared, &asker, Query::List { kind: kind.into_inner(), selector, at: read_some(wanted.at.as_deref())? })
        .await
}

async fn describe(
    shared: web::Data<Shared>,
    asker: Asker,
    entity: web::Path<(String, String)>,
    wanted: web::Query<AtParameters>,
) -> Answer<AnyDescription> {
    answer(&shared, &asker, Query::Describe { entity: stream(&entity.0, &entity.1)?, at: wanted.moment()? }).await
}

/// Folding history may take a while: it runs beside the worker, so that heartbeats are not held up.
async fn answer<T>(shared: &Shared, asker: &Asker, query: Query) -> Answer<T> {
    let _part = working(shared, asker).await?;
    let node = shared.node.clone();
    beside(move || {
        let journal = node.journal();
        if query.is_about_now() {
            let answer = node.look(|fleet| query.resolved(fleet.time, &fleet.calendar).answer(&*journal, fleet));
            return answer.map_err(Failure::from)?.map_err(Failure::from);
        }
        Ok(query.answer_from(&*journal, node.now())?)
    })
    .await
}

/// The answer to a question that reads all of history, when it is its turn. A client that hangs up is forgotten, and what is done for
/// him ends.
async fn in_turn<T>(shared: &Shared, asker: &Asker, query: Query) -> Answer<T> {
    let turn = shared.turns.take(&asker.caller.principal).await.ok_or(AskError::Stopping)?;
    let _part = working(shared, asker).await?;
    let node = shared.node.clone();
    listened(asker.hung_up.clone(), move |listens| {
        let answer = query.answer_followed(&*node.journal(), node.now(), &|_, _| listens());
        drop(turn);
        Ok(answer?)
    })
    .await
}

/// What is found out on a thread that may wait, and that can ask whether the client still listens: one that hung up does not.
pub(super) async fn listened<T>(
    hung_up: HungUp,
    run: impl FnOnce(&dyn Fn() -> bool) -> Result<Value, Failure> + Send + 'static,
) -> Answer<T> {
    let listener = Arc::new(());
    let listens = Arc::downgrade(&listener);
    let told = beside(move || run(&|| listens.strong_count() > 0 && !hung_up.has())).await;
    drop(listener);
    told
}

/// Waits until the next answer may be worked out: those before it take up memory until they are read.
async fn working(shared: &Shared, asker: &Asker) -> Result<Part, Failure> {
    let principal = &asker.caller.principal;
    shared.answers.begin(principal).await.ok_or_else(|| {
        let message =
            format!("earlier answers to {principal} were not read, and take up what memory there is for answers");
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "answers-unread", message)
            .next("read what was asked for, or hang up, and ask again")
    })
}

/// What is found out on a thread that may wait.
async fn beside<T>(run: impl FnOnce() -> Result<Value, Failure> + Send + 'static) -> Answer<T> {
    let ended = |_| Failure::from(Problem { code: "stopping".into(), ..Problem::default() });
    Ok(Told::of(web::block(run).await.map_err(ended)??))
}

impl AtParameters {
    fn moment(&self) -> Result<Option<At>, Failure> {
        read_some(self.at.as_deref())
    }
}

fn read_some(text: Option<&str>) -> Result<Option<At>, Failure> {
    text.map(read).transpose()
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

fn stream(kind: &str, name: &str) -> Result<StreamId, Failure> {
    format!("{kind}/{name}").parse().map_err(|error: bailiwick_journal::InvalidStreamId| {
        Failure::from(Problem { code: "bad-request".into(), message: error.to_string(), ..Problem::default() })
    })
}
