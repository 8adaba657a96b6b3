//! Keeps to the call budgets of providers: a call asks here first, and waits for its turn.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bailiwick_journal::StreamId;
use tokio::{sync::oneshot, time::Instant};

use super::{Holds, Source, call_times::CallTimes};
use crate::{
    ports::{CallBudget, CallKind, CallQueue, Operation},
    vocab::{Fault, Name},
};

/// What goes out together, if at all.
pub(super) type Place = (Operation, Source);

/// The budgets of a node's providers, and who waits for them. Clones are the same budgets, and may be looked at from
/// another thread.
#[derive(Clone, Debug)]
pub struct Budgets {
    began: Instant,
    /// Where no provider has a budget, nobody is kept waiting for this.
    has_some: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    providers: BTreeMap<Name, Provider>,
    /// Where each order stands that has not gone out.
    places: BTreeMap<StreamId, Place>,
    /// Those places for which a call waits for its turn.
    asked: BTreeSet<Place>,
    /// Orders that have begun, and whose next call waits for its turn.
    inside: BTreeMap<StreamId, Name>,
}

#[derive(Debug)]
struct Provider {
    queue: CallQueue<oneshot::Sender<()>>,
    /// Whether somebody lets out what waits.
    is_served: bool,
}

/// How the budget of a provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetSeen {
    pub provider: Name,
    pub budget: CallBudget,
    /// Calls that went out since the node started.
    pub calls: u64,
    /// Calls that wait for their turn.
    pub waiting: usize,
    /// Until the next call may go out; 0 if it may now.
    pub next_in_ms: u64,
    /// The entities whose orders wait.
    pub streams: BTreeSet<StreamId>,
}

impl Budgets {
    /// Nobody has called anybody.
    pub fn new(budgets: &BTreeMap<Name, CallBudget>) -> Self {
        let queue = |budget: &CallBudget| Provider { queue: CallQueue::new(*budget, 0), is_served: false };
        let providers = budgets.iter().map(|(name, budget)| (name.clone(), queue(budget))).collect();
        let state = State { providers, ..State::default() };
        Self { began: Instant::now(), has_some: !budgets.is_empty(), state: Arc::new(Mutex::new(state)) }
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The budget of a provider; none if it may be called as often as there is something to say.
    pub fn of(&self, provider: Option<&Name>) -> Option<CallBudget> {
        let provider = provider.filter(|_| self.has_some)?;
        Some(*self.state().providers.get(provider)?.queue.budget())
    }

    /// Whether a call goes out now. Only for who waits if not.
    pub(super) fn goes_at_once(&self, provider: &Name, kind: CallKind) -> bool {
        let now_us = self.now_us();
        self.state().providers.get_mut(provider).is_none_or(|provider| provider.queue.goes_at_once(kind, now_us))
    }

    /// Returns when a call may go out; at once, if its provider has no budget.
    pub(crate) async fn enter(&self, provider: &Name, kind: CallKind) {
        if self.goes_at_once(provider, kind) {
            return;
        }
        let (turn, its_turn) = oneshot::channel();
        let serves = {
            let mut state = self.state();
            let Some(provider) = state.providers.get_mut(provider) else { return };
            provider.queue.wait(kind, turn);
            !std::mem::replace(&mut provider.is_served, true)
        };
        if serves {
            actix::spawn(self.clone().serve(provider.clone()));
        }
        // Who lets them out ends with the node, and then nothing goes out any more.
        if its_turn.await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Lets out what waits, each in its turn, until nobody does.
    async fn serve(self, provider: Name) {
        loop {
            let now_us = self.now_us();
            let pause_us = {
                let mut state = self.state();
                let Some(provider) = state.providers.get_mut(&provider) else { return };
                provider.queue.retain(|turn| !turn.is_closed());
                while let Some(turn) = provider.queue.next(now_us) {
                    let _ = turn.send(());
                }
                if provider.queue.waiting() == 0 {
                    provider.is_served = false;
                    return;
                }
                provider.queue.next_at_us().saturating_sub(now_us)
            };
            tokio::time::sleep(Duration::from_micros(pause_us)).await;
        }
    }

    /// An order is ready to go out there.
    pub(super) fn stands(&self, stream: &StreamId, place: Place) {
        if self.has_some {
            self.state().places.insert(stream.clone(), place);
        }
    }

    /// It goes out.
    pub(super) fn leaves(&self, stream: &StreamId) {
        if self.has_some {
            self.state().places.remove(stream);
        }
    }

    /// A call waits for its turn there, or does not any more.
    pub(super) fn mark(&self, place: &Place, waits: bool) {
        let mut state = self.state();
        if waits {
            state.asked.insert(place.clone());
        } else {
            state.asked.remove(place);
        }
    }

    /// How the budgets are.
    pub fn seen(&self) -> Vec<BudgetSeen> {
        let (now_us, state) = (self.now_us(), self.state());
        let seen = |(name, provider): (&Name, &Provider)| BudgetSeen {
            provider: name.clone(),
            budget: *provider.queue.budget(),
            calls: provider.queue.calls(),
            waiting: provider.queue.waiting(),
            next_in_ms: provider.queue.next_at_us().saturating_sub(now_us).div_ceil(1_000),
            streams: state.waiting_for(name),
        };
        state.providers.iter().map(seen).collect()
    }
}

impl State {
    fn waiting_for(&self, provider: &Name) -> BTreeSet<StreamId> {
        let is_its = |(_, source): &Place| source.provider.as_ref() == Some(provider);
        let ready = self.places.iter().filter(|(_, place)| is_its(place) && self.asked.contains(*place));
        let begun = self.inside.iter().filter(|(_, of)| *of == provider);
        ready.map(|(stream, _)| stream).chain(begun.map(|(stream, _)| stream)).cloned().collect()
    }
}

/// The calls of one batch: what each of them may take, and that each has its turn.
pub(super) struct Calls<'a> {
    budgets: &'a Budgets,
    times: &'a CallTimes,
    holds: &'a Holds,
    provider: Option<Name>,
    streams: Vec<StreamId>,
    /// The first call of a batch has had its turn before the batch began.
    is_paid: Cell<bool>,
    /// How long each may take, once it is its turn.
    pub limit: Duration,
}

impl<'a> Calls<'a> {
    pub(super) fn new(
        (budgets, times, holds): (&'a Budgets, &'a CallTimes, &'a Holds),
        provider: Option<Name>,
        streams: Vec<StreamId>,
        limit: Duration,
    ) -> Self {
        Self { budgets, times, holds, provider, streams, is_paid: Cell::new(true), limit }
    }

    /// Notes what was answered to one of them.
    pub(super) fn answered<T>(&self, kind: CallKind, answers: &[Result<T, Fault>]) {
        self.times.note_answers(self.provider.as_ref(), kind, answers);
    }

    /// Returns when the next call may go out.
    pub(super) async fn enter(&self, kind: CallKind) {
        let Some(provider) = &self.provider else { return };
        if self.is_paid.replace(false) {
            return;
        }
        self.holds.passed(provider, kind).await;
        if self.budgets.of(Some(provider)).is_none() {
            return;
        }
        let inside = || self.streams.iter().map(|stream| (stream.clone(), provider.clone()));
        self.budgets.state().inside.extend(inside());
        self.budgets.enter(provider, kind).await;
        let mut state = self.budgets.state();
        self.streams.iter().for_each(|stream| drop(state.inside.remove(stream)));
    }
}
