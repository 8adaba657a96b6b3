//! What a node finds around it, over whichever prefix of its journal it starts: providers, secrets, and what volumes are.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::{Decider, Fold, StoredError, View as _},
    filesystem, machine, machine_class, machine_deployment, machine_set, policy,
    ports::BlockDevice,
    supervisor::{machines, storage},
    vocab::{EXTERNAL, EffectId, Name, Zone},
    volume,
    volume_attachment::{self, Link},
};
use bailiwick_journal::Entry;

use crate::{custom_kind, simulation::Devices};

/// An agent tells of a device within this time after its volume was attached, or never.
const TELLS_WITHIN_MS: u64 = 120_000;

/// Learned from a whole journal: a node has its providers from its start, not only from when they are first asked.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    providers: BTreeSet<Name>,
    secrets: BTreeSet<Name>,
    /// The devices that volumes were last seen as.
    devices: BTreeMap<EffectId, BlockDevice>,
    /// Who made the volumes that were seen as devices.
    makes_devices: BTreeSet<Name>,
    /// Who made the volumes that were attached with a filesystem declared on them, and since when the first of them was.
    waited_for_ms: BTreeMap<Name, u64>,
    machine_sets: Fold<machine_set::State>,
    machine_deployments: Fold<machine_deployment::State>,
    classes: Fold<machine_class::State>,
    policy: Fold<policy::State>,
    custom: custom_kind::Folds,
    storage: storage::View,
    watched: Fold<machines::State>,
    /// What each provider said first of its zones.
    zones: Zones,
    last_ms: u64,
}

/// The zones of each provider.
pub type Zones = BTreeMap<Name, BTreeSet<Zone>>;

/// Whom a template names: the maker of its machines, and those of the storage that each gets.
fn of_template(template: &machine::Spec) -> impl Iterator<Item = Name> {
    std::iter::once(&template.provider).chain(template.storage.iter().map(|claim| &claim.provider)).cloned()
}

impl Surroundings {
    /// Takes the next entry in.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.last_ms = entry.header.meta.time_ms;
        let stream = &entry.header.stream;
        let (kind, name) = (stream.kind(), stream.name());
        if storage::View::wants(kind) {
            self.storage.apply(entry)?;
        }
        self.machine_sets.apply(entry)?;
        self.machine_deployments.apply(entry)?;
        self.classes.apply(entry)?;
        self.policy.apply(entry)?;
        self.custom.apply(entry)?;
        if stream.as_str() == "supervisor/machines" {
            self.watched.apply(entry)?;
            let told = self.watched.get(name).into_iter().flat_map(|state| &state.zones);
            for (provider, zones) in told {
                self.zones.entry(provider.clone()).or_insert_with(|| zones.clone());
            }
        }
        self.note_providers(kind, name);
        if matches!(kind, storage::State::KIND | volume_attachment::State::KIND | filesystem::State::KIND) {
            self.note_devices();
        }
        Ok(())
    }

    /// Everybody who is named, be it by what was only declared: machine sets, classes and pools name theirs before anything
    /// is made.
    fn note_providers(&mut self, kind: &str, name: &str) {
        match kind {
            machine::State::KIND => {
                let spec = self.storage.machines.get(name).and_then(|state| state.spec.as_ref());
                self.providers.extend(spec.map(|spec| spec.provider.clone()));
            }
            machine_set::State::KIND => {
                let spec = self.machine_sets.get(name).and_then(|state| state.spec.as_ref());
                self.providers.extend(spec.into_iter().flat_map(|spec| of_template(&spec.template)));
            }
            machine_deployment::State::KIND => {
                let spec = self.machine_deployments.get(name).and_then(|state| state.spec.as_ref());
                self.providers.extend(spec.into_iter().flat_map(|spec| of_template(&spec.template)));
            }
            machine_class::State::KIND => {
                let content = self.classes.get(name).and_then(|state| state.content.as_ref());
                self.providers.extend(content.map(|content| content.provider.clone()));
                self.secrets.extend(content.into_iter().flat_map(|content| content.secrets().cloned()));
            }
            volume::State::KIND => {
                let spec = self.storage.volumes.get(name).and_then(|state| state.spec.as_ref());
                self.providers.extend(spec.map(|spec| spec.provider.clone()));
            }
            filesystem::State::KIND => {
                self.providers.extend(self.storage.filesystems.get(name).and_then(filesystem::State::source));
            }
            policy::State::KIND => {
                let pools = self.policy.get(name).and_then(|state| state.pools.pools().ok());
                self.providers
                    .extend(pools.iter().flat_map(|pools| pools.iter()).map(|(_, pool)| pool.source().provider));
            }
            _ => {
                let kind = custom_kind::kind(kind);
                let named = kind.into_iter().flat_map(|kind| (kind.makers)(&self.custom));
                self.providers.extend(named);
            }
        }
    }

    fn note_devices(&mut self) {
        let maker = |volume: &Name| Some(self.storage.volumes.get(volume.as_str())?.spec.as_ref()?.provider.clone());
        for backing in self.storage.devices() {
            self.devices.insert(backing.volume_effect, backing.device.clone());
            self.makes_devices.extend(maker(&backing.volume));
        }
        for (_, attachment) in self.storage.attachments.iter() {
            let Some(spec) = attachment.state.spec.as_ref() else { continue };
            let is_backing =
                self.storage.volumes.get(spec.volume.as_str()).is_some_and(|it| it.own.filesystem.is_some());
            if is_backing
                && matches!(attachment.state.link, Link::Attached { .. })
                && let Some(provider) = maker(&spec.volume)
            {
                self.waited_for_ms.entry(provider).or_insert(self.last_ms);
            }
        }
    }

    /// The names of all providers. What clients make is in no world of ours.
    pub fn providers(&self) -> Vec<Name> {
        self.providers.iter().filter(|name| name.as_str() != EXTERNAL).cloned().collect()
    }

    /// The zones of each provider: what it had said of them by then, or else what it says once it is asked.
    pub fn zones(&self, told: Zones) -> Zones {
        let mut zones = self.zones.clone();
        zones.extend(told);
        zones
    }

    /// The names of all secrets.
    pub fn secrets(&self) -> Vec<Name> {
        self.secrets.iter().cloned().collect()
    }

    /// What agents see of volumes. Where a filesystem waited for a device for long and no volume of that provider was ever seen
    /// as one, none is: that its node is stuck is true.
    pub fn devices(&self) -> Devices {
        let waited = |since_ms: u64| since_ms.saturating_add(TELLS_WITHIN_MS) < self.last_ms;
        let never = self.waited_for_ms.iter().filter(|(_, since_ms)| waited(**since_ms)).map(|(name, _)| name);
        let not_of = never.filter(|name| !self.makes_devices.contains(*name)).cloned().collect();
        Devices { known: self.devices.clone(), not_of }
    }
}
