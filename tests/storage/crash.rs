//! The node is killed at every step boundary of making, attaching, detaching and removing, on the real kernel.
//!
//! A child process does the whole round and kills itself at the n-th point. Then a new node either starts the round again,
//! or undoes everything. Whatever the point: nothing is left over, no data is lost, no device is formatted twice.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command as Process, Stdio},
};

use bailiwick::actors::{
    ports::{AttachFilesystem, FilesystemProvider, ImportVolume, Lookup, VolumeImporter, VolumeProvider},
    storage_rules::ImportWish,
    vocab::{Fault, InstanceId, SizeMib, Uid},
};

use crate::support::{
    Lab, Providers, attach_filesystem, attach_volume, backing, detach_filesystem, detach_volume, effect, filesystem,
    may_mount, name, note, only, say, volume,
};

const DATA: u128 = 100;
const TO_1: u128 = 201;
const FILES: u128 = 300;
const AT: u128 = 301;
const MEMORY: u128 = 400;
const MEMORY_AT: u128 = 401;
const BOUND: u128 = 500;
const BOUND_AT: u128 = 501;
const SIZE: u64 = 8;

/// Where the child works, and on what; set only for the child.
const LAB: &str = "BAILIWICK_STORAGE_CRASH_LAB";
const ROUND: &str = "BAILIWICK_STORAGE_CRASH_ROUND";

/// Everything is made, attached and used.
async fn build(lab: &Lab, providers: &Providers) -> Result<(), Fault> {
    only(providers.volumes.create_volumes(vec![volume(DATA, SIZE)]).await)?;
    let device = only(providers.volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await)?.path;
    let beneath = backing(DATA, &device, SIZE);
    only(providers.managed.create_filesystems(vec![filesystem(FILES, SIZE, Some(beneath.clone()))]).await)?;
    let mount = AttachFilesystem { backing: Some(beneath), ..attach_filesystem(AT, FILES, None) };
    let info = only(providers.managed.attach_filesystems(vec![mount]).await)?;
    let file = Path::new(&info.mount_point).join("file");
    if lines(lab, "written") == 0 {
        fs::write(&file, "precious").unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        note(&lab.log(), "written");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    only(providers.tmpfs.create_filesystems(vec![filesystem(MEMORY, 1, None)]).await)?;
    let memory = only(providers.tmpfs.attach_filesystems(vec![attach_filesystem(MEMORY_AT, MEMORY, None)]).await)?;
    keeps(lab, "in-memory", Path::new(&memory.mount_point));
    only(providers.rootfs.create_filesystems(vec![filesystem(BOUND, 1, None)]).await)?;
    only(providers.rootfs.attach_filesystems(vec![attach_filesystem(BOUND_AT, BOUND, None)]).await)?;
    Ok(())
}

/// What was written there is there: written the first time, read at every later one.
fn keeps(lab: &Lab, what: &str, mount_point: &Path) {
    let file = mount_point.join("file");
    if lines(lab, what) == 0 {
        fs::write(&file, what).unwrap();
        note(&lab.log(), what);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), what);
}

/// Everything goes, in the order that its rules want.
async fn undo(lab: &Lab, providers: &Providers) -> Result<(), Fault> {
    note(&lab.log(), "undoing");
    only(providers.rootfs.detach_filesystems(vec![detach_filesystem(BOUND_AT, BOUND)]).await)?;
    only(providers.managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await)?;
    only(providers.volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await)?;
    note(&lab.log(), "removing");
    only(providers.rootfs.destroy_filesystems(vec![effect(BOUND)]).await)?;
    only(providers.tmpfs.detach_filesystems(vec![detach_filesystem(MEMORY_AT, MEMORY)]).await)?;
    only(providers.tmpfs.destroy_filesystems(vec![effect(MEMORY)]).await)?;
    only(providers.managed.destroy_filesystems(vec![effect(FILES)]).await)?;
    only(providers.volumes.destroy_volumes(vec![effect(DATA)]).await)?;
    providers.managed.forget_on(effect(DATA)).await
}

fn lines(lab: &Lab, wanted: &str) -> usize {
    fs::read_to_string(lab.log()).unwrap_or_default().lines().filter(|line| *line == wanted).count()
}

/// The round of the child; nothing unless this process is one.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(LAB) else { return };
    let lab = Lab::borrowed(Path::new(&path));
    match std::env::var(ROUND).unwrap().as_str() {
        "storage" => {
            let providers = lab.providers();
            build(&lab, &providers).await.unwrap();
            undo(&lab, &providers).await.unwrap();
        }
        "directory" => {
            build_directory(&lab).await.unwrap();
            undo_directory(&lab).await.unwrap();
        }
        "import" => {
            import(&lab).await.unwrap();
            note(&lab.log(), "undoing");
            only(lab.providers().volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
        }
        round => panic!("{round}"),
    }
}

/// Whether the child was killed at this point; if not, it came to its end.
fn is_killed(lab: &Lab, round: &str, point: usize) -> bool {
    let mut child = Process::new(std::env::current_exe().unwrap());
    child.args(["--exact", "crash::child", "--test-threads=1"]);
    child.env(LAB, &lab.path).env(ROUND, round).env("BAILIWICK_CRASH_AT", point.to_string());
    let output = child.stdin(Stdio::null()).output().unwrap();
    if output.status.success() {
        return false;
    }
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.signal(), Some(9), "point {point}: {told}");
    true
}

/// What a new node does after the crash.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    /// It goes on with what it had begun.
    GoOn,
    /// It asks for everything by id, and then undoes.
    Undo,
    /// Killed while it was detaching, it attaches again.
    Reattach,
}

async fn every_point(then: Then) {
    if !may_mount() {
        return;
    }
    let mut point = 1;
    loop {
        let lab = Lab::quick();
        if !is_killed(&lab, "storage", point) {
            lab.assert_nothing_left("without a crash");
            break;
        }
        let when = format!("killed at point {point}, then {then:?}");
        let providers = lab.providers();
        let was_undoing = 0 < lines(&lab, "undoing");
        let goes_on = match then {
            Then::GoOn => !was_undoing,
            Then::Undo => false,
            // Nothing was removed yet, so all data has to be there.
            Then::Reattach => lines(&lab, "removing") == 0,
        };
        if goes_on {
            build(&lab, &providers).await.unwrap_or_else(|fault| panic!("{when}: {fault}"));
            assert_eq!(lines(&lab, "mkfs.ext4"), 1, "{when}: formatted");
            assert_eq!((lab.loops().len(), lab.mounts().len()), (1, 3), "{when}");
        } else {
            look(&providers, &when).await;
        }
        undo(&lab, &providers).await.unwrap_or_else(|fault| panic!("{when}: {fault}"));
        lab.assert_nothing_left(&when);
        assert!(lines(&lab, "mkfs.ext4") <= 1, "{when}: formatted");
        point += 1;
    }
    say(&format!("killed at {} points, then {then:?}", point - 1));
    assert!(60 < point, "there are more steps than {point}");
}

/// Asks for everything; half-made things may be taken back by that, and nothing is ever unknown when nobody works.
async fn look(providers: &Providers, when: &str) {
    let volume = only(providers.volumes.lookup_volumes(vec![effect(DATA)]).await).unwrap();
    assert_ne!(volume, Lookup::Unknown, "{when}");
    for (provider, filesystem, attachment) in
        [(&providers.managed, FILES, AT), (&providers.tmpfs, MEMORY, MEMORY_AT), (&providers.rootfs, BOUND, BOUND_AT)]
    {
        let found = only(provider.lookup_filesystems(vec![effect(filesystem)]).await).unwrap();
        assert_ne!(found, Lookup::Unknown, "{when}");
        let found = only(provider.lookup_filesystem_attachments(vec![effect(attachment)]).await).unwrap();
        assert_ne!(found, Lookup::Unknown, "{when}");
    }
}

#[tokio::test]
#[ignore = "takes long"]
async fn a_node_killed_at_any_step_goes_on() {
    every_point(Then::GoOn).await;
}

#[tokio::test]
#[ignore = "takes long"]
async fn a_node_killed_at_any_step_can_undo() {
    every_point(Then::Undo).await;
}

#[tokio::test]
#[ignore = "takes long"]
async fn what_was_killed_while_detaching_is_attached_again_with_its_data() {
    every_point(Then::Reattach).await;
}

/// The same without any rights: a plain directory, linked where it is wanted.
async fn build_directory(lab: &Lab) -> Result<(), Fault> {
    let directories = lab.directories(1);
    only(directories.create_filesystems(vec![filesystem(FILES, 1, None)]).await)?;
    let place = lab.srv().join("place");
    only(directories.attach_filesystems(vec![attach_filesystem(AT, FILES, Some(&place))]).await)?;
    if lines(lab, "written") == 0 {
        fs::write(place.join("file"), "precious").unwrap();
        note(&lab.log(), "written");
    }
    assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "precious");
    Ok(())
}

async fn undo_directory(lab: &Lab) -> Result<(), Fault> {
    note(&lab.log(), "undoing");
    let directories = lab.directories(1);
    only(directories.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await)?;
    only(directories.destroy_filesystems(vec![effect(FILES)]).await)
}

#[tokio::test]
async fn plain_directories_survive_every_point_too() {
    for then in [Then::GoOn, Then::Undo] {
        for point in 1.. {
            let lab = Lab::quick();
            if !is_killed(&lab, "directory", point) {
                assert!(10 < point, "there are more steps than {point}");
                break;
            }
            let when = format!("killed at point {point}, then {then:?}");
            let directories = lab.directories(1);
            if then == Then::GoOn && lines(&lab, "undoing") == 0 {
                build_directory(&lab).await.unwrap_or_else(|fault| panic!("{when}: {fault}"));
            } else {
                let found = only(directories.lookup_filesystems(vec![effect(FILES)]).await).unwrap();
                let attached = only(directories.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap();
                assert!(found != Lookup::Unknown && attached != Lookup::Unknown, "{when}");
            }
            undo_directory(&lab).await.unwrap_or_else(|fault| panic!("{when}: {fault}"));
            lab.assert_nothing_left(&when);
            assert_eq!(fs::read_dir(lab.srv()).unwrap().count(), 0, "{when}: a link is left");
        }
    }
}

/// A file that somebody wants to be taken over.
const OLD: &str = "import/old.img";

async fn import(lab: &Lab) -> Result<(), Fault> {
    let wish = ImportWish { id: effect(DATA), volume_id: InstanceId("old.img".to_owned()), size_min: SizeMib(1) };
    let wish = ImportVolume { volume: name("data"), uid: Uid(uuid::Uuid::from_u128(DATA)), wish };
    only(lab.providers().volumes.import_volumes(vec![wish]).await).map(drop)
}

#[tokio::test]
async fn what_is_taken_over_is_never_lost() {
    for then in [Then::GoOn, Then::Undo] {
        for point in 1.. {
            let lab = Lab::quick();
            fs::create_dir_all(lab.storage().join("import")).unwrap();
            fs::write(lab.storage().join(OLD), vec![7; 1 << 20]).unwrap();
            if !is_killed(&lab, "import", point) {
                assert!(5 < point, "there are more steps than {point}");
                break;
            }
            let when = format!("killed at point {point}, then {then:?}");
            let ours = lab.storage().join(format!("volume-{}", effect(DATA)));
            let data =
                |path: &Path| fs::read(path).unwrap_or_else(|error| panic!("{when}: {error}")) == vec![7; 1 << 20];
            if lines(&lab, "undoing") == 0 {
                let found = match then {
                    Then::GoOn | Then::Reattach => import(&lab).await.map(|()| true).unwrap(),
                    Then::Undo => {
                        let volumes = lab.providers().volumes;
                        only(volumes.lookup_volumes(vec![effect(DATA)]).await).unwrap() != Lookup::Absent
                    }
                };
                assert!(data(&if found { ours } else { lab.storage().join(OLD) }), "{when}");
            }
            only(lab.providers().volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
            let _ = fs::remove_file(lab.storage().join(OLD));
            fs::remove_dir(lab.storage().join("import")).unwrap();
            lab.assert_nothing_left(&when);
        }
    }
}
