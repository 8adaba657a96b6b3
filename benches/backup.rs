//! What a backup, an export and a check of the journal cost those who command the node meanwhile.
//!
//! ```text
//! cargo bench --bench backup -- [--entries 40000] [--rate 100] [--rounds 9] [--dir DIR] [--json]
//! ```
//!
//! Fills a journal, makes the lab of `examples/lab.yaml` on top of it and starts a node. Its machines are held and let go
//! again at a steady rate, through the socket: in turn while `bailiwick backup` runs, while `bailiwick journal export` runs,
//! while `bailiwick journal check` runs, and as long without. A command's time begins when it was due, so that one that waits for another counts the wait.
//! Then every backup is checked, and compared entry by entry with the journal it was made of. Ends with 1 if the p99 of
//! any of them is more than 1.5 times the p99 without, in the median of the rounds.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "real/filled.rs"]
mod filled;
mod real;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, ExitCode, Stdio},
    time::Duration,
};

use bailiwick::{
    api::wire::change::{Decided, Operate, Verb},
    client::Client,
    config::journal_dir,
    journal::{Filter, Journal as _, Position, ReadOnlyJournal, StreamId},
};
use filled::fill;
use hyper::Method;
use real::{Fallible, Node, OURS, done, program};
use tokio::{
    runtime::Builder,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

/// What a command's p99 may be beside the p99 while nothing else is done.
const RATIO_MAX: f64 = 1.5;
/// The machines of the lab, which are held in turn.
const MACHINES: [&str; 3] = ["builder", "clerk", "idler"];

struct Options {
    entries: u64,
    rate: u32,
    rounds: usize,
    dir: PathBuf,
    json: bool,
}

/// What is done while commands come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Backup,
    Export,
    Check,
}

impl Meanwhile {
    const ALL: [Self; 3] = [Self::Backup, Self::Export, Self::Check];
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
    let scratch = tempfile::tempdir_in(&options.dir)?;
    let data = scratch.path().join("data");
    fs::create_dir(&data)?;
    fill(&data, options.entries)?;
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab.yaml");
    done(program(OURS, &data).arg("up").arg(lab).args(["--once", "--timeout", "60s"]))?;
    // Whatever comes of it, no machine stays behind.
    let measured = measure(&data, scratch.path(), &options);
    let checked = measured.and_then(|rounds| {
        let of_backup = |round: &&Round| round.meanwhile == Meanwhile::Backup;
        let backups = rounds.iter().filter(of_backup).map(|round| check(&round.made, &data));
        backups.collect::<Fallible<Vec<_>>>().map(|_| rounds)
    });
    done(program(OURS, &data).args(["down", "--timeout", "60s"]))?;
    Ok(show(&checked?, &options))
}

fn options() -> Fallible<Options> {
    let dir = env!("CARGO_TARGET_TMPDIR").into();
    let mut options = Options { entries: 40_000, rate: 100, rounds: 9, dir, json: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--entries" => options.entries = value()?.parse()?,
            "--rate" => options.rate = value()?.parse()?,
            "--rounds" => options.rounds = value()?.parse()?,
            "--dir" => options.dir = value()?.into(),
            "--json" => options.json = true,
            // What cargo says to every bench.
            "--bench" => (),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if options.rate == 0 || options.rounds == 0 {
        return Err("--rate and --rounds need at least 1".into());
    }
    Ok(options)
}

/// Times of the same number of commands, with something running meanwhile and without, in milliseconds and in order.
struct Round {
    meanwhile: Meanwhile,
    made: PathBuf,
    with: Vec<f64>,
    without: Vec<f64>,
}

fn measure(data: &Path, scratch: &Path, options: &Options) -> Fallible<Vec<Round>> {
    let _node = Node::start(program(OURS, data), data)?;
    let mut commands = Commands::new(data, options.rate);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let rounds = all_rounds(&mut commands, data, scratch, options.rounds).await;
        // What is held does not go.
        commands.let_go().await;
        rounds
    })
}

async fn all_rounds(commands: &mut Commands, data: &Path, scratch: &Path, count: usize) -> Fallible<Vec<Round>> {
    // What is read and made for the first time costs more; it is nobody's.
    commands.send(|sent| Ok(sent < 100)).await?;
    let mut rounds = Vec::with_capacity(count * 2);
    for number in 0..count {
        for meanwhile in Meanwhile::ALL {
            let made = scratch.join(format!("{meanwhile:?}-{number}"));
            rounds.push(round(commands, data, meanwhile, made).await?);
        }
    }
    Ok(rounds)
}

async fn round(commands: &mut Commands, data: &Path, meanwhile: Meanwhile, made: PathBuf) -> Fallible<Round> {
    let mut at_work = start(data, meanwhile, &made)?;
    let with = commands.send(|_| still_runs(&mut at_work)).await?;
    let count = with.len();
    let without = commands.send(|sent| Ok(sent < count)).await?;
    Ok(Round { meanwhile, made, with, without })
}

fn start(data: &Path, meanwhile: Meanwhile, made: &Path) -> Fallible<Child> {
    let mut command = program(OURS, data);
    match meanwhile {
        Meanwhile::Backup => command.arg("backup").arg(made),
        Meanwhile::Export => command.args(["journal", "export"]).arg(made),
        Meanwhile::Check => command.args(["journal", "check"]).stdout(Stdio::null()),
    };
    Ok(command.stderr(Stdio::inherit()).spawn()?)
}

/// An error if it failed.
fn still_runs(process: &mut Child) -> Fallible<bool> {
    match process.try_wait()? {
        None => Ok(true),
        Some(status) if status.success() => Ok(false),
        Some(status) => Err(format!("what ran meanwhile ended: {status}").into()),
    }
}

/// Commands to a node, one after the other at a steady rate.
struct Commands {
    client: Client,
    period: Duration,
    number: usize,
}

impl Commands {
    fn new(data: &Path, rate: u32) -> Self {
        Self { client: Client::new(data.join("node.sock")), period: Duration::from_secs(1) / rate, number: 0 }
    }

    /// As long as `more` says of the number sent so far; the times that they took, in order of length.
    async fn send(&mut self, mut more: impl FnMut(usize) -> Fallible<bool>) -> Fallible<Vec<f64>> {
        let mut ticks = interval(self.period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut under_way = JoinSet::new();
        while more(under_way.len())? {
            let due = ticks.tick().await;
            under_way.spawn(command(self.client.clone(), self.number, due));
            self.number += 1;
        }
        let answers = under_way.join_all().await;
        let mut times: Vec<f64> = answers.into_iter().collect::<Result<_, String>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times)
    }

    /// Ends every hold; a machine that is not held may say so.
    async fn let_go(&self) {
        for machine in MACHINES {
            drop(operate(&self.client, machine, Verb::Unhold).await);
        }
    }
}

/// Holds a machine, or lets it go: each is a decision that is recorded. Milliseconds since it was due.
async fn command(client: Client, number: usize, due: Instant) -> Result<f64, String> {
    let machine = MACHINES[number % MACHINES.len()];
    let verb = if (number / MACHINES.len()).is_multiple_of(2) {
        Verb::Hold { reason: "bench".into(), until_ms: None, for_ms: None }
    } else {
        Verb::Unhold
    };
    operate(&client, machine, verb).await?;
    Ok(due.elapsed().as_secs_f64() * 1_000.0)
}

async fn operate(client: &Client, machine: &str, verb: Verb) -> Result<(), String> {
    let entity = StreamId::new("machine", machine).map_err(|error| error.to_string())?;
    let operate = Operate { entity, verb, id: None };
    let sent = client.send_json::<_, Decided>(Method::POST, "/v1/operate", &operate, None).await;
    sent.map(drop).map_err(|error| error.to_string())
}

/// A backup has to be whole, and the same as the journal it was made of, up to where it ends.
fn check(backup: &Path, data: &Path) -> Fallible<()> {
    done(program(OURS, backup).args(["journal", "check"]))?;
    let (copy, original) = (ReadOnlyJournal::open(&journal_dir(backup))?, ReadOnlyJournal::open(&journal_dir(data))?);
    let end = copy.head().position;
    let all = |journal: &ReadOnlyJournal| journal.read(Position(1), end, &Filter::all()).count();
    let entries = usize::try_from(end.0)?;
    if all(&copy) != entries || all(&original) != entries {
        return Err(format!("{} or its original lacks entries", backup.display()).into());
    }
    let both = copy.read(Position(1), end, &Filter::all()).zip(original.read(Position(1), end, &Filter::all()));
    for (copied, original) in both {
        let (copied, original) = (copied?, original?);
        if copied != original {
            return Err(format!("entry {} is another one in the backup", original.header.position).into());
        }
    }
    Ok(())
}

/// What was found about one of them; ratios of each round, in order.
struct Found {
    with: [f64; 2],
    without: [f64; 2],
    ratios: Vec<f64>,
    commands: usize,
}

impl Found {
    fn of(rounds: &[Round], meanwhile: Meanwhile) -> Self {
        let rounds: Vec<&Round> = rounds.iter().filter(|round| round.meanwhile == meanwhile).collect();
        let medians = |times: fn(&Round) -> &[f64]| {
            [50, 99].map(|part| median(rounds.iter().map(|round| percentile(times(round), part)).collect()))
        };
        let mut ratios: Vec<f64> =
            rounds.iter().map(|round| percentile(&round.with, 99) / percentile(&round.without, 99)).collect();
        ratios.sort_by(f64::total_cmp);
        Self {
            with: medians(|round| &round.with),
            without: medians(|round| &round.without),
            ratios,
            commands: rounds.iter().map(|round| round.with.len()).sum(),
        }
    }

    fn ratio(&self) -> f64 {
        self.ratios[self.ratios.len() / 2]
    }
}

fn percentile(sorted: &[f64], part: usize) -> f64 {
    sorted[(sorted.len() * part / 100).min(sorted.len() - 1)]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Whether all keep within the target.
fn show(rounds: &[Round], options: &Options) -> bool {
    let mut passed = true;
    for meanwhile in Meanwhile::ALL {
        let found = Found::of(rounds, meanwhile);
        let met = found.ratio() <= RATIO_MAX;
        passed &= met;
        let ([p50, p99], [p50_alone, p99_alone], ratio) = (found.with, found.without, found.ratio());
        let (low, high) = (found.ratios[0], found.ratios[found.ratios.len() - 1]);
        let (commands, name) = (found.commands, format!("{meanwhile:?}").to_lowercase());
        if options.json {
            let report = serde_json::json!({
                "bench": "backup", "meanwhile": name, "entries": options.entries, "rate": options.rate,
                "rounds": options.rounds, "commands": commands, "p50Ms": p50, "p99Ms": p99, "p50MsAlone": p50_alone,
                "p99MsAlone": p99_alone, "ratio": ratio, "ratioMin": low, "ratioMax": high, "target": RATIO_MAX, "met": met,
            });
            println!("{report}");
        } else {
            println!("{name}: {commands} commands in {} rounds, and as many without", options.rounds);
            println!("  p50 {p50:>8.2} ms   without {p50_alone:>8.2} ms");
            println!("  p99 {p99:>8.2} ms   without {p99_alone:>8.2} ms");
            let verdict = if met { "met" } else { "missed" };
            println!("  ratio of p99 {ratio:.2} ({low:.2} to {high:.2})   target {RATIO_MAX}   {verdict}");
        }
    }
    passed
}
