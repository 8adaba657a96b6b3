//! Hostile names, sizes, paths and links: nothing outside of the storage directory is touched, and no command is run but
//! the expected one, with exactly the expected arguments. No rights are needed for this: nothing is really run.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use bailiwick::{
    actors::{
        ports::{
            Answer, AttachFilesystem, Backing, BlockDevice, FilesystemProvider, ImportVolume, VolumeImporter,
            VolumeProvider,
        },
        storage_rules::ImportWish,
        vocab::{Fault, FaultClass, InstanceId, SizeMib, Uid},
    },
    providers::storage::{
        Command, Filesystems, Ground, LoopVolumes, RunError, Runner, StorageError, Turn, Way, loop_device,
    },
};
use uuid::Uuid;

use crate::support::{
    FixedClock, Lab, attach_filesystem, attach_volume, detach_filesystem, detach_volume, effect, filesystem, name,
    only, volume,
};

type Act = Box<dyn Fn() + Send + Sync>;

/// Says yes to everything and does nothing but keep what it was asked, and what a test wants to happen meanwhile; a
/// reserved file gets its size, through whatever link stands in its place, as the real program would do it.
struct Yes {
    ran: Mutex<Vec<Vec<String>>>,
    meanwhile: Mutex<Option<(usize, Act)>>,
}

impl std::fmt::Debug for Yes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Yes")
    }
}

impl Yes {
    fn new() -> Arc<Self> {
        Arc::new(Self { ran: Mutex::default(), meanwhile: Mutex::default() })
    }

    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.ran.lock().unwrap())
    }
}

impl Runner for Yes {
    fn run<'a>(&'a self, command: &'a Command, _: &'a Turn) -> Answer<'a, Result<String, RunError>> {
        Box::pin(async move {
            let number = {
                let mut ran = self.ran.lock().unwrap();
                ran.push(command.argv().to_vec());
                ran.len()
            };
            if let Some((_, act)) = self.meanwhile.lock().unwrap().take_if(|(at, _)| *at == number) {
                act();
            }
            if command.program() == "fallocate" {
                let file = fs::OpenOptions::new().write(true).open(command.argv().last().unwrap()).unwrap();
                file.set_len(1 << 20).unwrap();
            }
            Ok(match command.program() {
                "df" if command.argv()[1] == "--output=size" => "1K-blocks\n 99999999\n".to_owned(),
                "df" => "Filesystem\n/dev/vda1\n".to_owned(),
                "losetup" if command.argv()[1] == "-f" => "/dev/loop998\n".to_owned(),
                _ => String::new(),
            })
        })
    }
}

/// Everything outside, as it has to stay: names, kinds, contents and times.
fn picture(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut picture = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let facts = entry.metadata().unwrap();
            let content = if facts.is_file() { fs::read_to_string(entry.path()).unwrap() } else { String::new() };
            let line = format!("{:o} {} {} {content}", facts.mode(), facts.mtime_nsec(), facts.ctime_nsec());
            picture.insert(entry.path(), line);
            if facts.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    picture
}

/// A lab with something precious beside it.
struct Scene {
    lab: Lab,
    outside: PathBuf,
    before: BTreeMap<PathBuf, String>,
    yes: Arc<Yes>,
}

impl Scene {
    fn new() -> Self {
        let lab = Lab::quick();
        let outside = lab.path.join("outside");
        fs::create_dir_all(outside.join("folder")).unwrap();
        for file in ["precious", "folder/precious"] {
            fs::write(outside.join(file), "precious").unwrap();
        }
        lab.srv();
        let before = picture(&outside);
        Self { lab, outside, before, yes: Yes::new() }
    }

    fn ground(&self) -> Arc<Ground> {
        self.lab.ground(self.yes.clone())
    }

    fn volumes(&self) -> LoopVolumes {
        LoopVolumes::new(self.ground(), Arc::new(FixedClock))
    }

    fn filesystems(&self, way: Way) -> Filesystems {
        Filesystems::new(way, self.ground(), Arc::new(FixedClock))
    }

    #[track_caller]
    fn assert_untouched(&self, what: &str) {
        assert_eq!(picture(&self.outside), self.before, "{what}");
    }
}

const WAYS: [Way; 3] = [Way::Tmpfs, Way::Rootfs, Way::Directory { capacity: SizeMib(100) }];

/// Texts that are no name and no path that anything of ours may be at; `{outside}` stands for the precious directory.
fn hostile_texts(scene: &Scene) -> Vec<String> {
    let outside = scene.outside.display().to_string();
    let storage = scene.lab.storage().display().to_string();
    let srv = scene.lab.path.join("srv").display().to_string();
    let mut texts: Vec<String> = [
        "..",
        ".",
        "/",
        "//",
        "../outside",
        "../../etc/passwd",
        "/etc",
        "/etc/passwd",
        "/proc/self/root/tmp",
        "/dev/sda",
        "/dev/../etc",
        "-o",
        "--help",
        "-rf /",
        "; touch x",
        "$(touch x)",
        "`touch x`",
        "| touch x",
        "&& touch x",
        "x\0y",
        "x\ny",
        "/x\ny",
        "x\r",
        "\u{202e}x",
        "\u{7f}",
        "%2e%2e%2f",
        "..\\..",
        "C:\\",
        "~",
        "~root",
        "$HOME",
        "*",
        "?",
        "volume-0/..",
        "volume-../x",
        "/volume-0",
        "volume-0\0",
        "volume-0/../../outside/precious",
        "filesystem-0",
        "volume-",
        "VOLUME-0",
        "volume-٣",
        "\u{feff}volume-0",
    ]
    .map(str::to_owned)
    .into();
    for root in [&storage, &srv] {
        for rest in
            ["/..", "/../outside", "/./x", "//x", "/x/", "/x/../../outside/x", "\0", "/a\nb", "/\u{1}", "-x", "x"]
        {
            texts.push(format!("{root}{rest}"));
        }
    }
    texts.extend([
        outside.clone(),
        format!("{outside}/precious"),
        format!("{outside}/new"),
        format!("{srv}/{}", "x".repeat(300)),
    ]);
    texts.push(format!("{srv}{}", "/x".repeat(2_100)));
    texts
}

#[tokio::test]
async fn hostile_texts_run_nothing_and_touch_nothing() {
    let scene = Scene::new();
    let texts = hostile_texts(&scene);
    let mut inputs = 0;
    let providers = WAYS.map(|way| (way, scene.filesystems(way)));
    for (number, (_, provider)) in providers.iter().enumerate() {
        only(provider.create_filesystems(vec![filesystem(300 + number as u128, 1, None)]).await).unwrap();
    }
    let volumes = scene.volumes();
    let ground = scene.ground();
    fs::create_dir(scene.lab.storage().join("import")).unwrap();
    scene.yes.take();
    for text in &texts {
        for (number, (way, provider)) in providers.iter().enumerate() {
            let wish =
                AttachFilesystem { path: Some(text.clone()), ..attach_filesystem(400, 300 + number as u128, None) };
            let answer = only(provider.attach_filesystems(vec![wish]).await);
            let fault = answer.expect_err(&format!("{way:?} at {text:?}"));
            assert_eq!(scene.yes.take(), [[""; 0]; 0], "{way:?} at {text:?}: {fault}");
            inputs += 1;
        }
        // As the name of a file to be taken over.
        let wish = ImportWish { id: effect(500), volume_id: InstanceId(text.clone()), size_min: SizeMib(0) };
        let wish = ImportVolume { volume: name("data"), uid: Uid(Uuid::from_u128(500)), wish };
        let refused = only(volumes.import_volumes(vec![wish]).await);
        assert!(refused.is_err(), "{text:?}");
        // As an id that comes back from outside.
        let refused = loop_device::destroy(&ground, text).await;
        assert!(matches!(refused, Err(StorageError::InvalidVolumeId { .. })), "{text:?}: {refused:?}");
        // As the name of a device.
        let device = BlockDevice { name: text.clone(), size: SizeMib(8), hardware_id: None };
        let backing = Backing { volume: name("data"), volume_effect: effect(1), device };
        let managed = scene.filesystems(Way::Managed);
        let refused = only(managed.create_filesystems(vec![filesystem(600, 8, Some(backing))]).await);
        assert!(refused.is_err(), "{text:?}");
        assert_eq!(scene.yes.take(), [[""; 0]; 0], "{text:?}");
        inputs += 3;
    }
    scene.assert_untouched("after all of them");
    assert!(200 <= inputs, "{inputs} inputs");
    println!("{inputs} hostile texts");
    let beside: Vec<String> = fs::read_dir(&scene.lab.path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(beside.len(), 3, "storage, srv and outside: {beside:?}");
    assert_eq!(fs::read_dir(scene.lab.srv()).unwrap().count(), 0);
}

#[tokio::test]
async fn impossible_sizes_are_refused_and_leave_nothing() {
    let scene = Scene::new();
    let sizes = [0, 1 << 43, 1 << 44, u64::MAX >> 20, u64::MAX >> 1, u64::MAX - 1, u64::MAX];
    for size in sizes {
        let refused = only(scene.volumes().create_volumes(vec![volume(1, size)]).await);
        assert_eq!(refused.unwrap_err().code.class(), FaultClass::Permanent, "{size}");
    }
    for size in [0, u64::MAX] {
        for way in WAYS {
            assert!(only(scene.filesystems(way).create_filesystems(vec![filesystem(2, size, None)]).await).is_err());
        }
    }
    assert_eq!(scene.yes.take().iter().filter(|argv| argv[0] != "df").count(), 0);
    scene.lab.assert_nothing_left("after impossible sizes");
}

#[tokio::test]
async fn odd_paths_arrive_letter_by_letter() {
    for part in [
        "a b",
        "a'b",
        "a\"b",
        "$(touch x)",
        "`x`",
        ";x",
        "&",
        "|x",
        "-o",
        "--",
        "--bind",
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "#x",
        "a\\b",
        "a:b",
        "a=b",
        "ü",
        "日本",
        "a,b",
        "%s",
        "!x",
        "(x)",
        "<x",
        ">x",
    ] {
        let scene = Scene::new();
        let place = scene.lab.srv().join(part);
        let (text, storage) = (place.display().to_string(), scene.lab.storage().display().to_string());
        let df = |path: &str| vec!["df".to_owned(), "--output=source".to_owned(), "--".to_owned(), path.to_owned()];
        let tag = format!("filesystem-{}", effect(300));
        let tmpfs = scene.filesystems(Way::Tmpfs);
        only(tmpfs.create_filesystems(vec![filesystem(300, 7, None)]).await).unwrap();
        let answer = only(tmpfs.attach_filesystems(vec![attach_filesystem(400, 300, Some(&place))]).await);
        // Nothing was really mounted, and that is noticed.
        assert!(answer.unwrap_err().text.contains("the mount ended up elsewhere"));
        let mount = ["mount", "-t", "tmpfs", &tag, &text, "-o", "size=7m"].map(str::to_owned).to_vec();
        assert_eq!(scene.yes.take(), [df(&text), mount], "{part:?}");
        let rootfs = scene.filesystems(Way::Rootfs);
        only(rootfs.create_filesystems(vec![filesystem(301, 7, None)]).await).unwrap();
        scene.yes.take();
        only(rootfs.attach_filesystems(vec![attach_filesystem(401, 301, Some(&place))]).await).unwrap_err();
        let bound = format!("{storage}/{}", effect(301));
        let mount = ["mount", "--bind", "--", &bound, &text].map(str::to_owned).to_vec();
        assert_eq!(scene.yes.take(), [df(&text), mount], "{part:?}");
        scene.assert_untouched(part);
    }
}

/// One operation of each kind, after all that it needs.
async fn operate(scene: &Scene, operation: usize) -> Option<Result<(), Fault>> {
    let place = scene.lab.srv().join("deep/place");
    let volumes = scene.volumes();
    let of = |way: usize| (scene.filesystems(WAYS[way]), 300 + way as u128, 400 + way as u128);
    Some(match operation {
        0 => only(volumes.create_volumes(vec![volume(1, 1)]).await).map(drop),
        1 => only(volumes.attach_volumes(vec![attach_volume(2, 1)]).await).map(drop),
        2 => only(volumes.lookup_attachments(vec![effect(2)]).await).map(drop),
        3 => only(volumes.detach_volumes(vec![detach_volume(2, 1)]).await),
        4 => only(volumes.lookup_volumes(vec![effect(1)]).await).map(drop),
        5 => only(volumes.destroy_volumes(vec![effect(1)]).await),
        6..24 => {
            let (provider, id, at) = of((operation - 6) / 6);
            match (operation - 6) % 6 {
                0 => only(provider.create_filesystems(vec![filesystem(id, 1, None)]).await).map(drop),
                1 => only(provider.attach_filesystems(vec![attach_filesystem(at, id, Some(&place))]).await).map(drop),
                2 => only(provider.lookup_filesystem_attachments(vec![effect(at)]).await).map(drop),
                3 => only(provider.detach_filesystems(vec![detach_filesystem(at, id)]).await),
                4 => only(provider.lookup_filesystems(vec![effect(id)]).await).map(drop),
                _ => only(provider.destroy_filesystems(vec![effect(id)]).await),
            }
        }
        _ => return None,
    })
}

/// Every path that exists, or comes to exist, at any time during all operations.
async fn all_paths() -> Vec<PathBuf> {
    let scene = Scene::new();
    let root = scene.lab.path.clone();
    let mut paths: Vec<PathBuf> = Vec::new();
    // What is there only for a moment, or only where nothing can be bound.
    for id in [300, 301, 302].map(effect) {
        paths.extend(["info", "claim", "format"].map(|end| format!("storage/filesystem-{id}.{end}").into()));
        paths.push(format!("storage/{id}").into());
    }
    paths.extend([400, 401, 402].map(|id| format!("storage/filesystem-attachment-{}.json", effect(id)).into()));
    paths.push(format!("storage/volume-attachment-{}.json", effect(2)).into());
    let mut operation = 0;
    while operate(&scene, operation).await.is_some() {
        operation += 1;
        paths.extend(picture(&root).into_keys().map(|path| path.strip_prefix(&root).unwrap().to_owned()));
    }
    paths.retain(|path| !path.starts_with("outside"));
    // The name that each had while it was being written.
    for path in paths.clone() {
        if let Some(name) = path.file_name() {
            paths.push(path.with_file_name(format!(".new-{}", name.display())));
        }
    }
    paths.sort();
    paths.dedup();
    // What really comes to exist has to be among what is tried, or the list would miss what matters.
    assert!(paths.iter().any(|path| path.ends_with("srv/deep/place")), "{paths:?}");
    paths
}

#[tokio::test]
async fn a_link_in_any_place_leads_nowhere() {
    let paths = all_paths().await;
    let mut tried = 0;
    for path in &paths {
        // The directories that the operator gave are the operator's; what is in them is not trusted.
        if path == Path::new("storage") || path == Path::new("srv") {
            continue;
        }
        for target in ["", "precious", "folder"] {
            let scene = Scene::new();
            let place = scene.lab.path.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(scene.outside.join(target), &place).unwrap();
            let mut operation = 0;
            while operate(&scene, operation).await.is_some() {
                operation += 1;
            }
            scene.assert_untouched(&format!("a link to {target:?} at {}", path.display()));
            tried += 1;
        }
    }
    assert!(150 <= tried, "{tried} links");
    println!("{tried} links at {} places", paths.len());
}

#[tokio::test]
#[ignore = "takes long"]
async fn a_link_that_appears_while_a_command_runs_leads_nowhere() {
    let mut swapped = 0;
    for operation in 0..24 {
        for at in 1..=4 {
            for place in ["srv/deep", "srv/deep/place", "storage/turns", "storage/mounts"] {
                let scene = Scene::new();
                let mut earlier = 0;
                while earlier < operation {
                    operate(&scene, earlier).await;
                    earlier += 1;
                }
                scene.yes.take();
                let (place, outside) = (scene.lab.path.join(place), scene.outside.clone());
                let act = move || {
                    let _ = fs::rename(&place, place.with_extension("aside"));
                    let _ = symlink(&outside, &place);
                };
                *scene.yes.meanwhile.lock().unwrap() = Some((at, Box::new(act)));
                operate(&scene, operation).await;
                swapped += usize::from(scene.yes.meanwhile.lock().unwrap().is_none());
                // And whatever comes later, with the link in place.
                for later in 0..24 {
                    operate(&scene, later).await;
                }
                scene.assert_untouched(&format!("operation {operation}, command {at}"));
            }
        }
    }
    assert!(20 <= swapped, "{swapped} swaps");
    println!("{swapped} swaps");
}

#[tokio::test]
async fn nothing_is_mounted_where_others_may_put_links() {
    let scene = Scene::new();
    let tmpfs = scene.filesystems(Way::Tmpfs);
    only(tmpfs.create_filesystems(vec![filesystem(300, 1, None)]).await).unwrap();
    let open = scene.lab.srv().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let wish = attach_filesystem(400, 300, Some(&open.join("place")));
    let refused = only(tmpfs.attach_filesystems(vec![wish]).await).unwrap_err();
    assert!(refused.text.contains("other users may change"), "{refused}");
    assert_eq!(scene.yes.take(), [[""; 0]; 0]);
}
