//! The jobs that there are, and how far each is.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bailiwick_actors::{document::Role, vocab::Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::api::wire::{
    job::{self, Question, State},
    problem::Problem,
};

/// So many jobs are kept for each principal: as many may wait or run, and the oldest that ended makes room for the next.
pub(super) const KEPT_MAX: usize = 4;
/// How long what came of a job is kept, in milliseconds.
const KEPT_MS: u64 = 3_600_000;

/// All jobs that are not forgotten yet, the oldest first.
#[derive(Debug, Default)]
pub(in crate::api) struct Jobs(Mutex<Vec<Arc<Job>>>);

/// One of them.
#[derive(Debug)]
pub(in crate::api) struct Job {
    pub(super) id: Uuid,
    question: Question,
    pub(super) principal: Arc<str>,
    asked: Timestamp,
    done: AtomicU64,
    of: AtomicU64,
    is_cancelled: AtomicBool,
    stage: Mutex<Stage>,
}

#[derive(Debug)]
enum Stage {
    Waiting,
    Running,
    Ended(Result<Value, Problem>),
}

impl Job {
    pub(super) fn new(question: Question, principal: Arc<str>, asked: Timestamp) -> Self {
        Self {
            id: Uuid::new_v4(),
            question,
            principal,
            asked,
            done: AtomicU64::new(0),
            of: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            stage: Mutex::new(Stage::Waiting),
        }
    }

    /// Notes that it runs now, unless it was cancelled while it waited.
    pub(super) fn has_begun(&self) -> bool {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let is_waiting = matches!(*stage, Stage::Waiting);
        if is_waiting {
            *stage = Stage::Running;
        }
        is_waiting
    }

    /// Notes how far it is, and says whether it goes on.
    pub(super) fn goes_on(&self, done: u64, of: u64) -> bool {
        self.of.store(of, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
        !self.is_cancelled.load(Ordering::Relaxed)
    }

    pub(super) fn end(&self, result: Result<Value, Problem>) {
        if result.is_ok() {
            self.done.store(self.of.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Stage::Ended(result);
    }

    /// One that runs ends within a moment; one that has ended stays as it is.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*stage, Stage::Waiting) {
            *stage = Stage::Ended(Err(Problem::cancelled()));
        }
    }

    fn has_ended(&self) -> bool {
        matches!(*self.stage.lock().unwrap_or_else(PoisonError::into_inner), Stage::Ended(_))
    }

    /// How far it is, without its answer.
    pub(super) fn told(&self) -> job::Job {
        let (state, problem) = match &*self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Waiting => (State::Waiting, None),
            Stage::Running => (State::Running, None),
            Stage::Ended(Ok(_)) => (State::Done, None),
            Stage::Ended(Err(problem)) if problem.is_cancelled() => (State::Cancelled, None),
            Stage::Ended(Err(problem)) => (State::Failed, Some(problem.clone())),
        };
        job::Job {
            id: self.id,
            question: self.question,
            principal: self.principal.to_string(),
            asked: self.asked,
            state,
            done: self.done.load(Ordering::Relaxed),
            of: self.of.load(Ordering::Relaxed),
            answer: None,
            problem,
        }
    }

    /// What came of it, if it is done.
    pub(super) fn answer(&self) -> Option<Value> {
        match &*self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Ended(Ok(answer)) => Some(answer.clone()),
            _ => None,
        }
    }
}

impl Jobs {
    /// Keeps one more, in the place of the oldest of its principal's that has ended; false if none of as many as may be has.
    pub(super) fn add(&self, job: Arc<Job>) -> bool {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |other: &Arc<Job>| other.principal == job.principal;
        if jobs.iter().filter(|other| is_same(other)).count() >= KEPT_MAX {
            let Some(oldest) = jobs.iter().position(|other| is_same(other) && other.has_ended()) else { return false };
            jobs.remove(oldest);
        }
        jobs.push(job);
        true
    }

    /// Those that a principal with this role may see: his own, and an administrator everybody's.
    pub(super) fn seen_by(&self, principal: &str, role: Role, now: Timestamp) -> Vec<Arc<Job>> {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.retain(|job| !job.has_ended() || now < job.asked.after(KEPT_MS));
        let may_see = |job: &&Arc<Job>| role == Role::Admin || *job.principal == *principal;
        jobs.iter().filter(may_see).cloned().collect()
    }

    /// Ends them all: the node stops.
    pub(in crate::api) fn cancel_all(&self) {
        for job in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            job.cancel();
        }
    }
}

#[cfg(test)]
mod tests;
