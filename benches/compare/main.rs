//! The journal beside a plain file and other stores: both sides in one run, one after the other in every round.
//!
//! ```text
//! cargo bench --bench compare [--features compare] -- [--json] [--rounds 5] [--seconds 2]
//!     [--patience 10] [--busy] [--only TEXT] [--dir DIR]
//! ```
//!
//! Every row is a ratio of two things measured in the same run, the median over the rounds. A round waits until nobody
//! else is at work, for at most `--patience` seconds; a round in which a plain sync takes three times as long as in the best
//! one is left out, and so is a pair beside which others took more than a fifth of the processors. On a machine that is never quiet, `--busy` lets such pairs count; the table says so. Only ratios say something: both sides depend on the machine alike. redb,
//! SQLite, batpak and cqrs-es are measured with the feature `compare`, PostgreSQL where a server is installed. With
//! `--json` one object a row: name, value, target, stretch, met.

// It is a program, not a library: what it finds goes to the standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod commits;
mod large;
mod load;
mod node;
mod peers;
mod postgres;
mod quiet;
mod reading;
mod reload;
mod stores;
mod table;
mod writers;

use std::{error::Error, path::PathBuf, process::ExitCode, time::Duration};

use table::Table;

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// What was asked for.
struct Options {
    json: bool,
    rounds: usize,
    seconds: f64,
    /// Only rows with this in their name.
    only: String,
    /// Whether pairs count beside which others were at work.
    busy: bool,
    /// How long each round waits for others to end their work.
    patience: Duration,
    /// Where everything is written; on the disk that is measured.
    dir: PathBuf,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Fallible<()> {
    // The bench asks itself for what has to be measured in a process of its own.
    let args: Vec<String> = std::env::args().collect();
    if let [_, asked, kind] = args.as_slice()
        && asked == "--actors"
    {
        println!("{}", node::actors(kind)?);
        return Ok(());
    }
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut options = options()?;
    if options.dir.as_os_str().is_empty() {
        options.dir = scratch.path().to_owned();
    }
    let mut table = Table::new(options.json);
    commits::measure(&options, &mut table)?;
    reading::measure(&options, &mut table)?;
    node::measure(&options, &mut table)?;
    reload::measure(&options, &mut table)?;
    large::measure(&options, &mut table)?;
    table.end();
    Ok(())
}

fn options() -> Fallible<Options> {
    let mut options = Options {
        json: false,
        rounds: 5,
        seconds: 2.0,
        only: String::new(),
        busy: false,
        patience: Duration::from_secs(10),
        dir: PathBuf::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--json" => options.json = true,
            "--rounds" => options.rounds = value()?.parse()?,
            "--seconds" => options.seconds = value()?.parse()?,
            "--busy" => options.busy = true,
            "--patience" => options.patience = Duration::from_secs(value()?.parse()?),
            "--only" => options.only = value()?,
            "--dir" => options.dir = value()?.into(),
            // What cargo says to every bench.
            "--bench" => (),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(options)
}
