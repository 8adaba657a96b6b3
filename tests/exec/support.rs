//! A directory of one's own, and processes of a few lines of shell.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bailiwick::{
    actors::{
        machine::Spec,
        ports::{CreateMachine, Lookup, MachineInstance, MachineProvider},
        vocab::{EffectId, Fault, FaultCode, Name, Uid},
    },
    agent::process::{ProcessMark, processes_where},
    clock::SystemClock,
    providers::exec::{ExecConfig, ExecLimits, ExecProvider},
};

/// The answer to the first line, as a shell prints it.
pub const HELLO: &str = r#"{"id":1,"ok":{"version":1,"machines":true,"volumes":true,"cancel":true,"progress":true}}"#;

/// A directory; whatever runs below it is killed when it goes.
#[derive(Debug)]
pub struct Ground {
    scratch: tempfile::TempDir,
}

impl Ground {
    pub fn new() -> Self {
        Self { scratch: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.scratch.path().canonicalize().unwrap()
    }

    pub fn config(&self, command: &[&str]) -> ExecConfig {
        let command = command.iter().map(Into::into).collect();
        let mut config = ExecConfig::new(name("lab"), command, &self.path());
        // A test that waits for a pause or a grace waits a little.
        config.limits = ExecLimits {
            pause_first: Duration::from_millis(10),
            pause_max: Duration::from_millis(50),
            end_grace: Duration::from_millis(300),
            term_grace: Duration::from_millis(300),
            ..ExecLimits::default()
        };
        config
    }

    /// A provider of some lines of shell. `DIR` in it stands for this directory.
    pub fn shell(&self, script: &str) -> ExecProvider {
        start(self.shell_config(script))
    }

    pub fn shell_config(&self, script: &str) -> ExecConfig {
        let script = script.replace("DIR", self.path().to_str().unwrap()).replace("HELLO", HELLO);
        self.config(&["sh", "-c", &script])
    }

    /// One that greets and then does this.
    pub fn greeting(&self, script: &str) -> ExecProvider {
        self.shell(&format!("read first; echo 'HELLO'; {script}"))
    }

    pub fn exists(&self, file: &str) -> bool {
        self.path().join(file).exists()
    }

    /// Everything that works in this directory, or has it among its arguments.
    pub fn processes(&self) -> Vec<ProcessMark> {
        let path = self.path();
        let is_here = |pid: u32| {
            let home = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            home.starts_with(&path) || String::from_utf8_lossy(&line).contains(path.to_str().unwrap())
        };
        processes_where(|pid, _| pid != std::process::id() && is_here(pid)).unwrap()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        for process in self.processes() {
            let _ = process.signal(rustix::process::Signal::KILL);
        }
    }
}

pub fn start(config: ExecConfig) -> ExecProvider {
    ExecProvider::start(config, Arc::new(SystemClock::new())).unwrap()
}

/// The sample that people are shown.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/provider.py")
}

/// Whether there is Python 3 to run the sample with. If not, that is said; where `BAILIWICK_CI` is set, it is a failure.
pub fn has_python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !found {
        assert!(std::env::var_os("BAILIWICK_CI").is_none(), "providers cannot be tested for real here: no python3");
        writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: the sample provider needs python3").unwrap();
    }
    found
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn effect(n: u128) -> EffectId {
    EffectId(uuid::Uuid::from_u128(n))
}

pub fn wish(n: u128) -> CreateMachine {
    CreateMachine {
        id: effect(n),
        machine: name("web"),
        uid: Uid(uuid::Uuid::from_u128(n)),
        spec: Arc::new(Spec::with_provider(name("lab"))),
        zone: None,
        class: None,
        secrets: Default::default(),
        start: None,
        config: None,
        nonce: None,
        join: None,
    }
}

/// What a shell prints as the answer to call `id` about machine `n`.
pub fn made(id: u64, n: u128) -> String {
    let effect = effect(n);
    format!(
        r#"echo '{{"id":{id},"ok":[{{"ok":{{"effect":"{effect}","instance":"i-{n}","machine":"web","status":"running"}}}}]}}'"#
    )
}

/// How the creation of one machine comes out.
pub async fn create(provider: &ExecProvider, n: u128) -> Result<MachineInstance, Fault> {
    let answers = within(provider.create(vec![wish(n)])).await?;
    assert_eq!(answers.len(), 1);
    answers.into_iter().next().unwrap().map(|made| made.instance)
}

pub async fn lookup(provider: &ExecProvider, n: u128) -> Result<Lookup<MachineInstance>, Fault> {
    Ok(within(provider.lookup(vec![effect(n)])).await?.remove(0)?.map(|found| found.instance))
}

/// Nothing here takes nearly as long.
pub async fn within<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), call).await.expect("an answer in time")
}

/// The fault of a creation.
#[track_caller]
pub fn fault<T: std::fmt::Debug>(answer: Result<T, Fault>, code: FaultCode, words: &str) {
    let fault = answer.unwrap_err();
    assert_eq!(fault.code, code, "{fault}");
    assert!(fault.text.contains(words), "expected {words:?} in {fault}");
}

/// Waits until something is so; the only place where tests wait.
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asks until the provider is there.
pub async fn until_served(provider: &ExecProvider, n: u128) -> MachineInstance {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match create(provider, n).await {
            Ok(made) => return made,
            Err(fault) => assert!(Instant::now() < until, "{fault}"),
        }
        tokio::task::yield_now().await;
    }
}

/// Says that a test was not made for real; where `BAILIWICK_CI` is set, that is a failure.
pub fn say_missing(what: &str) {
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "providers cannot be tested for real here: no {what}");
    writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: no {what}").unwrap();
}
