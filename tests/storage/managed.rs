//! Filesystems on volumes: ext4 on loop devices.

use std::{
    fs::{self, OpenOptions},
    io::Read,
    os::unix::fs::FileExt,
    process::Command as Process,
    sync::Arc,
};

use bailiwick::{
    actors::{
        ports::{AttachFilesystem, CreateFilesystem, FilesystemProvider, Lookup, VolumeProvider},
        vocab::FaultCode,
    },
    providers::storage::{DeviceName, Filesystems, Ground, KernelSight, Seen, Sight, Way},
};

use crate::support::{
    FixedClock, Lab, Providers, attach_filesystem, attach_volume, backing, detach_filesystem, detach_volume, effect,
    filesystem, may_mount, only, volume,
};

const DATA: u128 = 100;
const TO_1: u128 = 201;
const FILES: u128 = 300;
const AT: u128 = 301;
const SIZE: u64 = 16;

async fn attached(providers: &Providers) -> String {
    only(providers.volumes.create_volumes(vec![volume(DATA, SIZE)]).await).unwrap();
    only(providers.volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap().path
}

fn formatted(providers: &Providers) -> usize {
    providers.runner.ran().iter().filter(|argv| argv[0] == "mkfs.ext4").count()
}

fn bytes(path: &str) -> blake3::Hash {
    let mut content = Vec::new();
    fs::File::open(path).unwrap().read_to_end(&mut content).unwrap();
    blake3::hash(&content)
}

#[tokio::test]
async fn a_filesystem_on_a_volume_moves_with_its_data_and_is_formatted_once() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let providers = lab.providers();
    let early = filesystem(FILES, SIZE, Some(backing(DATA, "/dev/loop999", SIZE)));
    let refused = only(providers.managed.create_filesystems(vec![early]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::NotFound, "not attached yet");
    let device = attached(&providers).await;
    let wish = || filesystem(FILES, SIZE, Some(backing(DATA, &device, SIZE)));
    let too_small = filesystem(FILES + 50, SIZE, Some(backing(DATA, &device, SIZE - 1)));
    let refused = only(providers.managed.create_filesystems(vec![too_small]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::ResourceExhausted);
    let made = only(providers.managed.create_filesystems(vec![wish()]).await).unwrap();
    let place = lab.srv().join("place");
    let mount = || attach_filesystem(AT, FILES, Some(&place));
    let info = only(providers.managed.attach_filesystems(vec![mount()]).await).unwrap();
    fs::write(place.join("file"), "precious").unwrap();
    // After a restart nothing is formatted or mounted again.
    let again = lab.providers();
    assert_eq!(only(again.managed.create_filesystems(vec![wish()]).await).unwrap(), made);
    assert_eq!(only(again.managed.attach_filesystems(vec![mount()]).await).unwrap(), info);
    assert_eq!((formatted(&providers), formatted(&again), lab.mounts().len()), (1, 0, 1));
    // A second filesystem on the same volume would destroy the first.
    let second = filesystem(FILES + 1, SIZE, Some(backing(DATA, &device, SIZE)));
    let refused = only(again.managed.create_filesystems(vec![second]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
    only(again.managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    only(again.volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    // The volume comes back, maybe as another device: read-only this time.
    let device = attached(&again).await;
    let read_only = AttachFilesystem { read_only: true, backing: Some(backing(DATA, &device, SIZE)), ..mount() };
    only(again.managed.attach_filesystems(vec![read_only]).await).unwrap();
    assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "precious");
    assert!(fs::write(place.join("file"), "other").is_err());
    only(again.managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    only(again.managed.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    only(again.volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    only(again.volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    again.managed.forget_on(effect(DATA)).await.unwrap();
    assert_eq!(formatted(&again), 0);
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_device_with_data_is_never_formatted() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let providers = lab.providers();
    let device = attached(&providers).await;
    let wish = || filesystem(FILES, SIZE, Some(backing(DATA, &device, SIZE)));
    let wipe = || {
        let file = OpenOptions::new().write(true).open(&device).unwrap();
        file.write_all_at(&vec![0; (SIZE as usize) << 20], 0).unwrap();
        file.sync_all().unwrap();
    };
    let put = |at: u64, data: &[u8]| {
        let file = OpenOptions::new().write(true).open(&device).unwrap();
        file.write_all_at(data, at).unwrap();
        file.sync_all().unwrap();
    };
    let tool = |program: &str, arguments: &[&str]| {
        let output = Process::new(program).args(arguments).arg(&device).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    };
    type Filling<'f> = (&'static str, Box<dyn Fn() + 'f>);
    let fillings: Vec<Filling> = vec![
        ("somebody's ext4", Box::new(|| tool("mkfs.ext4", &["-q"]))),
        ("somebody's ext2", Box::new(|| tool("mkfs.ext4", &["-q", "-t", "ext2"]))),
        ("swap", Box::new(|| tool("mkswap", &[]))),
        ("an XFS magic", Box::new(|| put(0, b"XFSB"))),
        ("a partition table", Box::new(|| put(510, b"\x55\xaa"))),
        ("a file", Box::new(|| put(300_000, b"precious"))),
        ("the last byte", Box::new(|| put((SIZE << 20) - 1, b"x"))),
        ("something in the middle", Box::new(|| put(8 << 20, &[9; 128 * 1024]))),
    ];
    for (what, fill) in &fillings {
        wipe();
        fill();
        let before = bytes(&device);
        for _ in 0..2 {
            let refused = only(providers.managed.create_filesystems(vec![wish()]).await).unwrap_err();
            assert_eq!(refused.code, FaultCode::FailedPrecondition, "{what}: {refused}");
            assert!(refused.text.contains("holds data"), "{what}: {refused}");
        }
        assert_eq!(bytes(&device), before, "{what}");
        assert_eq!(formatted(&providers), 0, "{what}");
    }
    wipe();
    only(providers.managed.create_filesystems(vec![wish()]).await).unwrap();
    assert_eq!(formatted(&providers), 1);
    // Made, and then replaced behind our back: neither formatted again nor mounted.
    wipe();
    tool("mkfs.ext4", &["-q"]);
    let before = bytes(&device);
    only(providers.managed.create_filesystems(vec![wish()]).await).unwrap();
    assert_eq!(formatted(&providers), 1);
    let refused = only(providers.managed.attach_filesystems(vec![attach_filesystem(AT, FILES, None)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
    assert_eq!(bytes(&device), before);
    assert_eq!(only(providers.managed.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap(), Lookup::Absent);
}

/// So many bytes on so many devices of other sizes, 1,000 together.
const BYTES_EACH: u64 = 50;
const SIZES: [u64; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 21, 24, 32, 33, 48, 64, 65];

#[tokio::test]
#[ignore = "takes long"]
async fn a_single_byte_anywhere_keeps_a_device_from_being_formatted() {
    if !may_mount() {
        return;
    }
    let lab = Lab::quick();
    let providers = lab.providers();
    for (nth, mib) in SIZES.into_iter().enumerate() {
        let (data, to_1) = (1_000 + nth as u128, 2_000 + nth as u128);
        only(providers.volumes.create_volumes(vec![volume(data, mib)]).await).unwrap();
        let device = only(providers.volumes.attach_volumes(vec![attach_volume(to_1, data)]).await).unwrap().path;
        let wish = || filesystem(3_000 + nth as u128, mib, Some(backing(data, &device, mib)));
        // Not synced: what is only in memory counts as well.
        let put = |at: u64, byte: u8| {
            OpenOptions::new().write(true).open(&device).unwrap().write_all_at(&[byte], at).unwrap();
        };
        // Who writes while it is read, through the device or to its file, is noticed.
        let name: DeviceName = device.trim_start_matches("/dev/").parse().unwrap();
        let Seen::It(behind) = KernelSight::default().loop_file(&name).unwrap() else {
            panic!("{device} shows a file")
        };
        let counted = || KernelSight::default().writes(&name).unwrap();
        let before = counted();
        assert_eq!(counted(), before, "looking changes nothing");
        for path in [&device, &behind.path] {
            let before = counted();
            OpenOptions::new().write(true).open(path).unwrap().write_all_at(&[0], 512).unwrap();
            assert_ne!(counted(), before, "{path} of {mib} MiB");
        }
        for byte in 0..BYTES_EACH {
            let dice = blake3::hash(&(nth as u64 * BYTES_EACH + byte).to_le_bytes());
            let dice = u64::from_le_bytes(dice.as_bytes()[..8].try_into().unwrap());
            let at = dice % (mib << 20);
            put(at, (dice >> 56) as u8 | 1);
            let refused = only(providers.managed.create_filesystems(vec![wish()]).await).unwrap_err();
            assert_eq!(refused.code, FaultCode::FailedPrecondition, "byte {at} of {mib} MiB: {refused}");
            assert!(refused.text.contains("holds data"), "byte {at} of {mib} MiB: {refused}");
            put(at, 0);
        }
        assert_eq!(formatted(&providers), nth, "only the blank ones before");
        only(providers.managed.create_filesystems(vec![wish()]).await).unwrap();
        only(providers.managed.destroy_filesystems(vec![effect(3_000 + nth as u128)]).await).unwrap();
        only(providers.volumes.detach_volumes(vec![detach_volume(to_1, data)]).await).unwrap();
        only(providers.volumes.destroy_volumes(vec![effect(data)]).await).unwrap();
        providers.managed.forget_on(effect(data)).await.unwrap();
    }
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn an_unfinished_formatting_is_finished() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let providers = lab.providers();
    let device = attached(&providers).await;
    let wish = || filesystem(FILES, SIZE, Some(backing(DATA, &device, SIZE)));
    let made = only(providers.managed.create_filesystems(vec![wish()]).await).unwrap();
    // As if it had been cut short: the record and the note of before, and half a filesystem on the device.
    let storage = lab.storage().join("managed");
    let record = storage.join(format!("filesystem-{}.json", effect(FILES)));
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    value["made"] = serde_json::Value::Null;
    fs::write(&record, value.to_string()).unwrap();
    let identity = serde_json::json!({
        "hardware_id": null,
        "loop_file": lab.storage().join(format!("volume-{}", effect(DATA))),
        "sequence": null,
        "bytes": SIZE << 20,
    });
    let note = storage.join(format!("filesystem-{}.format", effect(FILES)));
    let superblock = |state: [u8; 2]| {
        let file = OpenOptions::new().write(true).open(&device).unwrap();
        file.write_all_at(&state, 1_024 + 58).unwrap();
        file.sync_all().unwrap();
    };
    let foreign = serde_json::json!({"hardware_id": "other", "loop_file": null, "sequence": null, "bytes": SIZE << 20});
    fs::write(&note, serde_json::json!({"formatting": {"identity": foreign}}).to_string()).unwrap();
    let refused = only(providers.managed.create_filesystems(vec![wish()]).await).unwrap_err();
    assert!(refused.text.contains("a different device was being formatted"), "{refused}");
    superblock([0, 0]);
    fs::write(&note, serde_json::json!({"formatting": {"identity": identity}}).to_string()).unwrap();
    assert_eq!(only(providers.managed.lookup_filesystems(vec![effect(FILES)]).await).unwrap(), Lookup::Absent);
    assert_eq!(only(providers.managed.create_filesystems(vec![wish()]).await).unwrap(), made);
    assert_eq!(formatted(&providers), 2, "what was unfinished is made again");
    // And one that was finished, but not noted as such, is taken as it is.
    fs::write(&record, value.to_string()).unwrap();
    fs::write(&note, serde_json::json!({"formatting": {"identity": identity}}).to_string()).unwrap();
    assert_eq!(only(providers.managed.create_filesystems(vec![wish()]).await).unwrap(), made);
    assert_eq!(formatted(&providers), 2);
    let info = only(providers.managed.attach_filesystems(vec![attach_filesystem(AT, FILES, None)]).await).unwrap();
    fs::write(std::path::Path::new(&info.mount_point).join("file"), "x").unwrap();
    only(providers.managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
}

#[tokio::test]
async fn a_destroyed_filesystem_makes_room_for_the_next_one_on_its_volume() {
    if !may_mount() {
        return;
    }
    // given a filesystem with data that is destroyed, on a volume that stays
    let lab = Lab::new();
    let providers = lab.providers();
    let device = attached(&providers).await;
    let wish = |id| filesystem(id, SIZE, Some(backing(DATA, &device, SIZE)));
    only(providers.managed.create_filesystems(vec![wish(FILES)]).await).unwrap();
    let info = only(providers.managed.attach_filesystems(vec![attach_filesystem(AT, FILES, None)]).await).unwrap();
    fs::write(std::path::Path::new(&info.mount_point).join("file"), "x").unwrap();
    only(providers.managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    // when the next one is declared there, which does not know of it, and then does
    let refused = only(providers.managed.create_filesystems(vec![wish(FILES + 1)]).await).unwrap_err();
    assert!(refused.text.contains("holds data"), "{refused}");
    let replacing = CreateFilesystem { replaces: vec![effect(FILES)], ..wish(FILES + 1) };
    only(providers.managed.create_filesystems(vec![replacing]).await).unwrap();
    // then it is made, and is empty
    let mount = attach_filesystem(AT + 1, FILES + 1, None);
    let info = only(providers.managed.attach_filesystems(vec![mount]).await).unwrap();
    assert!(!std::path::Path::new(&info.mount_point).join("file").exists());
    assert_eq!(formatted(&providers), 2);
    only(providers.managed.detach_filesystems(vec![detach_filesystem(AT + 1, FILES + 1)]).await).unwrap();
    only(providers.managed.destroy_filesystems(vec![effect(FILES + 1)]).await).unwrap();
    // And what somebody else wrote or made there since is data as ever.
    OpenOptions::new().write(true).open(&device).unwrap().write_all_at(b"precious", 12 << 20).unwrap();
    let refused = only(providers.managed.create_filesystems(vec![wish(FILES + 2)]).await).unwrap_err();
    assert!(refused.text.contains("written after its filesystem was destroyed"), "{refused}");
    let made = Process::new("mkfs.ext4").args(["-q", "-F", &device]).output().unwrap();
    assert!(made.status.success());
    let refused = only(providers.managed.create_filesystems(vec![wish(FILES + 2)]).await).unwrap_err();
    assert!(refused.text.contains("holds data"), "{refused}");
    only(providers.volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    only(providers.volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    providers.managed.forget_on(effect(DATA)).await.unwrap();
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn the_boot_table_names_the_filesystem_itself() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let providers = lab.providers();
    let device = attached(&providers).await;
    let table = lab.path.join("fstab");
    fs::write(&table, "/dev/vda1 / ext4 defaults 0 1\n").unwrap();
    let srv = lab.srv();
    let ground = Ground::of_this_machine(&lab.storage().join("managed"), &[&srv], providers.runner.clone()).unwrap();
    let boot_table = Some(table.to_str().unwrap().parse().unwrap());
    let managed = Filesystems::new(Way::Managed, Arc::new(Ground { boot_table, ..ground }), Arc::new(FixedClock));
    let beneath = backing(DATA, &device, SIZE);
    only(managed.create_filesystems(vec![filesystem(FILES, SIZE, Some(beneath))]).await).unwrap();
    let place = srv.join("a place");
    for _ in 0..2 {
        only(managed.attach_filesystems(vec![attach_filesystem(AT, FILES, Some(&place))]).await).unwrap();
    }
    let text = fs::read_to_string(&table).unwrap();
    let uuid = Process::new("blkid").args(["-p", "-s", "UUID", "-o", "value", &device]).output().unwrap();
    let uuid = String::from_utf8(uuid.stdout).unwrap();
    let line = format!("UUID={} {}/a\\040place ext4 rw,nofail 0 0", uuid.trim(), srv.display());
    assert_eq!(text.lines().collect::<Vec<_>>(), ["/dev/vda1 / ext4 defaults 0 1", &line]);
    only(managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    assert_eq!(fs::read_to_string(&table).unwrap(), "/dev/vda1 / ext4 defaults 0 1\n");
}

#[tokio::test]
async fn a_filesystem_is_known_by_itself_whatever_its_device_is_called_now() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let providers = lab.providers();
    let device = attached(&providers).await;
    let beneath = backing(DATA, &device, SIZE);
    only(providers.managed.create_filesystems(vec![filesystem(FILES, SIZE, Some(beneath))]).await).unwrap();
    let place = lab.srv().join("place");
    let info = only(providers.managed.attach_filesystems(vec![attach_filesystem(AT, FILES, Some(&place))]).await);
    let info = info.unwrap();
    // As a start of the machine leaves it: another file has the device's name, and the boot table has mounted ours.
    let run = |program: &str, arguments: &[&str]| Process::new(program).args(arguments).output().unwrap();
    let (place, other) = (place.to_str().unwrap(), lab.path.join("other"));
    fs::File::create(&other).unwrap().set_len(1 << 20).unwrap();
    assert!(run("umount", &[place]).status.success());
    assert!(run("losetup", &["-d", &device]).status.success());
    // Unless another test has taken it this instant, which serves as well.
    run("losetup", &[&device, other.to_str().unwrap()]);
    let now = only(providers.volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap().path;
    assert!(run("mount", &[&now, place]).status.success());
    let found = only(providers.managed.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap();
    assert_eq!(found, Lookup::Present(info.clone()));
    let backing = Some(backing(DATA, &now, SIZE));
    let again = AttachFilesystem { backing, ..attach_filesystem(AT, FILES, Some(place.as_ref())) };
    assert_eq!(only(providers.managed.attach_filesystems(vec![again]).await).unwrap(), info);
    assert_eq!(lab.mounts().len(), 1);
    only(providers.managed.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    assert_eq!(lab.mounts(), [""; 0]);
    only(providers.managed.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    only(providers.volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    only(providers.volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    providers.managed.forget_on(effect(DATA)).await.unwrap();
    let other = lab.loops();
    assert!(other.iter().all(|name| run("losetup", &["-d", &format!("/dev/{name}")]).status.success()));
    lab.let_go();
    lab.assert_nothing_left("at the end");
}
