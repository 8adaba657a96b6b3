//! What agents see of the volumes that are attached to their instances.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::{BlockDevice, ProvisionedVolume},
    supervisor::storage::Sighted,
    vocab::{EffectId, Name},
};

/// Volumes as block devices.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Devices that were seen before the simulation began, by the id of their volume.
    pub known: BTreeMap<EffectId, BlockDevice>,
    /// Providers whose volumes are no block devices.
    pub not_of: BTreeSet<Name>,
}

impl Devices {
    /// What an agent sees of the volumes that are attached to its instance.
    pub(super) fn seen_of(&self, attached: Vec<(Name, ProvisionedVolume)>) -> Vec<Sighted> {
        let shown = attached.into_iter().filter(|(provider, _)| !self.not_of.contains(provider));
        let device = |(_, volume): (Name, ProvisionedVolume)| {
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
