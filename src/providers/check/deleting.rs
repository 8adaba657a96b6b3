//! What is deleted is gone, and deleting it again is no fault.

use super::{
    Check,
    bench::{ensure, new_id},
};

pub const CHECKS: &[Check] = &[
    Check {
        id: "deleting/gone",
        what: "what was deleted is absent",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.delete(&[made.effect]).await?;
                bench.must_be_absent(made.effect).await
            })
        },
    },
    Check {
        id: "deleting/again",
        what: "deleting again is a success",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                for _ in 0..3 {
                    bench.delete(&[made.effect]).await?;
                }
                bench.must_be_absent(made.effect).await
            })
        },
    },
    Check {
        id: "deleting/never-made",
        what: "deleting what was never made is a success",
        run: |bench| Box::pin(async move { bench.delete(&[new_id()]).await }),
    },
    Check {
        id: "deleting/none",
        what: "deleting nothing is a success",
        run: |bench| Box::pin(async move { bench.delete(&[]).await }),
    },
    Check {
        id: "deleting/bulk-mixed",
        what: "a bulk call deletes what is there, and passes over what is not",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(3);
                bench.create_all(&wishes).await?;
                bench.delete(&[wishes[0].id, new_id(), wishes[2].id, new_id()]).await?;
                bench.must_be_absent(wishes[0].id).await?;
                bench.must_be_absent(wishes[2].id).await
            })
        },
    },
    Check {
        id: "deleting/others-stay",
        what: "deleting one machine leaves the others",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(3);
                let made = bench.create_all(&wishes).await?;
                bench.delete(&[made[1].effect]).await?;
                bench.must_be_present(&made[0]).await?;
                bench.must_be_present(&made[2]).await
            })
        },
    },
    Check {
        id: "deleting/namesake-stays",
        what: "deleting one of two machines of the same name leaves the other",
        run: |bench| {
            Box::pin(async move {
                let (first, mut second) = (bench.wish(), bench.wish());
                second.machine = first.machine.clone();
                let made = bench.create_all(&[first, second]).await?;
                bench.delete(&[made[0].effect]).await?;
                bench.must_be_present(&made[1]).await
            })
        },
    },
    Check {
        id: "deleting/id-afterwards",
        what: "asking for a deleted id again is refused or really makes it: lookup agrees with the answer",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                bench.create(&wish).await?;
                bench.delete(&[wish.id]).await?;
                match bench.try_create(vec![wish.clone()]).await?.remove(0) {
                    Ok(made) => bench.must_be_present(&made).await,
                    Err(_) => bench.must_be_absent(wish.id).await,
                }
            })
        },
    },
    Check {
        id: "deleting/bulk-large",
        what: "a bulk call of 120 items is answered",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let ids: Vec<_> = (0..119).map(|_| new_id()).chain([made.effect]).collect();
                bench.delete(&ids).await?;
                let found = bench.lookup(&ids).await?;
                ensure(found.iter().all(|found| *found == bailiwick_actors::ports::Lookup::Absent), || {
                    "not all are absent".into()
                })
            })
        },
    },
];
