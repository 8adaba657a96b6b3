//! Whom a script names, and who has to be there for it.

use std::collections::BTreeSet;

use bailiwick_actors::vocab::Name;

use crate::{
    manifest::Wish,
    simulation::{Happening, Planned},
};

/// Every provider that anybody names.
pub(super) fn providers(script: &[Planned]) -> Vec<Name> {
    let mut names = BTreeSet::new();
    for planned in script {
        match &planned.what {
            Happening::Apply(wishes) => names.extend(wishes.iter().filter_map(provider)),
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

fn provider(wish: &Wish) -> Option<Name> {
    match wish {
        Wish::Machine { spec, .. } => Some(spec.provider.clone()),
        Wish::MachineDeployment { spec, .. } => Some(spec.template.provider.clone()),
        Wish::MachineSet { spec, .. } => Some(spec.template.provider.clone()),
        Wish::Volume { spec, .. } => Some(spec.provider.clone()),
        Wish::Filesystem { spec, .. } => Some(spec.provider.clone()),
        Wish::MachineClass { content, .. } => Some(content.provider.clone()),
        Wish::VolumeAttachment { .. }
        | Wish::FilesystemAttachment { .. }
        | Wish::Policy { .. }
        | Wish::Document { .. }
        | Wish::ReplicaSet { .. } => None,
    }
}
