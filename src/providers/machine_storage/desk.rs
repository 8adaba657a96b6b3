//! Jobs on their way to machines' agents and back. All of it is in memory: what a restart forgets is asked for by its id.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bailiwick_actors::vocab::{Fault, Name};
use serde_json::Value;
use tokio::{
    sync::{Notify, oneshot},
    time::{sleep, timeout},
};
use uuid::Uuid;

use crate::api::wire::storage::{Ask, Job, Orders, Work};

/// An agent that waits for jobs is answered after this time, with or without any.
const WAIT: Duration = Duration::from_secs(10);
/// An agent that was answered so recently is there, although it is not asking right now.
const FRESH: Duration = Duration::from_millis(300);
/// More than this is handed over with the next question.
const JOBS_AT_ONCE: usize = 1_000;

/// The desk between the node and the agents.
#[derive(Debug, Default)]
pub struct Desk {
    machines: Mutex<BTreeMap<Name, Machine>>,
    /// Somebody has something to do, or the desk is closed.
    news: Notify,
}

#[derive(Debug, Default)]
struct Machine {
    session: Option<Uuid>,
    jobs: BTreeMap<Uuid, Open>,
    /// Questions that wait for an answer now, or were answered a moment ago.
    asking: usize,
    is_closed: bool,
}

#[derive(Debug)]
struct Open {
    job: Job,
    is_handed: bool,
    answer: oneshot::Sender<Result<Value, Fault>>,
}

/// A job that lies on the desk until it is answered, or this is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    desk: Arc<Desk>,
    machine: Name,
    id: Uuid,
    pub answer: oneshot::Receiver<Result<Value, Fault>>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(machine) = self.desk.lock().get_mut(&self.machine) {
            machine.jobs.remove(&self.id);
        }
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Name, Machine>> {
        self.machines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job on the desk.
    pub(super) fn put(self: &Arc<Self>, machine: &Name, provider: Name, work: Work) -> Ticket {
        let (tell, answer) = oneshot::channel();
        let id = Uuid::new_v4();
        let open = Open { job: Job { id, provider, work }, is_handed: false, answer: tell };
        self.lock().entry(machine.clone()).or_default().jobs.insert(id, open);
        self.news.notify_waiters();
        Ticket { desk: self.clone(), machine: machine.clone(), id, answer }
    }

    /// Whether the agent of a machine asks for jobs.
    pub(super) fn is_linked(&self, machine: &Name) -> bool {
        self.lock().get(machine).is_some_and(|machine| 0 < machine.asking)
    }

    /// The jobs that wait for agents.
    pub fn open_jobs(&self) -> usize {
        self.lock().values().map(|machine| machine.jobs.len()).sum()
    }

    /// Takes in what an agent has done, and answers with what it has to do; waits for that if it asks to.
    pub async fn exchange(self: &Arc<Self>, machine: &Name, ask: Ask) -> Orders {
        self.take_in(machine, &ask);
        if !ask.wait {
            return Orders::default();
        }
        let asking = Asking::begin(self, machine);
        let jobs = timeout(WAIT, self.jobs_for(machine, ask.session)).await.unwrap_or_default();
        // It asks again as soon as it has heard this.
        tokio::spawn(async move {
            sleep(FRESH).await;
            drop(asking);
        });
        Orders { jobs }
    }

    async fn jobs_for(&self, machine: &Name, session: Uuid) -> Vec<Job> {
        loop {
            // Before looking, so that nothing falls in between.
            let news = self.news.notified();
            let (jobs, is_over) = self.hand_over(machine, session);
            if !jobs.is_empty() || is_over {
                return jobs;
            }
            news.await;
        }
    }

    fn take_in(&self, machine: &Name, ask: &Ask) {
        let mut machines = self.lock();
        let machine = machines.entry(machine.clone()).or_default();
        for outcome in &ask.done {
            if let Some(open) = machine.jobs.remove(&outcome.job) {
                // Who asked may have given up in this instant.
                let _ = open.answer.send(outcome.result.clone());
            }
        }
        if ask.wait && machine.session != Some(ask.session) {
            machine.session = Some(ask.session);
            machine.jobs.values_mut().for_each(|open| open.is_handed = false);
            // What an earlier session still waits with is over, and does not stay until its time is.
            self.news.notify_waiters();
        }
    }

    /// What this session was not handed yet; and whether it is of no use to wait for more.
    fn hand_over(&self, machine: &Name, session: Uuid) -> (Vec<Job>, bool) {
        let mut machines = self.lock();
        let Some(machine) = machines.get_mut(machine) else { return (Vec::new(), true) };
        // A later session of the same agent waits already: this one was lost.
        if machine.is_closed || machine.session != Some(session) {
            return (Vec::new(), true);
        }
        let new = machine.jobs.values_mut().filter(|open| !open.is_handed).take(JOBS_AT_ONCE);
        let jobs = new.map(|open| {
            open.is_handed = true;
            open.job.clone()
        });
        (jobs.collect(), false)
    }

    /// Nobody waits any more: the node stops. What is open stays so, and is asked for by its id at the next start.
    pub fn close(&self) {
        self.lock().values_mut().for_each(|machine| machine.is_closed = true);
        self.news.notify_waiters();
    }
}

/// One question that waits.
struct Asking {
    desk: Arc<Desk>,
    machine: Name,
}

impl Asking {
    fn begin(desk: &Arc<Desk>, machine: &Name) -> Self {
        if let Some(machine) = desk.lock().get_mut(machine) {
            machine.asking += 1;
        }
        Self { desk: desk.clone(), machine: machine.clone() }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(machine) = self.desk.lock().get_mut(&self.machine) {
            machine.asking = machine.asking.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_actors::vocab::EffectId;

    use super::*;
    use crate::api::wire::storage::Outcome;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn ask(session: u128, done: Vec<Outcome>, wait: bool) -> Ask {
        Ask { effect: EffectId(Uuid::from_u128(1)), session: Uuid::from_u128(session), done, wait }
    }

    fn put(desk: &Arc<Desk>, number: u128) -> Ticket {
        desk.put(&name("web"), name("loop"), Work::DestroyVolume(EffectId(Uuid::from_u128(number))))
    }

    #[tokio::test]
    async fn a_job_is_handed_to_a_session_once_and_to_the_next_one_again() {
        let desk = Arc::new(Desk::default());
        let (first, second) = (put(&desk, 1), put(&desk, 2));
        assert_eq!(desk.exchange(&name("web"), ask(1, vec![], true)).await.jobs.len(), 2);
        let third = put(&desk, 3);
        let jobs = desk.exchange(&name("web"), ask(1, vec![], true)).await.jobs;
        assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [third.id]);
        let mut all = vec![first.id, second.id, third.id];
        all.sort();
        let jobs = desk.exchange(&name("web"), ask(2, vec![], true)).await.jobs;
        assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), all, "everything that is open");
    }

    #[tokio::test]
    async fn an_answer_reaches_who_asked_and_a_dropped_job_is_forgotten() {
        let desk = Arc::new(Desk::default());
        let (mut told, dropped) = (put(&desk, 1), put(&desk, 2));
        let result = Ok(Value::Null);
        let done = vec![Outcome { job: told.id, result: result.clone() }];
        desk.exchange(&name("web"), ask(9, done, false)).await;
        assert_eq!(told.answer.try_recv(), Ok(result));
        drop(dropped);
        assert_eq!(desk.open_jobs(), 0);
        assert_eq!(desk.exchange(&name("db"), ask(9, vec![], false)).await, Orders::default());
    }

    #[tokio::test]
    async fn who_waits_is_answered_when_something_comes_or_the_desk_closes() {
        let desk = Arc::new(Desk::default());
        let web = name("web");
        let waiting = desk.exchange(&web, ask(1, vec![], true));
        let coming = async {
            tokio::task::yield_now().await;
            assert!(desk.is_linked(&web));
            put(&desk, 1)
        };
        let (orders, ticket) = tokio::join!(waiting, coming);
        assert_eq!(orders.jobs.len(), 1);
        drop(ticket);
        let waiting = desk.exchange(&web, ask(1, vec![], true));
        let closing = async {
            tokio::task::yield_now().await;
            desk.close();
        };
        assert_eq!(tokio::join!(waiting, closing).0, Orders::default());
    }

    fn asking(desk: &Desk) -> usize {
        desk.lock().values().map(|machine| machine.asking).sum()
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_that_is_lost_a_hundred_times_leaves_one_question_and_every_job_once() {
        let (desk, web) = (Arc::new(Desk::default()), name("web"));
        let open = put(&desk, 1);
        let mut waiting = Vec::new();
        for session in 1..=100 {
            let jobs = desk.exchange(&web, ask(session, vec![], true)).await.jobs;
            assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [open.id], "session {session}");
            // It asks for more, and its link is lost before there is any.
            let (desk, web) = (desk.clone(), web.clone());
            waiting.push(tokio::spawn(async move { desk.exchange(&web, ask(session, vec![], true)).await }));
            tokio::task::yield_now().await;
        }
        sleep(FRESH * 2).await;
        let still: Vec<bool> = waiting.iter().map(|question| !question.is_finished()).collect();
        assert_eq!(still.iter().filter(|waits| **waits).count(), 1, "only the last session waits");
        assert!(still[99]);
        assert_eq!((asking(&desk), desk.open_jobs(), desk.lock().len()), (1, 1, 1));
        drop(open);
        desk.close();
        sleep(FRESH * 2).await;
        assert_eq!((asking(&desk), desk.open_jobs()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_whose_connection_is_cut_ends_at_once() {
        let (desk, web) = (Arc::new(Desk::default()), name("web"));
        for session in 1..=100 {
            let question = desk.exchange(&web, ask(session, vec![], true));
            assert!(timeout(Duration::from_millis(1), question).await.is_err(), "there is nothing to do");
            assert_eq!(asking(&desk), 0, "session {session}");
        }
    }
}
