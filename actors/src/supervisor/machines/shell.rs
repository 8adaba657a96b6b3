//! Watching the world: asks providers what they have, and listens to the agents inside.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, WrapFuture};
use bailiwick_journal::{Position, StreamId};
use tokio::time::Instant;

use super::{Command, Question, Round, State, View, answered, differences, going_on, questions, view::stream};
use crate::{
    contract::Decider,
    machine::{self, Instance, Node, Progress, Report},
    ports::{CallKind, Condition, InstanceStatus},
    shell::{Allowance, AnyCommand, Ask, AskError, Origin},
    supervisor::{
        Order, Orders,
        shell::{LOOK_MAX, Supervise, SupervisorActor},
    },
    vocab::{EffectId, Fault, FaultCode, Life, Name, Timestamp, Zone, derived_uuid},
};

/// Changes in one observation; more follow in the next, so that no entry grows without bound.
const CHANGES_MAX: usize = 50;

/// What the supervisor keeps in memory: heartbeats are never journaled, only what follows from their absence.
#[derive(Debug, Default)]
pub struct Watch {
    /// When the watching began, and what the journal held then.
    started_time: Timestamp,
    started_at: Position,
    /// Since when it has been listening to the agents without a break.
    listening: Option<Instant>,
    /// When it polled last.
    polled: Option<Instant>,
    last_seen: BTreeMap<EffectId, Seen>,
    /// The instances that somebody has shown since: their provider, in a list, or the agent inside.
    shown: BTreeSet<EffectId>,
    /// What the agent of each machine may still have recorded.
    allowances: BTreeMap<Name, Allowance>,
    /// With how many of these the ones of machines that are gone are looked for.
    swept_at: usize,
    /// Machines whose report is on its way.
    reporting: BTreeSet<Name>,
    /// Providers that are being asked what they have.
    polling: BTreeSet<Name>,
    /// Providers that were asked for their zones at once, because a machine waits for one. If they do not tell, the next poll
    /// asks again.
    asked_for_zones: BTreeSet<Name>,
    /// Providers that are being asked about the instances of machines whose time is over.
    asking: BTreeSet<Name>,
    reports: u64,
}

/// What the principal of a report begins with that a provider makes in the place of an agent; its name follows.
pub const PROVIDER: &str = "provider:";

/// When an agent was seen last: as it is told, and as it is measured. A wall clock that is set forward makes nobody silent.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Timestamp,
    by_monotonic: Instant,
}

/// An agent is there, and sees this.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Heartbeat")]
pub struct AgentReport {
    pub machine: Name,
    /// The provider that says it in the place of an agent; none if an agent does.
    pub provider: Option<Name>,
    /// The instance that it runs in.
    pub effect: EffectId,
    pub conditions: Vec<Condition>,
    /// The workloads that run inside, or are about to; none as long as that cannot be told.
    pub running: Option<BTreeSet<Name>>,
}

/// What an agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heartbeat {
    Welcome,
    /// It is to end what runs inside but for these workloads, and to say when it has.
    Drain {
        but: BTreeSet<Name>,
    },
    /// This instance is not, or not yet, the machine's.
    Stranger,
}

/// Which machines run by what the journal says, and were not seen since the node started?
///
/// An instance that was made since then counts as seen: its provider said so when it made it.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Vec<Name>")]
pub struct Unseen;

#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
struct Poll;

impl Supervise for State {
    const NAME: &'static str = View::NAME;

    type Order = Order;

    type Watch = Watch;

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        let machines: Vec<Name> = about
            .iter()
            .filter(|stream| stream.kind() == machine::State::KIND)
            .filter_map(|stream| stream.name().parse().ok())
            .collect();
        (!machines.is_empty()).then_some(Command::Look { machines })
    }

    fn woken_by(view: &View, stream: &StreamId) -> Vec<StreamId> {
        view.woken_by(stream)
    }

    fn orders(view: &View) -> &Orders {
        &view.orders
    }

    fn watching(actor: &mut SupervisorActor<Self>, ctx: &mut Context<SupervisorActor<Self>>) {
        actor.watch.started_time = actor.services.now();
        actor.watch.started_at = actor.services.journal.head().position;
        ctx.notify(Poll);
    }

    fn resting(actor: &mut SupervisorActor<Self>, ctx: &mut Context<SupervisorActor<Self>>) {
        for provider in actor.unknown_sites() {
            actor.watch.asked_for_zones.insert(provider.clone());
            if actor.watch.polling.insert(provider.clone()) {
                actor.ask_provider(provider, ctx);
            }
        }
        for provider in questions(actor.entity.state(), &actor.view).into_keys() {
            if actor.watch.asking.insert(provider.clone()) {
                actor.ask_about(provider, Round::default(), ctx);
            }
        }
    }
}

impl Handler<Poll> for SupervisorActor<State> {
    type Result = ();

    fn handle(&mut self, _: Poll, ctx: &mut Self::Context) {
        let providers: Vec<Name> = self.services.providers.machines.keys().cloned().collect();
        for name in providers {
            // A provider that hangs holds up only itself; changes that are not decided yet are not seen twice.
            if self.backlog() == 0 && self.watch.polling.insert(name.clone()) {
                self.ask_provider(name, ctx);
            }
        }
        self.tell_the_silent(ctx);
        self.tell_progress(ctx);
        let address = ctx.address().downgrade();
        let pause = Duration::from_millis(self.services.policy().document.machines.poll_ms);
        let next = async move {
            tokio::time::sleep(pause).await;
            if let Some(supervisor) = address.upgrade() {
                let _ = supervisor.send(Poll).await;
            }
        };
        ctx.spawn(next.into_actor(self));
    }
}

impl SupervisorActor<State> {
    fn ask_provider(&mut self, name: Name, ctx: &mut Context<Self>) {
        let Some(provider) = self.services.providers.machines.get(&name).cloned() else {
            return;
        };
        let limit = Duration::from_millis(self.services.policy().document.machines.call_timeout_ms);
        let (budgets, asked) = (self.services.budgets.clone(), name.clone());
        let list = async move {
            budgets.enter(&asked, CallKind::LookUp).await;
            let listing = tokio::time::timeout(limit, provider.list()).await.unwrap_or_else(|_| {
                Err(Fault::new(FaultCode::DeadlineExceeded, "the provider did not return its list in time"))
            });
            (listing, provider.zones())
        };
        ctx.spawn(list.into_actor(self).map(move |(listing, zones), actor, ctx| {
            actor.watch.polling.remove(&name);
            match listing {
                Ok(listing) => {
                    actor.see_answer(&name, ctx);
                    if !actor.entity.state().is_too_old(&name, listing.as_of) {
                        let shown = listing.items.iter().filter(|some| some.status == InstanceStatus::Running);
                        actor.watch.shown.extend(shown.map(|some| some.effect));
                    }
                    let policy = actor.services.policy();
                    let harvest = &policy.document.harvest;
                    let changes = differences(
                        actor.entity.state(),
                        &actor.view,
                        &name,
                        &listing,
                        harvest,
                        actor.services.journal.id(),
                    );
                    for some in changes.chunks(CHANGES_MAX) {
                        let provider = name.clone();
                        let observe = Command::Observe { provider, as_of: listing.as_of, changes: some.to_vec() };
                        actor.decide_later(observe, ctx);
                    }
                    actor.see_zones(&name, zones, ctx);
                }
                Err(fault) => actor.see_failure(name, fault, ctx),
            }
        }));
    }

    /// Asks a provider about the instances that are in question, some in a call, each of them once in a round. What it cannot
    /// tell now it is asked again, as often as for its list.
    fn ask_about(&mut self, provider: Name, round: Round, ctx: &mut Context<Self>) {
        let Some(port) = self.services.providers.machines.get(&provider).cloned() else { return };
        let about = self.in_question(&provider, &round);
        if about.is_empty() {
            self.end_round(provider, &round, ctx);
            return;
        }
        let limit = Duration::from_millis(self.services.policy().document.machines.call_timeout_ms);
        let (budgets, asked, now) = (self.services.budgets.clone(), provider.clone(), self.services.clone());
        let ids: Vec<EffectId> = about.iter().map(|(_, effect)| *effect).collect();
        let ask = async move {
            budgets.enter(&asked, CallKind::LookUp).await;
            let as_of = now.now();
            let answers = tokio::time::timeout(limit, port.lookup(ids)).await;
            (as_of, answers.ok().and_then(Result::ok).unwrap_or_default())
        };
        ctx.spawn(ask.into_actor(self).map(move |(as_of, answers), actor, ctx| {
            let machines: Vec<Name> = about.iter().map(|(machine, _)| machine.clone()).collect();
            let is_complete = answers.len() == about.len();
            let answers = if is_complete { answers } else { Vec::new() };
            let (changes, found) = answered(actor.entity.state(), &about, answers);
            let round = round.after(&about, !changes.is_empty() || !found.is_empty());
            if !changes.is_empty() {
                actor.decide_later(Command::Observe { provider: provider.clone(), as_of, changes }, ctx);
            }
            if !found.is_empty() {
                actor.decide_later(Command::ReportFound { provider: provider.clone(), as_of, machines: found }, ctx);
                actor.decide_later(Command::Look { machines }, ctx);
            }
            actor.ask_about(provider, round, ctx);
        }));
    }

    fn in_question(&self, provider: &Name, round: &Round) -> Vec<Question> {
        let all = questions(self.entity.state(), &self.view).remove(provider);
        round.next(all.unwrap_or_default(), CHANGES_MAX)
    }

    /// The next round begins when what was learnt is taken in, or else after a while.
    fn end_round(&mut self, provider: Name, round: &Round, ctx: &mut Context<Self>) {
        if !round.has_learnt {
            self.ask_again(provider, ctx);
            return;
        }
        self.watch.asking.remove(&provider);
        self.rest(ctx);
    }

    /// After a while, as often as a provider is asked what it has.
    fn ask_again(&mut self, provider: Name, ctx: &mut Context<Self>) {
        let pause = Duration::from_millis(self.services.policy().document.machines.poll_ms);
        ctx.spawn(tokio::time::sleep(pause).into_actor(self).map(move |(), actor, ctx| {
            actor.watch.asking.remove(&provider);
            State::resting(actor, ctx);
        }));
    }

    /// A provider could not be asked. As long as that may become an outage it is asked again soon.
    fn see_failure(&mut self, provider: Name, fault: Fault, ctx: &mut Context<Self>) {
        let (state, policy, now) = (self.entity.state(), self.services.policy(), self.services.now());
        if let Some(ms) = state.asks_again_ms(&provider, &policy.document) {
            let (again, pause) = (provider.clone(), tokio::time::sleep(Duration::from_millis(ms)));
            ctx.spawn(pause.into_actor(self).map(move |(), actor, ctx| {
                if actor.watch.polling.insert(again.clone()) {
                    actor.ask_provider(again, ctx);
                }
            }));
        }
        if state.learns_from(&provider, fault.code, now, &policy.document.reconciliation.outage) {
            let fault = Fault::new(fault.code, fault.text);
            self.decide_later(Command::ReportListFailed { provider, fault }, ctx);
        }
    }

    /// A provider answers. If it was out, those that became suspect meanwhile are looked at: they are judged anew.
    fn see_answer(&mut self, provider: &Name, ctx: &mut Context<Self>) {
        let state = self.entity.state();
        if !state.failing.contains_key(provider) {
            return;
        }
        let doubted = if state.out.contains_key(provider) { self.view.doubted(provider) } else { Vec::new() };
        self.decide_later(Command::ReportListRecovered { provider: provider.clone() }, ctx);
        for some in doubted.chunks(LOOK_MAX) {
            self.decide_later(Command::Look { machines: some.to_vec() }, ctx);
        }
    }

    /// Takes in the zones of a provider, and looks again at the machines that wait for one. That a provider has none is worth an
    /// entry only if somebody waits.
    fn see_zones(&mut self, provider: &Name, zones: BTreeSet<Zone>, ctx: &mut Context<Self>) {
        let known = self.entity.state().zones.get(provider);
        let is_its = |name: &&Name| {
            let spec = self.view.machines.get(name.as_str()).and_then(|machine| machine.spec.as_ref());
            spec.is_some_and(|spec| spec.provider == *provider)
        };
        let waiting: Vec<Name> = self.view.tally.unsited.iter().filter(is_its).cloned().collect();
        let is_news = known != Some(&zones) && (known.is_some() || !zones.is_empty() || !waiting.is_empty());
        if !is_news {
            return;
        }
        self.decide_later(Command::ObserveZones { provider: provider.clone(), zones }, ctx);
        for some in waiting.chunks(LOOK_MAX) {
            self.decide_later(Command::Look { machines: some.to_vec() }, ctx);
        }
    }

    /// The providers that a machine waits for to tell which zones there are, and that were not asked for that yet.
    fn unknown_sites(&self) -> BTreeSet<Name> {
        let (known, asked) = (&self.entity.state().zones, &self.watch.asked_for_zones);
        let is_unknown = |provider: &&Name| !known.contains_key(*provider) && !asked.contains(*provider);
        // Thousands of machines may wait, and this is looked at after every step.
        if !self.services.providers.machines.keys().any(|provider| is_unknown(&provider)) {
            return BTreeSet::new();
        }
        let provider = |name: &Name| Some(&self.view.machines.get(name.as_str())?.spec.as_ref()?.provider);
        self.view.tally.unsited.iter().filter_map(provider).filter(is_unknown).cloned().collect()
    }

    /// Tells the machines whose agents were silent for too long. After a start nobody is called silent for a while; nor after
    /// the node itself did not run, because it was stopped or its host slept.
    fn tell_the_silent(&mut self, ctx: &mut Context<Self>) {
        let policy = self.services.policy();
        let machines = &policy.document.machines;
        let is_over = |since: Instant, ms: u64| since.elapsed() > Duration::from_millis(ms);
        let break_ms = machines.poll_ms.saturating_add(machines.node_stale_ms / 2);
        let was_away = self.watch.polled.replace(Instant::now()).is_none_or(|polled| is_over(polled, break_ms));
        if was_away {
            self.watch.listening = Some(Instant::now());
        }
        let grace_is_over = self.watch.listening.is_some_and(|since| is_over(since, machines.restart_grace_ms));
        let mut silent = Vec::new();
        let mut running = BTreeSet::new();
        for (name, folded) in self.view.machines.iter() {
            let Instance::Running { instance, since, .. } = &folded.state.instance else {
                continue;
            };
            running.insert(instance.effect);
            let known_since = match &folded.state.node {
                Node::Silent => *since,
                Node::Reporting { since, .. } => *since,
                Node::Stale { .. } => continue,
            };
            let missed = Seen { at: known_since, by_monotonic: Instant::now() };
            let seen = self.watch.last_seen.entry(instance.effect).or_insert(missed);
            if grace_is_over
                && is_over(seen.by_monotonic, machines.node_stale_ms)
                && let Ok(name) = name.parse::<Name>()
            {
                silent.push((name, instance.effect, seen.at));
            }
        }
        self.watch.last_seen.retain(|effect, _| running.contains(effect));
        self.watch.shown.retain(|effect| running.contains(effect));
        for (machine, effect, last_seen) in silent {
            self.report(machine, Report::NodeSilent { effect, last_seen }, "supervisor/machines".into(), ctx);
        }
    }

    /// Tells the machines for which a call is under way what their providers say about it, where that is something new.
    fn tell_progress(&mut self, ctx: &mut Context<Self>) {
        let mut news = Vec::new();
        for machine in &self.view.tally.calling {
            let Some(state) = self.view.machines.get(machine.as_str()) else { continue };
            let provider = state.spec.as_ref().and_then(|spec| self.services.providers.machines.get(&spec.provider));
            let Some((provider, effect)) = provider.zip(state.calling(self.services.journal.id(), &stream(machine)))
            else {
                continue;
            };
            let Some(told) = provider.progress(effect) else { continue };
            let (text, percent) = Progress::worth_noting(&told);
            if !state.has_progressed(&text, percent) {
                news.push((machine.clone(), Report::Progress { effect, text, percent }));
            }
        }
        for (machine, report) in news {
            self.report(machine, report, "supervisor/machines".into(), ctx);
        }
    }

    /// Whether what an agent says of itself is recorded now. The newest that was not comes with its next report.
    fn may_record(&mut self, machine: &Name, conditions: &[Condition]) -> bool {
        let now = self.services.now();
        let Watch { allowances, swept_at, .. } = &mut self.watch;
        // Those of machines that are gone; looked for as often as their number has doubled, not with each new machine.
        if *swept_at <= allowances.len() && !allowances.contains_key(machine) {
            allowances.retain(|machine, _| self.view.machines.get(machine.as_str()).is_some());
            *swept_at = 64 + 2 * allowances.len();
        }
        let allowance = self.watch.allowances.entry(machine.clone()).or_insert_with(|| Allowance::new(now));
        let bytes: usize = conditions.iter().map(|condition| condition.kind.len() + condition.text.len() + 16).sum();
        allowance.take(bytes as u64, now)
    }

    /// Sends a report to a machine unless one is on its way.
    fn report(&mut self, machine: Name, report: Report, principal: String, ctx: &mut Context<Self>) {
        if !self.watch.reporting.insert(machine.clone()) {
            return;
        }
        self.watch.reports += 1;
        let stream = StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked");
        let id = derived_uuid(&format!("node report {stream} {} {}", self.watch.started_at, self.watch.reports));
        let origin = Origin { id, principal, cause: None, cites: Vec::new(), routine: true, expected: None };
        let command = AnyCommand::from(machine::Command::Report(report));
        let answer = self.registry.send(Ask { stream, command, origin });
        ctx.spawn(answer.into_actor(self).map(move |answer, actor, _ctx| {
            actor.watch.reporting.remove(&machine);
            match answer {
                // The node's trouble says it; the agent reports again.
                Ok(Err(error @ (AskError::NotRecorded(_) | AskError::Overloaded))) => {
                    tracing::debug!(%machine, %error, "a report about a node waits");
                }
                Ok(Err(error)) => tracing::warn!(%machine, %error, "a report about a node was refused"),
                Ok(Ok(_)) | Err(_) => (),
            }
        }));
    }
}

impl Handler<Unseen> for SupervisorActor<State> {
    type Result = Vec<Name>;

    fn handle(&mut self, _: Unseen, _ctx: &mut Self::Context) -> Self::Result {
        let unseen = self.view.machines.iter().filter_map(|(name, folded)| {
            let Instance::Running { instance, since, .. } = &folded.state.instance else { return None };
            let is_old = *since < self.watch.started_time && folded.state.life == Life::Alive;
            let name = is_old.then(|| name.parse().ok())??;
            (!self.watch.shown.contains(&instance.effect)).then_some(name)
        });
        unseen.collect()
    }
}

impl Handler<AgentReport> for SupervisorActor<State> {
    type Result = actix::MessageResult<AgentReport>;

    fn handle(&mut self, report: AgentReport, ctx: &mut Self::Context) -> Self::Result {
        let AgentReport { machine, provider, effect, conditions, running } = report;
        let Some(folded) = self.view.machines.folded(machine.as_str()) else {
            return actix::MessageResult(Heartbeat::Stranger);
        };
        let Instance::Running { instance, .. } = &folded.state.instance else {
            return actix::MessageResult(Heartbeat::Stranger);
        };
        if instance.effect != effect {
            return actix::MessageResult(Heartbeat::Stranger);
        }
        let seen = Seen { at: self.services.now(), by_monotonic: Instant::now() };
        self.watch.last_seen.insert(effect, seen);
        self.watch.shown.insert(effect);
        let seen: BTreeMap<String, Condition> = conditions.iter().map(|c| (c.kind.clone(), c.clone())).collect();
        let known =
            matches!(&folded.state.node, Node::Reporting { conditions, .. } if !Condition::are_news(conditions, &seen));
        // Until somebody has said that it may end, what runs inside goes on.
        let but = going_on(&folded.state, &self.view.documents);
        let is_draining = folded.state.turns().is_some_and(|turns| but.len() < turns.all.len());
        let by_agent = || format!("agent:machine/{machine}");
        let principal = provider.map_or_else(by_agent, |provider| format!("{PROVIDER}{provider}"));
        let ended =
            running.filter(|_| is_draining).and_then(|running| folded.state.drain_report(effect, &running, &but));
        if let Some(ended) = ended {
            self.report(machine, ended, principal, ctx);
        } else if !known && self.may_record(&machine, &conditions) {
            self.report(machine, Report::Node { effect, conditions }, principal, ctx);
        }
        actix::MessageResult(if is_draining { Heartbeat::Drain { but } } else { Heartbeat::Welcome })
    }
}
