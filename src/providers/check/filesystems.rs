//! Filesystems are made once, are large enough, and go when they are told to.

use bailiwick_actors::{
    ports::Lookup,
    vocab::{EffectId, FaultClass, SizeMib},
};

use super::{
    Check,
    bench::{Bench, Judged, ensure, every, new_id, wrong},
};

async fn must_be_absent(bench: &Bench, id: EffectId) -> Judged {
    let found = bench.lookup_filesystems(&[id]).await?.remove(0);
    ensure(found == Lookup::Absent, || format!("lookup should say absent, and says {found:?}"))
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "filesystems/effect-id",
        what: "a filesystem is made under the effect id that was asked for",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.filesystem_wish();
                let made = bench.create_filesystem(&wish).await?;
                ensure(made.effect == wish.id, || format!("asked for {}, got {}", wish.id, made.effect))
            })
        },
    },
    Check {
        id: "filesystems/large-enough",
        what: "a filesystem is not smaller than it was asked to be",
        run: |bench| {
            Box::pin(async move {
                for size in [1, 2, 3, 7, 64] {
                    let mut wish = bench.filesystem_wish();
                    wish.size = SizeMib(size);
                    let made = bench.create_filesystem(&wish).await?;
                    ensure(wish.size <= made.size, || format!("asked for {}, got {}", wish.size, made.size))?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "filesystems/absurd-size",
        what: "an impossible size is refused permanently, or really created",
        run: |bench| {
            Box::pin(async move {
                let mut wish = bench.filesystem_wish();
                wish.size = SizeMib(u64::MAX);
                match bench.try_create_filesystems(vec![wish.clone()]).await?.remove(0) {
                    Ok(made) => ensure(made.size == wish.size, || format!("got {}", made.size)),
                    Err(fault) if fault.code.class() == FaultClass::Unknown => wrong(format!("it answered {fault}")),
                    Err(_) => must_be_absent(bench, wish.id).await,
                }
            })
        },
    },
    Check {
        id: "filesystems/same-id-again",
        what: "the same effect id again gives the same filesystem",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.filesystem_wish();
                let first = bench.create_filesystem(&wish).await?;
                let again = bench.create_filesystem(&wish).await?;
                ensure(first == again, || format!("first {}, then {}", first.filesystem_id, again.filesystem_id))
            })
        },
    },
    Check {
        id: "filesystems/bulk-order",
        what: "a bulk call answers in the order of its items",
        run: |bench| {
            Box::pin(async move {
                let wishes: Vec<_> = (0..6).map(|_| bench.filesystem_wish()).collect();
                let answers = bench.try_create_filesystems(wishes.clone()).await?;
                let made = every("create-filesystems", answers)?;
                let is_so = wishes.iter().zip(&made).all(|(wish, made)| wish.id == made.effect);
                ensure(is_so, || "the answers come in another order".into())
            })
        },
    },
    Check {
        id: "filesystems/found",
        what: "a filesystem is found by its effect id, and an unused id is absent",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.filesystem().await?;
                let found = bench.lookup_filesystems(&[new_id(), made.effect]).await?;
                ensure(found == [Lookup::Absent, Lookup::Present(made)], || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "filesystems/destroyed",
        what: "what was destroyed is absent, and destroying it again is a success",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.filesystem().await?;
                bench.destroy_filesystem(made.effect).await?;
                must_be_absent(bench, made.effect).await?;
                bench.destroy_filesystem(made.effect).await
            })
        },
    },
    Check {
        id: "filesystems/never-made",
        what: "destroying what was never made is a success",
        run: |bench| Box::pin(async move { bench.destroy_filesystem(new_id()).await }),
    },
    Check {
        id: "filesystems/others-stay",
        what: "destroying one filesystem leaves the others",
        run: |bench| {
            Box::pin(async move {
                let ((_, first), (_, second)) = (bench.filesystem().await?, bench.filesystem().await?);
                bench.destroy_filesystem(first.effect).await?;
                let found = bench.lookup_filesystems(&[second.effect]).await?;
                ensure(found == [Lookup::Present(second)], || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "filesystems/listed",
        what: "a complete list that is newer than a filesystem has it, and not what was destroyed",
        run: |bench| {
            Box::pin(async move {
                let ((_, kept), (_, gone)) = (bench.filesystem().await?, bench.filesystem().await?);
                bench.destroy_filesystem(gone.effect).await?;
                let listing = bench.filesystem_list().await?;
                ensure(listing.items.contains(&kept), || "it is missing from the list".into())?;
                ensure(!listing.items.iter().any(|item| item.effect == gone.effect), || {
                    "what was destroyed is still in the list".into()
                })
            })
        },
    },
    Check {
        id: "filesystems/released",
        what: "what was released is absent, and releasing it again is a success",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.filesystem().await?;
                bench.release_filesystem(made.effect).await?;
                must_be_absent(bench, made.effect).await?;
                bench.release_filesystem(made.effect).await
            })
        },
    },
    Check {
        id: "filesystems/restarted",
        what: "after a restart a filesystem is found, and the same id gives it again",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.filesystem_wish();
                let made = bench.create_filesystem(&wish).await?;
                bench.restart()?;
                let found = bench.lookup_filesystems(&[made.effect]).await?;
                ensure(found == [Lookup::Present(made.clone())], || format!("lookup says {found:?}"))?;
                let again = bench.create_filesystem(&wish).await?;
                ensure(made == again, || format!("first {}, then {}", made.filesystem_id, again.filesystem_id))
            })
        },
    },
];
