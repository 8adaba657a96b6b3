//! Several calls at the same time, and calls that nobody waits for.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::Lookup,
    vocab::{Fault, FaultCode},
};
use tokio::task::JoinSet;

use super::{
    Check,
    bench::{Bench, Judged, Stop, ensure, every, new_id, pause, skipped, wrong},
};

/// A call was cut short or given up on: whatever became of it, what lookup says has to stay so.
async fn settles(bench: &Bench, id: bailiwick_actors::vocab::EffectId) -> Judged {
    match bench.lookup_one(id).await? {
        Lookup::Present(made) => {
            for _ in 0..5 {
                pause().await;
                bench.must_be_present(&made).await?;
            }
        }
        _ => {
            for _ in 0..5 {
                pause().await;
                bench.must_be_absent(id).await?;
            }
        }
    }
    Ok(())
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "meanwhile/creating",
        what: "eight machines made at the same time are eight instances",
        run: |bench| {
            Box::pin(async move {
                let mut calls = JoinSet::new();
                for wish in bench.wishes(8) {
                    let provider = bench.provider()?;
                    calls.spawn(async move { provider.create(vec![wish]).await });
                }
                let mut instances = BTreeSet::new();
                for answers in bench.timed("create", calls.join_all()).await? {
                    let answers = answers.map_err(|fault| Stop::Wrong(format!("create answered {fault}")))?;
                    instances.extend(every("create", answers)?.into_iter().map(|made| made.instance));
                }
                ensure(instances.len() == 8, || format!("they are {}", instances.len()))
            })
        },
    },
    Check {
        id: "meanwhile/looking",
        what: "lookups at the same time do not get one another's answers",
        run: |bench| {
            Box::pin(async move {
                let wishes = bench.wishes(6);
                let made = bench.create_all(&wishes).await?;
                let mut calls = JoinSet::new();
                for made in made {
                    let provider = bench.provider()?;
                    calls.spawn(async move { (made.effect, provider.lookup(vec![made.effect]).await) });
                }
                for (effect, answers) in bench.timed("lookup", calls.join_all()).await? {
                    let answers = answers.map_err(|fault| Stop::Wrong(format!("lookup answered {fault}")))?;
                    let is_of_it = |found: &Lookup<_>| match found {
                        Lookup::Present(seen) => {
                            let seen: &bailiwick_actors::ports::StartedMachine = seen;
                            seen.instance.effect == effect
                        }
                        Lookup::Absent => false,
                        Lookup::Unknown => true,
                    };
                    ensure(every("lookup", answers)?.iter().all(is_of_it), || "one of them did".into())?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "meanwhile/listing-while-creating",
        what: "lists that come while machines are made are answered",
        run: |bench| {
            Box::pin(async move {
                let (provider, other) = (bench.provider()?, bench.provider()?);
                let wishes = bench.wishes(6);
                let create = async move { provider.create(wishes).await };
                let list = async move {
                    for _ in 0..5 {
                        other.list().await?;
                    }
                    Ok::<_, Fault>(())
                };
                let (made, listed) = bench.timed("create and list", async { tokio::join!(create, list) }).await?;
                listed.map_err(|fault| Stop::Wrong(format!("list answered {fault}")))?;
                every("create", made.map_err(|fault| Stop::Wrong(format!("create answered {fault}")))?).map(drop)
            })
        },
    },
    Check {
        id: "meanwhile/deleting-others",
        what: "making some machines and deleting others at the same time does both",
        run: |bench| {
            Box::pin(async move {
                let (old, new) = (bench.wishes(4), bench.wishes(4));
                bench.create_all(&old).await?;
                let (provider, other) = (bench.provider()?, bench.provider()?);
                let (old, ids): (Vec<_>, Vec<_>) =
                    (old.iter().map(|wish| wish.id).collect(), new.iter().map(|w| w.id).collect());
                let (to_delete, to_make) = (old.clone(), new);
                let delete = async move { provider.delete(to_delete).await };
                let create = async move { other.create(to_make).await };
                let (gone, made) = bench.timed("delete and create", async { tokio::join!(delete, create) }).await?;
                every("delete", gone.map_err(|fault| Stop::Wrong(format!("delete answered {fault}")))?)?;
                every("create", made.map_err(|fault| Stop::Wrong(format!("create answered {fault}")))?)?;
                let found = bench.lookup(&[old, ids].concat()).await?;
                let present = found.iter().map(|found| matches!(found, Lookup::Present(_)));
                ensure(present.eq([false, false, false, false, true, true, true, true]), || "lookup disagrees".into())
            })
        },
    },
    Check {
        id: "meanwhile/given-up",
        what: "a call that is given up on happens or does not: what lookup says afterwards stays so",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let provider = bench.provider()?;
                let call = provider.create(vec![wish.clone()]);
                // Long enough for the call to go out, and too short for most to be answered.
                drop(tokio::time::timeout(std::time::Duration::from_millis(2), call).await);
                settles(bench, wish.id).await?;
                let made = bench.create(&wish).await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "meanwhile/given-up-deleting",
        what: "a deletion that is given up on can be asked for again",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let provider = bench.provider()?;
                let call = provider.delete(vec![made.effect]);
                drop(tokio::time::timeout(std::time::Duration::from_millis(2), call).await);
                bench.delete(&[made.effect]).await?;
                bench.must_be_absent(made.effect).await?;
                // The first one may still come, and finds nothing.
                settles(bench, made.effect).await
            })
        },
    },
    Check {
        id: "meanwhile/cancel-nothing",
        what: "cancelling what is not under way does nothing",
        run: |bench| {
            Box::pin(async move {
                let made = bench.machine().await?;
                let provider = bench.provider()?;
                provider.cancel(new_id());
                provider.cancel(made.effect);
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "meanwhile/cancel-before",
        what: "cancelling before a call does not affect it",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                bench.provider()?.cancel(wish.id);
                let made = bench.create(&wish).await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "meanwhile/cancel-under-way",
        what: "a call that is cancelled is answered, and what lookup says afterwards stays so",
        run: |bench| {
            Box::pin(async move {
                let wish = bench.wish();
                let (provider, canceler) = (bench.provider()?, bench.provider()?);
                let asked = wish.clone();
                let create = async move { provider.create(vec![asked]).await };
                let cancel = async {
                    tokio::task::yield_now().await;
                    canceler.cancel(wish.id);
                };
                let (answer, ()) = bench.timed("create", async { tokio::join!(create, cancel) }).await?;
                let fault = match answer {
                    Err(fault) => Some(fault),
                    Ok(answers) => answers.into_iter().find_map(Result::err),
                };
                if let Some(fault) = fault.filter(|fault| fault.code != FaultCode::Canceled) {
                    return wrong(format!("it answered {fault}"));
                }
                settles(bench, wish.id).await
            })
        },
    },
    Check {
        id: "meanwhile/progress",
        what: "no progress is reported for a call that is not under way",
        run: |bench| {
            Box::pin(async move {
                let provider = bench.provider()?;
                let able = bench.timed("capabilities", provider.capabilities()).await?;
                let able = able.map_err(|fault| Stop::Wrong(format!("capabilities answered {fault}")))?;
                if !able.progress {
                    return skipped("it does not report progress");
                }
                let made = bench.machine().await?;
                let told = provider.progress(made.effect).or_else(|| provider.progress(new_id()));
                ensure(told.is_none(), || format!("{told:?}"))
            })
        },
    },
];
