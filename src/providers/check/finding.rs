//! What was made is found by its effect id.

use bailiwick_actors::ports::Lookup;

use super::{
    Check,
    bench::{ensure, is_same, new_id, wrong},
};

pub const CHECKS: &[Check] = &[
    Check {
        id: "finding/present",
        what: "what was made is found by its effect id, with the instance that was told",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "finding/status",
        what: "a running machine is found running",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                match bench.lookup_one(made.effect).await? {
                    Lookup::Present(found) => {
                        ensure(found.status == made.status, || format!("it is {:?}", found.status))
                    }
                    _ => wrong("it is not found"),
                }
            })
        },
    },
    Check {
        id: "finding/absent",
        what: "an effect id that was never used is absent",
        run: |bench| Box::pin(async move { bench.must_be_absent(new_id()).await }),
    },
    Check {
        id: "finding/many-absent",
        what: "a hundred effect ids that were never used are absent, each",
        run: |bench| {
            Box::pin(async move {
                let ids: Vec<_> = (0..100).map(|_| new_id()).collect();
                let found = bench.lookup(&ids).await?;
                ensure(found.iter().all(|found| *found == Lookup::Absent), || "some are found".into())
            })
        },
    },
    Check {
        id: "finding/order",
        what: "answers come in the order of the questions",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(3);
                let made = bench.create_all(&wishes).await?;
                let ids = [made[2].effect, new_id(), made[0].effect, new_id(), made[1].effect];
                let found = bench.lookup(&ids).await?;
                let is_so = |at: usize, made| matches!(&found[at], Lookup::Present(seen) if is_same(seen, made));
                ensure(is_so(0, &made[2]) && is_so(2, &made[0]) && is_so(4, &made[1]), || {
                    "the answers come in another order".into()
                })?;
                ensure(found[1] == Lookup::Absent && found[3] == Lookup::Absent, || "an unused id was found".into())
            })
        },
    },
    Check {
        id: "finding/same-twice",
        what: "one effect id asked for twice in a call is answered twice",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let found = bench.lookup(&[made.effect, made.effect]).await?;
                ensure(found[0] == found[1], || "the answers differ".into())
            })
        },
    },
    Check {
        id: "finding/none",
        what: "a question about nothing has no answers",
        run: |bench| {
            Box::pin(async move {
                let found = bench.lookup(&[]).await?;
                ensure(found.is_empty(), || format!("it has {}", found.len()))
            })
        },
    },
    Check {
        id: "finding/changes-nothing",
        what: "looking up an unknown effect id creates nothing, and the id can still be created later",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                for _ in 0..3 {
                    bench.must_be_absent(wish.id).await?;
                }
                let made = bench.create(&wish).await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "finding/agrees-with-list",
        what: "lookup and list say the same",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let listing = bench.full_list().await?;
                let listed = listing.items.iter().find(|item| item.effect == made.effect);
                match (listed, bench.lookup_one(made.effect).await?) {
                    (Some(listed), Lookup::Present(found)) if is_same(listed, &found) => Ok(()),
                    _ => wrong("they disagree"),
                }
            })
        },
    },
];
