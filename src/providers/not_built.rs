//! Takes the place of the engine `etcd` in a build without it.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whatever_is_asked_is_refused_and_it_is_said_what_to_build() {
        let engine = EtcdEngine::with(Environment::default());
        let contact = || Contact { set: "db".parse().unwrap(), servers: Vec::new() };
        let (one, other) = (MemberId(1), MemberId(2));
        let stamp = Stamp { term: 1, version: 1 };
        let fault = engine.observe(contact()).await.unwrap_err();
        assert_eq!(fault.code, FaultCode::Unimplemented);
        assert!(fault.text.contains("built without etcd") && fault.text.contains("feature `etcd`"), "{fault}");
        let refused = Outcome::Refused(fault);
        assert_eq!(engine.change(contact(), stamp, vec![Change::Remove { member: one }]).await, refused);
        assert_eq!(engine.step_down(contact(), one, other).await, refused);
    }
}
