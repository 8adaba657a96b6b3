//! What agents see of the volumes that are attached to their instances.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::BlockDevice,
    supervisor::storage::Sighted,
    vocab::{EffectId, Name},
};

use crate::providers::simulated::World;

/// Volumes as block devices.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Devices that were seen before the simulation began, by the id of their volume.
    pub known: BTreeMap<EffectId, BlockDevice>,
    /// Providers whose volumes are no block devices.
    pub not_of: BTreeSet<Name>,
}

impl Devices {
    /// What the agent of an instance sees.
    pub(super) fn seen_on(&self, world: &World, instance: EffectId) -> Vec<Sighted> {
        let attached = world.attached_to(instance).into_iter();
        let shown = attached.filter(|(provider, _)| !self.not_of.contains(provider));
        let device = |(_, volume): (Name, bailiwick_actors::ports::ProvisionedVolume)| {
            let new = || BlockDevice {
                name: format!("sim-{:.8}", volume.effect.to_string()),
                size: volume.size,
                hardware_id: None,
            };
            let device = self.known.get(&volume.effect).cloned().unwrap_or_else(new);
            Sighted { device, volume: Some(volume.effect) }
        };
        shown.map(device).collect()
    }
}
