//! What stands in the place of the engine `etcd` where it was not built in.

use bailiwick_actors::{
    ports::{
        Answer, ReplicaSetEngine,
        replica_set::{Change, Contact, Member, MemberId, Observation, Outcome, Stamp},
    },
    vocab::{Fault, FaultCode},
};

use super::access::Environment;

/// Asks nobody, and says what to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct EtcdEngine(());

impl EtcdEngine {
    /// The same, whatever there is to prove oneself with.
    pub fn with(_: Environment) -> Self {
        Self(())
    }
}

fn fault() -> Fault {
    let text = "this program was built without etcd; next: build it with the feature `etcd` of the crate bailiwick";
    Fault::new(FaultCode::Unimplemented, text)
}

impl ReplicaSetEngine for EtcdEngine {
    fn observe(&self, _: Contact) -> Answer<'_, Result<Observation, Fault>> {
        Box::pin(async { Err(fault()) })
    }

    fn watch(&self, _: Contact, _: Observation) -> Answer<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn change(&self, _: Contact, _: Stamp, _: Vec<Change>) -> Answer<'_, Outcome> {
        Box::pin(async { Outcome::Refused(fault()) })
    }

    fn step_down(&self, _: Contact, _: MemberId, _: MemberId) -> Answer<'_, Outcome> {
        Box::pin(async { Outcome::Refused(fault()) })
    }

    fn initiate(&self, _: Contact, _: Member) -> Answer<'_, Outcome> {
        Box::pin(async { Outcome::Refused(fault()) })
    }
}
