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

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bailiwick::{
    actors::{
        contract::{Decider, Entity, Known, NoView, PolicyInForce, Request},
        policy::Document,
        ports::ProvisionedVolume,
        vocab::{EffectId, InstanceId, SizeMib, Timestamp, derived_uuid},
        volume::{self, Command as Ask, Report},
    },
    config::journal_dir,
    journal::{Config, Intake, Journal, LocalJournal, StreamId},
};
use uuid::Uuid;

/// What the node may hold in memory.
const RSS_KIB_MAX: u64 = 64 * 1024;
/// Volumes that the decisions are about.
const VOLUMES: usize = 1_000;

type Fallible<T> = Result<T, Box<dyn Error>>;

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
    done(program(&data).arg("up").arg(lab).args(["--once", "--timeout", "60s"]))?;
    // Whatever comes of it, no machine stays behind.
    let measured = measure(&data, &options);
    done(program(&data).args(["down", "--timeout", "60s"]))?;
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
    let mut node = Node(program(data).arg("serve").stderr(Stdio::null()).spawn()?);
    while !data.join("node.sock").exists() {
        sleep(Duration::from_millis(1));
        if let Some(status) = node.0.try_wait()? {
            return Err(format!("the node ended: {status}").into());
        }
    }
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

fn program(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
    command.arg("--data-dir").arg(data).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn done(command: &mut Command) -> Fallible<()> {
    let output = command.stderr(Stdio::piped()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

/// A running node, ended with the value.
struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0.id().cast_signed()) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        drop(self.0.wait());
    }
}

/// Declared, made, removed, gone, and again: decisions as a node makes them, many in one append.
fn fill(data: &Path, entries: u64) -> Fallible<()> {
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let dir: PathBuf = journal_dir(data);
    let (journal, _) = LocalJournal::open(Config { dir, now_ms: now, ..Config::default() })?;
    let policy = Arc::new(PolicyInForce { reference: None, document: Document::default() });
    let known = Known { now: Timestamp(now), policy, view: &NoView, view_at: None, journal: journal.id() };
    let streams = (0..VOLUMES).map(|n| StreamId::new(volume::State::KIND, &format!("v{n}")));
    let mut volumes: Vec<Entity<volume::State>> =
        streams.map(|stream| stream.map(Entity::new)).collect::<Result<_, _>>()?;
    // Whole lives only: at the end nothing is owed to anybody.
    let rounds = entries / (VOLUMES as u64 * 4) * 4;
    let mut asked = 0;
    for _ in 0..rounds {
        let mut drafts = Vec::new();
        for volume in &volumes {
            let command = next(journal.id(), volume)?;
            asked += 1;
            let id = derived_uuid(&format!("bench {asked}"));
            let request = Request { command, id, principal: "operator".into(), cause: None, cites: Vec::new() };
            let verdict = volume.decide(&request.command, &known);
            drafts.push(volume.draft(&request, &known, &verdict)?);
        }
        let appended = append(&journal, drafts)?;
        for (volume, entry) in volumes.iter_mut().zip(appended.entries()) {
            volume.take_in(entry)?;
        }
    }
    journal.close()?;
    Ok(())
}

fn append(journal: &LocalJournal, drafts: Vec<bailiwick::journal::Draft>) -> Fallible<bailiwick::journal::Appended> {
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    journal.append(drafts, Intake::Ordinary, Box::new(move |answer| drop(tell.send(answer))));
    Ok(told.recv()??)
}

/// What comes next in this volume's life.
fn next(journal: Uuid, volume: &Entity<volume::State>) -> Fallible<Ask> {
    let provider = "bench".parse()?;
    Ok(match &volume.state().storage {
        volume::Storage::None => Ask::Declare(volume::Spec { provider, size: SizeMib(64) }),
        volume::Storage::Creating(effort) => {
            let effect = EffectId::of(journal, volume.stream(), effort.intent);
            let made = ProvisionedVolume { effect, volume_id: InstanceId(format!("{effect}")), size: SizeMib(64) };
            Ask::Report(Report::Created { attempt: effort.attempt, volume: made })
        }
        volume::Storage::Provisioned { .. } => Ask::Remove,
        volume::Storage::Destroying { effort, .. } => Ask::Report(Report::Destroyed { attempt: effort.attempt }),
    })
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
