//! A ground of one's own, and nothing left of it afterwards.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command as Process,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bailiwick::{
    actors::{
        ports::{
            Answer, AttachFilesystem, AttachVolume, Backing, BlockDevice, Clock, CreateFilesystem, CreateVolume,
            DetachFilesystem, DetachVolume,
        },
        vocab::{EffectId, Fault, InstanceId, Name, SizeMib, Timestamp, Uid},
    },
    providers::storage::{
        Command, Filesystems, Ground, LoopVolumes, RunError, Runner, SystemRunner, Turn, Way, missing_for_filesystems,
        missing_for_loop_volumes,
    },
};
use uuid::Uuid;

#[derive(Debug)]
pub struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000)
    }
}

/// Runs commands for real and keeps what was run; after every success also in a file, for whoever comes later.
#[derive(Debug)]
pub struct Recorder {
    inner: SystemRunner,
    log: PathBuf,
    ran: Mutex<Vec<Vec<String>>>,
}

impl Recorder {
    pub fn ran(&self) -> Vec<Vec<String>> {
        self.ran.lock().unwrap().clone()
    }
}

impl Runner for Recorder {
    fn run<'a>(&'a self, command: &'a Command, turn: &'a Turn) -> Answer<'a, Result<String, RunError>> {
        Box::pin(async move {
            self.ran.lock().unwrap().push(command.argv().to_vec());
            let answer = self.inner.run(command, turn).await;
            if answer.is_ok() {
                note(&self.log, command.program());
            }
            answer
        })
    }
}

/// Adds a line to a file.
pub fn note(log: &Path, line: &str) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// A directory in which everything happens. Mounts beneath it and loop devices of files in it go when it does.
#[derive(Debug)]
pub struct Lab {
    pub path: PathBuf,
    is_owner: bool,
}

impl Lab {
    pub fn new() -> Self {
        let path = tempfile::Builder::new().prefix("bailiwick-storage-").tempdir().unwrap().keep();
        Self { path: path.canonicalize().unwrap(), is_owner: true }
    }

    /// One in memory, where it is possible: for tests that sync so often that a disk would take minutes.
    pub fn quick() -> Self {
        let memory = Path::new("/dev/shm");
        let made = tempfile::Builder::new().prefix("bailiwick-storage-").tempdir_in(memory);
        made.map_or_else(|_| Self::new(), |made| Self { path: made.keep().canonicalize().unwrap(), is_owner: true })
    }

    /// Somebody else's, who cleans up.
    pub fn borrowed(path: &Path) -> Self {
        Self { path: path.to_owned(), is_owner: false }
    }

    pub fn storage(&self) -> PathBuf {
        self.path.join("storage")
    }

    /// The directory in which things may be mounted by name.
    pub fn srv(&self) -> PathBuf {
        let srv = self.path.join("srv");
        fs::create_dir_all(&srv).unwrap();
        srv
    }

    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub fn recorder(&self) -> Arc<Recorder> {
        Arc::new(Recorder { inner: SystemRunner::default(), log: self.log(), ran: Mutex::default() })
    }

    pub fn ground(&self, runner: Arc<dyn Runner>) -> Arc<Ground> {
        Arc::new(Ground::of_this_machine(&self.storage(), &[&self.srv()], runner).unwrap())
    }

    /// New providers on this ground, as after a restart of the node.
    pub fn providers(&self) -> Providers {
        let runner = self.recorder();
        let ground = self.ground(runner.clone());
        let way = |way| Filesystems::new(way, self.way_ground(&runner, way), Arc::new(FixedClock));
        Providers {
            volumes: LoopVolumes::new(ground, Arc::new(FixedClock)),
            tmpfs: way(Way::Tmpfs),
            rootfs: way(Way::Rootfs),
            managed: way(Way::Managed),
            runner,
        }
    }

    fn way_ground(&self, runner: &Arc<Recorder>, way: Way) -> Arc<Ground> {
        let name = match way {
            Way::Tmpfs => "tmpfs",
            Way::Rootfs => "rootfs",
            Way::Managed => "managed",
            Way::Directory { .. } => "directory",
        };
        fs::create_dir_all(self.storage()).unwrap();
        let storage = self.storage().join(name);
        Arc::new(Ground::of_this_machine(&storage, &[&self.srv()], runner.clone()).unwrap())
    }

    pub fn directories(&self, capacity: u64) -> Filesystems {
        let way = Way::Directory { capacity: SizeMib(capacity) };
        Filesystems::new(way, self.way_ground(&self.recorder(), way), Arc::new(FixedClock))
    }

    /// Where things are mounted beneath the lab, the last one first.
    pub fn mounts(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let within = format!("{}/", self.path.display());
        let paths = table.lines().filter_map(|line| line.split(' ').nth(4));
        // The kernel writes a blank like this; nothing else that needs it is mounted here.
        let paths = paths.map(|path| path.replace("\\040", " "));
        let mut paths: Vec<String> = paths.filter(|path| path.starts_with(&within)).collect();
        paths.reverse();
        paths
    }

    /// The loop devices of files in the lab.
    pub fn loops(&self) -> Vec<String> {
        let within = format!("{}/", self.path.display());
        let mut names = Vec::new();
        for entry in fs::read_dir("/sys/class/block").unwrap().filter_map(Result::ok) {
            let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
            if file.starts_with(&within) {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        names
    }

    /// The files and directories of the storage directory, other than those that are always there.
    pub fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mut folders = vec![self.storage()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().filter_map(Result::ok) {
                let name = entry.path().strip_prefix(self.storage()).unwrap().display().to_string();
                let is_frame = ["turns", "mounts", "tmpfs", "rootfs", "managed", "directory"]
                    .contains(&name.rsplit('/').next().unwrap_or_default());
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                if !is_frame {
                    left.push(name);
                }
            }
        }
        left.sort();
        left
    }

    /// Waits until the kernel has let go of the loop devices that were detached: it does so once nobody has them open, and
    /// whoever looks at all devices has each of them open for a moment.
    #[track_caller]
    pub fn let_go(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.loops().is_empty() {
            assert!(Instant::now() < until, "still there: {:?}", self.loops());
            std::thread::yield_now();
        }
    }

    pub fn assert_nothing_left(&self, when: &str) {
        assert_eq!(self.mounts(), [""; 0], "mounts, {when}");
        assert_eq!(self.loops(), [""; 0], "loop devices, {when}");
        assert_eq!(self.left(), [""; 0], "files, {when}");
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if !self.is_owner {
            return;
        }
        // Only what is beneath our own directory, and again after a failure in the middle of a test.
        for mount in self.mounts() {
            let _ = Process::new("umount").arg("--").arg(&mount).status();
        }
        for name in self.loops() {
            let _ = Process::new("losetup").arg("-d").arg(format!("/dev/{name}")).status();
        }
        if self.mounts().is_empty() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// One of each, on one ground.
#[derive(Debug)]
pub struct Providers {
    pub volumes: LoopVolumes,
    pub tmpfs: Filesystems,
    pub rootfs: Filesystems,
    pub managed: Filesystems,
    pub runner: Arc<Recorder>,
}

/// Whether this process may attach loop devices and mount. If not, that is said; where `BAILIWICK_CI` is set, it is a failure.
pub fn may_mount() -> bool {
    let tools = SystemRunner::default();
    let mut missing = missing_for_loop_volumes(&tools, None);
    missing.extend(missing_for_filesystems(Way::Managed, &tools, None));
    missing.dedup();
    let problem = if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        format!("missing: {}", missing.join(", "))
    } else if !can_mount() {
        "mounting is not allowed".to_owned()
    } else {
        return true;
    };
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "storage cannot be tested for real here: {problem}");
    say(&format!("NOT TESTED FOR REAL: {problem}; loop devices, mounts and ext4 need root and their tools"));
    false
}

/// Says something that is shown also by a test that passes.
pub fn say(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").unwrap();
}

fn can_mount() -> bool {
    let lab = Lab::new();
    let target = lab.srv();
    let mounted = Process::new("mount").args(["-t", "tmpfs", "probe"]).arg(&target).output();
    mounted.is_ok_and(|output| output.status.success())
}

pub fn effect(n: u128) -> EffectId {
    EffectId(Uuid::from_u128(n))
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// The only answer of a bulk call.
pub fn only<T>(answer: Result<Vec<Result<T, Fault>>, Fault>) -> Result<T, Fault> {
    let mut answers = answer?;
    assert_eq!(answers.len(), 1);
    answers.pop().unwrap()
}

pub fn volume(id: u128, size: u64) -> CreateVolume {
    CreateVolume {
        id: effect(id),
        volume: name("data"),
        uid: Uid(Uuid::from_u128(id)),
        size: SizeMib(size),
        pool: None,
        tags: Default::default(),
    }
}

pub fn attach_volume(id: u128, volume: u128) -> AttachVolume {
    AttachVolume {
        id: effect(id),
        machine: name("web"),
        machine_effect: effect(1),
        instance: InstanceId("web".into()),
        volume: name("data"),
        volume_effect: effect(volume),
        volume_id: InstanceId(format!("volume-{}", effect(volume))),
        read_only: false,
    }
}

pub fn detach_volume(id: u128, volume: u128) -> DetachVolume {
    DetachVolume {
        id: effect(id),
        machine: name("web"),
        machine_effect: effect(1),
        volume: name("data"),
        volume_effect: effect(volume),
    }
}

/// The device of an attached volume, as what a filesystem is made on.
pub fn backing(volume: u128, path: &str, size: u64) -> Backing {
    Backing {
        volume: name("data"),
        volume_effect: effect(volume),
        device: BlockDevice {
            name: path.strip_prefix("/dev/").unwrap().to_owned(),
            size: SizeMib(size),
            hardware_id: None,
        },
    }
}

pub fn filesystem(id: u128, size: u64, backing: Option<Backing>) -> CreateFilesystem {
    CreateFilesystem {
        id: effect(id),
        filesystem: name("files"),
        uid: Uid(Uuid::from_u128(id)),
        size: SizeMib(size),
        backing,
        pool: None,
        replaces: Vec::new(),
    }
}

pub fn attach_filesystem(id: u128, filesystem: u128, path: Option<&Path>) -> AttachFilesystem {
    AttachFilesystem {
        id: effect(id),
        machine: name("web"),
        machine_effect: effect(1),
        instance: InstanceId("web".into()),
        filesystem: name("files"),
        filesystem_effect: effect(filesystem),
        filesystem_id: InstanceId("any".into()),
        backing: None,
        path: path.map(|path| path.display().to_string()),
        read_only: false,
    }
}

pub fn detach_filesystem(id: u128, filesystem: u128) -> DetachFilesystem {
    DetachFilesystem {
        id: effect(id),
        machine: name("web"),
        machine_effect: effect(1),
        filesystem: name("files"),
        filesystem_effect: effect(filesystem),
    }
}
