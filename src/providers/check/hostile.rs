//! Names and texts that somebody chose with care.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{machine::Workload, vocab::Name};

use super::{
    Check,
    bench::{Bench, Judged, Stop, ensure, wrong},
};

/// Texts that break what is put together from texts.
const TEXTS: [&str; 10] = [
    "",
    "'; exit 1; '",
    "\"quoted\" \\ back",
    "two\nlines\r\n",
    "größe 試験 🦀 e\u{301}",
    "\u{202e}right to left\u{2066}",
    "\u{0}\u{1}\u{1b}[31m",
    "../../../etc/passwd",
    "{\"id\":1,\"ok\":null}",
    "--help",
];

fn name(text: &str) -> Result<Name, Stop> {
    text.parse().map_err(|error| Stop::Wrong(format!("{error}")))
}

/// A machine of this name comes and goes as any other.
async fn named(bench: &mut Bench, text: &str) -> Judged {
    let mut wish = bench.wish();
    wish.machine = name(text)?;
    let made = bench.create(&wish).await?;
    ensure(made.machine.as_str() == text, || format!("it is called {}", made.machine))?;
    bench.must_be_present(&made).await?;
    bench.delete(&[wish.id]).await?;
    bench.must_be_absent(wish.id).await
}

/// A machine with this workload comes and goes as any other.
async fn working(bench: &mut Bench, command: Vec<String>, env: BTreeMap<String, String>) -> Judged {
    let mut wish = bench.wish();
    Arc::make_mut(&mut wish.spec).workloads = vec![Workload { env, ..Workload::new(name("work")?, command) }];
    let made = bench.create(&wish).await?;
    bench.must_be_present(&made).await
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "hostile/longest-name",
        what: "a machine may have the longest name, of 63 letters",
        run: |bench| Box::pin(async move { named(bench, &"n".repeat(63)).await }),
    },
    Check {
        id: "hostile/shortest-name",
        what: "a machine may have the shortest name, a digit",
        run: |bench| Box::pin(async move { named(bench, "0").await }),
    },
    Check {
        id: "hostile/number-name",
        what: "a machine name may look like a number too large for an integer",
        run: |bench| Box::pin(async move { named(bench, "00000000000000000000000000000000000009").await }),
    },
    Check {
        id: "hostile/reserved-name",
        what: "a machine may be named like a device, a keyword or one of our operations",
        run: |bench| {
            Box::pin(async move {
                for text in ["nul", "con", "null", "true", "none", "hello", "list-machines", "tmp", "proc"] {
                    named(bench, text).await?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "hostile/labels",
        what: "labels may hold any text",
        run: |bench| {
            Box::pin(async move {
                let mut wish = bench.wish();
                Arc::make_mut(&mut wish.spec).labels =
                    TEXTS.iter().map(|text| (format!("key {text}"), (*text).to_owned())).collect();
                let made = bench.create(&wish).await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "hostile/many-labels",
        what: "there may be 64 labels of a kilobyte",
        run: |bench| {
            Box::pin(async move {
                let mut wish = bench.wish();
                Arc::make_mut(&mut wish.spec).labels =
                    (0..64).map(|n| (format!("label-{n}"), "ü".repeat(512))).collect();
                let made = bench.create(&wish).await?;
                bench.must_be_present(&made).await
            })
        },
    },
    Check {
        id: "hostile/arguments",
        what: "arguments of workloads may hold any text",
        run: |bench| {
            Box::pin(async move {
                // A program cannot be given the byte 0, so nobody is asked to.
                let texts = TEXTS.iter().filter(|text| !text.contains('\0')).map(|text| (*text).to_owned());
                working(bench, ["true".to_owned()].into_iter().chain(texts).collect(), BTreeMap::new()).await
            })
        },
    },
    Check {
        id: "hostile/environment",
        what: "variables of workloads may hold any text",
        run: |bench| {
            Box::pin(async move {
                let texts = TEXTS.iter().filter(|text| !text.contains('\0')).enumerate();
                let env = texts.map(|(n, text)| (format!("VARIABLE_{n}"), (*text).to_owned())).collect();
                working(bench, vec!["true".to_owned()], env).await
            })
        },
    },
    Check {
        id: "hostile/no-shell",
        what: "nothing that stands in names, labels or workloads is run by a shell",
        run: |bench| {
            Box::pin(async move {
                let dir = std::env::temp_dir().join(format!("bailiwick-check-{}", uuid::Uuid::new_v4()));
                let canary = dir.to_string_lossy().into_owned();
                let traps = [format!("$(touch {canary})"), format!("`touch {canary}`"), format!("; touch {canary} #")];
                let mut wish = bench.wish();
                Arc::make_mut(&mut wish.spec).labels = traps.iter().map(|trap| (trap.clone(), trap.clone())).collect();
                let command = ["true".to_owned()].into_iter().chain(traps.clone()).collect();
                let env = traps.iter().enumerate().map(|(n, trap)| (format!("TRAP_{n}"), trap.clone())).collect();
                Arc::make_mut(&mut wish.spec).workloads =
                    vec![Workload { env, ..Workload::new(name("trap")?, command) }];
                bench.create(&wish).await?;
                bench.delete(&[wish.id]).await?;
                match dir.exists() {
                    true => wrong(format!("something ran `touch {canary}`")),
                    false => Ok(()),
                }
            })
        },
    },
    Check {
        id: "hostile/large-spec",
        what: "a machine with 16 workloads of 16 KiB is made, or refused with a fault of its own",
        run: |bench| {
            Box::pin(async move {
                let mut wish = bench.wish();
                let workload = |n: usize| {
                    let command = vec!["true".to_owned(), "x".repeat(16 * 1024)];
                    Ok(Workload::new(name(&format!("work-{n}"))?, command))
                };
                Arc::make_mut(&mut wish.spec).workloads = (0..16).map(workload).collect::<Result<_, Stop>>()?;
                match bench.try_create(vec![wish.clone()]).await?.remove(0) {
                    Ok(made) => bench.must_be_present(&made).await,
                    Err(_) => bench.must_be_absent(wish.id).await,
                }
            })
        },
    },
];
