//! An idle node: how much it writes and how much memory it holds.
//!
//! ```text
//! cargo bench --bench idle -- [--entries 100000] [--seconds 60] [--json]
//! ```
//!
//! Fills a journal with real decisions about volumes, makes the lab of `examples/lab.yaml` on top of it (three machines whose
//! agents report every two seconds), starts a node, waits until it is idle, and looks at it for a minute. Ends with 1 if
//! the node wrote anything or holds more than 64 MiB.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "real/filled.rs"]
mod filled;
mod real;

use std::{
    fs,
    path::Path,
    process::ExitCode,
    thread::sleep,
    time::{Duration, Instant},
};

use filled::fill;
use real::{Fallible, Node, OURS, done, program};

/// What the node may hold in memory.
const RSS_KIB_MAX: u64 = 64 * 1024;

struct Options {
    entries: u64,
    seconds: u64,
    json: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Fallible<bool> {
    let options = options()?;
    let scratch = tempfile::tempdir()?;
    let data = scratch.path().join("data");
    fs::create_dir(&data)?;
    fill(&data, options.entries)?;
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab.yaml");
    done(program(OURS, &data).arg("up").arg(lab).args(["--once", "--timeout", "60s"]))?;
    // Whatever comes of it, no machine stays behind.
    let measured = measure(&data, &options);
    done(program(OURS, &data).args(["down", "--timeout", "60s"]))?;
    let Measured { start, idle_after, found } = measured?;
    let passed = found.written == 0 && found.rss_kib_max <= RSS_KIB_MAX;
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    if options.json {
        let report = serde_json::json!({
            "bench": "idle", "entries": options.entries, "seconds": options.seconds, "passed": passed,
            "bytesWritten": found.written, "bytesOfWriteCalls": found.write_calls, "rssKib": found.rss_kib,
            "rssKibMax": found.rss_kib_max, "rssKibLimit": RSS_KIB_MAX, "startMs": ms(start), "idleAfterMs": ms(idle_after),
            "cpuMs": found.cpu_ms,
        });
        println!("{report}");
    } else {
        println!("entries in the journal      {:>12}", options.entries);
        println!("start until it listens      {:>12} ms", ms(start));
        println!("idle after                  {:>12} ms", ms(idle_after));
        println!("looked at for               {:>12} s", options.seconds);
        println!("written to the disk         {:>12} bytes   limit 0", found.written);
        println!("handed to write calls       {:>12} bytes", found.write_calls);
        println!("resident memory, now        {:>12} KiB", found.rss_kib);
        println!("resident memory, at most    {:>12} KiB     limit {RSS_KIB_MAX}", found.rss_kib_max);
        println!("processor time              {:>12} ms", found.cpu_ms);
        println!("{}", if passed { "passed" } else { "failed" });
    }
    Ok(passed)
}

struct Measured {
    start: Duration,
    idle_after: Duration,
    found: Found,
}

/// Starts a node and looks at it.
fn measure(data: &Path, options: &Options) -> Fallible<Measured> {
    let started = Instant::now();
    let node = Node::start(program(OURS, data), data)?;
    let start = started.elapsed();
    let (found, idle_after) = watch(node.0.id(), options)?;
    Ok(Measured { start, idle_after, found })
}

fn options() -> Fallible<Options> {
    let mut options = Options { entries: 100_000, seconds: 60, json: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|text| text.parse().ok()).ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--entries" => options.entries = number()?,
            "--seconds" => options.seconds = number()?,
            "--json" => options.json = true,
            // What cargo says to every bench.
            "--bench" => (),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(options)
}

struct Found {
    written: u64,
    write_calls: u64,
    rss_kib: u64,
    rss_kib_max: u64,
    cpu_ms: u64,
}

/// Waits until the node has not written for five seconds, then looks at it for as long as was asked.
fn watch(pid: u32, options: &Options) -> Fallible<(Found, Duration)> {
    let begun = Instant::now();
    let (mut last, mut since) = (written(pid)?.0, Instant::now());
    while since.elapsed() < Duration::from_secs(5) {
        sleep(Duration::from_millis(100));
        let now = written(pid)?.0;
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if begun.elapsed() > Duration::from_secs(120) {
            return Err("the node does not become idle".into());
        }
    }
    let idle_after = begun.elapsed().saturating_sub(Duration::from_secs(5));
    let (before, cpu) = (written(pid)?, cpu_ms(pid)?);
    let (until, mut rss_kib_max) = (Instant::now() + Duration::from_secs(options.seconds), 0);
    while Instant::now() < until {
        sleep(Duration::from_millis(200));
        rss_kib_max = rss_kib_max.max(rss_kib(pid)?);
    }
    let after = written(pid)?;
    let found = Found {
        written: after.0 - before.0,
        write_calls: after.1 - before.1,
        rss_kib: rss_kib(pid)?,
        rss_kib_max,
        cpu_ms: cpu_ms(pid)? - cpu,
    };
    Ok((found, idle_after))
}

/// Bytes sent to disks, and bytes handed to write calls of any kind.
fn written(pid: u32) -> Fallible<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/io"))?;
    Ok((field(&text, "write_bytes:")?, field(&text, "wchar:")?))
}

fn rss_kib(pid: u32) -> Fallible<u64> {
    field(&fs::read_to_string(format!("/proc/{pid}/status"))?, "VmRSS:")
}

/// Time on the processor, at the usual 100 ticks a second.
fn cpu_ms(pid: u32) -> Fallible<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| -> Fallible<u64> { Ok(fields.get(at).ok_or("a short line")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) * 10)
}

fn field(text: &str, name: &str) -> Fallible<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or(format!("there is no {name}"))?;
    Ok(line.split_whitespace().next().ok_or("an empty line")?.parse()?)
}
