//! Cases about what providers run: one operation on a machine of the imagination.
//!
//! The directory tree is a real one in a place of its own, whose root the operations take for the machine's. Commands are
//! answered from the case and otherwise change nothing, except that a reserved file has its size and a formatted device its
//! filesystem. What the kernel would say about mounts cannot be told; devices are as the case describes them.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use bailiwick::{
    actors::{ports::Answer, vocab::SizeMib},
    providers::storage::{
        AbsPath, Command, Content, DeviceFacts, DeviceName, Ground, Identity, LoopFile, LoopRoom, Mount, Ours,
        RunError, Runner, Seen, Sight, Step, StorageError, Tag, TagKind, Tree, Turn, Writes, loop_device, managed,
        rootfs, tmpfs,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    provider: String,
    op: String,
    given: Given,
    commands: Vec<Vec<String>>,
    result: BTreeMap<String, Value>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    #[serde(default = "somewhere")]
    storage_dir: String,
    volume: Option<String>,
    filesystem: Option<String>,
    volume_id: Option<String>,
    #[serde(default)]
    size_mib: u64,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    path: String,
    #[serde(default)]
    path_state: PathState,
    #[serde(default)]
    dir_state: DirState,
    recorded_size_mib: Option<u64>,
    #[serde(default)]
    page_size_mib: u64,
    device_name: Option<String>,
    device_size: Option<u64>,
    #[serde(default)]
    answers: Vec<Prepared>,
}

fn somewhere() -> String {
    "/somewhere/storage".to_owned()
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PathState {
    #[default]
    Empty,
    File,
    NotEmpty,
    Claimed,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DirState {
    #[default]
    Missing,
    NotEmpty,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prepared {
    argv_prefix: Vec<String>,
    exit: i32,
    stdout: String,
}

/// The machine of one case.
#[derive(Debug)]
struct World {
    root: PathBuf,
    answers: Vec<Prepared>,
    ran: Mutex<Vec<Vec<String>>>,
    device: Option<(String, u64)>,
    formatted: Mutex<bool>,
}

impl World {
    fn answer(&self, command: &Command) -> Result<String, RunError> {
        let argv: Vec<String> = command.argv().iter().filter(|argument| *argument != "--").cloned().collect();
        self.ran.lock().unwrap().push(argv.clone());
        let found = self.answers.iter().find(|answer| argv.starts_with(&answer.argv_prefix));
        let (exit, stdout) = found.map_or((0, ""), |answer| (answer.exit, answer.stdout.as_str()));
        if exit != 0 {
            return Err(RunError::Failed { program: argv[0].clone(), exit: Some(exit), stderr: String::new() });
        }
        match argv[0].as_str() {
            "fallocate" => {
                let mib: u64 = argv[2].trim_end_matches("MiB").parse().unwrap();
                let file = fs::OpenOptions::new().write(true).open(self.inside(&argv[3])).unwrap();
                file.set_len(mib << 20).unwrap();
            }
            "mkfs.ext4" => *self.formatted.lock().unwrap() = true,
            _ => (),
        }
        Ok(stdout.to_owned())
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Runner for World {
    fn run<'a>(&'a self, command: &'a Command, _: &'a Turn) -> Answer<'a, Result<String, RunError>> {
        Box::pin(async move { self.answer(command) })
    }
}

impl Sight for World {
    fn mounted_at(&self, _: &AbsPath) -> Result<Seen<Mount>, StorageError> {
        Ok(Seen::CannotTell)
    }

    fn loop_file(&self, _: &DeviceName) -> Result<Seen<LoopFile>, StorageError> {
        Ok(Seen::CannotTell)
    }

    fn loop_devices(&self) -> Result<Vec<DeviceName>, StorageError> {
        Ok(Vec::new())
    }

    fn room_for_loop(&self) -> Result<Seen<LoopRoom>, StorageError> {
        Ok(Seen::CannotTell)
    }

    fn device(&self, device: &DeviceName) -> Result<Option<DeviceFacts>, StorageError> {
        let known = self.device.as_ref().filter(|(name, _)| device.as_str().starts_with(name.as_str()));
        Ok(known.map(|(_, mib)| DeviceFacts {
            number: "8:0".to_owned(),
            bytes: mib << 20,
            in_use: None,
            identity: Identity::default(),
        }))
    }

    fn content(&self, _: &DeviceName) -> Result<Content, StorageError> {
        let is_formatted = *self.formatted.lock().unwrap();
        Ok(if is_formatted { Content::Ext4 { uuid: Uuid::from_u128(1) } } else { Content::Blank })
    }

    fn writes(&self, _: &DeviceName) -> Result<Writes, StorageError> {
        Ok(Writes::default())
    }

    fn recognised(&self, device: &DeviceName) -> Result<Content, StorageError> {
        self.content(device)
    }
}

/// What an operation reports, in the words of the cases.
type Report = Result<BTreeMap<&'static str, Value>, StorageError>;

pub(super) fn provider(case: &Value) -> Result<(), String> {
    let case: Case = read(case)?;
    match case.provider.as_str() {
        // The unmounting that three providers share.
        "any-fs" => ["rootfs", "tmpfs", "managed"]
            .iter()
            .try_for_each(|provider| run(&case, provider).map_err(|difference| format!("as {provider}: {difference}"))),
        provider => run(&case, provider),
    }
}

fn run(case: &Case, provider: &str) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let attaches_filesystem = case.op == "attach_filesystem";
    let world = Arc::new(World {
        root: scratch.path().to_owned(),
        answers: case.given.answers.clone(),
        ran: Mutex::default(),
        device: case.given.device_name.clone().map(|name| (name, case.given.device_size.unwrap_or(64))),
        // What is to be mounted has been made before.
        formatted: Mutex::new(attaches_filesystem),
    });
    let ground = ground(case, &world)?;
    prepare(case, provider, &world, &ground)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let before = effects(case, &world);
    let report = runtime.block_on(operate(case, provider, &ground)).map_err(|error| format!("the case: {error}"))?;
    let ran = world.ran.lock().unwrap().clone();
    if ran != case.commands {
        return Err(format!("expected the commands {:?}, ran {ran:?}; the result is {report:?}", case.commands));
    }
    let after = effects(case, &world);
    for (key, expected) in &case.result {
        let got = match key.as_str() {
            "ok" => json!(report.is_ok()),
            "error" => report.as_ref().err().map_or(Value::Null, |error| word(error).into()),
            "have" | "want" => match &report {
                Err(StorageError::NotBigEnough { have, want }) => {
                    json!(if key == "have" { have.0 } else { want.0 })
                }
                _ => Value::Null,
            },
            "backing_file_kept" => json!(before.backing_file && after.backing_file),
            // A file that was not there before cannot have been removed.
            "file_removed" => {
                let path = expected.as_str().ok_or("file_removed is a path")?;
                let was_there = case.given.volume_id.as_ref().is_some_and(|id| path.ends_with(id.as_str()));
                if was_there && !world.inside(path).exists() { expected.clone() } else { Value::Null }
            }
            "missing_file_is_ok" => {
                let again = runtime.block_on(operate(case, provider, &ground))?;
                json!(again.is_ok() && world.ran.lock().unwrap().len() == ran.len())
            }
            "claim_written" => {
                let tag = tag(&case.given.filesystem, TagKind::Filesystem)?;
                let claimed = rootfs::claimed(&ground, &tag).map_err(|error| error.to_string())?;
                json!(claimed.is_some_and(|path| path.as_str() == case.given.path))
            }
            "fstab_entry_removed" => json!(before.boot_line && !after.boot_line),
            reported => match &report {
                Ok(report) => {
                    let value = report.get(reported);
                    value.cloned().ok_or_else(|| format!("the runner does not understand the result {reported:?}"))?
                }
                Err(error) => return Err(format!("expected {reported} to be {expected}, got the error {error}")),
            },
        };
        if got != *expected {
            return Err(format!("{key}: expected {expected}, got {got}; the result is {report:?}"));
        }
    }
    let expects_error = case.result.contains_key("error");
    match &report {
        Err(error) if !expects_error && !case.result.keys().any(|key| key == "backing_file_kept") => {
            Err(format!("unexpected error: {error}"))
        }
        _ => Ok(()),
    }
}

fn ground(case: &Case, world: &Arc<World>) -> Result<Ground, String> {
    let storage_dir: AbsPath = case.given.storage_dir.parse().map_err(|error| format!("{error}"))?;
    fs::create_dir_all(world.inside(storage_dir.as_str())).map_err(|error| error.to_string())?;
    fs::create_dir_all(world.inside("/etc")).map_err(|error| error.to_string())?;
    let path = |text: &str| text.parse::<AbsPath>().map_err(|error| error.to_string());
    Ok(Ground {
        tree: Tree::at(&world.root).map_err(|error| error.to_string())?,
        storage_dir,
        runner: world.clone(),
        sight: world.clone(),
        mount_roots: vec![path("/")?],
        boot_table: Some(path("/etc/fstab")?),
        page_size_mib: case.given.page_size_mib,
    })
}

/// What is there before the operation.
fn prepare(case: &Case, provider: &str, world: &World, ground: &Ground) -> Result<(), String> {
    let text = |error: StorageError| error.to_string();
    let io = |error: std::io::Error| error.to_string();
    let given = &case.given;
    let in_storage = |name: &str| world.inside(&format!("{}/{name}", given.storage_dir));
    if let (Some(volume), true) = (&given.volume, case.op != "create_volume") {
        fs::write(in_storage(volume), b"data").map_err(io)?;
    }
    if let Some(id) = given.volume_id.as_ref().filter(|id| !id.contains('/')) {
        fs::write(in_storage(id), b"data").map_err(io)?;
    }
    if !given.path.is_empty() {
        let place = world.inside(&given.path);
        fs::create_dir_all(place.parent().ok_or("a path below the root")?).map_err(io)?;
        match given.path_state {
            PathState::File => fs::write(&place, b"x").map_err(io)?,
            PathState::Empty => fs::create_dir_all(&place).map_err(io)?,
            PathState::NotEmpty | PathState::Claimed => {
                fs::create_dir_all(&place).map_err(io)?;
                fs::write(place.join("somebodys"), b"x").map_err(io)?;
            }
        }
        if matches!(given.path_state, PathState::Claimed) {
            let path = given.path.parse().map_err(text)?;
            rootfs::claim(ground, &tag(&given.filesystem, TagKind::Filesystem)?, &path).map_err(text)?;
        }
        let line = format!("/dev/vdz9 /elsewhere ext4 x 0 0\n/dev/sda1 {} ext4 x 0 0\n", given.path);
        if case.op == "detach_filesystem" {
            fs::write(world.inside("/etc/fstab"), line).map_err(io)?;
        }
    }
    if provider == "rootfs" && given.filesystem.is_some() {
        let directory = rootfs::directory(ground, &tag(&given.filesystem, TagKind::Filesystem)?);
        let directory = world.inside(directory.as_str());
        match (case.op.as_str(), given.dir_state) {
            ("create_filesystem", DirState::Missing) => (),
            ("create_filesystem", DirState::NotEmpty) => {
                fs::create_dir_all(&directory).map_err(io)?;
                fs::write(directory.join("somebodys"), b"x").map_err(io)?;
            }
            _ => fs::create_dir_all(&directory).map_err(io)?,
        }
    }
    if let Some(size) = given.recorded_size_mib {
        let filesystem = tag(&given.filesystem, TagKind::Filesystem)?;
        tmpfs::create(ground, &filesystem, SizeMib(size)).map_err(text)?;
    }
    Ok(())
}

/// What an operation may have changed.
struct Effects {
    backing_file: bool,
    boot_line: bool,
}

fn effects(case: &Case, world: &World) -> Effects {
    let given = &case.given;
    let file = given.volume.as_ref().map(|volume| world.inside(&format!("{}/{volume}", given.storage_dir)));
    let table = fs::read_to_string(world.inside("/etc/fstab")).unwrap_or_default();
    let boot_line = !given.path.is_empty() && table.contains(&format!(" {} ", given.path));
    Effects { backing_file: file.is_some_and(|file| fs::read(file).is_ok_and(|data| data == b"data")), boot_line }
}

fn tag(text: &Option<String>, kind: TagKind) -> Result<Tag, String> {
    let text = text.as_deref().ok_or("the case names no entity")?;
    Tag::parse(kind, text).ok_or_else(|| format!("{text:?} is no tag"))
}

/// Runs the operation of the case.
async fn operate(case: &Case, provider: &str, ground: &Ground) -> Result<Report, String> {
    let given = &case.given;
    let text = |error: StorageError| error.to_string();
    let path = match given.path.as_str() {
        "" => None,
        path => Some(path.parse::<AbsPath>().map_err(text)?),
    };
    let path = path.as_ref();
    let size = SizeMib(given.size_mib);
    let beneath = match &given.device_name {
        Some(name) => Some(managed::Beneath {
            name: name.parse().map_err(text)?,
            size: SizeMib(given.device_size.unwrap_or(64)),
            hardware_id: None,
        }),
        None => None,
    };
    let volume = || tag(&given.volume, TagKind::Volume);
    let filesystem = || tag(&given.filesystem, TagKind::Filesystem);
    let turn = |tag: &Tag| ground.turn(tag).map_err(text);
    let mounted =
        |read_only: bool| BTreeMap::from([("mount_point", json!(given.path)), ("read_only", json!(read_only))]);
    let made = |id: String, size: SizeMib| BTreeMap::from([("filesystem_id", json!(id)), ("size", json!(size.0))]);
    Ok(match (provider, case.op.as_str()) {
        ("loop", "create_volume") => {
            let (tag, turn) = (volume()?, turn(&volume()?)?);
            let report = |size: SizeMib| {
                // Making a volume never attaches it.
                BTreeMap::from([
                    ("volume_id", json!(tag.to_string())),
                    ("size", json!(size.0)),
                    ("attachment", Value::Null),
                ])
            };
            loop_device::create(ground, &tag, size, &turn).await.map(report)
        }
        ("loop", "attach_volume") => {
            let (tag, turn) = (volume()?, turn(&volume()?)?);
            let report = |attached: loop_device::LoopAttachment| {
                BTreeMap::from([
                    ("device_name", json!(attached.device.as_str())),
                    ("read_only", json!(attached.read_only)),
                ])
            };
            loop_device::attach(ground, &tag, given.read_only, &turn).await.map(report)
        }
        ("loop", "detach_volume") => {
            let (tag, turn) = (volume()?, turn(&volume()?)?);
            loop_device::detach(ground, &tag, &turn).await.map(|()| BTreeMap::new())
        }
        ("loop", "destroy_volume") => {
            let id = given.volume_id.as_deref().ok_or("the case names no volume id")?;
            loop_device::destroy(ground, id).await.map(|()| BTreeMap::new())
        }
        ("rootfs", "create_filesystem") => {
            let (tag, turn) = (filesystem()?, turn(&filesystem()?)?);
            rootfs::create(ground, &tag, size, &turn).await.map(|size| made(tag.key().to_owned(), size))
        }
        ("rootfs", "attach_filesystem") => {
            let (tag, turn) = (filesystem()?, turn(&filesystem()?)?);
            rootfs::attach(ground, &tag, path, given.read_only, &turn).await.map(|()| mounted(given.read_only))
        }
        ("tmpfs", "create_filesystem") => {
            let tag = filesystem()?;
            tmpfs::create(ground, &tag, size).map(|size| made(tag.to_string(), size))
        }
        ("tmpfs", "attach_filesystem") => {
            let (tag, turn) = (filesystem()?, turn(&filesystem()?)?);
            tmpfs::attach(ground, &tag, path, given.read_only, &turn).await.map(|()| mounted(given.read_only))
        }
        ("managed", "create_filesystem") => {
            let volume = tag(&Some("volume-0".to_owned()), TagKind::Volume)?;
            let (tag, turn) = (filesystem()?, turn(&filesystem()?)?);
            let made = |done: managed::Made| made(tag.to_string(), done.size);
            managed::create(ground, &tag, (&volume, beneath.as_ref()), &turn).await.map(made)
        }
        ("managed", "attach_filesystem") => {
            let (tag, turn) = (filesystem()?, turn(&filesystem()?)?);
            let attached = managed::attach(ground, &tag, beneath.as_ref(), path, given.read_only, &turn).await;
            attached.map(|()| mounted(given.read_only))
        }
        (provider, "detach_filesystem") => {
            let tag = filesystem().or_else(|_| tag(&Some("filesystem-0".to_owned()), TagKind::Filesystem))?;
            let (turn, path) = (turn(&tag)?, path.ok_or("the case names no path")?);
            let done = match provider {
                "rootfs" => ground.unmount(path, &Ours::Directory(rootfs::directory(ground, &tag)), &turn).await,
                "tmpfs" => ground.unmount(path, &Ours::Memory(tag.clone()), &turn).await,
                "managed" => {
                    let ours = managed::ours(ground, &tag, &"sda".parse().map_err(text)?);
                    match ours {
                        Ok(ours) => ground.unmount(path, &ours, &turn).await,
                        Err(error) => Err(error),
                    }
                }
                _ => return Err(format!("the runner does not know a provider {provider:?} that unmounts")),
            };
            done.map(|()| BTreeMap::new())
        }
        (provider, op) => return Err(format!("the runner does not know {op:?} of {provider:?}")),
    })
}

/// What a case calls an error.
fn word(error: &StorageError) -> &'static str {
    match error {
        StorageError::InvalidVolumeId { .. } => "invalid_volume_id",
        StorageError::NoMountPoint => "no_mount_point",
        StorageError::NotADirectory { .. } => "not_a_directory",
        StorageError::NotEmpty { .. } => "not_empty",
        StorageError::NotBigEnough { .. } => "not_big_enough",
        StorageError::DifferentFilesystems { .. } => "different_filesystems",
        StorageError::AlreadyExists { .. } => "already_exists",
        StorageError::InfoMissing { .. } => "info_missing",
        StorageError::BackingVolumeNotAttached => "backing_volume_not_attached",
        StorageError::Command { doing: Step::Mount, .. } => "mount_failed",
        StorageError::Command { doing: Step::Detach, .. } => "detach_failed",
        _ => "an error that no case knows",
    }
}
