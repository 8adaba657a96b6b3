//! Running commands, and the turn that they hold.

use std::{
    fs,
    path::Path,
    process::{Command as Process, Stdio},
    sync::Arc,
    time::Duration,
};

use bailiwick::{
    actors::{
        ports::{Lookup, VolumeProvider},
        vocab::{FaultCode, SizeMib},
    },
    providers::storage::{Command, Ground, LoopVolumes, RunError, Runner, StorageError, SystemRunner, Tag, TagKind},
};

use crate::{
    loop_volumes::script,
    support::{FixedClock, Lab, effect, only, volume},
};

/// A ground without any rights: programs are scripts of our own.
fn ground(lab: &Lab, body: &str, timeout: Duration) -> (Arc<Ground>, Arc<SystemRunner>) {
    let programs = lab.path.join("programs");
    fs::create_dir_all(&programs).unwrap();
    script(&programs.join("fallocate"), body);
    let runner = Arc::new(SystemRunner { timeout, directories: vec![programs, "/usr/bin".into(), "/bin".into()] });
    (lab.ground(runner.clone()), runner)
}

const LONG: Duration = Duration::from_secs(60);

async fn run(lab: &Lab, body: &str, timeout: Duration) -> Result<String, RunError> {
    let (ground, runner) = ground(lab, body, timeout);
    let turn = ground.turn(&Tag::of(TagKind::Volume, effect(1))).unwrap();
    let command = Command::fallocate(&"/a b; touch x".parse().unwrap(), SizeMib(1));
    runner.run(&command, &turn).await
}

#[tokio::test]
async fn arguments_arrive_as_they_are_in_an_empty_environment() {
    let lab = Lab::new();
    let text = run(&lab, "printf '%s|' \"$@\"; pwd; env | grep -v -e ^PWD -e ^_ -e ^SHLVL | sort", LONG).await.unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("-l|1MiB|--|/a b; touch x|/"));
    assert_eq!(lines.next(), Some("LC_ALL=C"));
    assert!(lines.next().unwrap().starts_with("PATH="));
    assert_eq!(lines.next(), None);
}

#[tokio::test]
async fn each_way_to_fail_has_its_own_error() {
    let lab = Lab::new();
    match run(&lab, "echo why >&2; exit 3", LONG).await {
        Err(RunError::Failed { exit: Some(3), stderr, .. }) => assert_eq!(stderr, "why"),
        other => panic!("{other:?}"),
    }
    match run(&lab, "printf 'umount: %0500d: target is busy' 0 >&2; exit 32", LONG).await {
        Err(RunError::Failed { stderr, .. }) => {
            assert!(stderr.starts_with('…') && stderr.ends_with("busy"), "{stderr}")
        }
        other => panic!("{other:?}"),
    }
    let killed = run(&lab, "kill -9 $$", LONG).await.unwrap_err();
    assert!(matches!(killed, RunError::Failed { exit: None, .. }), "{killed:?}");
    assert_eq!(killed.code(), FaultCode::Aborted, "nobody knows how far it came");
    let slow = run(&lab, "exec sleep 600", Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(slow, RunError::TimedOut { after_ms: 50, .. }), "{slow:?}");
    assert_eq!(slow.code(), FaultCode::DeadlineExceeded);
    let endless = run(&lab, "exec cat /dev/zero", LONG).await.unwrap_err();
    assert!(matches!(endless, RunError::TooMuch { .. }), "{endless:?}");
    assert!(matches!(run(&lab, "printf '\\377'", LONG).await, Err(RunError::NotText { .. })));
    assert_eq!(run(&lab, "cat", LONG).await.unwrap(), "", "there is nothing to be read");
    let nowhere = SystemRunner { directories: vec![lab.path.join("nowhere")], ..SystemRunner::default() };
    assert_eq!(nowhere.find("fallocate"), None);
    assert_eq!(nowhere.find("../programs/fallocate"), None);
}

/// Where the child runs its command; set only for the child.
const LAB: &str = "BAILIWICK_STORAGE_RUNNER_LAB";

/// A node that is in the middle of a command; nothing unless this process is one.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(LAB) else { return };
    let lab = Lab::borrowed(Path::new(&path));
    run(&lab, &format!("echo > {0}/begun; exec cat {0}/end", lab.path.display()), LONG).await.unwrap();
}

#[test]
fn a_command_that_outlives_a_killed_node_keeps_its_turn() {
    let lab = Lab::new();
    let tag = Tag::of(TagKind::Volume, effect(1));
    for pipe in ["begun", "end"] {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, lab.path.join(pipe), mode).unwrap();
    }
    let mut child = Process::new(std::env::current_exe().unwrap());
    child.args(["--exact", "runner::child", "--test-threads=1"]).env(LAB, &lab.path);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(fs::read_to_string(lab.path.join("begun")).unwrap(), "\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let ground = lab.ground(Arc::new(SystemRunner::default()));
    assert!(matches!(ground.turn(&tag), Err(StorageError::Busy { .. })), "the command still runs");
    assert!(ground.turn(&Tag::of(TagKind::Volume, effect(2))).is_ok(), "others go on");
    // Its end: the pipe that it reads is opened and closed again. The lock itself tells when it has ended.
    drop(fs::OpenOptions::new().write(true).open(lab.path.join("end")).unwrap());
    let lock = fs::File::open(lab.path.join("storage/turns").join(tag.to_string())).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockShared).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::Unlock).unwrap();
    assert!(ground.turn(&tag).is_ok());
}

#[tokio::test]
async fn what_is_being_made_is_unknown_even_if_nobody_waits_for_it() {
    let lab = Lab::new();
    let body = format!("echo > {0}/begun; cat {0}/end; truncate -s 1M \"$4\"", lab.path.display());
    for pipe in ["begun", "end"] {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, lab.path.join(pipe), mode).unwrap();
    }
    let (ground, _) = ground(&lab, &body, LONG);
    let volumes = LoopVolumes::new(ground, Arc::new(FixedClock));
    let look = async || only(volumes.lookup_volumes(vec![effect(1)]).await).unwrap();
    let making = volumes.create_volumes(vec![volume(1, 1)]);
    let begun = tokio::task::spawn_blocking({
        let pipe = lab.path.join("begun");
        move || fs::read_to_string(pipe).unwrap()
    });
    // Whoever asked is gone as soon as it has begun.
    tokio::select! {
        biased;
        _ = begun => (),
        answer = making => panic!("{answer:?}"),
    }
    assert_eq!(look().await, Lookup::Unknown);
    let (again, _) = tokio::join!(volumes.create_volumes(vec![volume(1, 1)]), async {
        assert_eq!(look().await, Lookup::Unknown);
        let pipe = lab.path.join("end");
        tokio::task::spawn_blocking(move || drop(fs::OpenOptions::new().write(true).open(pipe).unwrap()))
            .await
            .unwrap();
    });
    let made = only(again).unwrap();
    assert_eq!(look().await, Lookup::Present(made));
}
