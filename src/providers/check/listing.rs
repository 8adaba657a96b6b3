//! A list says what there is, whether that is all, and as of when.

use std::collections::BTreeSet;

use bailiwick_actors::ports::InstanceStatus;

use super::{
    Check,
    bench::{Stop, ensure, is_same, wrong},
    creating::is_bounded,
};

pub const CHECKS: &[Check] = &[
    Check {
        id: "listing/has-it",
        what: "a complete list that is newer than a machine has the machine",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let listing = bench.full_list().await?;
                ensure(listing.items.iter().any(|item| is_same(item, &made)), || "it is missing from the list".into())
            })
        },
    },
    Check {
        id: "listing/never-lies",
        what: "every list that says it is complete and new has the machine",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let since = bench.clock().now();
                for at in 0..20 {
                    let listing = bench.list().await?;
                    let has_it = listing.items.iter().any(|item| is_same(item, &made));
                    let claims = listing.complete && since <= listing.as_of;
                    ensure(has_it || !claims, || format!("list {at} says so, and lacks it"))?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "listing/complete",
        what: "at least some lists are marked complete and up to date",
        run: |bench| {
            Box::pin(async move {
                match bench.full_list().await {
                    Ok(_) => Ok(()),
                    Err(Stop::Skipped(why) | Stop::Wrong(why)) => wrong(why),
                }
            })
        },
    },
    Check {
        id: "listing/not-from-the-future",
        what: "a list is not newer than its answer",
        run: |bench| {
            Box::pin(async move {
                let listing = bench.list().await?;
                let now = bench.clock().now();
                ensure(listing.as_of <= now, || format!("as of {}, answered at {now}", listing.as_of))
            })
        },
    },
    Check {
        id: "listing/status",
        what: "a running machine is listed running",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let listing = bench.full_list().await?;
                let item = listing.items.iter().find(|item| item.effect == made.effect);
                ensure(item.is_some_and(|item| item.status == InstanceStatus::Running), || {
                    "it is not listed as running".into()
                })
            })
        },
    },
    Check {
        id: "listing/no-twins",
        what: "no effect id and no instance is listed twice",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(5);
                bench.create_all(&wishes).await?;
                let listing = bench.full_list().await?;
                let effects: BTreeSet<_> = listing.items.iter().map(|item| item.effect).collect();
                let instances: BTreeSet<_> = listing.items.iter().map(|item| &item.instance).collect();
                let count = listing.items.len();
                ensure(effects.len() == count && instances.len() == count, || {
                    format!("{count} items are {} effect ids and {} instances", effects.len(), instances.len())
                })
            })
        },
    },
    Check {
        id: "listing/bounded",
        what: "every item of a list has bounded ids and facts",
        run: |bench| {
            Box::pin(async move {
                bench.machine().await?;
                let listing = bench.full_list().await?;
                let bad = listing.items.iter().find(|item| !is_bounded(item));
                ensure(bad.is_none(), || format!("instance {:?} has not", bad.map(|bad| &bad.instance)))
            })
        },
    },
    Check {
        id: "listing/many",
        what: "a list of many machines has them all",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(130);
                let answers = bench.try_create(wishes).await?;
                let made: BTreeSet<_> = answers.into_iter().flatten().map(|made| made.effect).collect();
                let listing = bench.full_list().await?;
                let listed: BTreeSet<_> = listing.items.iter().map(|item| item.effect).collect();
                let missing = made.difference(&listed).count();
                ensure(missing == 0, || format!("{missing} of {} are missing", made.len()))
            })
        },
    },
    Check {
        id: "listing/settled",
        what: "two lists are the same while nothing changes",
        run: |bench| {
            Box::pin(async move {
                bench.machine().await?;
                let keys = |items: Vec<bailiwick_actors::ports::MachineInstance>| -> BTreeSet<_> {
                    items.into_iter().map(|item| (item.effect, item.instance)).collect()
                };
                let first = keys(bench.full_list().await?.items);
                let second = keys(bench.full_list().await?.items);
                ensure(first == second, || "the two lists differ".into())
            })
        },
    },
    Check {
        id: "listing/forgets",
        what: "a complete list does not have what was deleted",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.delete(&[made.effect]).await?;
                let listing = bench.full_list().await?;
                ensure(!listing.items.iter().any(|item| item.effect == made.effect), || {
                    "it is still in the list".into()
                })
            })
        },
    },
];
