//! What agents say about devices and providers about volumes, on its way to the storage supervisor; and what this session
//! has not made sure of yet.

use std::{collections::BTreeSet, time::Duration};

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, MessageResult, WrapFuture};
use bailiwick_journal::{Position, StreamId};

use super::{Command, Event, Sighted, State, View, changes, has_volumes, machines_with_volumes, volume_changes};
use crate::{
    contract::Decider,
    ports::CallKind,
    shell::Source,
    supervisor::{
        Order, Orders,
        shell::{Supervise, SupervisorActor},
    },
    vocab::{EffectId, Fault, FaultCode, Name},
    volume,
};

/// The agent of this instance of a machine sees these block devices, and no others.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct DevicesSeen {
    pub machine: Name,
    pub instance: EffectId,
    pub devices: Vec<Sighted>,
}

impl Handler<DevicesSeen> for SupervisorActor<State> {
    type Result = ();

    fn handle(&mut self, seen: DevicesSeen, ctx: &mut Context<Self>) {
        let changes = changes(&self.view, &seen.machine, seen.instance, &seen.devices);
        if !changes.is_empty() {
            self.decide_later(Command::Observe { changes }, ctx);
        }
    }
}

impl Supervise for State {
    const NAME: &'static str = View::NAME;

    type Order = Order;

    type Watch = Watch;

    /// A session begins with the actor, if there is anything that it has to make sure of.
    fn watching(actor: &mut SupervisorActor<Self>, ctx: &mut Context<SupervisorActor<Self>>) {
        if actor.view.has_attached() {
            actor.watch.begins_after = Some(actor.view_at);
            actor.decide_later(Command::Begin, ctx);
        }
        begin_asking(ctx);
    }

    fn look(about: &BTreeSet<StreamId>) -> Option<Command> {
        (!about.is_empty()).then(|| Command::Look { about: about.iter().cloned().collect() })
    }

    fn followed_by(event: &Event) -> Vec<StreamId> {
        let volumes: Vec<&str> = match event {
            Event::Observed { changes } => changes.iter().map(|change| change.volume().as_str()).collect(),
            Event::VolumesObserved { changes } => changes.iter().map(|change| change.volume().as_str()).collect(),
            _ => Vec::new(),
        };
        let stream = |name| StreamId::new(volume::State::KIND, name).ok();
        volumes.into_iter().filter_map(stream).collect()
    }

    fn orders(view: &View) -> &Orders {
        &view.orders
    }
}

/// What the supervisor keeps in memory: nothing that a decision depends on.
#[derive(Debug, Default)]
pub struct Watch {
    /// The session of this start begins behind this entry; none if there was nothing to make sure of.
    pub(crate) begins_after: Option<Position>,
    /// Who is being asked what there is.
    asking: BTreeSet<Source>,
    /// Who cannot tell what there is.
    unlisted: BTreeSet<Source>,
}

/// Which attachments are made by what the journal says, and were not made sure of since the node started?
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Vec<StreamId>")]
pub struct Unsure;

impl Handler<Unsure> for SupervisorActor<State> {
    type Result = MessageResult<Unsure>;

    fn handle(&mut self, _: Unsure, _ctx: &mut Context<Self>) -> Self::Result {
        MessageResult(self.watch.begins_after.map(|at| self.view.unsure(at)).unwrap_or_default())
    }
}

/// Changes in one observation; more follow in the next, so that no entry grows without bound.
const CHANGES_MAX: usize = 50;

/// Ask the providers which volumes they have.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
struct Poll;

/// Providers are asked from now on.
fn begin_asking(ctx: &mut Context<SupervisorActor<State>>) {
    ctx.notify(Poll);
}

impl Handler<Poll> for SupervisorActor<State> {
    type Result = ();

    fn handle(&mut self, _: Poll, ctx: &mut Context<Self>) {
        for source in self.worth_asking() {
            // Changes that are not decided yet are not seen twice, and a provider that hangs holds up only itself.
            let is_told = self.watch.unlisted.contains(&source);
            if !is_told && self.backlog() == 0 && self.watch.asking.insert(source.clone()) {
                self.ask_for_volumes(source, ctx);
            }
        }
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
    /// The providers of which there are volumes; what works inside of machines, in each of them.
    fn worth_asking(&self) -> Vec<Source> {
        let providers = &self.services.providers;
        let outside = providers.volumes.keys().filter(|name| !providers.in_machines.contains_key(*name));
        let outside = outside.filter(|name| has_volumes(&self.view, name));
        let outside = outside.map(|name| Source { provider: Some(name.clone()), machine: None });
        let inside = providers.in_machines.keys().flat_map(|name| {
            let machines = machines_with_volumes(&self.view, name).into_iter();
            machines.map(|machine| Source { provider: Some(name.clone()), machine: Some(machine) })
        });
        outside.chain(inside).collect()
    }

    fn ask_for_volumes(&mut self, source: Source, ctx: &mut Context<Self>) {
        let (Some(provider), Some(name)) = (self.services.providers.volumes_of(&source), source.provider.clone())
        else {
            return;
        };
        let limit = Duration::from_millis(self.services.policy().document.storage.call_timeout_ms);
        let (budgets, asked) = (self.services.budgets.clone(), name.clone());
        let list = async move {
            budgets.enter(&asked, CallKind::LookUp).await;
            tokio::time::timeout(limit, provider.list_volumes()).await.unwrap_or_else(|_| {
                Err(Fault::new(FaultCode::DeadlineExceeded, "the provider did not return its list in time"))
            })
        };
        ctx.spawn(list.into_actor(self).map(move |listing, actor, ctx| {
            actor.watch.asking.remove(&source);
            match listing {
                Ok(listing) => {
                    let listing = actor.services.taken_over.without(listing);
                    for some in
                        volume_changes(&actor.view, &name, source.machine.as_ref(), &listing).chunks(CHANGES_MAX)
                    {
                        actor.decide_later(Command::ObserveVolumes { changes: some.to_vec() }, ctx);
                    }
                }
                Err(fault) if fault.code == FaultCode::Unimplemented => drop(actor.watch.unlisted.insert(source)),
                // Nothing is concluded from a list that was not had.
                Err(fault) => tracing::debug!(provider = %name, %fault, "no list of volumes"),
            }
        }));
    }
}
