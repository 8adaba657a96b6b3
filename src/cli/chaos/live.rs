//! `bailiwick chaos live`: a real node of its own, real processes, and real signals.

mod guard;

use std::{
    fs::{self, DirBuilder},
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::{fs::DirBuilderExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use bailiwick_actors::vocab::EffectId;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;

use self::guard::{Order, agents_of, guard};
use super::super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Table},
    progress::say,
    wait,
};
use crate::{config::local_dir, providers::simulated::Dice};

/// A disk with more free space than this is not filled.
const DISK_MAX: u64 = 512 << 20;
/// Between two things that go wrong, in milliseconds, at least and at most.
const APART_MS: (u64, u64) = (300, 3_000);
/// What stands still, or the disk that is full, is so for this long, in milliseconds, at least and at most.
const LASTS_MS: (u64, u64) = (500, 8_000);
/// A node that is started, or goes on, answers after this.
const START_TIME_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);
/// How long a node that was just made may take until all is ready.
const FIRST: &str = "2m";

/// What is declared if nobody says anything else: machines whose agents answer for them, and that are replaced soon.
const LAB: &str = "apiVersion: bailiwick/v1
kind: Policy
metadata: {name: default}
spec:
  machines: {poll: 500ms, retryFirst: 500ms, retryMax: 5s, nodeStale: 2s}
  health: {creationTimeout: 30s, healthTimeout: 4s, replacementsMax: 2, zoneSilentMin: 0, allSilentMin: 0}
---
apiVersion: bailiwick/v1
kind: MachineSet
metadata: {name: lab}
spec: {replicas: 4, template: {spec: {provider: local}}}
";

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LiveFault {
    /// The node is killed with SIGKILL, and started again
    Kill,
    /// The node is stopped with SIGSTOP for some seconds
    Pause,
    /// The agent of a machine is stopped for some seconds
    CutOff,
    /// The agent of a machine is killed
    EndAgent,
    /// The disk is full for some seconds; only on a small one, such as a tmpfs of 256 MiB
    Disk,
}

impl LiveFault {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::CutOff => "cut-off",
            Self::EndAgent => "end-agent",
            Self::Disk => "disk",
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LiveArgs {
    /// A folder for the node: one that is not there yet, or an empty one
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// What to declare, with the local provider [default: a set of four machines that are replaced soon]
    #[arg(value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// What goes wrong [default: all of it; disk only if DIR is on a small disk]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    with: Vec<LiveFault>,
    /// For how long things go wrong
    #[arg(long = "for", default_value = "1m", value_name = "TIME", value_parser = wait::duration)]
    over: Duration,
    /// How long the node may take until all is ready once nothing goes wrong any more
    #[arg(long, default_value = "2m", value_name = "TIME")]
    settle: String,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct GuardArgs {
    dir: PathBuf,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Live {
    /// What went wrong, in order.
    faults: Vec<LiveFault>,
    /// What was checked afterwards; what is wrong, if anything is.
    checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    wrong: Option<String>,
}

/// Where the node of this folder keeps its data.
fn data_dir(dir: &Path) -> PathBuf {
    dir.join("data")
}

/// Beside the node: does what it is told, and undoes it.
pub(super) fn guard_main(args: &GuardArgs) -> Result<Exit, CliError> {
    guard(&args.dir).map_err(|error| CliError::new(Exit::Error, "chaos", "cannot go on").because(&error))?;
    Ok(Exit::Ok)
}

pub(super) fn main(global: &Global, args: &LiveArgs) -> Result<Exit, CliError> {
    make(&args.dir)?;
    let dir = args.dir.canonicalize().map_err(|error| unusable(&args.dir, &error))?;
    let faults = chosen(args, &dir)?;
    let mut lab = Lab::start(&dir).map_err(|error| unusable(&dir, &error))?;
    say(&format!("a node runs in {}; if this is interrupted, it goes on there", data_dir(&dir).display()));
    let live = match torment(&mut lab, args, &faults) {
        Ok(live) => live,
        Err(error) => {
            // What it is about is told; that the guard may be gone as well is no more.
            if lab.tell(&Order::Stop).is_ok() {
                let _ = lab.guard.wait();
            }
            let data = data_dir(&dir);
            say(&format!("what was made runs on: `bailiwick --data-dir {} down` removes it", data.display()));
            return Err(error);
        }
    };
    global.output.show(&live, || table(&live))?;
    let is_good = live.checks.iter().all(|check| check.wrong.is_none());
    Ok(if is_good { Exit::Ok } else { Exit::GateFailed })
}

fn torment(lab: &mut Lab, args: &LiveArgs, faults: &[LiveFault]) -> Result<Live, CliError> {
    lab.declare(args.manifest.as_deref())?;
    let mut live = Live::default();
    let mut dice = Dice::named(args.seed, "chaos live");
    let begun = Instant::now();
    while begun.elapsed() < args.over {
        let Some(fault) = dice.choose(faults).copied() else { break };
        if let Some(order) = lab.order(fault, &mut dice) {
            say(&format!("{:>5.1} s  {}", begun.elapsed().as_secs_f64(), order.line()));
            lab.tell(&order)?;
            live.faults.push(fault);
        }
        thread::sleep(Duration::from_millis(dice.between(APART_MS.0, APART_MS.1)));
    }
    say("all is calm");
    live.checks = lab.checks(&args.settle)?;
    Ok(live)
}

fn unusable(dir: &Path, error: &io::Error) -> CliError {
    CliError::new(Exit::Disk, "unwritable", format!("cannot use {}", dir.display())).because(error)
}

/// Makes the folder; what somebody else put something into is not ours.
fn make(dir: &Path) -> Result<(), CliError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| unusable(dir, &error))?;
    let mut entries = fs::read_dir(dir).map_err(|error| unusable(dir, &error))?;
    // A filesystem of its own has such a folder.
    if entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != "lost+found")) {
        return Err(CliError::usage(format!("{} is not empty", dir.display()))
            .next("name a folder that is not there yet: what is in it will be killed and filled up"));
    }
    Ok(())
}

fn chosen(args: &LiveArgs, dir: &Path) -> Result<Vec<LiveFault>, CliError> {
    let free = rustix::fs::statvfs(dir).map_err(|error| unusable(dir, &error.into()))?;
    let is_small = free.f_bavail.saturating_mul(free.f_frsize) <= DISK_MAX;
    if args.with.contains(&LiveFault::Disk) && !is_small {
        let message = format!("{} has more than {} MiB free, and is not filled", dir.display(), DISK_MAX >> 20);
        return Err(CliError::usage(message).next("name a folder on a small filesystem, such as a tmpfs of 256 MiB"));
    }
    let all = LiveFault::value_variants().iter().copied();
    Ok(match args.with.is_empty() {
        true => all.filter(|fault| is_small || *fault != LiveFault::Disk).collect(),
        false => args.with.clone(),
    })
}

/// The guard, and through it the node.
struct Lab {
    dir: PathBuf,
    guard: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Lab {
    fn start(dir: &Path) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        // Ctrl-C reaches this process alone: the guard notices that it is gone.
        command.args(["chaos", "guard"]).arg(dir).process_group(0);
        let mut guard = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(orders), Some(answers)) = (guard.stdin.take(), guard.stdout.take()) else {
            return Err(io::Error::other("the guard has no pipes"));
        };
        Ok(Self { dir: dir.to_owned(), guard, orders, answers: BufReader::new(answers) })
    }

    fn declare(&self, manifest: Option<&Path>) -> Result<(), CliError> {
        let own = self.dir.join("lab.yaml");
        let manifest = match manifest {
            Some(manifest) => manifest,
            None => {
                fs::write(&own, LAB).map_err(|error| unusable(&self.dir, &error))?;
                &own
            }
        };
        let manifest = manifest.display().to_string();
        let run = |args: &[&str]| self.run(args).map_err(|problem| failed(&problem));
        self.awake().map_err(|problem| failed(&problem))?;
        run(&["apply", &manifest])?;
        run(&["wait", "--timeout", FIRST])?;
        Ok(())
    }

    /// Waits until the node answers.
    fn awake(&self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            match self.run(&["status"]) {
                Err(_) if begun.elapsed() < START_TIME_MAX => thread::sleep(LOOK),
                answer => return answer.map(drop),
            }
        }
    }

    /// What is done for this to go wrong; none if there is no machine that it could happen to.
    fn order(&self, fault: LiveFault, dice: &mut Dice) -> Option<Order> {
        let time = Duration::from_millis(dice.between(LASTS_MS.0, LASTS_MS.1));
        let instance = dice.choose(&self.instances()).cloned();
        Some(match fault {
            LiveFault::Kill => Order::Kill,
            LiveFault::Pause => Order::Pause(time),
            LiveFault::CutOff => Order::CutOff(instance?, time),
            LiveFault::EndAgent => Order::EndAgent(instance?),
            LiveFault::Disk => Order::Fill(time),
        })
    }

    fn tell(&mut self, order: &Order) -> Result<(), CliError> {
        writeln!(self.orders, "{}", order.line()).map_err(|error| failed(&format!("the guard is gone: {error}")))
    }

    /// The effect ids of the instances that there are, as their folders say.
    fn instances(&self) -> Vec<String> {
        let machines = local_dir(&data_dir(&self.dir)).join("machines");
        let names = fs::read_dir(machines).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| name.parse::<uuid::Uuid>().map(EffectId).is_ok());
        names.sort_unstable();
        names
    }

    /// Runs a command of this program on the node; what it printed, or what is wrong.
    fn run(&self, args: &[&str]) -> Result<String, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.arg("--data-dir").arg(data_dir(&self.dir)).args(args).stdin(Stdio::null());
        let ran = command.env_remove("BAILIWICK_NODE").output().map_err(|error| error.to_string())?;
        if ran.status.success() {
            return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
        }
        Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned())
    }

    /// Nothing goes wrong any more: whether everything comes to be as declared, goes when it is to go, and was decided for the
    /// reasons that the journal gives.
    fn checks(&mut self, settle: &str) -> Result<Vec<Check>, CliError> {
        self.tell(&Order::Calm)?;
        self.answers.read_line(&mut String::new()).map_err(|error| failed(&error.to_string()))?;
        let mut checks = Vec::new();
        let mut check = |name, outcome: Result<(), String>| checks.push(Check { name, wrong: outcome.err() });
        check("the node answers", self.awake());
        check("everything becomes ready", self.run(&["wait", "--timeout", settle]).map(drop));
        check("each machine has one instance, and each instance one agent", self.is_one_to_one());
        check("everything can be removed", self.run(&["down", "--timeout", settle]).map(drop));
        check("nothing is left over", self.is_empty());
        self.tell(&Order::Stop)?;
        let stopped = self.guard.wait().map_err(|error| failed(&error.to_string()))?;
        let stops = if stopped.success() { Ok(()) } else { Err("it had to be killed".to_owned()) };
        check("the node stops when it is told to", stops);
        check("every decision comes out the same again", self.run(&["audit", "replay"]).map(drop));
        check("the journal is whole", self.run(&["journal", "check"]).map(drop));
        Ok(checks)
    }

    fn is_one_to_one(&self) -> Result<(), String> {
        let answer = self.run(&["get", "machines", "-o", "json"])?;
        let answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let machines = answer.as_array().map_or(0, Vec::len);
        let instances = self.instances();
        if machines != instances.len() {
            return Err(format!("{machines} machines have {} instances: {}", instances.len(), instances.join(", ")));
        }
        for instance in &instances {
            let agents = agents_of(instance).map_err(|error| error.to_string())?.len();
            if agents != 1 {
                return Err(format!("instance {instance} has {agents} agents"));
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> Result<(), String> {
        match &self.instances()[..] {
            [] => Ok(()),
            left => Err(format!("left: {}", left.join(", "))),
        }
    }
}

fn failed(problem: &str) -> CliError {
    let mut error = CliError::new(Exit::Error, "chaos", "cannot go on").next("see node.log in the folder");
    error.causes = problem.lines().map(|line| line.trim().to_owned()).collect();
    error
}

fn table(live: &Live) -> Table {
    let mut table = Table::fields();
    for fault in LiveFault::value_variants() {
        let count = live.faults.iter().filter(|one| *one == fault).count();
        table.add([Cell::from(fault.name()), format!("{count} times").into()]);
    }
    for check in &live.checks {
        let found = check.wrong.as_ref().map_or_else(|| Cell::good("yes"), Cell::bad);
        table.add([Cell::from(check.name), found]);
    }
    table
}
