//! The agent's hands for storage: it carries out what the node decided, and forgets it.
//!
//! Two tasks: one waits for jobs, one tells how they went. Whenever the link is lost, a new session begins, and the node
//! hands over everything that is open once more; what is still under way here is not begun a second time, and what was done
//! is found done by its id.

use std::{
    collections::BTreeSet,
    fmt,
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bailiwick_actors::vocab::{EffectId, Fault, Name};
use hyper::Method;
use serde_json::Value;
use tokio::{sync::mpsc, time::sleep};
use tracing::{info, warn};
use uuid::Uuid;

use super::bearer::Bearer;
use crate::{
    api::wire::storage::{Ask, Device, Job, Orders, Outcome},
    client::{Client, ClientError, Limits},
};

/// What carries out one job.
pub type Done<'a> = Pin<Box<dyn Future<Output = Result<Value, Fault>> + Send + 'a>>;

/// What can be done with storage inside of a machine.
pub trait Hands: Send + Sync + fmt::Debug {
    /// Carries out a job; doing it again after a crash finds it done.
    fn carry_out(&self, job: Job) -> Done<'_>;

    /// The block devices that are seen now. Blocks for an instant.
    fn devices(&self) -> Vec<Device>;
}

/// Makes the hands of the machine in a directory, with the socket of the storage helper if there is one.
pub type MakeHands = fn(PathBuf, Option<PathBuf>) -> Arc<dyn Hands>;

/// A node that has nothing to hand over answers well before this.
const LIMITS: Limits = Limits { time: Duration::from_secs(60), answer_bytes_max: 16 * 1024 * 1024 };
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(1);
/// More jobs than this at one time are no sensible order.
const JOBS_MAX: usize = 100_000;

/// The way to the node.
#[derive(Clone, Debug)]
pub(super) struct StorageLink {
    client: Client,
    path: String,
    bearer: Bearer,
    effect: EffectId,
}

impl StorageLink {
    pub(super) fn new(socket: PathBuf, machine: &Name, effect: EffectId, bearer: Bearer) -> Self {
        let path = format!("/v1/agents/{machine}/storage");
        Self { client: Client::new(socket).with_limits(LIMITS), path, bearer, effect }
    }

    async fn ask(&self, session: Uuid, done: &[Outcome], wait: bool) -> Result<Orders, ClientError> {
        let ask = Ask { effect: self.effect, session, done: done.to_vec(), wait };
        let answer = self.client.send_json(Method::POST, &self.path, &ask, Some(&self.bearer.token())).await;
        answer.inspect_err(|_| self.bearer.refresh())
    }

    /// Carries out what the node hands over, for ever.
    pub(super) async fn serve(self, hands: Arc<dyn Hands>) {
        let under_way = Arc::new(UnderWay::default());
        let (tell, told) = mpsc::unbounded_channel();
        let teller = tell_outcomes(self.clone(), told, under_way.clone());
        tokio::join!(self.take_jobs(hands, tell, under_way), teller);
    }

    async fn take_jobs(&self, hands: Arc<dyn Hands>, tell: mpsc::UnboundedSender<Outcome>, under_way: Arc<UnderWay>) {
        let (mut session, mut pause, mut is_lost) = (Uuid::new_v4(), RETRY_FIRST, false);
        loop {
            let jobs = match self.ask(session, &[], true).await {
                Ok(orders) if orders.jobs.len() <= JOBS_MAX => orders.jobs,
                answer => {
                    let why = answer.map_or_else(|error| error.to_string(), |_| "too many jobs at once".into());
                    if !std::mem::replace(&mut is_lost, true) {
                        info!(why, "no jobs from the node; a new session begins when it is back");
                    }
                    session = Uuid::new_v4();
                    sleep(pause).await;
                    pause = (pause * 2).min(RETRY_MAX);
                    continue;
                }
            };
            (pause, is_lost) = (RETRY_FIRST, false);
            if jobs.is_empty() {
                // A node that answers "nothing" at once is not asked in a tight loop.
                sleep(RETRY_FIRST).await;
            }
            for job in jobs {
                if under_way.begin(job.id) {
                    let (hands, tell) = (hands.clone(), tell.clone());
                    tokio::spawn(async move {
                        let id = job.id;
                        let result = hands.carry_out(job).await;
                        // Nobody listens any more only when the agent ends.
                        let _ = tell.send(Outcome { job: id, result });
                    });
                }
            }
        }
    }
}

/// Tells how jobs went, as many at a time as there are, until the node has heard of each.
async fn tell_outcomes(link: StorageLink, mut told: mpsc::UnboundedReceiver<Outcome>, under_way: Arc<UnderWay>) {
    while let Some(first) = told.recv().await {
        let mut done = vec![first];
        while let Ok(more) = told.try_recv() {
            done.push(more);
        }
        let mut pause = RETRY_FIRST;
        // Its own session: telling takes no jobs, and so nothing from the session that does.
        while let Err(error) = link.ask(Uuid::nil(), &done, false).await {
            if pause == RETRY_MAX {
                warn!(%error, "cannot report to the node; retrying");
            }
            sleep(pause).await;
            pause = (pause * 2).min(RETRY_MAX);
        }
        under_way.end(&done);
    }
}

/// The jobs that were begun and not told of.
#[derive(Debug, Default)]
struct UnderWay(Mutex<BTreeSet<Uuid>>);

impl UnderWay {
    /// Whether this is new.
    fn begin(&self, job: Uuid) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(job)
    }

    fn end(&self, done: &[Outcome]) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.retain(|job| done.iter().all(|outcome| outcome.job != *job));
    }
}
