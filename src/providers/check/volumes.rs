//! Volumes are made once, are large enough, and go when they are told to.

use bailiwick_actors::{
    ports::Lookup,
    vocab::{FaultClass, SizeMib},
};

use super::{
    Check,
    bench::{Bench, Judged, ensure, new_id, wrong},
};

async fn must_be_absent(bench: &Bench, id: bailiwick_actors::vocab::EffectId) -> Judged {
    let found = bench.lookup_volumes(&[id]).await?.remove(0);
    ensure(found == Lookup::Absent, || format!("lookup should say absent, and says {found:?}"))
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "volumes/effect-id",
        what: "a volume is made under the effect id that was asked for",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.volume_wish();
                let made = bench.create_volume(&wish).await?;
                ensure(made.effect == wish.id, || format!("asked for {}, got {}", wish.id, made.effect))
            })
        },
    },
    Check {
        id: "volumes/bounded",
        what: "a volume's id has 1 to 255 bytes",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                let id = &made.volume_id.0;
                ensure((1..=255).contains(&id.len()) && !id.chars().any(char::is_control), || format!("{id:?}"))
            })
        },
    },
    Check {
        id: "volumes/large-enough",
        what: "a volume is not smaller than it was asked to be",
        run: |bench| {
            Box::pin(async move {
                for size in [1, 2, 3, 7, 64, 1_000] {
                    let mut wish = bench.volume_wish();
                    wish.size = SizeMib(size);
                    let made = bench.create_volume(&wish).await?;
                    ensure(wish.size <= made.size, || format!("asked for {}, got {}", wish.size, made.size))?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "volumes/absurd-size",
        what: "an impossible size is refused permanently, or really created",
        run: |bench| {
            Box::pin(async move {
                let mut wish = bench.volume_wish();
                wish.size = SizeMib(u64::MAX);
                match bench.try_create_volumes(vec![wish.clone()]).await?.remove(0) {
                    Ok(made) => ensure(made.size == wish.size, || format!("got {}", made.size)),
                    Err(fault) if fault.code.class() == FaultClass::Unknown => wrong(format!("it answered {fault}")),
                    Err(_) => must_be_absent(bench, wish.id).await,
                }
            })
        },
    },
    Check {
        id: "volumes/same-id-again",
        what: "the same effect id again gives the same volume",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.volume_wish();
                let first = bench.create_volume(&wish).await?;
                let again = bench.create_volume(&wish).await?;
                ensure(first == again, || format!("first {}, then {}", first.volume_id, again.volume_id))
            })
        },
    },
    Check {
        id: "volumes/bulk-order",
        what: "a bulk call answers in the order of its items",
        run: |bench| {
            Box::pin(async move {
                let wishes: Vec<_> = (0..6).map(|_| bench.volume_wish()).collect();
                let answers = bench.try_create_volumes(wishes.clone()).await?;
                let made = super::bench::every("create-volumes", answers)?;
                let is_so = wishes.iter().zip(&made).all(|(wish, made)| wish.id == made.effect);
                ensure(is_so, || "the answers come in another order".into())
            })
        },
    },
    Check {
        id: "volumes/bulk-of-none",
        what: "a bulk call without items has no answers",
        run: |bench| {
            Box::pin(async move {
                let made = bench.try_create_volumes(Vec::new()).await?;
                ensure(made.is_empty(), || format!("it has {}", made.len()))
            })
        },
    },
    Check {
        id: "volumes/found",
        what: "a volume is found by its effect id, and an unused id is absent",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                let found = bench.lookup_volumes(&[new_id(), made.effect]).await?;
                ensure(found == [Lookup::Absent, Lookup::Present(made)], || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "volumes/destroyed",
        what: "what was destroyed is absent, and destroying it again is a success",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                bench.destroy(made.effect).await?;
                must_be_absent(bench, made.effect).await?;
                bench.destroy(made.effect).await
            })
        },
    },
    Check {
        id: "volumes/never-made",
        what: "destroying what was never made is a success",
        run: |bench| Box::pin(async move { bench.destroy(new_id()).await }),
    },
    Check {
        id: "volumes/others-stay",
        what: "destroying one volume leaves the others",
        run: |bench| {
            Box::pin(async move {
                let ((_, first), (_, second)) = (bench.volume().await?, bench.volume().await?);
                bench.destroy(first.effect).await?;
                let found = bench.lookup_volumes(&[second.effect]).await?;
                ensure(found == [Lookup::Present(second)], || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "volumes/no-machines",
        what: "a volume's effect id finds no machine, and a machine's finds no volume",
        run: |bench| {
            Box::pin(async move {
                let (_, volume) = bench.volume().await?;
                let machine = bench.machine().await?;
                bench.must_be_absent(volume.effect).await?;
                must_be_absent(bench, machine.effect).await
            })
        },
    },
    Check {
        id: "volumes/restarted",
        what: "after a restart a volume is found, and the same id gives it again",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.volume_wish();
                let made = bench.create_volume(&wish).await?;
                bench.restart()?;
                let found = bench.lookup_volumes(&[made.effect]).await?;
                ensure(found == [Lookup::Present(made.clone())], || format!("lookup says {found:?}"))?;
                let again = bench.create_volume(&wish).await?;
                ensure(made == again, || format!("first {}, then {}", made.volume_id, again.volume_id))
            })
        },
    },
    Check {
        id: "volumes/listed",
        what: "a complete list that is newer than a volume has the volume, and says the same of it",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                let listing = bench.volume_list().await?;
                ensure(listing.items.contains(&made), || "it is missing from the list".into())
            })
        },
    },
    Check {
        id: "volumes/list-forgets",
        what: "a complete list does not have what was destroyed",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                bench.destroy(made.effect).await?;
                let listing = bench.volume_list().await?;
                ensure(!listing.items.iter().any(|item| item.effect == made.effect), || {
                    "it is still in the list".into()
                })
            })
        },
    },
    Check {
        id: "volumes/released",
        what: "what was released is absent, and releasing it again is a success",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                bench.release(made.effect).await?;
                must_be_absent(bench, made.effect).await?;
                bench.release(made.effect).await
            })
        },
    },
    Check {
        id: "volumes/released-others-stay",
        what: "releasing one volume leaves the others",
        run: |bench| {
            Box::pin(async move {
                let ((_, first), (_, second)) = (bench.volume().await?, bench.volume().await?);
                bench.release(first.effect).await?;
                let found = bench.lookup_volumes(&[second.effect]).await?;
                ensure(found == [Lookup::Present(second)], || format!("lookup says {found:?}"))
            })
        },
    },
];
