//! What a drain knows about a pod.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// One pod of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    pub name: String,
    /// Higher leaves first; 0 if it has none.
    pub priority: i32,
    pub owner: PodOwner,
    /// What it may take to end after it was told to.
    pub grace_ms: u64,
    /// The volumes that it names, as often as it names them.
    pub volumes: Vec<String>,
}

/// Who would bring a pod back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodOwner {
    /// The node itself, from a file: it cannot be removed from here.
    Mirror,
    /// Runs on every node and would come right back.
    Daemon,
    /// Somebody who puts it on another node.
    Other,
    Nobody,
}

impl Pod {
    /// Whether it stays on a drained node.
    pub fn stays(&self) -> bool {
        matches!(self.owner, PodOwner::Mirror | PodOwner::Daemon)
    }
}

/// A disruption budget of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub pods_expected: u32,
    pub pods_healthy: u32,
    pub evictions_allowed: u32,
    pub generation: u64,
    /// The generation that the numbers are about.
    pub generation_seen: u64,
}

impl Budget {
    /// Whether waiting cannot help: all pods are healthy, and still no eviction is allowed.
    pub fn is_misconfigured(&self) -> bool {
        self.generation == self.generation_seen
            && self.pods_expected > 0
            && self.pods_healthy >= self.pods_expected
            && self.evictions_allowed == 0
    }
}

/// The volumes of each pod that are waited for: those that nobody else on the node uses. A pod that names a volume twice
/// counts as two.
pub fn own_volumes(pods: &[Pod]) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
    for volume in pods.iter().flat_map(|pod| &pod.volumes) {
        *uses.entry(volume).or_default() += 1;
    }
    let own = |pod: &Pod| pod.volumes.iter().filter(|volume| uses[volume.as_str()] == 1).cloned().collect();
    pods.iter().map(|pod| (pod.name.clone(), own(pod))).collect()
}
