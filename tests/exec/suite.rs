//! One suite for all: the providers of the node pass the checks that others are judged by, and so does the sample.

use std::{ffi::OsString, path::Path, sync::Arc};

use bailiwick::{
    actors::{
        ports::Clock,
        vocab::{Fault, Timestamp},
    },
    clock::SystemClock,
    providers::{
        check::{
            self, Line, Options, Outcome, Ports, Report, Subject,
            process::{self, ExecSubject},
        },
        local::{LocalConfig, LocalProvider},
        simulated::{Faults, SimulatedProvider, World},
    },
};
use tokio::time::Instant;

use crate::support::{Ground, has_python, name, sample};

/// Passes every check but those that are named; one that ends in `/` stands for all that begin with it.
#[track_caller]
fn passes(lines: Vec<Line>, skipped: &[&str]) {
    let report = Report::of("subject".into(), lines);
    let of = |outcome| report.checks.iter().filter(move |line| line.outcome == outcome);
    let failed: Vec<_> = of(Outcome::Failed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let skips: Vec<_> = of(Outcome::Skipped).collect();
    let unnamed: Vec<_> = skips.iter().filter(|line| !skipped.iter().any(|named| is_named(line, named))).collect();
    assert!(unnamed.is_empty(), "{unnamed:#?}");
    let unskipped: Vec<_> = skipped.iter().filter(|named| !skips.iter().any(|line| is_named(line, named))).collect();
    assert!(unskipped.is_empty(), "{unskipped:?}");
    assert!(report.is_good() && report.score == 100);
}

/// Whether a line is the one of this name, or one of the group.
fn is_named(line: &Line, named: &str) -> bool {
    if named.ends_with('/') { line.id.starts_with(named) } else { line.id == named }
}

#[test]
fn there_are_more_than_a_hundred_checks_and_each_has_a_name_of_its_own() {
    let ids: std::collections::BTreeSet<_> = check::checks().iter().map(|check| check.id).collect();
    assert_eq!(ids.len(), check::checks().len());
    // As `src/guide/providers.md` says.
    assert_eq!(ids.len() + process::count(), 149);
}

/// The runtime's virtual time.
struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000 + u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

struct Simulated {
    world: World,
    clock: Arc<VirtualClock>,
}

impl Subject for Simulated {
    fn title(&self) -> String {
        "simulated".into()
    }

    fn open(&self) -> Result<Ports, Fault> {
        let provider = Arc::new(SimulatedProvider::new(name("simulated"), self.world.clone(), self.clock.clone()));
        Ok(Ports { machines: Some(provider.clone()), volumes: Some(provider.clone()), filesystems: Some(provider) })
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }
}

/// Who lets go of no volume.
const NO_RELEASE: [&str; 2] = ["volumes/released", "volumes/released-others-stay"];

/// What only concerns processes, or who tells progress.
const NO_PROCESS: [&str; 4] = [
    "meanwhile/progress",
    "restarting/after-a-kill",
    "restarting/killed-while-creating",
    "restarting/killed-while-deleting",
];

#[tokio::test(start_paused = true)]
async fn the_simulated_provider_passes() {
    for (seed, faults) in [
        (1, Faults::default()),
        // It may be slow, and say that it cannot tell, and that a list is old or not complete: all of that is honest.
        (2, Faults { latency_ms: (1, 3_000), ..Faults::default() }),
        (3, Faults { unknown_lookup_per_mille: 300, ..Faults::default() }),
        (4, Faults { partial_list_per_mille: 400, stale_list_per_mille: 400, ..Faults::default() }),
    ] {
        let world = World::new(seed);
        world.set_faults(&name("simulated"), faults);
        let clock = Arc::new(VirtualClock(Instant::now()));
        let subject = Arc::new(Simulated { world, clock });
        let skipped = [
            &NO_PROCESS[..],
            &NO_RELEASE,
            &["creating/nonce", "volumes/listed", "volumes/list-forgets", "filesystems/released"],
        ];
        passes(check::run(subject, &Options::new(name("simulated")), |_| ()).await.unwrap(), &skipped.concat());
    }
}

/// A provider that misbehaves fails the suite.
#[tokio::test(start_paused = true)]
async fn a_simulated_provider_on_a_bad_day_fails() {
    for faults in [
        Faults { fail_per_mille: 300, ..Faults::default() },
        Faults { lost_answer_per_mille: 300, ..Faults::default() },
        Faults { miscount_per_mille: 300, ..Faults::default() },
        Faults { instances_max: Some(0), ..Faults::default() },
    ] {
        let world = World::new(5);
        world.set_faults(&name("simulated"), faults.clone());
        let clock = Arc::new(VirtualClock(Instant::now()));
        let subject = Arc::new(Simulated { world, clock });
        let lines = check::run(subject, &Options::new(name("simulated")), |_| ()).await.unwrap();
        assert!(Report::of("bad".into(), lines).failed > 5, "{faults:?}");
    }
}

struct Local {
    ground: Ground,
    clock: Arc<SystemClock>,
}

impl Subject for Local {
    fn title(&self) -> String {
        "local".into()
    }

    fn open(&self) -> Result<Ports, Fault> {
        let config = LocalConfig {
            root: self.ground.path().join("local"),
            socket: self.ground.path().join("node.sock"),
            agent_command: [env!("CARGO_BIN_EXE_bailiwick"), "agent"].map(OsString::from).into(),
            node_key: [7; 32],
            workload_user: None,
            storage_helper: None,
        };
        let provider = Arc::new(LocalProvider::new(config, self.clock()).unwrap());
        Ok(Ports { machines: Some(provider.clone()), volumes: Some(provider), filesystems: None })
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }
}

/// What is asked of filesystems alone.
const NO_FILESYSTEMS: [&str; 4] = ["filesystems/", "mounts/", "not-found/filesystems", "not-found/mounts"];

#[tokio::test]
#[ignore = "takes long"]
async fn the_local_provider_passes() {
    let subject = Arc::new(Local { ground: Ground::new(), clock: Arc::new(SystemClock::new()) });
    let skipped = [&NO_PROCESS[..], &NO_RELEASE, &NO_FILESYSTEMS[..], &["creating/what-comes-with-it"]];
    passes(check::run(subject, &Options::new(name("local")), |_| ()).await.unwrap(), &skipped.concat());
}

/// A program passes every check but those that are named.
async fn judge(program: &Path, skipped: &[&str]) {
    if !has_python() {
        return;
    }
    let ground = Ground::new();
    let config = ground.config(&["python3", program.to_str().unwrap()]);
    let (mut lines, offers) = process::run(&config, None, |_| ()).await.unwrap();
    let subject = ExecSubject::new(config, offers.unwrap(), Arc::new(SystemClock::new()));
    lines.extend(check::run(Arc::new(subject), &Options::new(name("lab")), |_| ()).await.unwrap());
    passes(lines, skipped);
    assert!(ground.processes().is_empty(), "nothing runs any more");
}

#[tokio::test]
#[ignore = "takes long"]
async fn the_sample_passes() {
    judge(&sample(), &[&["meanwhile/progress"], &NO_FILESYSTEMS[..]].concat()).await;
}

#[tokio::test]
#[ignore = "takes long"]
async fn the_sample_with_filesystems_passes() {
    judge(&sample().with_file_name("storage_provider.py"), &["meanwhile/progress"]).await;
}

#[test]
fn the_sample_has_not_many_more_than_a_hundred_lines() {
    let lines = std::fs::read_to_string(sample()).unwrap().lines().count();
    assert!(lines < 130, "{lines}");
}
