//! What must hold between the journal and the world.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use bailiwick_actors::{ports::InstanceStatus, vocab::EffectId};

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

/// Something that holds between a journal and the world, whatever happens.
#[derive(Clone, Copy)]
pub struct WorldInvariant {
    /// Unique: `no-orphan-volume`.
    pub name: &'static str,
    /// The claim, in words.
    pub says: &'static str,
    /// Where it does not hold, a line each.
    broken: fn(&WorldState, &Claims) -> Vec<String>,
}

impl fmt::Debug for WorldInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

impl WorldInvariant {
    /// Each of them.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "no-orphan-instance",
            says: "every instance belongs to a machine of the journal",
            broken: |world, claims| {
                let all = world.instances.values().map(|instance| &instance.seen);
                let orphans = all.filter(|seen| !claims.instances.contains(&seen.effect));
                orphans.map(|seen| format!("instance {} of {}", seen.instance, seen.machine)).collect()
            },
        },
        Self {
            name: "no-orphan-volume",
            says: "every volume of a provider belongs to a volume of the journal",
            broken: |world, claims| {
                let orphans = world.volumes.values().filter(|volume| !claims.volumes.contains(&volume.seen.effect));
                orphans.map(|volume| format!("volume {} of {}", volume.seen.volume_id, volume.volume)).collect()
            },
        },
        Self {
            name: "no-orphan-attachment",
            says: "every attached volume belongs to an attachment of the journal",
            broken: |world, claims| {
                let orphans = world.attachments.iter().filter(|(id, _)| !claims.attachments.contains(id));
                orphans.map(|(_, it)| format!("attachment of {} to {}", it.made.volume, it.made.machine)).collect()
            },
        },
        Self {
            name: "no-orphan-filesystem",
            says: "every filesystem that stands on no volume belongs to a filesystem of the journal",
            broken: |world, claims| {
                // One on a volume is only data on it, and goes with it.
                let own = world.filesystems.iter().filter(|(_, filesystem)| filesystem.asked.backing.is_none());
                let orphans = own.filter(|(id, _)| !claims.filesystems.contains(id));
                orphans.map(|(_, it)| format!("filesystem {}", it.asked.filesystem)).collect()
            },
        },
        Self {
            name: "no-orphan-mount",
            says: "every mount belongs to a filesystem attachment of the journal",
            broken: |world, claims| {
                let orphans = world.mounts.iter().filter(|(id, _)| !claims.mounts.contains(id));
                orphans.map(|(_, it)| format!("mount of {} on {}", it.made.filesystem, it.made.machine)).collect()
            },
        },
        Self {
            name: "no-orphan-of-other-kinds",
            says: "everything that a registered kind made belongs to an object of the journal",
            broken: |world, claims| {
                let orphans = world.custom.iter().filter(|(id, _)| !claims.custom.contains(id));
                orphans.map(|(id, thing)| format!("{} {id}", thing.kind)).collect()
            },
        },
        Self {
            name: "one-instance-at-a-time",
            says: "a machine never has two instances at once, beside those that it was told to let go of",
            broken: |world, claims| {
                let twins =
                    world.twins.iter().filter(|(of, _)| !claims.kept.contains(of)).map(|(_, text)| text.clone());
                twins.chain(machines_with_several(world, &claims.kept)).collect()
            },
        },
        Self {
            name: "made-once",
            says: "a volume or a filesystem is made once",
            broken: |world, _| {
                let volumes = world.volumes.values().map(|volume| (volume.uid, &volume.volume));
                let several = several(volumes).map(|(_, name)| format!("volume {name} is there more than once"));
                world.made_twice.iter().cloned().chain(several).collect()
            },
        },
        Self {
            name: "attached-once",
            says: "a volume is attached to one machine at a time",
            broken: |world, _| {
                let attached = world.attachments.values().map(|attachment| attachment.made.volume_effect);
                several(attached).map(|id| format!("volume {id}")).collect()
            },
        },
    ];
}

/// Where one of them does not hold, with its name. Empty if all hold.
pub fn check(world: &WorldState, claims: &Claims) -> Vec<String> {
    let broken = |one: &WorldInvariant| {
        let name = one.name;
        (one.broken)(world, claims).into_iter().map(move |text| format!("world/{name}: {text}"))
    };
    WorldInvariant::ALL.iter().flat_map(broken).collect()
}

fn machines_with_several(world: &WorldState, kept: &BTreeSet<EffectId>) -> impl Iterator<Item = String> {
    let running = world.instances.values().filter(|instance| instance.seen.status == InstanceStatus::Running);
    let others = running.filter(|instance| !kept.contains(&instance.seen.effect));
    several(others.map(|instance| instance.uid)).map(|uid| format!("machine {uid}"))
}

/// What comes more than once.
fn several<T: Ord>(all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut counts: BTreeMap<T, u32> = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(one, _)| one)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bailiwick_actors::{
        machine::Spec,
        ports::{
            AttachFilesystem, AttachVolume, CreateFilesystem, CreateMachine, CreateVolume, MachineInstance, SecretData,
        },
        testing::name,
        vocab::{InstanceId, SizeMib, Uid},
    };
    use bailiwick_journal::Body;
    use uuid::Uuid;

    use super::*;
    use crate::providers::simulated::{SimulatedCustom, Thing, World};

    fn made(number: u128) -> Thing {
        let (id, provider, machine) = (id(number), name("simulated"), name("web"));
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

    fn id(number: u128) -> EffectId {
        EffectId(Uuid::from_u128(number))
    }

    fn volume(number: u128) -> Thing {
        let asked = CreateVolume {
            id: id(number),
            volume: name("data"),
            uid: Uid(Uuid::nil()),
            size: SizeMib(64),
            pool: None,
            tags: BTreeMap::new(),
        };
        Thing::Volume { provider: name("simulated"), asked, made: None }
    }

    fn attachment(number: u128) -> Thing {
        let asked = AttachVolume {
            id: id(number),
            machine: name("web"),
            machine_effect: id(1),
            instance: InstanceId("1".into()),
            volume: name("data"),
            volume_effect: id(2),
            volume_id: InstanceId("2".into()),
            read_only: false,
        };
        Thing::Attachment { provider: name("simulated"), asked, made: None }
    }

    fn filesystem(number: u128) -> Thing {
        let asked = CreateFilesystem {
            id: id(number),
            filesystem: name("home"),
            uid: Uid(Uuid::nil()),
            size: SizeMib(64),
            backing: None,
            pool: None,
            replaces: Vec::new(),
        };
        Thing::Filesystem { provider: name("simulated"), asked, made: None }
    }

    fn mount() -> Thing {
        let asked = AttachFilesystem {
            id: id(5),
            machine: name("web"),
            machine_effect: id(1),
            instance: InstanceId("1".into()),
            filesystem: name("home"),
            filesystem_effect: id(4),
            filesystem_id: InstanceId("4".into()),
            backing: None,
            path: None,
            read_only: false,
        };
        Thing::Mount { provider: name("simulated"), asked, made: None }
    }

    fn balancer() -> Thing {
        let made = Body { schema: 1, bytes: Vec::new() };
        Thing::Custom { id: id(6), thing: SimulatedCustom { provider: name("simulated"), kind: "balancer", made } }
    }

    #[test]
    fn every_invariant_of_the_world_finds_the_fault_that_is_planted_for_it() {
        // given a world with one of everything, all of it the journal's
        let whole = || vec![made(1), volume(2), attachment(3), filesystem(4), mount(), balancer()];
        let one = |number| BTreeSet::from([id(number)]);
        let claims = Claims {
            instances: one(1),
            kept: BTreeSet::new(),
            volumes: one(2),
            attachments: one(3),
            filesystems: one(4),
            mounts: one(5),
            custom: one(6),
        };
        let world = |things: Vec<Thing>| World::with(1, things).snapshot();
        assert_eq!(check(&world(whole()), &claims), Vec::<String>::new());
        // when one thing is nobody's, or is there once more
        let nobodys = |change: fn(&mut Claims)| {
            let mut claims = claims.clone();
            change(&mut claims);
            check(&world(whole()), &claims)
        };
        let more = |thing: Thing, claims: Claims| check(&world([whole(), vec![thing]].concat()), &claims);
        let another = |of: &BTreeSet<EffectId>| of.iter().copied().chain([id(7)]).collect();
        let planted = [
            ("no-orphan-instance", nobodys(|claims| claims.instances.clear())),
            ("no-orphan-volume", nobodys(|claims| claims.volumes.clear())),
            ("no-orphan-attachment", nobodys(|claims| claims.attachments.clear())),
            ("no-orphan-filesystem", nobodys(|claims| claims.filesystems.clear())),
            ("no-orphan-mount", nobodys(|claims| claims.mounts.clear())),
            ("no-orphan-of-other-kinds", nobodys(|claims| claims.custom.clear())),
            (
                "one-instance-at-a-time",
                more(made(7), Claims { instances: another(&claims.instances), ..claims.clone() }),
            ),
            ("made-once", more(volume(7), Claims { volumes: another(&claims.volumes), ..claims.clone() })),
            ("attached-once", {
                let mut twice = world(whole());
                let attachment = twice.attachments[&id(3)].clone();
                twice.attachments.insert(id(7), attachment);
                check(&twice, &Claims { attachments: another(&claims.attachments), ..claims.clone() })
            }),
        ];
        // then the invariant that forbids it finds it, and no other one does
        for (name, found) in &planted {
            assert!(!found.is_empty(), "{name} finds nothing");
            assert!(found.iter().all(|line| line.starts_with(&format!("world/{name}: "))), "{name}: {found:?}");
        }
        let names: Vec<&str> = planted.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, WorldInvariant::ALL.iter().map(|one| one.name).collect::<Vec<_>>());
    }

    #[test]
    fn a_machine_has_one_instance_beside_those_that_an_operator_keeps() {
        let world = World::with(1, [made(1), made(2)]).snapshot();
        let both: BTreeSet<EffectId> = world.instances.keys().copied().collect();
        let claims = Claims { instances: both.clone(), ..Claims::default() };
        let uid = Uuid::nil();
        assert_eq!(
            check(&world, &claims),
            [
                "world/one-instance-at-a-time: machine web has 1 and i-1000002".to_owned(),
                format!("world/one-instance-at-a-time: machine {uid}")
            ]
        );
        let first = both.first().copied().into_iter().collect();
        assert_eq!(check(&world, &Claims { kept: first, ..claims }), Vec::<String>::new());
    }
}
