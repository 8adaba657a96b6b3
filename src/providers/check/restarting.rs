//! What was made outlives the one who made it.

use bailiwick_actors::ports::InstanceStatus;

use super::{
    Check,
    bench::{ensure, is_same, new_id},
};

pub const CHECKS: &[Check] = &[
    Check {
        id: "restarting/found",
        what: "after a restart a machine is found by its effect id",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.restart()?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "restarting/listed",
        what: "after a restart a complete list has it, running",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.restart()?;
                let listing = bench.full_list().await?;
                let item = listing.items.iter().find(|item| is_same(item, &made));
                ensure(item.is_some(), || "it is missing from the list".into())?;
                ensure(item.is_some_and(|item| item.status == InstanceStatus::Running), || "it does not run".into())
            })
        },
    },
    Check {
        id: "restarting/adopted",
        what: "after a restart the same effect id gives the same instance",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let made = bench.create(&wish).await?;
                bench.restart()?;
                let again = bench.create(&wish).await?;
                ensure(is_same(&made, &again), || format!("first {}, then {}", made.instance, again.instance))
            })
        },
    },
    Check {
        id: "restarting/deleted",
        what: "after a restart a machine can be deleted",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.restart()?;
                bench.delete(&[made.effect]).await?;
                bench.must_be_absent(made.effect).await
            })
        },
    },
    Check {
        id: "restarting/stays-deleted",
        what: "what was deleted does not come back with a restart",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.delete(&[made.effect]).await?;
                bench.restart()?;
                bench.must_be_absent(made.effect).await
            })
        },
    },
    Check {
        id: "restarting/nothing-by-itself",
        what: "a restart makes nothing by itself",
        run: |bench| {
            Box::pin(async move {
                let id = new_id();
                bench.restart()?;
                bench.must_be_absent(id).await?;
                let first = bench.full_list().await?.items.len();
                bench.restart()?;
                let second = bench.full_list().await?.items.len();
                ensure(first == second, || format!("{first} machines became {second}"))
            })
        },
    },
    Check {
        id: "restarting/after-a-kill",
        what: "after it was killed, what it had made is found, and still runs",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                bench.kill()?;
                bench.restart()?;
                bench.must_be_present(&made).await?;
                let listing = bench.full_list().await?;
                let item = listing.items.iter().find(|item| is_same(item, &made));
                ensure(item.is_some_and(|item| item.status == InstanceStatus::Running), || "it does not run".into())
            })
        },
    },
    Check {
        id: "restarting/killed-while-creating",
        what: "killed in the middle of creating, it makes no second instance when it is asked again",
        run: |bench| {
            Box::pin(async move {
                for wait_ms in [0, 1, 2, 4, 8, 16, 32] {
                    let wish = bench.wish();
                    let provider = bench.provider()?;
                    let asked = wish.clone();
                    let call = tokio::spawn(async move { provider.create(vec![asked]).await.map(drop) });
                    tokio::time::sleep(std::time::Duration::from_millis(wait_ms)).await;
                    bench.kill()?;
                    // Whatever it answers: it was killed.
                    drop(bench.timed("create", call).await?);
                    bench.restart()?;
                    bench.lookup_one(wish.id).await?;
                    let made = bench.create(&wish).await?;
                    let listing = bench.full_list().await?;
                    let count = listing.items.iter().filter(|item| item.machine == wish.machine).count();
                    ensure(count == 1, || format!("killed after {wait_ms} ms, there are {count}"))?;
                    bench.must_be_present(&made).await?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "restarting/killed-while-deleting",
        what: "killed in the middle of deleting, it deletes when it is asked again",
        run: |bench| {
            Box::pin(async move {
                for wait_ms in [0, 1, 2, 4, 8, 16] {
                    let made = bench.machine().await?;
                    let provider = bench.provider()?;
                    let call = tokio::spawn(async move { provider.delete(vec![made.effect]).await.map(drop) });
                    tokio::time::sleep(std::time::Duration::from_millis(wait_ms)).await;
                    bench.kill()?;
                    drop(bench.timed("delete", call).await?);
                    bench.restart()?;
                    bench.delete(&[made.effect]).await?;
                    bench.must_be_absent(made.effect).await?;
                }
                Ok(())
            })
        },
    },
];
