//! Watching the sets: asks their servers in between how they are.
//!
//! A poll that finds nothing new leaves no trace, so an idle node writes nothing. What fails or has to be read back is the
//! set's own, and waits in the schedule.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, WrapFuture};
use bailiwick_journal::{Position, StreamId};
use tokio::time::Instant;
use uuid::Uuid;

use super::{Command, State, View};
use crate::{
    contract::{Decider, Folded},
    ports::replica_set::Observation,
    replica_set::{self, Report, State as ReplicaSet},
    shell::{AnyCommand, Ask, Origin},
    supervisor::{
        Order,
        shell::{Supervise, SupervisorActor, open},
    },
    vocab::{Fault, FaultCode, Name, derived_uuid},
};

/// Nobody is asked more often than this, whatever a set's rhythm says.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// A set that is declared meanwhile is looked at by itself first, so nobody waits for this.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// What the supervisor keeps in memory.
#[derive(Debug, Default)]
pub struct Watch {
    started_at: Position,
    /// When each set was asked last.
    polled: BTreeMap<Name, Instant>,
    polling: BTreeSet<Name>,
    reports: u64,
}

#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
struct Poll;

impl Supervise for State {
    type Watch = Watch;

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        (!about.is_empty()).then(|| Command::Look { about: about.iter().cloned().collect() })
    }

    fn open_orders(view: &View) -> Vec<(Uuid, Order, Position)> {
        open(&view.orders)
    }

    fn watching(actor: &mut SupervisorActor<Self>, ctx: &mut Context<SupervisorActor<Self>>) {
        actor.watch.started_at = actor.services.journal.head().position;
        ctx.notify(Poll);
    }
}

impl Handler<Poll> for SupervisorActor<State> {
    type Result = ();

    fn handle(&mut self, _: Poll, ctx: &mut Self::Context) {
        let mut pause = PAUSE_MAX;
        let sets: Vec<Name> = self.view.sets.iter().filter_map(|(name, _)| name.parse().ok()).collect();
        self.watch.polled.retain(|name, _| sets.contains(name));
        for set in sets {
            let Some(Folded { state, .. }) = self.view.sets.folded(set.as_str()) else { continue };
            let Some(spec) = &state.spec else { continue };
            let every = Duration::from_millis(spec.rhythm.poll_ms).max(PAUSE_MIN);
            let last = *self.watch.polled.entry(set.clone()).or_insert_with(Instant::now);
            let since = last.elapsed();
            if since < every {
                pause = pause.min(every - since);
                continue;
            }
            pause = pause.min(every);
            let state = state.clone();
            if state.is_settled() && self.watch.polling.insert(set.clone()) {
                self.watch.polled.insert(set.clone(), Instant::now());
                self.ask_servers(set, &state, ctx);
            }
        }
        let address = ctx.address().downgrade();
        let next = async move {
            tokio::time::sleep(pause.max(PAUSE_MIN)).await;
            if let Some(supervisor) = address.upgrade() {
                let _ = supervisor.send(Poll).await;
            }
        };
        ctx.spawn(next.into_actor(self));
    }
}

impl SupervisorActor<State> {
    fn ask_servers(&mut self, set: Name, state: &ReplicaSet, ctx: &mut Context<Self>) {
        let stream = StreamId::new(ReplicaSet::KIND, set.as_str()).expect("names are checked");
        let engine = state.spec.as_ref().and_then(|spec| self.services.providers.replica_sets.get(&spec.engine));
        let Some(engine) = engine.cloned() else {
            self.watch.polling.remove(&set);
            return;
        };
        let limit = Duration::from_millis(self.services.policy().document.machines.call_timeout_ms);
        let (contact, round) = (state.contact(&stream), state.phase_at);
        let look = async move {
            tokio::time::timeout(limit, engine.observe(contact)).await.unwrap_or_else(|_| {
                Err(Fault::new(FaultCode::DeadlineExceeded, "no server of the set said in time how it is"))
            })
        };
        ctx.spawn(look.into_actor(self).map(move |result, actor, ctx| {
            actor.watch.polling.remove(&set);
            let known = actor.view.sets.get(set.as_str()).filter(|state| state.phase_at == round);
            // What has begun meanwhile is looked at by itself.
            let Some(known) = known else { return };
            let is_news = match (&result, &known.seen) {
                (Ok(now), Some(seen)) => !seen.says_the_same_as(now),
                (Err(fault), None) => fault.code != FaultCode::Uninitialized,
                _ => true,
            };
            if is_news {
                actor.report(stream, round, result, ctx);
            }
        }));
    }

    fn report(
        &mut self,
        stream: StreamId,
        round: bailiwick_journal::Version,
        result: Result<Observation, Fault>,
        ctx: &mut Context<Self>,
    ) {
        self.watch.reports += 1;
        let id = derived_uuid(&format!("poll {stream} {} {}", self.watch.started_at, self.watch.reports));
        let origin = Origin { id, principal: self.entity.stream().to_string(), cause: None, routine: true };
        let report = match result {
            Ok(observation) => Report::Seen { round, observation },
            Err(fault) if fault.code == FaultCode::Uninitialized => Report::NotBegun { round },
            Err(fault) => Report::LookFailed { round, fault: Fault::new(fault.code, fault.text) },
        };
        let command = AnyCommand::ReplicaSet(replica_set::Command::Report(report));
        let answer = self.registry.send(Ask { stream: stream.clone(), command, origin });
        ctx.spawn(answer.into_actor(self).map(move |answer, _actor, _ctx| {
            if let Ok(Err(error)) = answer {
                tracing::warn!(%stream, %error, "a report about a replica set was not taken");
            }
        }));
    }
}
