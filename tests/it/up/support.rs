//! A data directory of one's own, the program run in it, and nothing left running after it.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use bailiwick::{
    agent::process::{ProcessMark, processes_where},
    config::journal_dir,
    journal::{OpenError, ReadOnlyJournal},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Nothing here takes nearly as long.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Short times, so that nobody waits for a second attempt.
pub const QUICK: &str = "apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {name: default}\nspec:\n  machines: {retryFirst: 100ms, \
                         retryMax: 1s, poll: 200ms, nodeStale: 3s, restartGrace: 3s}\n  storage: {retryFirst: 100ms, retryMax: 1s}\n";

/// A data directory, and manifests beside it. Whatever runs in it is killed when it goes.
#[derive(Debug)]
pub struct Lab {
    data: PathBuf,
    manifests: PathBuf,
    _scratch: tempfile::TempDir,
}

/// Tokens that are noted as they are drawn.
#[derive(Debug)]
pub struct Tokens {
    end: Arc<AtomicBool>,
    thread: JoinHandle<BTreeMap<String, String>>,
}

impl Tokens {
    /// All that were drawn until now, by the instance that they are for.
    pub fn noted(self) -> BTreeMap<String, String> {
        self.end.store(true, Ordering::Release);
        self.thread.join().expect("tokens")
    }
}

/// How a run of the program ended.
#[derive(Clone, Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The program while it runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    out: Reader,
    err: Reader,
}

#[derive(Debug)]
struct Reader {
    text: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Lab {
    pub fn new() -> Self {
        Self::below(Path::new("data"))
    }

    /// With the data directory at this place below a directory of its own.
    pub fn below(place: &Path) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let root = scratch.path().canonicalize().expect("a path");
        let manifests = root.join("manifests");
        fs::create_dir(&manifests).expect("a directory");
        Self { data: root.join(place), manifests, _scratch: scratch }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn local(&self) -> PathBuf {
        self.data.join("local")
    }

    /// Notes the tokens that agents join with as they are drawn: once one was used, the node does not have it any more.
    pub fn note_tokens(&self) -> Tokens {
        let (place, end) = (self.data.join("enrolment"), Arc::new(AtomicBool::new(false)));
        let ended = end.clone();
        let thread = std::thread::spawn(move || {
            let mut tokens = BTreeMap::new();
            while !ended.load(Ordering::Acquire) {
                for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
                    let kept = fs::read(entry.path()).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
                    let token = kept.and_then(|kept| kept["token"].as_str().map(str::to_owned));
                    let effect = entry.file_name().to_string_lossy().into_owned();
                    tokens.extend(token.map(|token| (effect, token)));
                }
                pause();
            }
            tokens
        });
        Tokens { end, thread }
    }

    /// Writes a manifest; the answer is its path.
    pub fn manifest(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.manifests.join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("text").to_owned()
    }

    /// The program with this data directory and nothing of our settings.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command.arg("--data-dir").arg(&self.data).args(args);
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "BAILIWICK_LOG", "BAILIWICK_CRASH_AT"] {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn start(&self, args: &[&str]) -> Running {
        Running::of(&mut self.command(args))
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.start(args).ended()
    }

    /// The arguments that make the lab of the examples so, with short times.
    pub fn up_args(&self) -> Vec<String> {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab.yaml");
        let quick = self.manifest("quick.yaml", QUICK);
        let lab = lab.to_str().expect("text").to_owned();
        ["up".into(), lab, quick, "--timeout".into(), "60s".into()].into()
    }

    /// Makes the lab so, and ends.
    #[track_caller]
    pub fn up(&self) -> Ran {
        let mut args = self.up_args();
        args.push("--once".into());
        self.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).code(0)
    }

    /// A node that makes the lab so and stays.
    #[track_caller]
    pub fn stay(&self) -> Running {
        let node = self.start(&self.up_args().iter().map(String::as_str).collect::<Vec<_>>());
        node.says("ready; Ctrl-C stops the node");
        node
    }

    #[track_caller]
    pub fn down(&self) -> Ran {
        self.run(&["down", "--timeout", "60s"]).code(0)
    }

    /// What the running node answers on its socket: the head of the answer, and its body.
    #[track_caller]
    pub fn http(&self, method: &str, path: &str, body: &str) -> (String, String) {
        let mut socket = UnixStream::connect(self.data.join("node.sock")).expect("it listens");
        let of_body = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
        let head = format!("{method} {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{of_body}\r\n\r\n");
        socket.write_all(&[head.as_bytes(), body.as_bytes()].concat()).expect("asked");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).expect("answered");
        let text = String::from_utf8_lossy(&answer);
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        (head.to_owned(), body.to_owned())
    }

    /// Everything that runs with this data directory in its arguments or its environment.
    pub fn processes(&self) -> Vec<ProcessMark> {
        let data = self.data.to_str().expect("text").as_bytes().to_vec();
        let mentions = |pid: u32, file: &str| {
            fs::read(format!("/proc/{pid}/{file}")).is_ok_and(|text| text.windows(data.len()).any(|part| part == data))
        };
        processes_where(|pid, _| mentions(pid, "cmdline") || mentions(pid, "environ")).expect("a list of processes")
    }
}

/// Runs the program in another data directory than the lab's.
pub fn run_in(data: &Path, args: &[&str]) -> Ran {
    start_in(data, args).ended()
}

/// Starts the program with that data directory.
pub fn start_in(data: &Path, args: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
    command.arg("--data-dir").arg(data).args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    Running::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

impl Drop for Lab {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let running = self.processes();
            if running.is_empty() || until < Instant::now() {
                break;
            }
            for process in running {
                // By pid and start time, so nobody else is hit.
                let _ = process.signal(Signal::KILL);
            }
            pause();
        }
        // Whatever the test was about: every decision that it led to must come out the same when it is made again.
        let journal = journal_dir(&self.data);
        if !std::thread::panicking() && journal.is_dir() {
            // A process that was killed shows nothing of itself any more while it still lets go of its files.
            let journal = loop {
                match ReadOnlyJournal::open(&journal) {
                    Err(OpenError::InUse { .. }) if Instant::now() < until => pause(),
                    opened => break opened.expect("the journal can be read when all is over"),
                }
            };
            bailiwick::actors::replay::assert_replays(&journal);
        }
    }
}

impl Running {
    pub fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let out = Reader::of(child.stdout.take());
        let err = Reader::of(child.stderr.take());
        Self { child, out, err }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until this is on the standard error.
    #[track_caller]
    pub fn says(&self, words: &str) {
        self.says_times(words, 1);
    }

    #[track_caller]
    pub fn says_times(&self, words: &str, times: usize) {
        self.err.waits_for(words, times);
    }

    /// What is on the standard error by now.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.err.text.lock().expect("text")).into_owned()
    }

    /// Ends it in order.
    pub fn stopped(self) -> Ran {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until this is on the standard output.
    #[track_caller]
    pub fn prints(&self, words: &str) {
        self.out.waits_for(words, 1);
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is our child");
    }

    /// Whether it has ended by now.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("our child").is_some()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn ended(mut self) -> Ran {
        let until = Instant::now() + TIME_MAX;
        let mut is_killed = false;
        let status: ExitStatus = loop {
            match self.child.try_wait().expect("our child") {
                Some(status) => break status,
                None if until < Instant::now() => {
                    is_killed = self.child.kill().is_ok();
                    break self.child.wait().expect("our child");
                }
                None => pause(),
            }
        };
        let ran = Ran { code: status.code(), out: self.out.all(), err: self.err.all() };
        assert!(!is_killed, "it does not end: {ran:?}");
        ran
    }

    /// kill -9, and what it has said until then.
    pub fn kill(self) -> Ran {
        self.signal(Signal::KILL);
        self.ended()
    }
}

impl Reader {
    #[track_caller]
    fn waits_for(&self, words: &str, times: usize) {
        let said = || String::from_utf8_lossy(&self.text.lock().expect("text")).into_owned();
        let until = Instant::now() + TIME_MAX;
        while said().matches(words).count() < times {
            assert!(Instant::now() < until, "not said in time: {words}\n{}", said());
            pause();
        }
    }

    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let kept = text.clone();
        let read = move || {
            let mut part = [0; 4096];
            let Some(mut pipe) = pipe else { return };
            while let Ok(length @ 1..) = pipe.read(&mut part) {
                kept.lock().expect("text").extend_from_slice(&part[..length]);
            }
        };
        Self { text, thread: Some(std::thread::spawn(read)) }
    }

    fn all(&mut self) -> String {
        self.thread.take().map(JoinHandle::join);
        String::from_utf8_lossy(&self.text.lock().expect("text")).into_owned()
    }
}

impl Ran {
    /// It ended with this code.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    /// The standard error has these words.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(self.err.contains(words), "expected {words:?} in\n{}", self.err);
        self
    }
}

/// Waits until something is so.
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + TIME_MAX / 2;
    while !is_so() {
        assert!(Instant::now() < until, "not in time: {what}");
        pause();
    }
}

/// The only place where these tests wait: between two looks.
pub fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}
