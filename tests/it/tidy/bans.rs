//! What is banned, and why.

use super::{Fault, source::Source};

/// What is not to be found, and the reason that is given.
struct Ban {
    /// Tokens one after the other.
    tokens: &'static [&'static str],
    reason: &'static str,
    /// Where it holds.
    holds: fn(path: &str, is_test: bool) -> bool,
    /// Files that may, or folders with a slash at the end, and why.
    allowed: &'static [(&'static str, &'static str)],
}

const WALL_CLOCK: &str = "time comes from the clock that the node was given, or simulation and replay would differ";
const SLEEP: &str = "a test that sleeps is slow on a good day and fails on a bad one: wait for what has to happen";
const MAPS: &str =
    "the order of a hash map differs from run to run, and a decision must not: use a BTreeMap or BTreeSet";

/// Those who may read the monotonic clock: what they do is never simulated and never decides anything.
const STOPWATCHES: &[(&str, &str)] = &[
    ("src/clock.rs", "the one reader of the wall clock"),
    ("src/agent/", "an agent is a process of its own, outside of every simulation"),
    ("src/providers/local", "waits for real processes to end, by the monotonic clock"),
    ("src/providers/exec/", "waits for a process that is nobody's simulation, on a runtime of its own"),
    ("journal/src/open/mod.rs", "measures how long opening took, for the report"),
    ("journal/src/background/verify.rs", "paces what is read behind an opening; simulation has no such threads"),
    ("actors/src/shell/budgets.rs", "tokio's clock, which the simulation pauses and moves"),
    ("actors/src/shell/services.rs", "tokio's clock, which the simulation pauses and moves"),
    ("actors/src/supervisor/machines/shell.rs", "tokio's clock, which the simulation pauses and moves"),
    ("actors/src/supervisor/replica_sets/shell.rs", "tokio's clock, which the simulation pauses and moves"),
    ("src/simulation/clock.rs", "tokio's paused clock: it is the simulated time"),
    ("src/cli/simulate.rs", "measures how much faster than real time a simulation was"),
    ("src/cli/chaos/shrink.rs", "the bound of a search at the command line"),
    ("src/cli/chaos/live", "how long a real node is tormented, and real processes stand still"),
    ("src/cli/up.rs", "the bound of a wait at the command line"),
    ("src/cli/wait.rs", "the bound of a wait at the command line"),
];

/// Those who wait for real processes, which tell nobody when they are ready.
const WAITERS: &[(&str, &str)] = &[
    (
        "tests/local/support.rs",
        "`eventually`, the one function that looks again and again, and ends as soon as it is so",
    ),
    (
        "benches/compare/",
        "waits until nobody else is at work on the machine, and for the journal to have nothing left to do",
    ),
    ("benches/idle.rs", "looks at a node that has nothing to do, for as long as it was asked to"),
    ("benches/real/mod.rs", "waits for a real node to listen"),
    ("tests/it/up/support.rs", "`pause`, between two looks at a real process; nothing else waits"),
    ("tests/exec/support.rs", "`eventually`, which ends as soon as it is so"),
    ("tests/local/node.rs", "the stand-in for a node looks for callers, and for its end"),
];

const BANS: &[Ban] = &[
    Ban {
        tokens: &["do_send", "("],
        reason: "it ignores the mailbox's bound and is silent when the mailbox is closed: use `send` or `try_send`",
        holds: |_, _| true,
        allowed: &[],
    },
    Ban {
        tokens: &["run_later", "("],
        reason: "an actor's restart drops its timers: what is due later belongs to the schedule",
        holds: |_, _| true,
        allowed: &[],
    },
    Ban {
        tokens: &["ctx", ".", "wait", "("],
        reason: "several in one handler run last-in first-out: use `AtomicResponse`, or a message that comes back",
        holds: |_, _| true,
        allowed: &[],
    },
    Ban {
        tokens: &["Arbiter", ":", ":", "new"],
        reason: "actors of two arbiters interleave freely, and an ask between them costs six times: all live on one",
        holds: |_, _| true,
        allowed: &[],
    },
    Ban {
        tokens: &["SystemTime", ":", ":", "now"],
        reason: WALL_CLOCK,
        holds: |path, _| !is_bench(path),
        allowed: &[("src/clock.rs", "the one reader of the wall clock")],
    },
    Ban {
        tokens: &["Instant", ":", ":", "now"],
        reason: WALL_CLOCK,
        holds: |path, is_test| !is_test && !is_bench(path),
        allowed: STOPWATCHES,
    },
    Ban {
        tokens: &["HashMap"],
        reason: MAPS,
        holds: |path, is_test| is_decider(path) && !is_test,
        allowed: &[("actors/src/contract/fold.rs", "asked for one name at a time; the names in order stand beside it")],
    },
    Ban { tokens: &["HashSet"], reason: MAPS, holds: |path, is_test| is_decider(path) && !is_test, allowed: &[] },
    Ban {
        tokens: &["sync", ":", ":", "watch"],
        reason: "it wakes those who wait in an order of chance, and simulation must have none: see `Growth`",
        holds: |path, is_test| path.starts_with("actors/src/") && !is_test,
        allowed: &[("actors/src/shell/services.rs", "that the journal has failed is waited for by the node alone")],
    },
    Ban { tokens: &["thread", ":", ":", "sleep"], reason: SLEEP, holds: |_, is_test| is_test, allowed: WAITERS },
    Ban {
        tokens: &["time", ":", ":", "sleep"],
        reason: SLEEP,
        holds: |_, is_test| is_test,
        allowed: &[
            ("actors/tests/shell/support.rs", "virtual time: the clock is paused, and nobody waits"),
            ("tests/replica_sets/lab.rs", "`pause`, between two looks at real servers; elsewhere the clock is paused"),
            ("benches/compare/", "what is measured has to come to rest first; nothing passes or fails by it"),
        ],
    },
];

/// Benches measure with a stopwatch.
fn is_bench(path: &str) -> bool {
    path.starts_with("benches/") || path.contains("/benches/")
}

fn is_decider(path: &str) -> bool {
    path.starts_with("actors/src/") && !path.contains("/shell/") && !path.ends_with("/shell.rs")
}

pub(super) fn faults(source: &Source) -> Vec<Fault> {
    let name = source.name();
    let mut faults: Vec<Fault> = BANS.iter().flat_map(|ban| ban_faults(ban, source, &name)).collect();
    faults.extend(unbiased_selects(source));
    faults.extend(machine_paths(source));
    faults
}

fn ban_faults(ban: &Ban, source: &Source, name: &str) -> Vec<Fault> {
    if ban.allowed.iter().any(|(path, _)| name.starts_with(path)) {
        return Vec::new();
    }
    let (what, reason) = (ban.tokens.concat(), ban.reason);
    let mut lines: Vec<usize> = source
        .runs(ban.tokens)
        .into_iter()
        .map(|at| &source.tokens[at])
        .filter(|token| (ban.holds)(name, token.is_test))
        .map(|token| token.line)
        .collect();
    // `use std::{thread::{self, sleep}}` names it too.
    let words: Vec<&str> = ban.tokens.iter().copied().filter(|token| *token != ":").collect();
    for path in source.paths().iter().filter(|path| words.len() > 1 && (ban.holds)(name, path.is_test)) {
        let ends =
            path.segments.len() >= words.len() && path.segments[path.segments.len() - words.len()..] == words[..];
        if ends && !lines.contains(&path.line) {
            lines.push(path.line);
        }
    }
    lines.into_iter().map(|line| format!("{}: `{what}`: {reason}", source.place(line))).collect()
}

fn unbiased_selects(source: &Source) -> Vec<Fault> {
    let reason = "without `biased` the branches are tried in an order of chance, and simulation must have none";
    let is_unbiased = |at: &usize| source.tokens.get(at + 3).is_none_or(|token| token.text != "biased");
    let selects = source.runs(&["select", "!"]).into_iter().filter(is_unbiased);
    selects.map(|at| format!("{}: `select!`: {reason}", source.place(source.tokens[at].line))).collect()
}

fn machine_paths(source: &Source) -> Vec<Fault> {
    let reason = "a path of one machine means nothing on another: take it from the configuration";
    let is_path = |text: &str| {
        let text = text.trim_start_matches(['b', 'c', 'r', '#']);
        text.strip_prefix('"').is_some_and(|text| {
            ["/work", "/home", "/tmp"]
                .iter()
                .any(|start| text.strip_prefix(start).is_some_and(|rest| rest.starts_with(['/', '"'])))
        })
    };
    let found = source.tokens.iter().filter(|token| !token.is_test && is_path(&token.text));
    found.map(|token| format!("{}: {}: {reason}", source.place(token.line), token.text)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn faults_in(path: &str, text: &str) -> Vec<Fault> {
        faults(&Source::new(Path::new(path), text))
    }

    #[test]
    fn what_is_planted_is_found() {
        for (path, text) in [
            ("actors/src/shell/registry.rs", "fn f() { address.do_send(Stop); }"),
            ("actors/src/shell/registry.rs", "fn f() { ctx.run_later(wait, |_, _| ()); }"),
            ("actors/src/shell/registry.rs", "fn f() { ctx.wait(later); }"),
            ("actors/src/shell/registry.rs", "fn f() { Arbiter::new(); }"),
            ("src/node.rs", "fn f() { let now = std::time::SystemTime::now(); }"),
            ("src/node.rs", "fn f() { let now = Instant::now(); }"),
            ("src/node.rs", "async fn f() { tokio::select! { _ = a => (), _ = b => () } }"),
            ("actors/src/machine/state.rs", "struct S { seen: std::collections::HashMap<u8, u8> }"),
            ("actors/src/machine/state.rs", "use std::collections::{BTreeMap, HashSet};"),
            ("actors/src/shell/registry.rs", "use tokio::{sync::watch, time::Instant};"),
            ("tests/it/x.rs", "fn f() { std::thread::sleep(wait); }"),
            ("tests/it/x.rs", "use std::{thread::{self, sleep}, time::Duration};"),
            ("src/node.rs", "#[cfg(test)] mod tests { async fn f() { tokio::time::sleep(wait).await; } }"),
            ("src/node.rs", r#"const DIRECTORY: &str = "/home/somebody/data";"#),
            ("src/node.rs", r##"const DIRECTORY: &str = r#"/tmp"#;"##),
        ] {
            let faults = faults_in(path, text);
            assert!(!faults.is_empty(), "{path}: {text}");
            assert!(faults[0].starts_with(&format!("{path}:1: ")), "{faults:?}");
        }
    }

    #[test]
    fn what_is_allowed_is_let_through() {
        for (path, text) in [
            ("src/clock.rs", "fn f() { SystemTime::now(); Instant::now(); }"),
            ("src/agent/link.rs", "fn f() { Instant::now(); }"),
            ("tests/it/x.rs", r#"fn f() { let begin = Instant::now(); run("/tmp/x"); }"#),
            ("src/node.rs", "async fn f() { tokio::select! { biased; _ = a => (), } }"),
            ("actors/src/shell/registry.rs", "use std::collections::HashMap;"),
            (
                "actors/src/machine/state.rs",
                "// A HashMap would not do: do_send(x), \"/home/x\".\nfn f() -> &'static str { \"HashMap\" }",
            ),
            ("src/node.rs", "/// Not `/tmp/x`.\nasync fn f() { tokio::time::sleep(wait).await }"),
        ] {
            assert_eq!(faults_in(path, text), [""; 0], "{path}: {text}");
        }
    }
}
