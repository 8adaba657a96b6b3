//! What would run inside the simulated instances.

use std::{sync::Arc, time::Duration};

use bailiwick_actors::{
    ports::{Clock, Condition},
    shell::{AgentReport, Supervisors},
};

use super::SimulatedClock;
use crate::providers::simulated::World;

/// How often an agent reports.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Every running instance reports that it is well, again and again, unless it is silenced.
pub(super) async fn report_all(world: World, clock: Arc<SimulatedClock>, supervisors: Supervisors) {
    let machines = supervisors.machines.downgrade();
    drop(supervisors);
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        for (machine, effect) in world.reporting(clock.now()) {
            let Some(supervisor) = machines.upgrade() else {
                return;
            };
            let conditions = vec![Condition { kind: "DiskPressure".into(), healthy: true, text: "enough".into() }];
            if supervisor.send(AgentReport { machine, effect, conditions }).await.is_err() {
                return;
            }
        }
    }
}
