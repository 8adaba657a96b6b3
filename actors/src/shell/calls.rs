//! Provider calls as data: what is asked of whom. What can be asked is not listed here: each kind of entity brings its own
//! wishes, and says there how a batch of them is carried out.

use std::{any::Any, fmt, future::Future, pin::Pin, time::Duration};

use actix::Message;
use bailiwick_journal::{Position, StreamId};

use super::{AnyCommand, Port, Providers, Services, Source, TakenOver, budgets::Calls};
use crate::{
    ports::Operation,
    vocab::{EffectId, Name},
};

/// One provider call for one entity.
#[derive(Clone, Debug)]
pub struct Call {
    /// The entity that it is for.
    pub stream: StreamId,
    /// Who is asked; none if nobody is named who could do it.
    pub provider: Option<Name>,
    /// The machine at which it is done, where that matters to its provider.
    pub machine: Option<Name>,
    /// The effect id: the same over all attempts.
    pub id: EffectId,
    /// From 1.
    pub attempt: u32,
    pub wish: AnyWish,
}

/// What is asked of a provider in one operation.
pub(crate) trait Wish: Clone + fmt::Debug + Send + 'static {
    /// How it goes out; all wishes of one operation are of one type.
    fn operation(&self) -> Operation;

    /// Carries out what goes out together, all of one operation: exactly one report of each item.
    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_>;

    /// Tells the provider that something else is wanted now, so that a call that hangs does not hold it up.
    fn cancel(providers: &Providers, source: &Source, id: EffectId);

    /// What is reported instead if this would touch what another journal made; none for any other.
    fn spared(_item: &Item<Self>, _taken_over: &TakenOver) -> Option<AnyCommand> {
        None
    }
}

/// The reports of one batch, later.
pub(crate) type Carried<'a> = Pin<Box<dyn Future<Output = Vec<Report>> + 'a>>;

/// A report to be made: to whom, what, and from which entry it follows.
pub(crate) type Report = (StreamId, AnyCommand, Position);

/// One of the calls that go out together.
#[derive(Clone, Debug)]
pub struct Item<W> {
    pub stream: StreamId,
    pub id: EffectId,
    pub attempt: u32,
    pub wish: W,
    /// Whether it may have been begun before: then the provider is asked by id first.
    pub ask_first: bool,
    /// The entry that the effect follows from.
    pub cause: Position,
}

impl<W> Item<W> {
    /// The same with another wish.
    pub(super) fn map<V>(self, turn: impl FnOnce(W) -> V) -> Item<V> {
        let Self { stream, id, attempt, wish, ask_first, cause } = self;
        Item { stream, id, attempt, wish: turn(wish), ask_first, cause }
    }

    /// The item, and apart from it what is asked.
    pub(super) fn split(self) -> (Item<()>, W) {
        let mut wish = None;
        let item = self.map(|taken| wish = Some(taken));
        (item, wish.expect("map calls it"))
    }

    pub(crate) fn report(self, command: AnyCommand) -> Report {
        (self.stream, command, self.cause)
    }
}

/// The entities of these.
fn streams<W>(batch: &[Item<W>]) -> Vec<StreamId> {
    batch.iter().map(|item| item.stream.clone()).collect()
}

/// Where a batch is carried out.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub services: &'a Services,
    pub source: &'a Source,
}

impl<'a> At<'a> {
    /// The calls to a port that a batch comes to, each within its budget and its time.
    pub(super) fn calls<P: Port, W>(self, batch: &[Item<W>]) -> Calls<'a> {
        let limit = Duration::from_millis(P::call_timeout_ms(&self.services.policy().document));
        let Services { budgets, call_times, holds, .. } = self.services;
        Calls::new((budgets, call_times, holds), self.source.provider.clone(), streams(batch), limit)
    }
}

/// A wish of any operation: made of one to make something, or to undo it, and asked for as that.
pub struct AnyWish(Box<dyn Erased>);

/// What is the same whatever is asked.
trait Erased: Any + fmt::Debug + Send {
    fn operation(&self) -> Operation;
    fn copy(&self) -> Box<dyn Erased>;
    fn cancel(&self) -> Cancel;
    fn carry_out(&self) -> CarryOut;
}

/// How the provider is told that something else is wanted now.
pub(super) type Cancel = fn(&Providers, &Source, EffectId);

/// How a batch is carried out.
pub(super) type CarryOut = for<'a> fn(Vec<Perform>, At<'a>) -> Carried<'a>;

impl<W: Wish> Erased for W {
    fn operation(&self) -> Operation {
        Wish::operation(self)
    }

    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn cancel(&self) -> Cancel {
        W::cancel
    }

    fn carry_out(&self) -> CarryOut {
        carry_out::<W>
    }
}

/// Carries out a batch, but for what would touch what another journal made.
fn carry_out<W: Wish>(batch: Vec<Perform>, at: At<'_>) -> Carried<'_> {
    let (mut told, mut ours) = (Vec::new(), Vec::new());
    for item in batch.into_iter().map(Perform::item::<W>) {
        match W::spared(&item, &at.services.taken_over) {
            Some(command) => told.push(item.report(command)),
            None => ours.push(item),
        }
    }
    Box::pin(async move {
        if !ours.is_empty() {
            told.extend(W::carry_out(ours, at).await);
        }
        told
    })
}

impl AnyWish {
    pub(crate) fn of(wish: impl Wish) -> Self {
        Self(Box::new(wish))
    }

    /// What is asked, if it is this.
    pub(super) fn get<W: Wish>(&self) -> Option<&W> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }

    /// What is asked.
    pub fn operation(&self) -> Operation {
        self.0.operation()
    }

    pub(super) fn cancel(&self) -> Cancel {
        self.0.cancel()
    }

    pub(super) fn carry_out(&self) -> CarryOut {
        self.0.carry_out()
    }
}

impl Clone for AnyWish {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl fmt::Debug for AnyWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Carry this out and report to its entity how it went.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Perform {
    pub call: Call,
    /// Whether it may have been begun before: then the provider is asked by id first.
    pub ask_first: bool,
    /// The entry that the effect follows from.
    pub cause: Position,
}

impl Perform {
    /// As one of a batch of its operation.
    ///
    /// # Panics
    /// If two wishes are of one operation.
    fn item<W: Wish>(self) -> Item<W> {
        let Self { call: Call { stream, id, attempt, wish, .. }, ask_first, cause } = self;
        let any: Box<dyn Any> = wish.0;
        let wish = *any.downcast().expect("an operation has one wish");
        Item { stream, id, attempt, wish, ask_first, cause }
    }
}
