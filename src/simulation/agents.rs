//! What would run inside the simulated instances.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use bailiwick_actors::{
    ports::{Clock, Condition},
    shell::{AgentReport, Heartbeat, Supervisors},
    vocab::{EffectId, Name},
};

use super::SimulatedClock;
use crate::providers::simulated::World;

/// How often an agent reports.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Every running instance reports that it is well, again and again, unless it is silenced. One that is told to end what
/// runs inside has done so at its next report, unless something in it clings.
pub(super) async fn report_all(world: World, clock: Arc<SimulatedClock>, supervisors: Supervisors) {
    let machines = supervisors.machines.downgrade();
    drop(supervisors);
    let mut left: BTreeMap<EffectId, BTreeSet<Name>> = BTreeMap::new();
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        for (machine, effect) in world.reporting(clock.now()) {
            let Some(supervisor) = machines.upgrade() else {
                return;
            };
            let conditions = vec![Condition { kind: "DiskPressure".into(), healthy: true, text: "enough".into() }];
            let running = left.get(&effect).filter(|_| !world.clings(&machine)).cloned();
            match supervisor.send(AgentReport { machine, effect, conditions, running }).await {
                Ok(Heartbeat::Drain { but }) => drop(left.insert(effect, but)),
                Ok(Heartbeat::Welcome | Heartbeat::Stranger) => drop(left.remove(&effect)),
                Err(_) => return,
            }
        }
    }
}
