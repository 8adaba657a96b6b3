//! Many who watch a busy node: how late they hear of a decision, whether they hear of all, and what they cost.
//!
//! ```text
//! cargo bench --bench watch -- [--watchers 1000] [--rate 1000] [--seconds 10] [--dir DIR] [--json]
//! ```
//!
//! Starts a node, connects the watchers to its socket, and revises machine classes at a steady rate, ten in a request. A decision is
//! heard late by the time between the answer to its request and the arrival of its event; one that arrives before that is not
//! late. One more watcher never reads: it is cut off, and goes on where it was without a gap. Ends with 1 if an event is lost or
//! comes twice, or if the node takes more than 100 MB more.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod real;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bailiwick::{
    api::wire::change::{Changed, Declare, File},
    client::Client,
};
use hyper::Method;
use real::{Fallible, Node, OURS, done, program};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    runtime::Builder,
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

/// The memory that all watchers together may cost.
const MORE_MIB_MAX: u64 = 100;
/// So many classes in a request, and in all: how much there is does not change while it is measured.
const AT_ONCE: u64 = 10;
const CLASSES: u64 = 100;

struct Options {
    watchers: usize,
    rate: u64,
    seconds: u64,
    dir: PathBuf,
    json: bool,
}

/// When each decision was answered, by the position of its entry.
type Answered = Arc<Mutex<Vec<(u64, Instant)>>>;

/// What one watcher heard.
#[derive(Default)]
struct Heard {
    /// Positions in the order of their arrival, and when.
    events: Vec<(u64, Instant)>,
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

fn options() -> Fallible<Options> {
    let dir = env!("CARGO_TARGET_TMPDIR").into();
    let mut options = Options { watchers: 1_000, rate: 1_000, seconds: 10, dir, json: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--watchers" => options.watchers = value()?.parse()?,
            "--rate" => options.rate = value()?.parse()?,
            "--seconds" => options.seconds = value()?.parse()?,
            "--dir" => options.dir = value()?.into(),
            "--json" => options.json = true,
            // What cargo says to every bench.
            "--bench" => (),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if options.rate < AT_ONCE || options.seconds == 0 {
        return Err(format!("--rate needs at least {AT_ONCE}, and --seconds at least 1").into());
    }
    Ok(options)
}

fn run() -> Fallible<bool> {
    let options = options()?;
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: files.maximum, maximum: files.maximum },
    )?;
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let data = scratch.path().join("data");
    fs::create_dir(&data)?;
    let node = Node::start(program(OURS, &data), &data)?;
    let pid = node.0.id();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let is_good = runtime.block_on(measure(&options, &data, pid))?;
    drop(node);
    done(program(OURS, &data).args(["journal", "check"]))?;
    Ok(is_good)
}

async fn measure(options: &Options, data: &Path, pid: u32) -> Fallible<bool> {
    let socket = data.join("node.sock");
    let client = Client::new(socket.clone());
    let before = memory_mib(pid)?;
    let mut watchers = JoinSet::new();
    let last = options.rate * options.seconds;
    for _ in 0..options.watchers {
        watchers.spawn(listen(watch(&socket, 0).await?, last));
    }
    let deaf = watch(&socket, 0).await?;
    let answered = Answered::default();
    let declared = declare(&client, options, &answered).await;
    let most = memory_mib(pid)?;
    let count = declared?;
    let mut heard = Vec::new();
    while let Some(one) = watchers.join_next().await {
        heard.push(one??);
    }
    // Who never read is cut off by now, or is as soon as nothing was taken for long enough; and lost nothing.
    drop(deaf);
    let late = listen(watch(&socket, 0).await?, last).await?;
    Ok(show(options, &answered.lock().expect("answers"), &heard, &late, count, (before, most)))
}

/// Asks for what becomes of classes from an entry on.
async fn watch(socket: &Path, from: u64) -> Fallible<UnixStream> {
    let mut stream = UnixStream::connect(socket).await?;
    let head = format!("GET /v1/watch?from={from}&kind=machine-class HTTP/1.1\r\nHost: bench\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    Ok(stream)
}

/// Reads events until so many came, or nothing comes any more.
async fn listen(mut stream: UnixStream, wanted: u64) -> Result<Heard, std::io::Error> {
    let mut heard = Heard::default();
    let (mut buffer, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    let mut id = 0;
    while (heard.events.len() as u64) < wanted {
        // A node that is silent for longer than between two signs of life has lost something.
        let Ok(read) = timeout(Duration::from_secs(30), stream.read(&mut piece)).await else { break };
        let (read, now) = (read?, Instant::now());
        if read == 0 {
            break;
        }
        buffer.extend_from_slice(&piece[..read]);
        let Some(end) = buffer.iter().rposition(|byte| *byte == b'\n') else { continue };
        for line in lines(&buffer[..=end]) {
            if let Some(number) = line.strip_prefix(b"id: ") {
                id = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            } else if line.starts_with(b"event: ") {
                heard.events.push((id, now));
            }
        }
        buffer.drain(..=end);
    }
    Ok(heard)
}

/// As `split` does, many bytes at a time: whoever measures must not be what is measured.
fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', text)?;
        let (line, rest) = text.split_at(end);
        text = &rest[1..];
        Some(line)
    })
}

/// Revises classes at a steady rate; the answer is how often.
async fn declare(client: &Client, options: &Options, answered: &Answered) -> Fallible<u64> {
    let requests = options.rate * options.seconds / AT_ONCE;
    let mut due = interval(Duration::from_secs(1) * u32::try_from(AT_ONCE)? / u32::try_from(options.rate)?);
    due.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut asked = JoinSet::new();
    for request in 0..requests {
        due.tick().await;
        let (client, answered) = (client.clone(), answered.clone());
        let class = |number: u64| {
            let name = (request * AT_ONCE + number) % CLASSES;
            format!(
                "---\napiVersion: bailiwick/v1\nkind: MachineClass\nmetadata: {{name: c{name}}}\nspec: {{provider: local, \
                 providerSpec: {{revision: {request}}}}}\n"
            )
        };
        let text: String = (0..AT_ONCE).map(class).collect();
        let files = vec![File { name: "bench.yaml".into(), text }];
        asked.spawn(async move {
            let wanted = Declare { files, prune: false, id: None };
            let changed: Changed = client.send_json(Method::POST, "/v1/apply", &wanted, None).await?;
            let now = Instant::now();
            let positions = changed.decisions.iter().filter_map(|decided| decided.position);
            answered.lock().expect("answers").extend(positions.map(|position| (position, now)));
            Ok::<_, bailiwick::client::ClientError>(())
        });
    }
    while let Some(done) = asked.join_next().await {
        done??;
    }
    Ok(requests * AT_ONCE)
}

fn memory_mib(pid: u32) -> Fallible<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}

fn show(
    options: &Options,
    answered: &[(u64, Instant)],
    heard: &[Heard],
    late: &Heard,
    count: u64,
    (before, most): (u64, u64),
) -> bool {
    let when: std::collections::BTreeMap<u64, Instant> = answered.iter().copied().collect();
    let wanted: Vec<u64> = when.keys().copied().collect();
    let whole = |heard: &&Heard| heard.events.iter().map(|(position, _)| *position).eq(wanted.iter().copied());
    let broken = heard.iter().filter(|heard| !whole(heard)).count();
    let is_late_whole = whole(&late);
    let mut delays: Vec<f64> = heard
        .iter()
        .flat_map(|heard| &heard.events)
        .filter_map(|(position, at)| Some(at.saturating_duration_since(*when.get(position)?).as_secs_f64() * 1_000.0))
        .collect();
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| delays.get(((delays.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    let more = most.saturating_sub(before);
    if options.json {
        let told: Value = json!({
            "watchers": options.watchers, "decisions": count, "events": delays.len(), "p50Ms": at(0.5), "p99Ms": at(0.99),
            "mostMs": at(1.0), "incomplete": broken, "cutOffGoesOn": is_late_whole, "memoryMib": { "before": before, "more": more },
        });
        println!("{told}");
    } else {
        println!("{} watchers, {count} decisions, {} events", options.watchers, delays.len());
        println!("late by p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms", at(0.5), at(0.99), at(1.0));
        println!(
            "{broken} watchers lost or repeated an event; the one that never read goes on without a gap: {is_late_whole}"
        );
        println!("memory: {before} MiB, and {more} MiB more at the end");
    }
    broken == 0 && is_late_whole && more <= MORE_MIB_MAX
}
