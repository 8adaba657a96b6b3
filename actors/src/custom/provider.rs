//! What custom kinds have made for them, and who makes it.

use std::{fmt, sync::Arc};

use bailiwick_journal::StreamId;
use uuid::Uuid;

use super::{Effect, Kept, KeptReport};
use crate::{
    contract::{Decider, NoView, Stored},
    policy::Document,
    ports::{BulkAnswer, Lookup, Operation},
    shell::{
        AnyCommand, AnyWish, Asked, Call, Kind, Make, Port, Providers, Services, Source, Thing, Undo, Urgency, Work,
    },
    vocab::{EffectId, Fault, Life, Name, Timestamp},
};

/// A kind of which each entity has one thing kept by a provider.
pub trait Resource: Decider<View = NoView, Effect = Effect, Command: Asked<State = Self>> {
    /// What a provider is asked to make. The same for all attempts at one intent.
    type Wish: Clone + fmt::Debug + Send + Sync + 'static;

    /// What is known of it once it is made.
    type Made: Stored;

    /// How far along its life the entity is.
    fn life(&self) -> Life;

    /// Who makes it; none before the entity was declared.
    fn provider(&self) -> Option<&Name>;

    /// What is kept there.
    fn kept(&self) -> &Kept<Self::Made>;

    /// What is to be made while [`Kept::Making`].
    fn wish(&self, name: &str) -> Self::Wish;

    /// What its provider says, as a command.
    fn report(report: KeptReport<Self::Made>) -> Self::Command;

    /// Whether a command is such a report.
    fn is_report(command: &Self::Command) -> bool;

    /// Whether a command removes one: that is recorded although the disk is nearly full.
    fn is_removal(command: &Self::Command) -> bool;

    /// The command that says that something is due.
    fn wake(due: Timestamp) -> Self::Command;
}

/// Makes and undoes the things of a kind, each under the effect id that it was asked for with.
///
/// The rules are those of all providers: the same id asked for again finds what the first call has made; undoing what is not
/// there succeeds; what nobody knows is answered as unknown and never as failed. Each call answers for each item, in order.
pub trait Provider<R: Resource>: Send + Sync {
    /// Makes these, or finds them made.
    fn make(&self, wishes: Vec<(EffectId, R::Wish)>) -> BulkAnswer<'_, R::Made>;

    /// Undoes what was made under these ids.
    fn undo(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()>;

    /// What there is under these ids.
    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<R::Made>>;

    /// The call of this effect is not wanted any more.
    fn cancel(&self, _id: EffectId) {}
}

/// The providers of a kind.
#[derive(Debug)]
pub struct At<R>(std::marker::PhantomData<R>);

impl<R: Resource> Port for At<R> {
    type Provider = dyn Provider<R>;

    fn provider(providers: &Providers, source: &Source) -> Option<Arc<Self::Provider>> {
        providers.added.get(&(R::KIND, source.provider.clone()?))?.of::<Self::Provider>()
    }

    fn call_timeout_ms(policy: &Document) -> u64 {
        policy.machines.call_timeout_ms
    }

    fn cancel(provider: &Self::Provider, id: EffectId) {
        provider.cancel(id);
    }
}

/// The things of a kind, as providers keep them.
#[derive(Debug)]
pub struct Things<R>(std::marker::PhantomData<R>);

impl<R> Clone for Things<R> {
    fn clone(&self) -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<R: Resource> Thing for Things<R> {
    type Port = At<R>;
    type Made = R::Made;
    type Handle = EffectId;

    fn lookup(by: &dyn Provider<R>, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<R::Made>> {
        by.lookup(ids)
    }
}

/// A wish to make a thing of a kind.
#[derive(Clone, Debug)]
pub struct MakeOne<R: Resource> {
    pub id: EffectId,
    pub wish: R::Wish,
}

impl<R: Resource> Make for MakeOne<R> {
    const OPERATION: Operation = Operation::MakeCustom(R::KIND);
    type Thing = Things<R>;

    fn make<'a>(by: &'a dyn Provider<R>, _: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, R::Made> {
        by.make(wishes.into_iter().map(|Self { id, wish }| (id, wish)).collect())
    }

    fn report(attempt: u32, result: Result<R::Made, Fault>) -> AnyCommand {
        AnyCommand::from(R::report(match result {
            Ok(made) => KeptReport::Made { attempt, made },
            Err(fault) => KeptReport::MakeFailed { attempt, fault },
        }))
    }
}

struct UndoOne<R>(std::marker::PhantomData<R>);

impl<R: Resource> UndoOne<R> {
    const HOW: &'static Undo<Things<R>> = &Undo {
        operation: Operation::UndoCustom(R::KIND),
        undo: |by, ids| by.undo(ids),
        report: |_, attempt, result| {
            AnyCommand::from(R::report(match result {
                Ok(()) => KeptReport::Undone { attempt },
                Err(fault) => KeptReport::UndoFailed { attempt, fault },
            }))
        },
    };
}

impl<R: Resource> Kind for R {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let (of, attempt, is_making) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Make { intent, attempt } => (*intent, *attempt, true),
            Effect::Undo { of, attempt } => (*of, *attempt, false),
        };
        let id = EffectId::of(journal, stream, of);
        let wish = match is_making {
            true => AnyWish::make(MakeOne::<R> { id, wish: self.wish(stream.name()) }),
            false => AnyWish::undo(UndoOne::<R>::HOW, id),
        };
        let provider = self.provider().cloned();
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine: None, id, attempt, wish }))
    }

    fn wake(due: Timestamp) -> Option<Self::Command> {
        Some(R::wake(due))
    }

    fn is_report(command: &Self::Command) -> bool {
        R::is_report(command)
    }

    fn urgency(command: &Self::Command) -> Urgency {
        if R::is_report(command) || R::is_removal(command) { Urgency::Always } else { Urgency::WhileLeaving }
    }

    fn is_leaving(&self) -> bool {
        Resource::life(self).is_leaving()
    }
}
