//! What would run inside the simulated instances.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use bailiwick_actors::{
    ports::{Clock, Condition, Healthy},
    supervisor::Supervisors,
    supervisor::machines::{AgentReport, Heartbeat},
    supervisor::storage::DevicesSeen,
    vocab::{EffectId, Name},
};

use super::{Devices, SimulatedClock, sets::Sets};
use crate::providers::simulated::World;

/// How often an agent reports.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What agents see around them.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub world: World,
    pub sets: Sets,
    /// None if no volume is a block device.
    pub devices: Option<Devices>,
}

/// Every running instance reports that it is well, again and again, unless it is silenced. One that is told to end what
/// runs inside has done so at its next report, unless something in it clings.
pub(super) async fn report_all(around: Surroundings, clock: Arc<SimulatedClock>, supervisors: Supervisors) {
    let (machines, storage) = (supervisors.machines.downgrade(), supervisors.storage.downgrade());
    drop(supervisors);
    let world = &around.world;
    let mut left: BTreeMap<EffectId, BTreeSet<Name>> = BTreeMap::new();
    loop {
        around.sets.stand_on(&world.running(), clock.now());
        tokio::time::sleep(HEARTBEAT).await;
        let mut welcome = Vec::new();
        for (machine, effect) in world.reporting(clock.now()) {
            let Some(supervisor) = machines.upgrade() else {
                return;
            };
            let mut conditions =
                vec![Condition { kind: "DiskPressure".into(), healthy: Healthy::Yes, text: "enough".into() }];
            conditions.extend(around.sets.conditions(&machine));
            let running = left.get(&effect).filter(|_| !world.clings(&machine)).cloned();
            let report = AgentReport { machine: machine.clone(), provider: None, effect, conditions, running };
            match supervisor.send(report).await {
                Ok(Heartbeat::Drain { but }) => drop(left.insert(effect, but)),
                Ok(Heartbeat::Welcome) => drop(left.remove(&effect)),
                Ok(Heartbeat::Stranger) => {
                    left.remove(&effect);
                    continue;
                }
                Err(_) => return,
            }
            welcome.push((machine, effect));
        }
        let (Some(devices), Some(storage)) = (&around.devices, storage.upgrade()) else { continue };
        let mut attached = world.attached();
        for (machine, instance) in welcome {
            let devices = devices.seen_of(attached.remove(&instance).unwrap_or_default());
            // What is not taken in now comes with the next report again.
            let _ = storage.send(DevicesSeen { machine, instance, devices }).await;
        }
    }
}
