//! The process beside a node under chaos: it starts the node, does to it what it is told, and undoes it in time.
//!
//! It reads one order a line from its standard input. When that ends without `stop`, whoever gave the orders is gone: everything
//! is undone at once, and the node goes on.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    str::FromStr,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::agent::process::{ProcessMark, has_arguments, lead_session, processes_where};

/// How often it is looked whether the node runs, and whether something is to be undone.
const LOOK: Duration = Duration::from_millis(50);
/// A node that ends by itself is started again after this.
const AGAIN: Duration = Duration::from_millis(500);
/// A node that is told to stop has stopped after this.
const STOP_TIME_MAX: Duration = Duration::from_secs(30);
/// The file that fills the disk is written in pieces of this size.
const PIECE: usize = 1 << 20;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The node is killed, and started again.
    Kill,
    /// The node stands still so long.
    Pause(Duration),
    /// The agent of the instance with this effect id stands still so long.
    CutOff(String, Duration),
    /// The agent of the instance is killed.
    EndAgent(String),
    /// The disk is full so long.
    Fill(Duration),
    /// All is undone now, and `calm` is answered once the node runs.
    Calm,
    /// All is undone, the node is stopped, and this process ends.
    Stop,
}

impl Order {
    /// As it is sent.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Kill => "kill".into(),
            Self::Pause(time) => format!("pause {}", time.as_millis()),
            Self::CutOff(effect, time) => format!("cut-off {effect} {}", time.as_millis()),
            Self::EndAgent(effect) => format!("end-agent {effect}"),
            Self::Fill(time) => format!("fill {}", time.as_millis()),
            Self::Calm => "calm".into(),
            Self::Stop => "stop".into(),
        }
    }
}

/// Says that a line is no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoOrder;

impl FromStr for Order {
    type Err = NoOrder;

    fn from_str(line: &str) -> Result<Self, NoOrder> {
        let time = |text: &str| text.parse().map(Duration::from_millis).map_err(|_| NoOrder);
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["kill"] => Ok(Self::Kill),
            ["pause", ms] => Ok(Self::Pause(time(ms)?)),
            ["cut-off", effect, ms] => Ok(Self::CutOff(effect.to_owned(), time(ms)?)),
            ["end-agent", effect] => Ok(Self::EndAgent(effect.to_owned())),
            ["fill", ms] => Ok(Self::Fill(time(ms)?)),
            ["calm"] => Ok(Self::Calm),
            ["stop"] => Ok(Self::Stop),
            _ => Err(NoOrder),
        }
    }
}

/// The agents of an instance: one, if all is well.
pub(super) fn agents_of(effect: &str) -> io::Result<Vec<ProcessMark>> {
    processes_where(|pid, _| has_arguments(pid, &["agent", "--effect", effect]))
}

/// Obeys until it is told to stop, or nobody is there any more.
///
/// # Errors
/// If the node cannot be started at all.
pub(super) fn guard(dir: &Path) -> io::Result<()> {
    // Otherwise the end of whoever gives the orders would end this process and a node that stands still, too.
    lead_session()?;
    let (send, orders) = mpsc::channel();
    thread::spawn(move || {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        for order in lines.filter_map(|line| line.parse::<Order>().ok()) {
            if send.send(order).is_err() {
                break;
            }
        }
    });
    let mut guard = Guard { node: start(dir)?, dir: dir.to_owned(), stopped: Vec::new(), full_until: None };
    guard.obey(&orders)
}

fn start(dir: &Path) -> io::Result<Child> {
    let log = File::options().create(true).append(true).open(dir.join("node.log"))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg("--data-dir").arg(super::data_dir(dir));
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.spawn()
}

struct Guard {
    dir: PathBuf,
    node: Child,
    /// Who stands still, and until when.
    stopped: Vec<(ProcessMark, Instant)>,
    full_until: Option<Instant>,
}

impl Guard {
    fn obey(&mut self, orders: &Receiver<Order>) -> io::Result<()> {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(Order::Stop) => {
                    self.undo(None);
                    return self.stop();
                }
                Ok(Order::Calm) => {
                    self.undo(None);
                    self.revive()?;
                    writeln!(io::stdout(), "calm")?;
                }
                Ok(order) => self.carry_out(order)?,
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => {
                    self.undo(None);
                    return self.revive();
                }
            }
            self.undo(Some(Instant::now()));
            self.revive()?;
        }
    }

    fn carry_out(&mut self, order: Order) -> io::Result<()> {
        match order {
            Order::Kill => {
                self.node.kill()?;
                self.node.wait()?;
            }
            Order::Pause(time) => {
                let node = ProcessMark::of(self.node.id())?;
                self.hold(node, time)?;
            }
            Order::CutOff(effect, time) => {
                for agent in agents_of(&effect)? {
                    self.hold(agent, time)?;
                }
            }
            Order::EndAgent(effect) => {
                for agent in agents_of(&effect)? {
                    agent.signal(Signal::KILL)?;
                }
            }
            Order::Fill(time) => {
                self.full_until = Some(Instant::now() + time);
                fill(&self.ballast());
            }
            Order::Calm | Order::Stop => (),
        }
        Ok(())
    }

    fn hold(&mut self, process: ProcessMark, time: Duration) -> io::Result<()> {
        if process.signal(Signal::STOP)? {
            self.stopped.push((process, Instant::now() + time));
        }
        Ok(())
    }

    /// Undoes what is over at this moment; everything, if none is named.
    fn undo(&mut self, now: Option<Instant>) {
        let is_over = |until: Instant| now.is_none_or(|now| until <= now);
        for (process, _) in self.stopped.extract_if(.., |(_, until)| is_over(*until)) {
            // One that is gone stands still no more.
            let _ = process.signal(Signal::CONT);
        }
        if self.full_until.is_some_and(is_over) {
            let _ = fs::remove_file(self.ballast());
            self.full_until = None;
        }
    }

    /// Starts the node if it does not run.
    fn revive(&mut self) -> io::Result<()> {
        let Some(ended) = self.node.try_wait()? else { return Ok(()) };
        // One that was killed by us starts at once; one that cannot start is not started again and again without a pause.
        if ended.signal() != Some(Signal::KILL.as_raw()) {
            thread::sleep(AGAIN);
        }
        match start(&self.dir) {
            Ok(node) => self.node = node,
            // Nothing can be written, not even its log: later.
            Err(_) if self.full_until.is_some() => (),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn stop(&mut self) -> io::Result<()> {
        ProcessMark::of(self.node.id())?.signal(Signal::TERM)?;
        let begun = Instant::now();
        while self.node.try_wait()?.is_none() {
            if STOP_TIME_MAX < begun.elapsed() {
                self.node.kill()?;
                self.node.wait()?;
                return Err(io::Error::other("the node did not stop, and was killed"));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn ballast(&self) -> PathBuf {
        self.dir.join("ballast")
    }
}

/// Writes until nothing fits any more.
fn fill(path: &Path) {
    let Ok(mut file) = File::create(path) else { return };
    let mut piece = vec![1; PIECE];
    while !piece.is_empty() {
        if file.write_all(&piece).is_err() {
            piece.truncate(piece.len() / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_sent() {
        let second = Duration::from_secs(1);
        for order in [
            Order::Kill,
            Order::Pause(second),
            Order::CutOff("a-b".into(), second),
            Order::EndAgent("a-b".into()),
            Order::Fill(second),
            Order::Calm,
            Order::Stop,
        ] {
            assert_eq!(order.line().parse(), Ok(order));
        }
        for line in ["", "kill 1", "pause", "pause x", "stop now"] {
            assert_eq!(line.parse::<Order>(), Err(NoOrder), "{line:?}");
        }
    }
}
