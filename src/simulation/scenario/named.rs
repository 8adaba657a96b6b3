//! Whom a script names, and who has to be there for it.

use std::collections::BTreeSet;

use bailiwick_actors::{filesystem, machine::Spec, storage_rules::ClaimForm, vocab::Name};

use crate::{
    manifest::Wish,
    simulation::{Happening, Planned},
};

/// Every provider that anybody names.
pub(super) fn providers(script: &[Planned]) -> Vec<Name> {
    let mut names = BTreeSet::new();
    for planned in script {
        match &planned.what {
            Happening::Apply(wishes) => {
                names.extend(wishes.iter().filter_map(provider));
                names.extend(wishes.iter().filter_map(template).flat_map(of_storage));
            }
            Happening::Misbehave { provider, .. }
            | Happening::Outage { provider, .. }
            | Happening::Zones { provider, .. }
            | Happening::ZoneOutage { provider, .. }
            | Happening::KillZone { provider, .. } => {
                names.insert(provider.clone());
            }
            _ => (),
        }
    }
    names.into_iter().collect()
}

/// Every secret that a class names.
pub(super) fn secrets(script: &[Planned]) -> Vec<Name> {
    let mut names = BTreeSet::new();
    for planned in script {
        let Happening::Apply(wishes) = &planned.what else { continue };
        for wish in wishes {
            if let Wish::MachineClass { content, .. } = wish {
                names.extend(content.secrets().cloned());
            }
        }
    }
    names.into_iter().collect()
}

/// What a set's machines are made like.
fn template(wish: &Wish) -> Option<&Spec> {
    match wish {
        Wish::MachineDeployment { spec, .. } => Some(&spec.template),
        Wish::MachineSet { spec, .. } => Some(&spec.template),
        _ => None,
    }
}

/// Who makes the storage of a set's machines, and what is on it.
fn of_storage(template: &Spec) -> impl Iterator<Item = Name> {
    template.storage.iter().flat_map(|claim| {
        let managed = matches!(claim.form, ClaimForm::OnVolume { .. }).then_some(filesystem::MANAGED);
        let managed = managed.map(|name| name.parse().expect("a valid name"));
        std::iter::once(claim.provider.clone()).chain(managed)
    })
}

fn provider(wish: &Wish) -> Option<Name> {
    match wish {
        Wish::Machine { spec, .. } => Some(spec.provider.clone()),
        Wish::MachineDeployment { spec, .. } => Some(spec.template.provider.clone()),
        Wish::MachineSet { spec, .. } => Some(spec.template.provider.clone()),
        Wish::Volume { spec, .. } => Some(spec.provider.clone()),
        Wish::Filesystem { spec, .. } => Some(spec.provider.clone()),
        Wish::MachineClass { content, .. } => Some(content.provider.clone()),
        Wish::Custom(custom) => Some(custom.provider.clone()),
        Wish::VolumeAttachment { .. }
        | Wish::FilesystemAttachment { .. }
        | Wish::Policy { .. }
        | Wish::Document { .. }
        | Wish::ReplicaSet { .. } => None,
    }
}
