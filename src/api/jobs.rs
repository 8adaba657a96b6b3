//! Long questions as jobs: asked, followed, cancelled. Each runs on a thread of its own that gives way to the node's work.
//!
//! A job is no decision: it changes nothing, is not in the journal, and is gone when the node stops.

pub(super) mod kept;

use std::sync::Arc;

use actix_web::{http::StatusCode, web};
use bailiwick_actors::{document::Role, replay::Options};
use bailiwick_journal::Position;
use serde_json::Value;

use self::kept::{Job, KEPT_MAX};
use super::{
    access::Need,
    asker::Asker,
    errors::Failure,
    journal::on_its_own_thread,
    lists::json,
    query::{Query, not_found},
    routes::{Routes, SMALL},
    shared::Shared,
    wire::{
        change::BacktestRequest,
        job::{self, Question, State},
        object::Object,
        problem::Problem,
        question::ReplayParameters,
        sweep::SweepWish,
    },
};
use crate::{config::CrashSweep, handle::Handle};

pub(super) fn routes(routes: &mut Routes<'_>) {
    let (view, operate) = (Need::Role(Role::View), Need::Role(Role::Operate));
    routes
        .post("/jobs/replay", view, SMALL, "Begins to decide history again, and compares", replay)
        .post("/jobs/backtest", view, SMALL, "Begins to decide history again under another policy", backtest)
        // Like an export, it reads all that there is.
        .post("/jobs/crash-sweep", operate, SMALL, "Begins to crash a node at every block of the journal", crash_sweep)
        .get("/jobs", view, "The jobs of whoever asks; an administrator sees all", list)
        .get("/jobs/{id}", view, "How far a job is, and what came of it", look)
        .post("/jobs/{id}/cancel", view, SMALL, "Ends a job before it is done", cancel);
}

async fn replay(
    shared: web::Data<Shared>,
    asker: Asker,
    wish: web::Json<Object<ReplayParameters>>,
) -> Result<web::Json<job::Job>, Failure> {
    let Object(ReplayParameters { all, to }) = wish.into_inner();
    let options = Options { all, to: to.map(Position) };
    begin(&shared, &asker, Question::Replay, Work::Query(Query::Replay { options }))
}

async fn backtest(
    shared: web::Data<Shared>,
    asker: Asker,
    wish: web::Json<BacktestRequest>,
) -> Result<web::Json<job::Job>, Failure> {
    let BacktestRequest { document, to } = wish.into_inner();
    let options = Options { all: true, to: to.map(Position) };
    let query = Query::Backtest { document: Box::new(document), options };
    begin(&shared, &asker, Question::Backtest, Work::Query(query))
}

async fn crash_sweep(
    shared: web::Data<Shared>,
    asker: Asker,
    wish: web::Json<Object<SweepWish>>,
) -> Result<web::Json<job::Job>, Failure> {
    let sweep = shared.crash_sweep.ok_or_else(|| {
        Failure::new(StatusCode::NOT_IMPLEMENTED, "no-crash-sweep", "this node cannot sweep its journal")
            .next("export it, and run `bailiwick chaos crash-sweep FILE`")
    })?;
    begin(&shared, &asker, Question::CrashSweep, Work::Sweep(sweep, wish.into_inner().0))
}

async fn list(shared: web::Data<Shared>, asker: Asker) -> web::Json<Vec<job::Job>> {
    let jobs = seen(&shared, &asker);
    web::Json(jobs.iter().map(|job| job.told()).collect())
}

async fn look(shared: web::Data<Shared>, asker: Asker, id: web::Path<String>) -> Result<web::Json<job::Job>, Failure> {
    let job = found(&shared, &asker, &id)?;
    // In this order: what is told as done has its answer.
    let told = job.told();
    Ok(web::Json(job::Job { answer: job.answer().filter(|_| told.state == State::Done), ..told }))
}

async fn cancel(
    shared: web::Data<Shared>,
    asker: Asker,
    id: web::Path<String>,
) -> Result<web::Json<job::Job>, Failure> {
    let job = found(&shared, &asker, &id)?;
    job.cancel();
    Ok(web::Json(job.told()))
}

fn seen(shared: &Shared, asker: &Asker) -> Vec<Arc<Job>> {
    shared.jobs.seen_by(&asker.caller.principal, asker.caller.role, shared.node.clock())
}

/// A job that the caller may see; somebody else's does not exist for it.
fn found(shared: &Shared, asker: &Asker, id: &str) -> Result<Arc<Job>, Failure> {
    let jobs = seen(shared, asker);
    jobs.into_iter().find(|job| job.id.to_string() == *id).ok_or_else(|| {
        let next =
            "`bailiwick jobs` lists those that there are; a job is kept for an hour, and not beyond a stop of the node";
        not_found("there is no such job", next).into()
    })
}

fn begin(shared: &Shared, asker: &Asker, question: Question, work: Work) -> Result<web::Json<job::Job>, Failure> {
    let principal = &asker.caller.principal;
    let job = Arc::new(Job::new(question, principal.clone(), shared.node.clock()));
    if !shared.jobs.add(job.clone()) {
        let message = format!("{principal} has {KEPT_MAX} jobs that have not ended yet");
        return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, "too-many-jobs", message)
            .next("wait for one of them, or end one with `bailiwick jobs cancel ID`"));
    }
    let told = job.told();
    actix_web::rt::spawn(run(shared.clone(), job, work));
    Ok(web::Json(told))
}

/// Waits for its turn, and works.
async fn run(shared: Shared, job: Arc<Job>, work: Work) {
    let turns = if matches!(work, Work::Sweep(..)) { &shared.sweeps } else { &shared.turns };
    let Some(turn) = turns.take(&job.principal).await else { return job.cancel() };
    if !job.has_begun() {
        return;
    }
    let (node, its) = (shared.node.clone(), job.clone());
    let run = move || {
        its.end(work.done(&node, &|done, of| its.goes_on(done, of)));
        drop(turn);
    };
    if let Err(failure) = on_its_own_thread("job", run) {
        job.end(Err(failure.problem));
    }
}

/// What there is to do.
enum Work {
    Query(Query),
    Sweep(CrashSweep, SweepWish),
}

impl Work {
    fn done(self, node: &Handle, follow: &(dyn Fn(u64, u64) -> bool + Sync)) -> Result<Value, Problem> {
        match self {
            Self::Query(query) => query.answer_followed(&*node.journal(), node.now(), follow),
            Self::Sweep(sweep, wish) => json(&sweep(&node.local_journal(), &wish, follow)?),
        }
    }
}
