//! The checks of a process, one by one.

use std::time::Duration;

use rustix::process::test_kill_process_group;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Check, END_TIME_MAX, Raw, hello};
use crate::providers::{
    check::bench::{Judged, Stop, ensure, new_id, skipped, wrong},
    exec::{Read, wire},
};

/// How long it is listened for what should not come.
const QUIET: Duration = Duration::from_millis(100);

/// A question by id that it offers to answer.
fn lookup(id: u64, hello: &wire::Hello, count: usize) -> Result<Value, Stop> {
    let operation = match (hello.machines, hello.volumes) {
        (true, _) => "lookup-machines",
        (false, true) => "lookup-volumes",
        (false, false) if hello.filesystems => "lookup-filesystems",
        (false, false) => return skipped("it offers nothing"),
    };
    let items: Vec<_> = (0..count).map(|_| new_id()).collect();
    Ok(json!({"id": id, "op": operation, "items": items}))
}

/// Every item of an answer says absent.
fn all_absent(answer: &Value, count: usize) -> Judged {
    let is_absent = |item: &Value| item["ok"] == "absent";
    let is_so = answer["ok"].as_array().is_some_and(|items| items.len() == count && items.iter().all(is_absent));
    ensure(is_so, || format!("its answer does not say {count} times absent"))
}

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "process/greets",
        what: "it answers the first line in time, with version 1",
        run: |config| {
            Box::pin(async move {
                let (_raw, hello) = Raw::greeted(config).await?;
                ensure(hello.version == wire::VERSION, || format!("it speaks version {}", hello.version))
            })
        },
    },
    Check {
        id: "process/offers",
        what: "it offers machines, volumes or filesystems",
        run: |config| {
            Box::pin(async move {
                let (_raw, hello) = Raw::greeted(config).await?;
                ensure(hello.machines || hello.volumes || hello.filesystems, || "it offers nothing".into())
            })
        },
    },
    Check {
        id: "process/other-versions",
        what: "asked for an unknown protocol version, it answers with a fault or exits",
        run: |config| {
            Box::pin(async move {
                // Who greets nobody at all has refused nothing.
                Raw::greeted(config).await?;
                let mut raw = Raw::start(config)?;
                let question = hello(config, &json!([4_000_000_000_u32]));
                raw.write(format!("{question}\n").as_bytes()).await?;
                match raw.read().await {
                    Ok(answer) => ensure(answer["fault"]["code"].is_string(), || "it accepts that version".into()),
                    Err(_) => Ok(()),
                }
            })
        },
    },
    Check {
        id: "process/several-versions",
        what: "asked for versions 1 and later ones, it answers with one of them",
        run: |config| {
            Box::pin(async move {
                let mut raw = Raw::start(config)?;
                let answer = raw.ask(hello(config, &json!([4_000_000_000_u32, 1]))).await?;
                ensure(answer["ok"]["version"] == 1, || format!("it answers version {}", answer["ok"]["version"]))
            })
        },
    },
    Check {
        id: "process/unknown-operation",
        what: "an unknown operation is answered with `unimplemented`, and the program keeps running",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                let answer = raw.ask(json!({"id": 2, "op": "fold-laundry", "items": []})).await?;
                let code = &answer["fault"]["code"];
                ensure(code == "unimplemented", || format!("the code is {code}"))?;
                all_absent(&raw.ask(lookup(3, &hello, 1)?).await?, 1)
            })
        },
    },
    Check {
        id: "process/unknown-fields",
        what: "unknown fields are ignored",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                let mut question = lookup(2, &hello, 1)?;
                question["a-later-idea"] = json!({"deep": [1, 2, {"deeper": null}]});
                all_absent(&raw.ask(question).await?, 1)
            })
        },
    },
    Check {
        id: "process/unwanted-cancel",
        what: "cancelling a call that is not under way gets no answer",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                let word = json!({"cancel": {"effect": new_id()}});
                raw.write(format!("{word}\n").as_bytes()).await?;
                all_absent(&raw.ask(lookup(2, &hello, 1)?).await?, 1)
            })
        },
    },
    Check {
        id: "process/large-id",
        what: "the largest id that every language can hold comes back as it was",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                all_absent(&raw.ask(lookup((1 << 53) - 1, &hello, 1)?).await?, 1)
            })
        },
    },
    Check {
        id: "process/several-at-once",
        what: "requests that come at once are all answered, in whatever order",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                let mut lines = String::new();
                for id in 2..22 {
                    lines.push_str(&format!("{}\n", lookup(id, &hello, 1)?));
                }
                raw.write(lines.as_bytes()).await?;
                let mut answered = std::collections::BTreeSet::new();
                for _ in 2..22 {
                    let answer = raw.read().await?;
                    all_absent(&answer, 1)?;
                    answered.extend(answer["id"].as_u64());
                }
                ensure(answered == (2..22).collect(), || format!("it answered {answered:?}"))
            })
        },
    },
    Check {
        id: "process/in-pieces",
        what: "a request that comes in pieces is answered when it is whole",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                let question = format!("{}\n", lookup(2, &hello, 1)?);
                let (first, second) = question.split_at(question.len() / 2);
                raw.write(first.as_bytes()).await?;
                ensure(timeout(QUIET, raw.lines.next()).await.is_err(), || "it answered half a line".into())?;
                raw.write(second.as_bytes()).await?;
                all_absent(&raw.read().await?, 1)
            })
        },
    },
    Check {
        id: "process/long-line",
        what: "a request of several hundred kilobytes is answered",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                all_absent(&raw.ask(lookup(2, &hello, 10_000)?).await?, 10_000)
            })
        },
    },
    Check {
        id: "process/nothing-else",
        what: "it writes nothing but answers",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                all_absent(&raw.ask(lookup(2, &hello, 1)?).await?, 1)?;
                ensure(timeout(QUIET, raw.lines.next()).await.is_err(), || "it wrote more than the answer".into())
            })
        },
    },
    Check {
        id: "process/ends",
        what: "it ends with 0 when its standard input ends",
        run: |config| {
            Box::pin(async move {
                let (raw, _) = Raw::greeted(config).await?;
                let status = raw.end().await?;
                ensure(status.success(), || format!("it ended with {status}"))
            })
        },
    },
    Check {
        id: "process/ends-before-greeting",
        what: "it ends when its standard input ends before anything came",
        run: |config| {
            Box::pin(async move {
                Raw::greeted(config).await?;
                Raw::start(config)?.end().await.map(drop)
            })
        },
    },
    Check {
        id: "process/answers-before-ending",
        what: "what was asked before its standard input ended is answered",
        run: |config| {
            Box::pin(async move {
                let (mut raw, hello) = Raw::greeted(config).await?;
                let question = format!("{}\n", lookup(2, &hello, 1)?);
                raw.write(question.as_bytes()).await?;
                let Raw { mut child, stdin, mut lines, .. } = raw;
                drop(stdin);
                let read = timeout(END_TIME_MAX, lines.next()).await;
                let Ok(Ok(Read::Line(line))) = read else { return wrong("it ended without an answer") };
                all_absent(&serde_json::from_slice(&line).unwrap_or_default(), 1)?;
                match timeout(END_TIME_MAX, child.wait()).await {
                    Ok(Ok(status)) => ensure(status.success(), || format!("it ended with {status}")),
                    _ => wrong("it does not end"),
                }
            })
        },
    },
    Check {
        id: "process/leaves-nobody",
        what: "after it exits, no process of its process group is left",
        run: |config| {
            Box::pin(async move {
                let (raw, _) = Raw::greeted(config).await?;
                let pid = raw.pid;
                raw.end().await?;
                let is_left = pid.is_some_and(|pid| test_kill_process_group(pid).is_ok());
                ensure(!is_left, || "a process is left running".into())
            })
        },
    },
];
