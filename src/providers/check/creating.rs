//! Machines are made once, and are what was asked for.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_actors::{
    machine::Spec,
    ports::{CreateMachine, InstanceStatus, Lookup, MachineInstance},
    storage_rules::{ClaimForm, FromPool, StorageClaim, claimed_with_instance},
    vocab::{EXTERNAL, Name, Nonce, SizeMib, Uid},
};

use super::{
    Check,
    bench::{ensure, every, is_same, skipped, wrong},
};

/// What the port allows of facts, ids and texts: at most 16 facts, everything at most 255 bytes.
pub fn is_bounded(made: &MachineInstance) -> bool {
    let is_short = |text: &str| text.len() <= 255;
    let id = made.instance.0.as_str();
    !id.is_empty()
        && is_short(id)
        && !id.chars().any(char::is_control)
        && made.facts.len() <= 16
        && made.facts.iter().all(|(key, value)| is_short(key) && is_short(value))
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "creating/effect-id",
        what: "a machine is made under the effect id that was asked for",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let made = bench.create(&wish).await?;
                ensure(made.effect == wish.id, || format!("asked for {}, got {}", wish.id, made.effect))
            })
        },
    },
    Check {
        id: "creating/name",
        what: "a machine has the name that was asked for",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let made = bench.create(&wish).await?;
                ensure(made.machine == wish.machine, || format!("asked for {}, got {}", wish.machine, made.machine))
            })
        },
    },
    Check {
        id: "creating/bounded",
        what: "an instance id has 1 to 255 bytes, and there are at most 16 facts of at most 255 bytes",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                ensure(is_bounded(&made), || format!("instance {:?} with {} facts", made.instance, made.facts.len()))
            })
        },
    },
    Check {
        id: "creating/running",
        what: "a machine that was made runs",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                ensure(made.status == InstanceStatus::Running, || "it is stopped".into())
            })
        },
    },
    Check {
        id: "creating/same-id-again",
        what: "the same effect id again gives the same instance",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let first = bench.create(&wish).await?;
                let again = bench.create(&wish).await?;
                ensure(is_same(&first, &again), || format!("first {}, then {}", first.instance, again.instance))
            })
        },
    },
    Check {
        id: "creating/same-id-many-times",
        what: "the same effect id ten times makes one instance",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                for _ in 0..10 {
                    bench.create(&wish).await?;
                }
                let listing = bench.full_list().await?;
                let of_it = listing.items.iter().filter(|item| item.machine == wish.machine).count();
                ensure(of_it == 1, || format!("there are {of_it}"))
            })
        },
    },
    Check {
        id: "creating/other-ids",
        what: "another effect id gives another instance, also for a machine of the same name",
        run: |bench| {
            Box::pin(async move {
                let (first, mut second) = (bench.wish(), bench.wish());
                second.machine = first.machine.clone();
                let made = bench.create_all(&[first, second]).await?;
                ensure(made[0].instance != made[1].instance, || format!("both are {}", made[0].instance))
            })
        },
    },
    Check {
        id: "creating/another-machine-under-an-id",
        what: "an effect id that has an instance never gets a second one, also if another machine is asked for",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let made = bench.create(&wish).await?;
                let mut other = wish.clone();
                other.uid = Uid(uuid::Uuid::new_v4());
                // Refusing is as good as answering with what is there.
                if let Ok(again) = bench.try_create(vec![other]).await?.remove(0) {
                    ensure(again.instance == made.instance, || format!("there is a second one, {}", again.instance))?;
                }
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "creating/what-comes-with-it",
        what: "the network and the volumes of a machine, if any are told, are those that were asked for, and told again",
        run: |bench| {
            Box::pin(async move {
                let mut wish = bench.wish();
                let claim = StorageClaim {
                    name: "disk".parse().expect("a name"),
                    count: 2,
                    size: SizeMib(1),
                    provider: EXTERNAL.parse().expect("a name"),
                    pool: FromPool { name: "check".parse().expect("a name"), attributes: Default::default() },
                    form: ClaimForm::Volume,
                    read_only: false,
                    is_persistent: false,
                };
                wish.spec = Arc::new(Spec { storage: vec![claim], ..(*wish.spec).clone() });
                let made = bench.start(&wish).await?;
                if made.network.is_empty() && made.storage.is_empty() {
                    return skipped("it tells of no network, and creates no volumes with a machine");
                }
                let again = bench.start(&wish).await?;
                ensure(again == made, || format!("asked again, it tells {again:?} instead of {made:?}"))?;
                match bench.found(wish.id).await? {
                    Lookup::Present(found) => {
                        let is_same = (&found.network, &found.storage) == (&made.network, &made.storage);
                        ensure(is_same, || format!("lookup tells {found:?} instead of {made:?}"))?;
                    }
                    other => return wrong(format!("lookup should say present, and says {other:?}")),
                }
                let asked: Vec<Name> =
                    claimed_with_instance(&wish.machine, &wish.spec.storage).map(|(volume, _)| volume).collect();
                let told: Vec<&Name> = made.storage.volumes.keys().collect();
                let is_asked = told.is_empty() || asked.iter().collect::<Vec<_>>() == told;
                ensure(is_asked, || format!("{asked:?} were asked for, and it tells of {told:?}"))
            })
        },
    },
    Check {
        id: "creating/nonce",
        what: "the fact `nonce`, if there is one, is what the instance was started with, whatever is asked for later",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let made = bench.create(&wish).await?;
                let Some(told) = made.nonce().map(str::to_owned) else {
                    return skipped(
                        "it reports no nonce, so instances started by another control plane look like ours",
                    );
                };
                let expected = wish.nonce.as_ref().map(Nonce::as_str);
                ensure(Some(&*told) == expected, || format!("asked for {expected:?}, got {told}"))?;
                let other = CreateMachine { nonce: Some(Nonce("somebody:else".into())), ..wish.clone() };
                // Refusing is as good as answering with what is there.
                if let Ok(again) = bench.try_create(vec![other]).await?.remove(0) {
                    let nonce = again.nonce().unwrap_or("nothing").to_owned();
                    ensure(nonce == told, || format!("it was started with {told}, and tells {nonce}"))?;
                }
                let listing = bench.full_list().await?;
                let listed = listing.items.iter().find(|item| item.effect == wish.id).and_then(MachineInstance::nonce);
                ensure(listed == Some(&*told), || format!("it was started with {told}, and its list has {listed:?}"))
            })
        },
    },
    Check {
        id: "creating/bulk-order",
        what: "a bulk call answers in the order of its items",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(8);
                let made = bench.create_all(&wishes).await?;
                let is_so = wishes.iter().zip(&made).all(|(wish, made)| wish.id == made.effect);
                ensure(is_so, || "the answers come in another order".into())
            })
        },
    },
    Check {
        id: "creating/bulk-mixed",
        what: "a bulk call adopts what is there and makes the rest",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(4);
                let before = bench.create_all(&[wishes[1].clone(), wishes[3].clone()]).await?;
                let made = bench.create_all(&wishes).await?;
                let is_so = is_same(&made[1], &before[0]) && is_same(&made[3], &before[1]);
                ensure(is_so, || "an existing machine came back as another instance".into())?;
                let instances: BTreeSet<_> = made.iter().map(|made| &made.instance).collect();
                ensure(instances.len() == 4, || format!("4 machines are {} instances", instances.len()))
            })
        },
    },
    Check {
        id: "creating/bulk-of-none",
        what: "a bulk call without items has no answers",
        run: |bench| {
            Box::pin(async move {
                let made = bench.try_create(Vec::new()).await?;
                ensure(made.is_empty(), || format!("it has {}", made.len()))
            })
        },
    },
    Check {
        id: "creating/bulk-large",
        what: "a bulk call of 120 items is answered",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(120);
                let answers = bench.try_create(wishes).await?;
                // A quota is no fault of the provider; but each item has to say so for itself.
                let made: BTreeSet<_> = answers.iter().flatten().map(|made| made.instance.clone()).collect();
                let good = answers.iter().flatten().count();
                ensure(made.len() == good, || format!("{good} machines are {} instances", made.len()))?;
                match answers.into_iter().find_map(Result::err) {
                    Some(fault) if good == 0 => wrong(format!("not one was made: {fault}")),
                    _ => Ok(()),
                }
            })
        },
    },
    Check {
        id: "creating/after-deleting",
        what: "a machine that was deleted can be made again under a new effect id",
        run: |bench| {
            Box::pin(async move {
                let (first, mut second) = (bench.wish(), bench.wish());
                (second.machine, second.uid) = (first.machine.clone(), first.uid);
                bench.create(&first).await?;
                bench.delete(&[first.id]).await?;
                let made = bench.create(&second).await?;
                bench.must_be_absent(first.id).await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "creating/cycles",
        what: "ten times made and deleted leaves nothing",
        run: |bench| {
            Box::pin(async move {
                let mut ids = Vec::new();
                for _ in 0..10 {
                    let wish = bench.wish();
                    bench.create(&wish).await?;
                    bench.delete(&[wish.id]).await?;
                    ids.push(wish.id);
                }
                let answers = bench.lookup(&ids).await?.into_iter().map(Ok).collect();
                let left = every("lookup", answers)?;
                let left = left.iter().filter(|found| !matches!(found, Lookup::Absent)).count();
                ensure(left == 0, || format!("{left} are still there"))
            })
        },
    },
];
