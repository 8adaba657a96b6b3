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
    /// Those of them that an operator had their machines let go of: another one may be made beside them.
    pub kept: BTreeSet<EffectId>,
    pub volumes: BTreeSet<EffectId>,
    pub attachments: BTreeSet<EffectId>,
    pub filesystems: BTreeSet<EffectId>,
    pub mounts: BTreeSet<EffectId>,
    pub custom: BTreeSet<EffectId>,
}

/// What is wrong: orphans (made, and claimed by no journal), duplicates, and double attachments. Empty if nothing is.
pub fn check(world: &WorldState, claims: &Claims) -> Vec<String> {
    let mut wrong = world.violations.clone();
    let twins = world.twins.iter().filter(|(of, _)| !claims.kept.contains(of));
    wrong.extend(twins.map(|(_, text)| text.clone()));
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
    let orphans = world.custom.iter().filter(|(id, _)| !claims.custom.contains(id));
    wrong.extend(orphans.map(|(id, thing)| format!("orphan: {} {id}", thing.kind)));
    wrong.extend(duplicates(world, &claims.kept));
    wrong
}

fn duplicates(world: &WorldState, kept: &BTreeSet<EffectId>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut machines: BTreeMap<Uid, u32> = BTreeMap::new();
    let running = world.instances.values().filter(|instance| instance.seen.status == InstanceStatus::Running);
    for instance in running.filter(|instance| !kept.contains(&instance.seen.effect)) {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bailiwick_actors::{
        machine::Spec,
        ports::{CreateMachine, MachineInstance, SecretData},
        vocab::InstanceId,
    };
    use uuid::Uuid;

    use super::*;
    use crate::providers::simulated::{Thing, World};

    fn made(number: u128) -> Thing {
        let (id, provider): (_, Name) = (EffectId(Uuid::from_u128(number)), "simulated".parse().expect("a name"));
        let machine: Name = "web".parse().expect("a name");
        let asked = CreateMachine {
            id,
            machine: machine.clone(),
            uid: Uid(Uuid::nil()),
            spec: Arc::new(Spec::with_provider(provider.clone())),
            zone: None,
            class: None,
            secrets: SecretData::default(),
            start: None,
            config: None,
            nonce: None,
            join: None,
        };
        let (facts, status) = (BTreeMap::new(), InstanceStatus::Running);
        let seen = MachineInstance { effect: id, instance: InstanceId(number.to_string()), machine, facts, status };
        Thing::Machine { provider, asked, made: Some(seen) }
    }

    #[test]
    fn a_machine_has_one_instance_beside_those_that_an_operator_keeps() {
        let world = World::with(1, [made(1), made(2)]).snapshot();
        let both: BTreeSet<EffectId> = world.instances.keys().copied().collect();
        let claims = Claims { instances: both.clone(), ..Claims::default() };
        let uid = Uuid::nil();
        assert_eq!(
            check(&world, &claims),
            ["machine web has 1 and i-1000002".to_owned(), format!("duplicate: machine {uid}")]
        );
        let first = both.first().copied().into_iter().collect();
        assert_eq!(check(&world, &Claims { kept: first, ..claims }), Vec::<String>::new());
    }
}
