//! Watching the sets: asks their servers in between how they are.
//!
//! A poll that finds nothing new leaves no trace, so an idle node writes nothing. What fails or has to be read back is the
//! set's own, and waits in the schedule.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, SpawnHandle, WrapFuture};
use bailiwick_journal::{Position, StreamId, Version};
use tokio::time::Instant;

use super::{Command, State, View};
use crate::{
    contract::{Decider, Folded},
    policy::PeerRules,
    ports::replica_set::Observation,
    replica_set::{self, Report, Rhythm, State as ReplicaSet},
    schedule::backoff_ms,
    shell::{AnyCommand, Ask, Origin},
    supervisor::{
        Order, Orders,
        shell::{Supervise, SupervisorActor},
    },
    vocab::{Fault, FaultCode, Name, derived_uuid},
};

/// How often it is looked whether a poll is due.
const PAUSE: Duration = Duration::from_secs(1);

/// What the supervisor keeps in memory.
#[derive(Debug, Default)]
pub struct Watch {
    started_at: Position,
    polled: BTreeMap<Name, Polled>,
    polling: BTreeSet<Name>,
    /// By set: what its engine watches for, as of which round, and how that is ended.
    watching: BTreeMap<Name, (Version, SpawnHandle)>,
    reports: u64,
    /// The rules by which the sets were looked at last.
    rules: Option<PeerRules>,
}

/// When a set was asked last, and how often in vain since it changed last.
///
/// What has just changed goes on changing (members catch up, leaders are elected), so it is asked soon, and less and less
/// often while nothing comes of it. None of this is journaled.
#[derive(Clone, Copy, Debug)]
struct Polled {
    at: Instant,
    version: Version,
    in_vain: u32,
}

impl Polled {
    /// How long after the last time it is asked again: from the first retry on doubled, up to the rhythm's poll.
    fn pause(self, rhythm: &Rhythm) -> Duration {
        let wait_ms = backoff_ms(self.in_vain.saturating_add(2), rhythm.retry_first_ms, rhythm.poll_ms);
        Duration::from_millis(wait_ms).max(PAUSE)
    }
}

#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
struct Poll;

impl Supervise for State {
    const NAME: &'static str = View::NAME;

    type Order = Order;

    type Watch = Watch;

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        (!about.is_empty()).then(|| Command::Look { about: about.iter().cloned().collect() })
    }

    fn orders(view: &View) -> &Orders {
        &view.orders
    }

    fn watching(actor: &mut SupervisorActor<Self>, ctx: &mut Context<SupervisorActor<Self>>) {
        actor.watch.started_at = actor.services.journal.head().position;
        ctx.notify(Poll);
    }
}

impl Handler<Poll> for SupervisorActor<State> {
    type Result = ();

    fn handle(&mut self, _: Poll, ctx: &mut Self::Context) {
        let sets: Vec<Name> = self.view.sets.iter().filter_map(|(name, _)| name.parse().ok()).collect();
        self.follow_the_policy(&sets, ctx);
        self.watch.polled.retain(|name, _| sets.contains(name));
        self.stop_watching(|name| !sets.contains(name), ctx);
        for set in sets {
            let Some(Folded { state, version, .. }) = self.view.sets.folded(set.as_str()) else { continue };
            let Some(spec) = &state.spec else { continue };
            let new = Polled { at: Instant::now(), version: *version, in_vain: 0 };
            let polled = self.watch.polled.entry(set.clone()).or_insert(new);
            if polled.version != *version {
                *polled = new;
            }
            let is_due = polled.pause(&spec.rhythm) <= polled.at.elapsed();
            let state = state.clone();
            if is_due && state.is_settled() && self.watch.polling.insert(set.clone()) {
                (polled.at, polled.in_vain) = (new.at, polled.in_vain.saturating_add(1));
                self.ask_servers(set.clone(), &state, ctx);
            }
            self.keep_watching(set, &state, ctx);
        }
        let address = ctx.address().downgrade();
        let next = async move {
            tokio::time::sleep(PAUSE).await;
            if let Some(supervisor) = address.upgrade() {
                let _ = supervisor.send(Poll).await;
            }
        };
        ctx.spawn(next.into_actor(self));
    }
}

impl SupervisorActor<State> {
    /// Under other rules other steps may be due, though nothing has changed about any set.
    fn follow_the_policy(&mut self, sets: &[Name], ctx: &mut Context<Self>) {
        let rules = self.services.policy().document.replica_sets.rules;
        if self.watch.rules.replace(rules).is_some_and(|before| before != rules) {
            let stream = |set: &Name| StreamId::new(ReplicaSet::KIND, set.as_str()).expect("names are checked");
            self.look_again(sets.iter().map(stream), ctx);
        }
    }

    /// Has the engine of a settled set say by itself that something is not as it was seen last.
    fn keep_watching(&mut self, set: Name, state: &ReplicaSet, ctx: &mut Context<Self>) {
        let round = state.phase_at;
        let is_current = |watched: &(Version, SpawnHandle)| state.is_settled() && watched.0 == round;
        if self.watch.watching.get(&set).is_some_and(is_current) {
            return;
        }
        self.stop_watching(|name| *name == set, ctx);
        let engine = state.spec.as_ref().and_then(|spec| self.services.providers.replica_sets.get(&spec.engine));
        let (Some(engine), Some(seen), true) = (engine.cloned(), state.seen.clone(), state.is_settled()) else {
            return;
        };
        let stream = StreamId::new(ReplicaSet::KIND, set.as_str()).expect("names are checked");
        let contact = state.contact(&stream);
        let watch = async move { engine.watch(contact, seen).await };
        let name = set.clone();
        let handle = ctx.spawn(watch.into_actor(self).map(move |(), actor, ctx| {
            actor.watch.watching.remove(&name);
            let state = actor.view.sets.get(name.as_str()).filter(|state| state.phase_at == round).cloned();
            if let Some(state) = state.filter(ReplicaSet::is_settled)
                && actor.watch.polling.insert(name.clone())
            {
                actor.ask_servers(name, &state, ctx);
            }
        }));
        self.watch.watching.insert(set, (round, handle));
    }

    fn stop_watching(&mut self, is_over: impl Fn(&Name) -> bool, ctx: &mut Context<Self>) {
        self.watch.watching.retain(|name, (_, handle)| {
            let goes_on = !is_over(name);
            if !goes_on {
                ctx.cancel_future(*handle);
            }
            goes_on
        });
    }

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
                Err(Fault::new(FaultCode::DeadlineExceeded, "no server of the set answered in time"))
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
        round: Version,
        result: Result<Observation, Fault>,
        ctx: &mut Context<Self>,
    ) {
        self.watch.reports += 1;
        let id = derived_uuid(&format!("poll {stream} {} {}", self.watch.started_at, self.watch.reports));
        let origin = Origin {
            id,
            principal: self.entity.stream().to_string(),
            cause: None,
            cites: Vec::new(),
            routine: true,
            expected: None,
        };
        let report = match result {
            Ok(observation) => Report::Seen { round, observation },
            Err(fault) if fault.code == FaultCode::Uninitialized => Report::NotBegun { round },
            Err(fault) => Report::LookFailed { round, fault: Fault::new(fault.code, fault.text) },
        };
        let command = AnyCommand::from(replica_set::Command::Report(report));
        let answer = self.registry.send(Ask { stream: stream.clone(), command, origin });
        ctx.spawn(answer.into_actor(self).map(move |answer, _actor, _ctx| {
            if let Ok(Err(error)) = answer {
                tracing::warn!(%stream, %error, "a report about a replica set was refused");
            }
        }));
    }
}
