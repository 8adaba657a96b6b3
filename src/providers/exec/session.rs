//! One process, from its start to its end.

mod incoming;

use std::{collections::BTreeSet, process::ExitStatus, sync::Arc, time::Duration};

use bailiwick_actors::vocab::{EffectId, Fault, FaultCode};
use rustix::process::Signal;
use tokio::{
    io::AsyncWriteExt,
    process::ChildStdin,
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tracing::{debug, info, warn};

use super::{
    ExecConfig,
    lines::{Lines, Read},
    process::{Group, Process, end_predecessor},
    shared::{Order, Shared},
    stderr::{LastWords, listen},
    table::{Table, request},
    trouble::Trouble,
    wire::{Hello, Operation, VERSION},
};
use crate::providers::known::KnownSecrets;

/// How a process ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// In order, because nobody can ask any more.
    Wanted,
    Broken(Trouble),
}

/// How far the process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It owes the answer to the first line.
    Greeting,
    Serving,
    /// Its standard input has ended.
    AskedToEnd,
    Terminated,
    Killed,
    /// It has ended; what it wrote before is still being read.
    Ended,
}

/// After its end it may take so long until its last words are read: somebody else may have its pipe.
const LAST_LINES: Duration = Duration::from_secs(1);
/// Whatever is killed is gone long before this.
const KILL_TIME_MAX: Duration = Duration::from_secs(5);
/// Nothing is due: the process is looked at when something happens.
const A_LONG_TIME: Duration = Duration::from_secs(3_600);
const A_SECOND: Duration = Duration::from_secs(1);
/// The longest word of progress, in letters; at most 252 bytes.
const PROGRESS_LETTERS_MAX: usize = 62;

/// Starts a process and serves with it until it ends, or nobody can ask any more.
pub(super) async fn serve(
    config: &ExecConfig,
    shared: &Shared,
    known: &KnownSecrets,
    inbox: &mut mpsc::Receiver<Order>,
) -> Ended {
    let process = match Process::start(config) {
        Ok(process) => process,
        Err(error) => return Ended::Broken(Trouble::CannotStart(error.to_string())),
    };
    let Process { stdin, stdout, stderr, mut exit, group } = process;
    info!(provider = %config.name, pid = group.pid, "provider started");
    shared.set_pid(Some(group.pid));
    let last_words = LastWords::default();
    let listener = tokio::spawn(listen(stderr, config.name.clone(), known.clone(), last_words.clone()));
    let mut session = Session::greet(config, shared, known, group, stdin);
    let mut lines = Some(Lines::new(stdout, config.limits.line_bytes_max));
    let mut is_inbox_open = true;
    while session.goes_on(lines.is_some()) {
        let due = session.due();
        tokio::select! {
            biased;
            read = next(&mut lines), if lines.is_some() => match read {
                Ok(Read::Line(line)) => session.take(&line),
                Ok(Read::TooLong) => session.give_up(Trouble::LongLine(config.limits.line_bytes_max)),
                Ok(Read::End) | Err(_) => {
                    lines = None;
                    session.mute();
                }
            },
            status = &mut exit, if session.stage != Stage::Ended => session.ended(status.ok()),
            order = inbox.recv(), if is_inbox_open => match order {
                Some(order) => session.order(order),
                None => {
                    is_inbox_open = false;
                    session.is_end_wanted = true;
                    session.ask_to_end();
                }
            },
            () = sleep_until(due) => session.overdue(),
        }
        if session.is_given_up() {
            // Closed, so that who goes on writing is ended by that.
            lines = None;
        }
    }
    // What it said at last has been read, unless somebody else holds the pipe.
    let is_over = tokio::time::timeout(LAST_LINES, listener).await;
    if is_over.is_err() {
        debug!(provider = %config.name, "its standard error is held by another process");
    }
    session.finish(&last_words).await
}

async fn next<R: tokio::io::AsyncRead + Unpin>(lines: &mut Option<Lines<R>>) -> std::io::Result<Read> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

struct Session<'a> {
    config: &'a ExecConfig,
    shared: &'a Shared,
    known: &'a KnownSecrets,
    /// Whose secrets it has told on, as far as that was said.
    told_on: BTreeSet<Arc<str>>,
    group: Group,
    stage: Stage,
    /// When the stage has taken too long.
    until: Instant,
    /// When something was last written, or first owed.
    heard: Instant,
    calls: Table,
    hello_id: u64,
    hello: Option<Hello>,
    asked_for_hello: Vec<oneshot::Sender<Result<Hello, Fault>>>,
    /// Lines that go out; none once its standard input has ended.
    writer: Option<mpsc::UnboundedSender<Vec<u8>>>,
    writing: tokio::task::JoinHandle<()>,
    notes: (Instant, u32),
    trouble: Option<Trouble>,
    /// Nobody can ask any more.
    is_end_wanted: bool,
}

impl<'a> Session<'a> {
    fn greet(
        config: &'a ExecConfig,
        shared: &'a Shared,
        known: &'a KnownSecrets,
        group: Group,
        stdin: ChildStdin,
    ) -> Self {
        // Its length is bounded by that of the table of calls.
        let (writer, to_write) = mpsc::unbounded_channel();
        let writing = tokio::spawn(write(stdin, to_write));
        let mut calls = Table::default();
        let hello_id = calls.next_id();
        let mut body = serde_json::json!({
            "versions": [VERSION],
            "name": config.name,
            "state_dir": std::path::absolute(config.state_dir()).unwrap_or_else(|_| config.state_dir()),
            "line_bytes_max": config.limits.line_bytes_max,
        });
        if let Some(owner) = config.owner {
            body["owner"] = owner.to_string().into();
        }
        let body = body.to_string();
        let line = request(hello_id, Operation::Hello, &format!(",{}", &body[1..body.len() - 1]));
        let now = Instant::now();
        let session = Self {
            config,
            shared,
            known,
            told_on: BTreeSet::new(),
            group,
            stage: Stage::Greeting,
            until: now + config.limits.hello_time,
            heard: now,
            calls,
            hello_id,
            hello: None,
            asked_for_hello: Vec::new(),
            writer: Some(writer),
            writing,
            notes: (now, 0),
            trouble: None,
            is_end_wanted: false,
        };
        session.send(line);
        session
    }

    fn goes_on(&self, is_read: bool) -> bool {
        match self.stage {
            Stage::Ended => is_read && Instant::now() < self.until,
            Stage::Killed => Instant::now() < self.until,
            Stage::Greeting | Stage::Serving | Stage::AskedToEnd | Stage::Terminated => true,
        }
    }

    fn is_given_up(&self) -> bool {
        self.trouble.is_some() && self.stage != Stage::Ended
    }

    /// When something has to be done even if nothing happens.
    fn due(&self) -> Instant {
        match self.stage {
            Stage::Serving => match self.calls.oldest() {
                Some(oldest) => (self.heard + self.config.limits.silence).min(oldest + self.config.limits.call_time),
                None => Instant::now() + A_LONG_TIME,
            },
            Stage::Greeting | Stage::AskedToEnd | Stage::Terminated | Stage::Killed | Stage::Ended => self.until,
        }
    }

    fn overdue(&mut self) {
        match self.stage {
            Stage::Greeting => self.give_up(Trouble::NoHello),
            Stage::Serving if self.calls.owes_answers() => {
                let (silence, call_time) = (self.config.limits.silence, self.config.limits.call_time);
                if silence <= self.heard.elapsed() {
                    self.give_up(Trouble::Silent(in_ms(silence)));
                } else if self.calls.oldest().is_some_and(|oldest| call_time <= oldest.elapsed()) {
                    self.give_up(Trouble::Overdue(in_ms(call_time)));
                }
            }
            Stage::AskedToEnd => {
                self.group.signal(Signal::TERM);
                // One that is stopped would not see it.
                self.group.signal(Signal::CONT);
                self.step(Stage::Terminated, self.config.limits.term_grace);
            }
            Stage::Terminated => {
                warn!(provider = %self.config.name, pid = self.group.pid, "it does not exit; killing it");
                self.group.signal(Signal::KILL);
                self.step(Stage::Killed, KILL_TIME_MAX);
            }
            Stage::Serving | Stage::Killed | Stage::Ended => (),
        }
    }

    /// It will never say anything again: most likely it is ending.
    fn mute(&mut self) {
        self.ask_to_end();
    }

    fn step(&mut self, stage: Stage, time: Duration) {
        self.stage = stage;
        self.until = Instant::now() + time;
    }

    /// It cannot be trusted any more: nobody waits for it, and it is ended.
    fn give_up(&mut self, trouble: Trouble) {
        if self.trouble.is_none() {
            self.fail(trouble);
        }
        self.ask_to_end();
    }

    fn fail(&mut self, trouble: Trouble) {
        // Before anybody is told that it is over.
        self.shared.all_progress().clear();
        self.calls.fail(&trouble);
        for asked in self.asked_for_hello.drain(..) {
            let _ = asked.send(Err(trouble.not_begun(Operation::Hello.nature())));
        }
        self.trouble = Some(trouble);
    }

    /// Ends its standard input, and gives it time.
    fn ask_to_end(&mut self) {
        if matches!(self.stage, Stage::Greeting | Stage::Serving) {
            self.writer = None;
            if self.trouble.is_some() {
                // What it has not read by now it need not read.
                self.writing.abort();
            }
            self.step(Stage::AskedToEnd, self.config.limits.end_grace);
        }
    }

    fn ended(&mut self, status: Option<ExitStatus>) {
        self.writer = None;
        self.writing.abort();
        if self.trouble.is_none() && !self.is_end_wanted {
            let how = status.map_or_else(|| "exit status unknown".to_owned(), |status| status.to_string());
            // Its last answers may still be in the pipe; who asks for more is told at once.
            self.trouble = Some(Trouble::Ended(how));
        }
        self.step(Stage::Ended, LAST_LINES);
    }

    fn order(&mut self, order: Order) {
        if let Some(trouble) = &self.trouble {
            return order.refuse(trouble);
        }
        match order {
            Order::Call(call) if self.config.limits.calls_max <= self.calls.len() => {
                call.refuse_with(Fault::new(FaultCode::Unavailable, "too many calls are waiting for the provider"));
            }
            Order::Call(call) => {
                self.calls.add(call);
                self.send_ready();
            }
            Order::Cancel(effect) => self.cancel(effect),
            Order::Hello(answer) => match &self.hello {
                Some(hello) => drop(answer.send(Ok(hello.clone()))),
                None => self.asked_for_hello.push(answer),
            },
        }
    }

    fn cancel(&self, effect: EffectId) {
        if self.hello.as_ref().is_some_and(|hello| hello.cancel) && self.calls.is_changing(effect) {
            self.send(format!("{{\"cancel\":{{\"effect\":\"{effect}\"}}}}\n").into_bytes());
        }
    }

    fn send_ready(&mut self) {
        if self.stage != Stage::Serving {
            return;
        }
        if !self.calls.owes_answers() {
            self.heard = Instant::now();
        }
        for line in self.calls.ready() {
            self.send(line);
        }
    }

    fn send(&self, line: Vec<u8>) {
        if let Some(writer) = &self.writer {
            // It fails when the process has closed its input: then its end is heard of in another way.
            let _ = writer.send(line);
        }
    }

    async fn finish(mut self, last_words: &LastWords) -> Ended {
        self.writing.abort();
        let trouble = self.trouble.take().unwrap_or(Trouble::Stopped);
        self.shared.all_progress().clear();
        self.calls.fail(&trouble);
        for asked in self.asked_for_hello.drain(..) {
            let _ = asked.send(Err(trouble.not_begun(Operation::Hello.nature())));
        }
        if self.stage == Stage::Ended
            && let Err(error) = end_predecessor(self.config).await
        {
            debug!(provider = %self.config.name, %error, "the note about it stays");
        }
        if self.is_end_wanted {
            return Ended::Wanted;
        }
        last_words.tell(&self.config.name);
        Ended::Broken(trouble)
    }
}

fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Writes lines until there are no more; then the standard input ends.
async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}
