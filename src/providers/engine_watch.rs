//! Noticing that the servers of a replica set say something else than before.

use std::time::Duration;

use bailiwick_actors::ports::{
    ReplicaSetEngine,
    replica_set::{Contact, Observation},
};

/// How often the servers of a quiet set are asked. A leader that was killed is missed within about this time, and nothing is
/// recorded while they say the same.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Asks the servers again and again, and returns once they say something else, or nothing.
pub(super) async fn watch_by_looking(engine: &dyn ReplicaSetEngine, contact: Contact, seen: Observation) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        match engine.observe(contact.clone()).await {
            Ok(now) if seen.says_the_same_as(&now) => (),
            Ok(_) | Err(_) => return,
        }
    }
}
