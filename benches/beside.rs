//! This build beside another one: what a command takes on a real node, and how many bytes its journal has.
//!
//! ```text
//! cargo bench --bench beside -- OTHER [--mine BINARY] [--commands 4000] [--rounds 9] [--dir DIR] [--json]
//! ```
//!
//! OTHER is a `bailiwick` that was built of another revision in the same way (`cargo build --profile bench`). In turn each
//! of them makes the lab of `examples/lab.yaml` in a data directory of its own and serves it; two of its machines are held
//! and let go again through the socket, one command after the other. What counts is the median of each round, as a ratio of
//! the two in that round, and of these the median. Ends with 1 if a command takes more than 1.03 times what it takes there,
//! or if the journal has more than 1.08 times the bytes.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod real;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

use bailiwick::{client::Client, config::journal_dir};
use hyper::Method;
use real::{Fallible, Node, OURS, done, program};
use serde_json::json;
use tokio::runtime::Builder;

/// What a command may take beside the other build's.
const TIME_RATIO_MAX: f64 = 1.03;
/// What the journal of the same commands may have beside the other build's.
const SIZE_RATIO_MAX: f64 = 1.08;
/// The machines of the lab that are held in turn.
const MACHINES: [&str; 2] = ["builder", "clerk"];

struct Options {
    other: PathBuf,
    mine: PathBuf,
    commands: usize,
    rounds: usize,
    dir: PathBuf,
    json: bool,
}

/// What one build did in one round.
struct Done {
    /// Of one command, in microseconds.
    median_us: f64,
    /// What the journal's folder holds once the node has stopped.
    bytes: f64,
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
    // What is read for the first time costs more; it is nobody's.
    for binary in [&options.other, &options.mine] {
        round(binary, &options)?;
    }
    let mut rounds = Vec::with_capacity(options.rounds);
    for number in 0..options.rounds {
        let (other, mine) = if number % 2 == 0 {
            let other = round(&options.other, &options)?;
            (other, round(&options.mine, &options)?)
        } else {
            let mine = round(&options.mine, &options)?;
            (round(&options.other, &options)?, mine)
        };
        eprintln!("round {}: {:.1} µs beside {:.1} µs", number + 1, mine.median_us, other.median_us);
        rounds.push((mine, other));
    }
    Ok(show(&rounds, options.json))
}

fn options() -> Fallible<Options> {
    let mut options = Options {
        other: PathBuf::new(),
        mine: OURS.into(),
        commands: 4_000,
        rounds: 9,
        dir: env!("CARGO_TARGET_TMPDIR").into(),
        json: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--mine" => options.mine = value()?.into(),
            "--commands" => options.commands = value()?.parse()?,
            "--rounds" => options.rounds = value()?.parse()?,
            "--dir" => options.dir = value()?.into(),
            "--json" => options.json = true,
            // What cargo says to every bench.
            "--bench" => (),
            option if option.starts_with("--") => return Err(format!("unknown option {option}").into()),
            other => options.other = other.into(),
        }
    }
    if !options.other.is_file() {
        return Err("which build is it to stand beside? Name its program: cargo bench --bench beside -- OTHER".into());
    }
    if options.commands == 0 || options.rounds == 0 {
        return Err("--commands and --rounds need at least 1".into());
    }
    Ok(options)
}

fn round(binary: &Path, options: &Options) -> Fallible<Done> {
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let data = scratch.path().join("data");
    fs::create_dir(&data)?;
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab.yaml");
    done(program(binary, &data).arg("up").arg(lab).args(["--once", "--timeout", "60s"]))?;
    // Whatever comes of it, no machine stays behind.
    let measured = measure(program(binary, &data), &data, options.commands);
    let bytes = bytes_in(&journal_dir(&data));
    done(program(binary, &data).args(["down", "--timeout", "60s"]))?;
    Ok(Done { median_us: measured?, bytes: bytes? as f64 })
}

fn measure(program: Command, data: &Path, commands: usize) -> Fallible<f64> {
    let _node = Node::start(program, data)?;
    let client = Client::new(data.join("node.sock"));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut times = Vec::with_capacity(commands);
    runtime.block_on(async {
        for number in 0..commands {
            let begin = Instant::now();
            command(&client, number).await?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    Ok(median(times))
}

/// Both machines are held, then both are let go. Of the request only what both builds know is said.
async fn command(client: &Client, number: usize) -> Fallible<()> {
    let entity = format!("machine/{}", MACHINES[number % 2]);
    let verb = if (number / 2).is_multiple_of(2) { json!({"hold": {"reason": "bench"}}) } else { json!("unhold") };
    let operate = json!({"entity": entity, "verb": verb});
    client.send_json::<_, serde_json::Value>(Method::POST, "/v1/operate", &operate, None).await?;
    Ok(())
}

fn bytes_in(dir: &Path) -> Fallible<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_in(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or_default()
}

/// Whether it is within what it may be.
fn show(rounds: &[(Done, Done)], json: bool) -> bool {
    let over = |value: fn(&Done) -> f64| {
        let ratio = median(rounds.iter().map(|(mine, other)| value(mine) / value(other)).collect());
        let of = |of: fn(&(Done, Done)) -> &Done| median(rounds.iter().map(|round| value(of(round))).collect());
        (ratio, of(|round| &round.0), of(|round| &round.1))
    };
    let (time, size) = (over(|done| done.median_us), over(|done| done.bytes));
    if json {
        let told = |(ratio, mine, other): (f64, f64, f64)| json!({"ratio": ratio, "mine": mine, "other": other});
        println!("{}", json!({"command_us": told(time), "journal_bytes": told(size)}));
    } else {
        println!("a command: {:.3} times the other build's ({:.1} µs beside {:.1} µs)", time.0, time.1, time.2);
        println!("the journal: {:.3} times the other build's ({:.0} bytes beside {:.0})", size.0, size.1, size.2);
    }
    time.0 <= TIME_RATIO_MAX && size.0 <= SIZE_RATIO_MAX
}
