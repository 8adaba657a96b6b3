//! What must hold between the journal and the world.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::InstanceStatus,
    vocab::{EffectId, Name, Uid},
};

use super::WorldState;

/// What a journal claims to have in the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    pub instances: BTreeSet<EffectId>,
    pub volumes: BTreeSet<EffectId>,
    pub attachments: BTreeSet<EffectId>,
    pub filesystems: BTreeSet<EffectId>,
    pub mounts: BTreeSet<EffectId>,
}

/// What is wrong: orphans (made, and claimed by no journal), duplicates, and double attachments. Empty if nothing is.
pub fn check(world: &WorldState, claims: &Claims) -> Vec<String> {
    let mut wrong = world.violations.clone();
    for instance in world.instances.values() {
        if !claims.instances.contains(&instance.seen.effect) {
            wrong.push(format!("orphan: instance {} of {}", instance.seen.instance, instance.seen.machine));
        }
    }
    for volume in world.volumes.values() {
        if !claims.volumes.contains(&volume.seen.effect) {
            wrong.push(format!("orphan: volume {} of {}", volume.seen.volume_id, volume.volume));
        }
    }
    for (id, attachment) in &world.attachments {
        if !claims.attachments.contains(id) {
            wrong.push(format!("orphan: attachment of {} to {}", attachment.made.volume, attachment.made.machine));
        }
    }
    for (id, filesystem) in &world.filesystems {
        // One on a volume is only data on it, and goes with it.
        if filesystem.asked.backing.is_none() && !claims.filesystems.contains(id) {
            wrong.push(format!("orphan: filesystem {}", filesystem.asked.filesystem));
        }
    }
    for (id, mount) in &world.mounts {
        if !claims.mounts.contains(id) {
            wrong.push(format!("orphan: mount of {} on {}", mount.made.filesystem, mount.made.machine));
        }
    }
    wrong.extend(duplicates(world));
    wrong
}

fn duplicates(world: &WorldState) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut machines: BTreeMap<Uid, u32> = BTreeMap::new();
    for instance in world.instances.values().filter(|instance| instance.seen.status == InstanceStatus::Running) {
        *machines.entry(instance.uid).or_default() += 1;
    }
    let mut volumes: BTreeMap<(Uid, &Name), u32> = BTreeMap::new();
    for volume in world.volumes.values() {
        *volumes.entry((volume.uid, &volume.volume)).or_default() += 1;
    }
    let mut attached: BTreeMap<EffectId, u32> = BTreeMap::new();
    for attachment in world.attachments.values() {
        *attached.entry(attachment.made.volume_effect).or_default() += 1;
    }
    wrong.extend(machines.iter().filter(|(_, count)| **count > 1).map(|(uid, _)| format!("duplicate: machine {uid}")));
    wrong.extend(
        volumes.iter().filter(|(_, count)| **count > 1).map(|((_, name), _)| format!("duplicate: volume {name}")),
    );
    wrong
        .extend(attached.iter().filter(|(_, count)| **count > 1).map(|(id, _)| format!("attached twice: volume {id}")));
    wrong
}
