//! The model keeps what every engine keeps, and so does MongoDB's adapter over the model's servers.

use std::sync::Arc;

use bailiwick::providers::replica_model::{Flavor, ModelWorld};
use bailiwick_actors::{
    ports::{
        Clock, ReplicaSetEngine,
        replica_set::{Contact, Outcome, Server},
    },
    vocab::Timestamp,
};
use tokio::time::Instant;

use crate::{
    conformance::every_engine_keeps_this,
    lab::{Lab, name, newcomer},
    seeds::Kept,
};

/// Virtual time, as the runtime measures it.
pub struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp(u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

pub struct ModelLab {
    pub world: ModelWorld,
    pub engine: Arc<dyn ReplicaSetEngine>,
    pub clock: Arc<VirtualClock>,
    kept: Kept,
}

impl ModelLab {
    pub fn new(kept: Kept) -> Self {
        let (world, clock) = (ModelWorld::new(kept.flavor(), 7), Arc::new(VirtualClock(Instant::now())));
        Self { engine: kept.engine(&world, clock.clone()), world, clock, kept }
    }
}

impl Lab for ModelLab {
    fn engine(&self) -> &dyn ReplicaSetEngine {
        &*self.engine
    }

    fn chooses_successor(&self) -> bool {
        !matches!(self.kept, Kept::MongoAdapter)
    }

    fn contact(&self) -> Contact {
        let server = |number: u8| {
            let address = format!("10.0.0.{number}:7");
            Server { machine: name(&format!("m{number}")), client: address.clone(), peer: Some(address) }
        };
        Contact { set: name("db"), servers: (1..=3).map(server).collect() }
    }

    async fn begin(&mut self) {
        let mut first = newcomer(&self.contact(), "m1");
        (first.votes, first.priority) = (None, None);
        assert_eq!(self.engine.initiate(self.contact(), first).await, Outcome::Done);
    }

    async fn start_joined(&mut self, _machine: &str) {}

    fn crash(&mut self, machine: &str) {
        self.world.crash(&name(machine), self.clock.now());
    }

    async fn restart(&mut self, machine: &str) {
        self.world.start(&name(machine), self.clock.now());
    }
}

async fn conforms(kept: Kept) {
    let mut lab = ModelLab::new(kept);
    every_engine_keeps_this(&mut lab).await;
    assert!(lab.world.wrong().is_empty(), "{:?}", lab.world.wrong());
}

#[tokio::test(start_paused = true)]
async fn the_model_of_mongodb_conforms() {
    conforms(Kept::Model(Flavor::Mongodb)).await;
}

#[tokio::test(start_paused = true)]
async fn the_model_of_etcd_conforms() {
    conforms(Kept::Model(Flavor::Etcd)).await;
}

#[tokio::test(start_paused = true)]
async fn mongodbs_adapter_conforms_over_the_models_servers() {
    conforms(Kept::MongoAdapter).await;
}
