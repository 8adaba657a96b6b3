//! A model of database servers that keep replica sets, for simulations and tests.
//!
//! It is a model, and no server: it follows the rules that MongoDB's and etcd's manuals and sources state for changes of
//! membership (one voter at a time, a healthy majority, terms, members that have to catch up, elections, refusals), and
//! loses answers and tells old news as its faults say. What it does not follow: data, elections among equals (the lowest
//! id wins), and how long anything really takes. All chance comes from one seed.
//!
//! There are two ways in: [`ModelEngine`] is an engine by itself; and `ModelServers`, which tests have, are MongoDB's servers one
//! by one, with their commands, documents and errors, for the adapter in [`super::mongodb`].

mod faults;
mod invariants;
mod rules;
#[cfg(feature = "testing")]
mod servers;
mod world;

use std::{sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{
        Answer, Clock, ReplicaSetEngine,
        replica_set::{Action, Change, Contact, Member, MemberId, Observation, Outcome, Stamp},
    },
    vocab::{Fault, FaultCode},
};

pub use faults::ModelFaults;
pub use invariants::StepInvariant;
pub use rules::Flavor;
#[cfg(feature = "testing")]
pub use servers::ModelServers;
pub use world::ModelWorld;

use faults::Fate;

/// An engine over a [`ModelWorld`].
#[derive(Clone)]
pub struct ModelEngine {
    world: ModelWorld,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ModelEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelEngine").field("world", &self.world).finish_non_exhaustive()
    }
}

impl ModelEngine {
    /// An engine whose sets live in this world.
    pub fn new(world: ModelWorld, clock: Arc<dyn Clock>) -> Self {
        Self { world, clock }
    }

    async fn latency(&self) {
        let ms = self.world.latency_ms();
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    /// A write, with everything that may go wrong around it.
    async fn write(&self, contact: Contact, base: Stamp, action: Action) -> Outcome {
        self.latency().await;
        let fate = self.world.fate();
        let now = self.clock.now();
        let outcome = match fate {
            Fate::Refused(fault) => Outcome::Refused(fault),
            Fate::Dropped => lost(),
            Fate::Late { by_ms } => {
                self.world.write_later(&contact, base, action, now.after(by_ms));
                lost()
            }
            Fate::Taken { answered } => match (self.world.write(&contact, base, &action, now), answered) {
                (_, false) => lost(),
                (Ok(()), true) => Outcome::Done,
                (Err(fault), true) => Outcome::Refused(fault),
            },
        };
        self.latency().await;
        outcome
    }
}

fn lost() -> Outcome {
    Outcome::Unknown(Fault::new(FaultCode::Unknown, "the connection broke before the answer came"))
}

impl ReplicaSetEngine for ModelEngine {
    fn observe(&self, contact: Contact) -> Answer<'_, Result<Observation, Fault>> {
        Box::pin(async move {
            self.latency().await;
            self.world.observe(&contact, self.clock.now())
        })
    }

    fn change(&self, contact: Contact, base: Stamp, changes: Vec<Change>) -> Answer<'_, Outcome> {
        Box::pin(self.write(contact, base, Action::Write { changes }))
    }

    fn step_down(&self, contact: Contact, primary: MemberId, successor: MemberId) -> Answer<'_, Outcome> {
        Box::pin(self.write(contact, Stamp::default(), Action::StepDown { primary, successor }))
    }

    fn initiate(&self, contact: Contact, first: Member) -> Answer<'_, Outcome> {
        Box::pin(self.write(contact, Stamp::default(), Action::Initiate { first }))
    }
}
