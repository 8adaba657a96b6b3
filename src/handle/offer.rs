//! What this node can make, and why it cannot make what is asked for.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use bailiwick_actors::{
    contract::Decider,
    filesystem::{self, MANAGED},
    filesystem_attachment, machine,
    ports::{FilesystemProvider, VolumeProvider},
    storage_rules::{ClaimForm, Pool, PoolName, PoolSettings, ProviderType, StorageClaim, default_mount_point},
    supervisor::storage::elsewhere,
    vocab::{EXTERNAL, Life, Name},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::not_offered::NotOffered;
use crate::{
    juju::{MachineId, VolumeId},
    manifest::{Document, Wish},
    view::{Fleet, added_rows},
};

/// The providers of a node.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// Those of machines, and those of volumes.
    pub machines: BTreeSet<Name>,
    pub volumes: BTreeSet<Name>,
    pub filesystems: BTreeSet<Name>,
    /// What keeps replica sets.
    pub engines: BTreeSet<Name>,
    /// Those of registered kinds, by kind.
    pub custom: BTreeMap<&'static str, BTreeSet<Name>>,
    /// Those that work inside of machines, whether or not they can here.
    pub inside: BTreeSet<Name>,
    /// What is missing for those that cannot work here.
    pub missing: BTreeMap<Name, Vec<String>>,
    /// Who can let go of storage and keep its data.
    pub releases: Releases,
}

/// Asks the providers of a node whether they can let go of what they made without destroying it.
#[derive(Clone, Default)]
pub struct Releases {
    pub volumes: BTreeMap<Name, Arc<dyn VolumeProvider>>,
    pub filesystems: BTreeMap<Name, Arc<dyn FilesystemProvider>>,
}

impl fmt::Debug for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (volumes, filesystems) = (self.volumes.keys(), self.filesystems.keys());
        f.debug_set().entries(volumes).entries(filesystems).finish()
    }
}

/// The provider of machines with agents of ours, whose volumes are plain files.
const LOCAL: &str = "local";

/// What is known of a volume, from the documents or from before.
struct Beneath {
    provider: Name,
    machine: Option<Name>,
}

impl Offer {
    /// All of them, by name.
    pub fn names(&self) -> BTreeSet<&Name> {
        let Self { machines, volumes, filesystems, engines, custom, inside, .. } = self;
        let custom = custom.values().flatten();
        [machines, volumes, filesystems, engines, inside].into_iter().flatten().chain(custom).collect()
    }

    /// Whether everything that is asked for can be made here.
    ///
    /// # Errors
    /// The first thing that cannot.
    pub fn check(&self, fleet: &Fleet, documents: &[Document]) -> Result<(), NotOffered> {
        documents.iter().try_for_each(|document| self.check_one(fleet, documents, &document.wish))
    }

    fn check_one(&self, fleet: &Fleet, documents: &[Document], wish: &Wish) -> Result<(), NotOffered> {
        let entity = wish.stream();
        match wish {
            Wish::Machine { name, spec } => {
                let is_seen = MachineId::of_name(name.as_str()).is_some();
                if spec.provider.as_str() == EXTERNAL && !is_seen {
                    return Err(NotOffered::Unseen { entity });
                }
                self.named(&entity, &spec.provider, &self.machines)
            }
            Wish::MachineDeployment { spec, .. } => self.check_template(fleet, documents, &entity, &spec.template),
            Wish::MachineSet { spec, .. } => self.check_template(fleet, documents, &entity, &spec.template),
            Wish::Volume { name, spec, machine, pool, .. } => {
                self.named(&entity, &spec.provider, &self.volumes)?;
                if spec.provider.as_str() == EXTERNAL {
                    let is_seen = VolumeId::of_name(name).is_some();
                    return of_clients(fleet, documents, entity, (is_seen, pool.is_some()), machine.as_ref());
                }
                self.has_machine(fleet, documents, &entity, &spec.provider, machine.as_ref())
            }
            Wish::Filesystem { spec, .. } => {
                self.named(&entity, &spec.provider, &self.filesystems)?;
                let Some(volume) = &spec.backing else {
                    return self.has_machine(fleet, documents, &entity, &spec.provider, spec.machine.as_ref());
                };
                let Some(beneath) = beneath(fleet, documents, volume) else { return Ok(()) };
                if let (EXTERNAL, Some(machine)) = (beneath.provider.as_str(), &beneath.machine) {
                    let (machine, provider) = (machine.clone(), beneath.provider);
                    return Err(NotOffered::NoAgent { entity, machine, provider });
                }
                if beneath.provider.as_str() == LOCAL {
                    return Err(NotOffered::NoDevice { entity, volume: volume.clone(), provider: beneath.provider });
                }
                match beneath.machine.filter(|_| self.inside.contains(&beneath.provider)) {
                    Some(inside) if spec.machine.as_ref().is_some_and(|machine| *machine != inside) => {
                        Err(NotOffered::OtherMachine { entity, inside })
                    }
                    _ => Ok(()),
                }
            }
            Wish::VolumeAttachment { spec } => match beneath(fleet, documents, &spec.volume) {
                Some(Beneath { provider, machine: Some(inside) })
                    if self.inside.contains(&provider) && inside != spec.machine =>
                {
                    Err(NotOffered::OtherMachine { entity, inside })
                }
                Some(Beneath { provider, .. }) if provider.as_str() == EXTERNAL => {
                    on_machine_of_clients(fleet, documents, &entity, &spec.machine)?;
                    in_one_zone(fleet, entity, spec)
                }
                _ => in_one_zone(fleet, entity, spec),
            },
            Wish::FilesystemAttachment { spec } => match home_of(fleet, documents, &spec.filesystem) {
                Some(inside) if inside != spec.machine => Err(NotOffered::OtherMachine { entity, inside }),
                _ => mountable(fleet, documents, entity, spec),
            },
            Wish::MachineClass { content, .. } => self.named(&entity, &content.provider, &self.machines),
            Wish::ReplicaSet { spec, .. } => self.named(&entity, &spec.engine, &self.engines),
            Wish::Custom(custom) => {
                let none = BTreeSet::new();
                self.named(&entity, &custom.provider, self.custom.get(custom.kind).unwrap_or(&none))
            }
            Wish::Policy { .. } => mountable_by_policy(fleet, documents),
            Wish::Document { .. } => Ok(()),
        }
    }

    /// Whether machines can be had like this, with the storage that each asks for.
    fn check_template(
        &self,
        fleet: &Fleet,
        documents: &[Document],
        entity: &StreamId,
        template: &machine::Spec,
    ) -> Result<(), NotOffered> {
        if template.provider.as_str() == EXTERNAL {
            return Err(NotOffered::Unseen { entity: entity.clone() });
        }
        self.named(entity, &template.provider, &self.machines)?;
        template.storage.iter().try_for_each(|claim| self.check_claim(entity, template, claim))?;
        let mount_dir = mount_dir(fleet, documents);
        template.storage.iter().try_for_each(|claim| claim_mountable(entity, template, claim, mount_dir.as_deref()))
    }

    fn check_claim(&self, entity: &StreamId, template: &machine::Spec, claim: &StorageClaim) -> Result<(), NotOffered> {
        let (provider, is_local) = (&claim.provider, template.provider.as_str() == LOCAL);
        if provider.as_str() == EXTERNAL {
            let (entity, claim_name) = (entity.clone(), claim.name.clone());
            return match claim.form {
                _ if is_local => Err(NotOffered::AloneOnly { entity, provider: template.provider.clone() }),
                ClaimForm::Volume if !claim.is_persistent => Ok(()),
                _ => Err(NotOffered::GoesWithInstance { entity, claim: claim_name }),
            };
        }
        let offered = match claim.form {
            ClaimForm::Volume | ClaimForm::OnVolume { .. } => &self.volumes,
            ClaimForm::Filesystem { .. } => &self.filesystems,
        };
        self.named(entity, provider, offered)?;
        let (entity, provider) = (entity.clone(), provider.clone());
        if let ClaimForm::OnVolume { .. } = claim.form {
            self.named(&entity, &MANAGED.parse().expect("a valid name"), &self.filesystems)?;
            if provider.as_str() == LOCAL {
                return Err(NotOffered::NoDevice { entity, volume: claim.name.clone(), provider });
            }
        }
        if self.inside.contains(&provider) && !is_local {
            return Err(NotOffered::NoAgents { entity, provider: template.provider.clone() });
        }
        Ok(())
    }

    /// Whether a volume can be imported from this provider, at this machine.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check_import(
        &self,
        fleet: &Fleet,
        entity: &StreamId,
        provider: &Name,
        machine: Option<&Name>,
    ) -> Result<(), NotOffered> {
        self.named(entity, provider, &self.volumes)?;
        self.has_machine(fleet, &[], entity, provider, machine)?;
        if provider.as_str() == EXTERNAL {
            return Err(NotOffered::CannotImport { entity: entity.clone(), provider: provider.clone() });
        }
        match self.releases.volumes.get(provider).map(|volumes| volumes.importer().is_some()) {
            Some(false) => Err(NotOffered::CannotImport { entity: entity.clone(), provider: provider.clone() }),
            _ => Ok(()),
        }
    }

    /// The providers that what exists names and this node does not have, each with how often.
    pub fn missing_from(&self, fleet: &Fleet) -> BTreeMap<Name, usize> {
        let machines = fleet.machines.iter().filter(|(_, folded)| folded.state.life.exists());
        let machines = machines.filter_map(|(_, folded)| Some((&folded.state.spec.as_ref()?.provider, &self.machines)));
        let volumes = fleet.volumes.iter().filter(|(_, folded)| folded.state.life.exists());
        let volumes = volumes.filter_map(|(_, folded)| Some((&folded.state.spec.as_ref()?.provider, &self.volumes)));
        let filesystems = fleet.filesystems.iter().filter(|(_, folded)| folded.state.life.exists());
        let filesystems =
            filesystems.filter_map(|(_, folded)| Some((&folded.state.spec.as_ref()?.provider, &self.filesystems)));
        let sets = fleet.machine_sets.iter().filter(|(_, folded)| folded.state.life.exists());
        let sets =
            sets.filter_map(|(_, folded)| Some((&folded.state.spec.as_ref()?.template.provider, &self.machines)));
        let mut missing = BTreeMap::new();
        for (kind, rows) in added_rows(fleet) {
            let is_offered = |provider: &Name| self.custom.get(kind).is_some_and(|all| all.contains(provider));
            let named = rows.into_iter().filter_map(|row| row.provider.parse::<Name>().ok());
            for provider in named.filter(|provider| !is_offered(provider)) {
                *missing.entry(provider).or_default() += 1;
            }
        }
        for (provider, offered) in machines.chain(volumes).chain(filesystems).chain(sets) {
            if !offered.contains(provider) {
                *missing.entry(provider.clone()).or_default() += 1;
            }
        }
        missing
    }

    /// Whether this node has the provider that a pool names.
    ///
    /// # Errors
    /// If it does not.
    pub fn check_pool(&self, name: &PoolName, settings: &PoolSettings) -> Result<(), NotOffered> {
        // What makes no sense at all is refused by the policy that it is to be part of.
        let Ok(pool) = Pool::new(settings.provider, settings.attributes.clone()) else { return Ok(()) };
        let unnamed = settings.provider.is_named_by_attribute() && !settings.attributes.contains_key(Pool::PROVIDER);
        let Some(entity) = StreamId::new("pool", name.as_str()).ok().filter(|_| !unnamed) else { return Ok(()) };
        // Who makes machines can make volumes with them; our own do not.
        let comes_with_instances = |provider: &Name| provider.as_str() != LOCAL;
        if settings.provider == ProviderType::External && self.machines.iter().any(comes_with_instances) {
            return Ok(());
        }
        let all = self.volumes.union(&self.filesystems).cloned().collect();
        self.named(&entity, &pool.source().provider, &all)
    }

    /// Whether the data of a volume or filesystem can stay when it goes, as far as that is known before it is tried.
    ///
    /// # Errors
    /// If its provider cannot let go of it.
    pub fn check_release(&self, fleet: &Fleet, entity: &StreamId) -> Result<(), NotOffered> {
        let (provider, can) = match entity.kind() {
            volume::State::KIND => {
                let Some(spec) = fleet.volumes.get(entity.name()).and_then(|state| state.spec.as_ref()) else {
                    return Ok(());
                };
                let of_provider = self.releases.volumes.get(&spec.provider).map(|provider| provider.can_release());
                (&spec.provider, of_provider)
            }
            filesystem::State::KIND => {
                let Some(spec) = fleet.filesystems.get(entity.name()).and_then(|state| state.spec.as_ref()) else {
                    return Ok(());
                };
                // What is on a volume is data there, and nobody is asked to let go of it.
                let on_volume = spec.backing.is_some().then_some(Some(true));
                let of_provider =
                    || self.releases.filesystems.get(&spec.provider).map(|provider| provider.can_release());
                (&spec.provider, on_volume.or_else(of_provider))
            }
            _ => return Ok(()),
        };
        // What works inside of machines, through their agents, makes and destroys.
        let can = can.unwrap_or_else(|| self.inside.contains(provider).then_some(false));
        match can {
            Some(false) => Err(NotOffered::CannotRelease { entity: entity.clone(), provider: provider.clone() }),
            _ => Ok(()),
        }
    }

    fn named(&self, entity: &StreamId, provider: &Name, offered: &BTreeSet<Name>) -> Result<(), NotOffered> {
        if offered.contains(provider) {
            return Ok(());
        }
        let (entity, provider) = (entity.clone(), provider.clone());
        if provider.as_str() == EXTERNAL && !self.machines.contains(&provider) {
            return Err(NotOffered::NotListening { entity });
        }
        if let Some(missing) = self.missing.get(&provider) {
            let instead = match entity.kind() {
                "filesystem" => "use provider `directory`, whose filesystems do not need it",
                _ => "use provider `local`, whose volumes do not need it",
            };
            let verb = if missing.len() == 1 { "is" } else { "are" };
            let missing = format!("{} {verb}", missing.join(", "));
            return Err(NotOffered::CannotHere { entity, provider, missing, instead });
        }
        let known = offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let makes = self.made_by(&provider).join(" and ");
        if makes.is_empty() {
            return Err(NotOffered::NoProvider { entity, provider, known });
        }
        Err(NotOffered::MakesOther { entity, provider, makes, known })
    }

    /// What a provider of this name is there for.
    fn made_by(&self, provider: &Name) -> Vec<&'static str> {
        let all = [
            (&self.machines, "machines"),
            (&self.volumes, "volumes"),
            (&self.filesystems, "filesystems"),
            (&self.engines, "replica sets"),
        ];
        all.into_iter().filter(|(names, _)| names.contains(provider)).map(|(_, made)| made).collect()
    }

    /// What is made inside of a machine names one whose agent is ours.
    fn has_machine(
        &self,
        fleet: &Fleet,
        documents: &[Document],
        entity: &StreamId,
        provider: &Name,
        machine: Option<&Name>,
    ) -> Result<(), NotOffered> {
        if !self.inside.contains(provider) {
            return Ok(());
        }
        let Some(machine) = machine else {
            return Err(NotOffered::NeedsMachine { entity: entity.clone(), provider: provider.clone() });
        };
        match machine_provider(fleet, documents, machine) {
            Some(provider) if provider.as_str() != LOCAL => {
                Err(NotOffered::NoAgent { entity: entity.clone(), machine: machine.clone(), provider })
            }
            _ => Ok(()),
        }
    }
}

/// Whether clients of Juju's can make a volume: they have to see it, know from what it is made, and make its machine.
fn of_clients(
    fleet: &Fleet,
    documents: &[Document],
    entity: StreamId,
    (is_seen, has_pool): (bool, bool),
    machine: Option<&Name>,
) -> Result<(), NotOffered> {
    if !is_seen {
        return Err(NotOffered::UnseenVolume { entity });
    }
    let Some(machine) = machine else { return Err(NotOffered::NoInstance { entity }) };
    if !has_pool {
        return Err(NotOffered::NoPool { entity });
    }
    on_machine_of_clients(fleet, documents, &entity, machine)
}

/// Whether a machine is one that clients of Juju's make, as far as it is known.
fn on_machine_of_clients(
    fleet: &Fleet,
    documents: &[Document],
    entity: &StreamId,
    machine: &Name,
) -> Result<(), NotOffered> {
    match machine_provider(fleet, documents, machine).filter(|provider| provider.as_str() != EXTERNAL) {
        Some(provider) => Err(NotOffered::NotOfClients { entity: entity.clone(), provider }),
        None => Ok(()),
    }
}

/// Whether the machine's agent would mount there: one of ours mounts beneath its machine's directory alone.
fn mountable(
    fleet: &Fleet,
    documents: &[Document],
    entity: StreamId,
    spec: &filesystem_attachment::Spec,
) -> Result<(), NotOffered> {
    match machine_provider(fleet, documents, &spec.machine).filter(|provider| provider.as_str() == LOCAL) {
        Some(provider) => {
            mountable_at(entity, spec.path.as_ref(), &spec.filesystem, mount_dir(fleet, documents).as_deref(), provider)
        }
        None => Ok(()),
    }
}

/// As [`mountable`], for what each machine of a template asks for.
fn claim_mountable(
    entity: &StreamId,
    template: &machine::Spec,
    claim: &StorageClaim,
    mount_dir: Option<&str>,
) -> Result<(), NotOffered> {
    if template.provider.as_str() != LOCAL || claim.form == ClaimForm::Volume {
        return Ok(());
    }
    mountable_at(entity.clone(), claim.path(), &claim.name, mount_dir, template.provider.clone())
}

fn mountable_at(
    entity: StreamId,
    path: Option<&String>,
    filesystem: &Name,
    mount_dir: Option<&str>,
    provider: Name,
) -> Result<(), NotOffered> {
    match (path, mount_dir) {
        (Some(path), _) => Err(NotOffered::NotMountable { entity, path: path.clone(), provider }),
        (None, Some(mount_dir)) => {
            let path = default_mount_point(mount_dir, filesystem);
            Err(NotOffered::NotMountableByPolicy { entity, path, provider })
        }
        (None, None) => Ok(()),
    }
}

/// Where filesystems that name no path are mounted from now on.
fn mount_dir(fleet: &Fleet, documents: &[Document]) -> Option<String> {
    let declared = documents.iter().find_map(|document| match &document.wish {
        Wish::Policy { document, .. } => Some(document.storage.mount_dir.clone()),
        _ => None,
    });
    declared.unwrap_or_else(|| fleet.policy().storage.mount_dir)
}

/// Whether what is there already could be mounted where the declared policy has it.
fn mountable_by_policy(fleet: &Fleet, documents: &[Document]) -> Result<(), NotOffered> {
    let Some(dir) = mount_dir(fleet, documents) else { return Ok(()) };
    let mounts = fleet.filesystem_attachments.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    for spec in mounts.filter_map(|(_, folded)| folded.state.spec.as_ref()).filter(|spec| spec.path.is_none()) {
        let Ok(entity) = StreamId::new("filesystem", spec.filesystem.as_str()) else { continue };
        mountable(fleet, documents, entity, spec)?;
    }
    let sets = fleet.machine_sets.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    for (name, template) in sets.filter_map(|(name, folded)| Some((name, &folded.state.spec.as_ref()?.template))) {
        let Ok(entity) = StreamId::new("machine-set", name) else { continue };
        let without_path = template.storage.iter().filter(|claim| claim.path().is_none());
        without_path.into_iter().try_for_each(|claim| claim_mountable(&entity, template, claim, Some(&dir)))?;
    }
    Ok(())
}

/// Whether a new attachment binds what is in one zone, as far as that is known. One that is there waits until it is.
fn in_one_zone(fleet: &Fleet, entity: StreamId, spec: &volume_attachment::Spec) -> Result<(), NotOffered> {
    let is_there = fleet.attachments.get(entity.name()).is_some_and(|state| state.life.exists());
    let volume = fleet.volumes.get(spec.volume.as_str()).filter(|state| !is_there && state.life.exists());
    match volume.and_then(|volume| elsewhere(&fleet.machines, volume, &spec.machine)) {
        Some(elsewhere) => Err(NotOffered::OtherZone { entity, elsewhere }),
        None => Ok(()),
    }
}

fn machine_provider(fleet: &Fleet, documents: &[Document], machine: &Name) -> Option<Name> {
    let declared = documents.iter().find_map(|document| match &document.wish {
        Wish::Machine { name, spec } if name == machine => Some(spec.provider.clone()),
        _ => None,
    });
    declared.or_else(|| Some(fleet.machines.get(machine.as_str())?.spec.as_ref()?.provider.clone()))
}

fn beneath(fleet: &Fleet, documents: &[Document], volume: &Name) -> Option<Beneath> {
    let declared = documents.iter().find_map(|document| match &document.wish {
        Wish::Volume { name, spec, machine, .. } if name == volume => {
            Some(Beneath { provider: spec.provider.clone(), machine: machine.clone() })
        }
        _ => None,
    });
    declared.or_else(|| {
        let state = fleet.volumes.get(volume.as_str()).filter(|state| state.life.exists())?;
        Some(Beneath { provider: state.spec.as_ref()?.provider.clone(), machine: state.own.wanted_on.clone() })
    })
}

/// The machine inside of which a filesystem is, if it names one.
fn home_of(fleet: &Fleet, documents: &[Document], filesystem: &Name) -> Option<Name> {
    let declared = documents.iter().find_map(|document| match &document.wish {
        Wish::Filesystem { name, spec, .. } if name == filesystem => Some(spec.machine.clone()),
        _ => None,
    });
    declared.unwrap_or_else(|| {
        let state = fleet.filesystems.get(filesystem.as_str()).filter(|state| state.life.exists())?;
        state.spec.as_ref()?.machine.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_of_something_else_is_told_as_that() {
        let name = |text: &str| text.parse::<Name>().expect("a name");
        let offer =
            Offer { volumes: [name("loop")].into(), filesystems: [name("directory")].into(), ..Offer::default() };
        let entity = "filesystem/f2".parse().expect("a stream");
        let refused = |provider: &str| offer.named(&entity, &name(provider), &offer.filesystems).unwrap_err();
        assert_eq!(refused("loop").to_string(), "filesystem/f2 names provider loop, which only makes volumes");
        assert_eq!(refused("loop").next(), "use another provider: this node has directory");
        let unknown = "filesystem/f2 names provider lop, which this node does not have";
        assert_eq!(refused("lop").to_string(), unknown);
    }

    #[test]
    fn no_filesystem_is_made_on_a_volume_of_clients_and_none_of_theirs_without_a_network() {
        let text = "\
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: '5'}
spec: {provider: external}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: '0'}
spec: {provider: external, size: 1M, machine: '5'}
---
apiVersion: bailiwick/v1
kind: Filesystem
metadata: {name: files}
spec: {volume: '0'}
";
        let documents =
            crate::manifest::parse_open(&[crate::manifest::Source::new("test", text)]).expect("read").documents;
        let refused = |offer: &Offer, at: &str| {
            let wish = documents.iter().map(|document| &document.wish).find(|wish| wish.stream().as_str() == at);
            offer.check_one(&Fleet::default(), &documents, wish.expect("declared")).unwrap_err()
        };
        let offer = Offer { filesystems: [MANAGED.parse().expect("a name")].into(), ..Offer::default() };
        let needs_agent =
            "filesystem/files needs an agent inside machine 5, and machines of provider external run none";
        assert_eq!(refused(&offer, "filesystem/files").to_string(), needs_agent);
        for entity in ["machine/5", "volume/0"] {
            let unreachable = format!(
                "{entity} names provider external, whose clients can only reach a node that listens on the network"
            );
            assert_eq!(refused(&offer, entity).to_string(), unreachable);
        }
    }
}
