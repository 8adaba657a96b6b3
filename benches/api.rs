//! What a command costs over HTTP, beside the same command given in-process; and how soon a node of many objects starts.
//!
//! ```text
//! cargo bench --bench api -- [--connections 64] [--seconds 3] [--rounds 5] [--objects 10000] [--dir DIR] [--json]
//! ```
//!
//! One node in this process, one machine for each connection. Both sides protect and unprotect their machine in turn, each
//! waiting for the answer to the last command before it gives the next: every answer is a decision that is durable. The sides take
//! turns, and of the rounds the median counts. Over HTTP the client's work is done in this process, too. At the end a node of its
//! own with so many machines, whose provider is held, is stopped and started again.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use bailiwick::{
    Config, Handle, Node,
    api::wire::change::{Operate, Verb},
    journal::StreamId,
    manifest::{self, Known, Source},
    plan::Prune,
};
use bailiwick_actors::{
    ports::{Answer, BulkAnswer, CreateMachine, Listing, MachineInstance, MachineProvider, StartedMachine},
    vocab::{EffectId, Fault, FaultCode, Timestamp},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    runtime::{Builder, Runtime},
    task::JoinSet,
};
use uuid::Uuid;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// So many machines are declared in one step.
const AT_ONCE: usize = 1_000;

struct Options {
    connections: usize,
    seconds: u64,
    rounds: usize,
    objects: usize,
    dir: PathBuf,
    json: bool,
}

fn options() -> Fallible<Options> {
    let dir = env!("CARGO_TARGET_TMPDIR").into();
    let mut options = Options { connections: 64, seconds: 3, rounds: 5, objects: 10_000, dir, json: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--connections" => options.connections = value()?.parse()?,
            "--seconds" => options.seconds = value()?.parse()?,
            "--rounds" => options.rounds = value()?.parse()?,
            "--objects" => options.objects = value()?.parse()?,
            "--dir" => options.dir = value()?.into(),
            "--json" => options.json = true,
            // What cargo says to every bench.
            "--bench" => (),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    bailiwick::cli::allocator::settle();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Fallible<()> {
    let options = options()?;
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let data = scratch.path().join("commands");
    let node = start(&data)?;
    let handle = node.handle();
    declare(&handle, options.connections)?;
    let time = Duration::from_secs(options.seconds);
    let (mut inside, mut over) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        inside.push(in_process(&runtime, &handle, options.connections, time)?);
        over.push(over_http(&runtime, &data.join("node.sock"), options.connections, time)?);
    }
    let mut ratios: Vec<f64> = over.iter().zip(&inside).map(|(over, inside)| over / inside).collect();
    let (inside, over, ratio) = (median(&mut inside), median(&mut over), median(&mut ratios));
    node.stop()?;
    let (started_ms, opened) = cold_start(&scratch.path().join("many"), options.objects)?;
    if options.json {
        let told = json!({"inProcessPerSecond": inside, "httpPerSecond": over, "ratio": ratio, "startMs": started_ms});
        println!("{told}");
    } else {
        println!("{} at once      in-process  {inside:>8.0} commands/s", options.connections);
        println!("                 over HTTP  {over:>8.0} commands/s");
        println!("                     ratio  {ratio:>8.2}  (target 0.5)");
        println!("start with {} machines, {opened} entries: {started_ms} ms  (target 2000)", options.objects);
    }
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A provider that has nothing; it is held, so that nobody asks it to make anything.
struct Idle;

impl MachineProvider for Idle {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        refused(machines.len())
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        refused(ids.len())
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        Box::pin(async { Ok(Listing { complete: true, as_of: Timestamp(0), items: Vec::new() }) })
    }
}

fn refused<T: Send + 'static>(count: usize) -> BulkAnswer<'static, T> {
    let fault = || Err(Fault::new(FaultCode::FailedPrecondition, "it is held"));
    Box::pin(async move { Ok((0..count).map(|_| fault()).collect()) })
}

/// A node whose machines nothing is done for.
fn start(data: &Path) -> Fallible<Node> {
    let mut config = Config::new(data);
    config.machine_providers.insert("idle".parse()?, Arc::new(Idle));
    let node = Node::start(config)?;
    let handle = node.handle();
    handle.wait(handle.hold(&"provider/idle".parse()?, "only commands are measured", None, Uuid::new_v4()))?;
    Ok(node)
}

fn declare(handle: &Handle, count: usize) -> Fallible<()> {
    for first in (0..count).step_by(AT_ONCE) {
        let names = first..count.min(first + AT_ONCE);
        let text: Vec<String> = names
            .map(|number| {
                format!(
                    "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: m{number}}}\nspec: {{provider: idle}}\n"
                )
            })
            .collect();
        let wishes = manifest::parse(&[Source::new("bench", text.join("---\n"))], &Known::default())?;
        handle.wait(handle.apply(&wishes.documents, Prune::No, Uuid::new_v4()))?;
    }
    Ok(())
}

fn machine(number: usize) -> Fallible<StreamId> {
    Ok(format!("machine/m{number}").parse()?)
}

fn verb(turn: u64) -> Verb {
    if turn.is_multiple_of(2) { Verb::Protect } else { Verb::Unprotect }
}

/// Commands a second.
fn in_process(runtime: &Runtime, handle: &Handle, at_once: usize, time: Duration) -> Fallible<f64> {
    runtime.block_on(async {
        let (begun, mut all) = (Instant::now(), JoinSet::new());
        for number in 0..at_once {
            let (handle, machine) = (handle.clone(), machine(number)?);
            all.spawn(async move {
                let mut done = 0;
                while begun.elapsed() < time {
                    handle.operate(&machine, verb(done), Uuid::new_v4()).await?;
                    done += 1;
                }
                Fallible::Ok(done)
            });
        }
        per_second(all, begun).await
    })
}

fn over_http(runtime: &Runtime, socket: &Path, at_once: usize, time: Duration) -> Fallible<f64> {
    runtime.block_on(async {
        let mut connections = Vec::new();
        for _ in 0..at_once {
            connections.push(UnixStream::connect(socket).await?);
        }
        let (begun, mut all) = (Instant::now(), JoinSet::new());
        for (number, mut connection) in connections.into_iter().enumerate() {
            let entity = machine(number)?;
            all.spawn(async move {
                let (mut done, mut buffer) = (0, Vec::with_capacity(4_096));
                while begun.elapsed() < time {
                    let order = Operate { entity: entity.clone(), verb: verb(done), id: Some(Uuid::new_v4()) };
                    let body = serde_json::to_vec(&order)?;
                    let head = format!(
                        "POST /v1/operate HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                        body.len()
                    );
                    connection.write_all(&[head.as_bytes(), &body].concat()).await?;
                    answered(&mut connection, &mut buffer).await?;
                    done += 1;
                }
                Fallible::Ok(done)
            });
        }
        per_second(all, begun).await
    })
}

async fn per_second(mut all: JoinSet<Fallible<u64>>, begun: Instant) -> Fallible<f64> {
    let mut done = 0;
    while let Some(some) = all.join_next().await {
        done += some??;
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

/// Reads one answer, which has to be a success.
async fn answered(connection: &mut UnixStream, buffer: &mut Vec<u8>) -> Fallible<()> {
    buffer.clear();
    loop {
        if connection.read_buf(buffer).await? == 0 {
            return Err("the node hung up".into());
        }
        let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
        if !head.starts_with("http/1.1 200") {
            return Err(String::from_utf8_lossy(buffer).into_owned().into());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        if buffer.len() >= end + 4 + length.unwrap_or(0) {
            return Ok(());
        }
    }
}

/// How long a node with so many machines takes to start, in milliseconds, and how many entries it has.
fn cold_start(data: &Path, objects: usize) -> Fallible<(u128, u64)> {
    let node = start(data)?;
    declare(&node.handle(), objects)?;
    node.stop()?;
    let begun = Instant::now();
    let node = start(data)?;
    let (took, head) = (begun.elapsed().as_millis(), node.handle().head());
    node.stop()?;
    Ok((took, head.0))
}
