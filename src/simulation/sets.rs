//! The database servers of replica sets in a simulation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use bailiwick_actors::{
    ports::{
        Clock, Condition, Healthy, ReplicaSetEngine,
        replica_set::{Action, Contact, Observation, Stamp},
    },
    supervisor::replica_sets::data_lost_condition,
    vocab::{EffectId, Name, Timestamp},
};

use crate::providers::replica_model::{Flavor, ModelEngine, ModelWorld};

/// A replica set as it is when a simulation begins.
#[derive(Clone, Debug)]
pub struct KnownSet {
    pub engine: Name,
    pub contact: Contact,
    /// What was seen of it last; none if it has not begun.
    pub seen: Option<Observation>,
    /// A step that was under way and has happened.
    pub taken: Option<(Stamp, Action)>,
}

/// The servers of all engines. They stand on the simulated instances, and go with them. Clones are the same servers.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    models: BTreeMap<Name, ModelWorld>,
    /// The instance that each machine was seen with last.
    instances: Arc<Mutex<BTreeMap<Name, EffectId>>>,
}

impl Sets {
    /// Servers of the engines that a node can have, and those that are known already.
    pub(super) fn new(seed: u64, known: &[KnownSet], now: Timestamp) -> Self {
        let mut models = BTreeMap::new();
        for name in ["etcd", "mongodb"] {
            models.insert(name.parse().expect("a valid name"), ModelWorld::new(flavor(name), seed));
        }
        for set in known {
            let new = || ModelWorld::new(flavor(set.engine.as_str()), seed);
            let model = models.entry(set.engine.clone()).or_insert_with(new);
            model.put(&set.contact, set.seen.as_ref(), set.taken.as_ref(), now);
        }
        Self { models, instances: Arc::default() }
    }

    pub(super) fn engines(&self, clock: &Arc<impl Clock + 'static>) -> BTreeMap<Name, Arc<dyn ReplicaSetEngine>> {
        let engine = |model: &ModelWorld| -> Arc<dyn ReplicaSetEngine> {
            Arc::new(ModelEngine::new(model.clone(), clock.clone()))
        };
        self.models.iter().map(|(name, model)| (name.clone(), engine(model))).collect()
    }

    /// These instances run now, and no others: servers are down with their instances, and an instance that is another one than
    /// before has none of their data.
    pub(super) fn stand_on(&self, running: &BTreeMap<Name, BTreeSet<EffectId>>, now: Timestamp) {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        for machine in self.models.values().flat_map(ModelWorld::machines).collect::<BTreeSet<_>>() {
            let before = instances.get(&machine).copied();
            let present = running.get(&machine);
            let same = present.and_then(|present| before.filter(|before| present.contains(before)));
            let Some(now_on) = same.or_else(|| present?.first().copied()) else {
                self.models.values().for_each(|model| model.stands(&machine, false, now));
                continue;
            };
            for model in self.models.values() {
                if before.is_some() && same.is_none() {
                    model.lose_data(&machine, now);
                }
                model.stands(&machine, true, now);
            }
            instances.insert(machine, now_on);
        }
    }

    /// What the agent of a machine says of the servers on it.
    pub(super) fn conditions(&self, machine: &Name) -> Vec<Condition> {
        let lost = self.models.values().flat_map(|model| model.lost_on(machine));
        let condition = |set: Name| Condition {
            kind: data_lost_condition(&set),
            healthy: Healthy::No,
            text: "the data of this member is gone".into(),
        };
        lost.map(condition).collect()
    }

    /// What must never be, as it was found.
    pub(super) fn wrong(&self) -> Vec<String> {
        self.models.values().flat_map(ModelWorld::wrong).collect()
    }

    /// The servers as they are at this moment, whatever becomes of them.
    pub(super) fn copy(&self) -> Self {
        let models = self.models.iter().map(|(name, model)| (name.clone(), model.copy())).collect();
        let instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { models, instances: Arc::new(Mutex::new(instances)) }
    }

    /// Makes them as they were.
    pub(super) fn restore(&self, kept: &Self) {
        for (name, model) in &kept.models {
            if let Some(present) = self.models.get(name) {
                present.restore(model);
            }
        }
        let instances = kept.instances.lock().unwrap_or_else(PoisonError::into_inner).clone();
        *self.instances.lock().unwrap_or_else(PoisonError::into_inner) = instances;
    }
}

fn flavor(engine: &str) -> Flavor {
    if engine == "mongodb" { Flavor::Mongodb } else { Flavor::Etcd }
}
