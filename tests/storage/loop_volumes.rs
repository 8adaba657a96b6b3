//! Volumes as loop devices.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    process::Command as Process,
    sync::Arc,
};

use bailiwick::{
    actors::{
        ports::{AttachVolume, ImportVolume, Lookup, VolumeImporter, VolumeProvider},
        storage_rules::ImportWish,
        vocab::{FaultCode, InstanceId, SizeMib, Uid},
    },
    providers::storage::{LoopVolumes, SystemRunner},
};

use crate::support::{FixedClock, Lab, attach_volume, detach_volume, effect, may_mount, name, only, volume};

const DATA: u128 = 100;
const TO_1: u128 = 201;
const TO_2: u128 = 202;

#[tokio::test]
async fn a_volume_is_a_device_and_keeps_its_data() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    let made = only(volumes.create_volumes(vec![volume(DATA, 8)]).await).unwrap();
    assert_eq!((made.size, made.volume_id.0.as_str()), (SizeMib(8), &*format!("volume-{}", effect(DATA))));
    assert_eq!(only(volumes.create_volumes(vec![volume(DATA, 8)]).await).unwrap(), made);
    let other = only(volumes.create_volumes(vec![volume(DATA, 9)]).await);
    assert_eq!(other.unwrap_err().code, FaultCode::AlreadyExists);
    let attached = only(volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap();
    assert_eq!(lab.loops().len(), 1);
    let device = OpenOptions::new().write(true).open(&attached.path).unwrap();
    device.write_all_at(b"precious", 4_096).unwrap();
    device.sync_all().unwrap();
    drop(device);
    // Again, after a restart: the same device, and no second one.
    let volumes = lab.providers().volumes;
    assert_eq!(only(volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap(), attached);
    assert_eq!(only(volumes.lookup_attachments(vec![effect(TO_1)]).await).unwrap(), Lookup::Present(attached.clone()));
    assert_eq!(lab.loops().len(), 1);
    let second = only(volumes.attach_volumes(vec![attach_volume(TO_2, DATA)]).await);
    assert_eq!(second.unwrap_err().code, FaultCode::FailedPrecondition);
    let destroyed = only(volumes.destroy_volumes(vec![effect(DATA)]).await);
    assert_eq!(destroyed.unwrap_err().code, FaultCode::FailedPrecondition);
    for _ in 0..2 {
        only(volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    }
    assert_eq!(lab.loops(), [""; 0]);
    assert_eq!(only(volumes.lookup_attachments(vec![effect(TO_1)]).await).unwrap(), Lookup::Absent);
    let attached = only(volumes.attach_volumes(vec![attach_volume(TO_2, DATA)]).await).unwrap();
    let mut found = [0; 8];
    fs::File::open(&attached.path).unwrap().read_exact_at(&mut found, 4_096).unwrap();
    assert_eq!(&found, b"precious");
    only(volumes.detach_volumes(vec![detach_volume(TO_2, DATA)]).await).unwrap();
    assert_eq!(volumes.list_volumes().await.unwrap().items, std::slice::from_ref(&made));
    assert_eq!(only(volumes.lookup_volumes(vec![effect(DATA)]).await).unwrap(), Lookup::Present(made));
    for _ in 0..2 {
        only(volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    }
    assert_eq!(only(volumes.lookup_volumes(vec![effect(DATA)]).await).unwrap(), Lookup::Absent);
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_leaves_nothing() {
    let lab = Lab::new();
    let providers = lab.providers();
    let too_much = only(providers.volumes.create_volumes(vec![volume(DATA, 1 << 40)]).await);
    assert_eq!(too_much.unwrap_err().code, FaultCode::ResourceExhausted);
    assert_eq!(providers.runner.ran().len(), 0);
    lab.assert_nothing_left("after what did not fit");
}

#[tokio::test]
async fn many_at_once_do_not_get_into_each_others_way() {
    if !may_mount() {
        return;
    }
    const MANY: u128 = 12;
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    let all = |from: u128| (from..from + MANY).collect::<Vec<_>>();
    let wishes = all(DATA).into_iter().map(|id| volume(id, 1)).collect();
    let made = volumes.create_volumes(wishes).await.unwrap();
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    // Some of them twice, and one that is not there.
    let wishes = all(0).into_iter().chain([0, 1, 2, 900]).map(|n| attach_volume(500 + n, DATA + n)).collect();
    let mut attached = volumes.attach_volumes(wishes).await.unwrap();
    assert_eq!(attached.pop().unwrap().unwrap_err().code, FaultCode::NotFound);
    let mut paths: Vec<String> = attached.into_iter().map(|answer| answer.unwrap().path).collect();
    assert_eq!(paths[..3], paths[MANY as usize..], "the same again");
    paths.sort();
    paths.dedup();
    assert_eq!((paths.len(), lab.loops().len()), (MANY as usize, MANY as usize));
    let wishes = all(0).into_iter().map(|n| detach_volume(500 + n, DATA + n)).collect();
    let detached = volumes.detach_volumes(wishes).await.unwrap();
    assert!(detached.iter().all(Result::is_ok), "{detached:?}");
    let destroyed = volumes.destroy_volumes(all(DATA).into_iter().map(effect).collect()).await.unwrap();
    assert!(destroyed.iter().all(Result::is_ok), "{destroyed:?}");
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_read_only_volume_cannot_be_written() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    only(volumes.create_volumes(vec![volume(DATA, 1)]).await).unwrap();
    let read_only = AttachVolume { read_only: true, ..attach_volume(TO_1, DATA) };
    let attached = only(volumes.attach_volumes(vec![read_only]).await).unwrap();
    assert!(attached.read_only);
    let written = OpenOptions::new().write(true).open(&attached.path).and_then(|device| {
        device.write_all_at(b"x", 0)?;
        device.sync_all()
    });
    assert!(written.is_err(), "{written:?}");
    // The same attachment with other rights is another wish.
    let refused = only(volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
    only(volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    only(volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_device_that_is_mounted_is_not_detached_beneath_its_user() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    only(volumes.create_volumes(vec![volume(DATA, 8)]).await).unwrap();
    let attached = only(volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        assert!(Process::new(program).args(arguments).output().unwrap().status.success(), "{program} {arguments:?}");
    };
    let srv = lab.srv();
    run("mkfs.ext4", &["-q", &attached.path]);
    run("mount", &[&attached.path, srv.to_str().unwrap()]);
    let refused = only(volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
    assert_eq!(lab.loops().len(), 1);
    // Nor is it marked to go as soon as nobody uses it.
    let marked = fs::read_to_string(format!("/sys/class/block/{}/loop/autoclear", lab.loops()[0])).unwrap();
    assert_eq!(marked.trim(), "0");
    run("umount", &[srv.to_str().unwrap()]);
    only(volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    only(volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_failed_attaching_keeps_the_file() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    only(volumes.create_volumes(vec![volume(DATA, 1)]).await).unwrap();
    let file = lab.storage().join(format!("volume-{}", effect(DATA)));
    OpenOptions::new().write(true).open(&file).unwrap().write_all_at(b"precious", 0).unwrap();
    // A machine on which losetup finds no device for it.
    let bad = lab.path.join("bad");
    fs::create_dir(&bad).unwrap();
    script(&bad.join("losetup"), "if [ \"$1\" = -j ]; then exit 0; fi; echo 'no free loop device' >&2; exit 1");
    let runner = SystemRunner { directories: vec![bad], ..SystemRunner::default() };
    let broken = LoopVolumes::new(lab.ground(Arc::new(runner)), Arc::new(FixedClock));
    for _ in 0..3 {
        let fault = only(broken.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap_err();
        assert_eq!(fault.code, FaultCode::FailedPrecondition);
        assert!(fault.text.contains("no free loop device"), "{fault}");
    }
    assert_eq!(&fs::read(&file).unwrap()[..8], b"precious");
    assert_eq!(only(volumes.lookup_attachments(vec![effect(TO_1)]).await).unwrap(), Lookup::Absent);
    only(volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap();
    only(volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    assert_eq!(&fs::read(&file).unwrap()[..8], b"precious");
}

#[tokio::test]
async fn a_file_that_nobody_has_is_taken_over() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    let imports = lab.storage().join("import");
    fs::create_dir(&imports).unwrap();
    let wish = |name_there: &str, size_min: u64| ImportVolume {
        volume: name("data"),
        uid: Uid(uuid::Uuid::from_u128(DATA)),
        wish: ImportWish {
            id: effect(DATA),
            volume_id: InstanceId(name_there.to_owned()),
            size_min: SizeMib(size_min),
        },
    };
    let import = async |wish: ImportVolume| only(volumes.import_volumes(vec![wish]).await);
    let disk = imports.join("old.img");
    fs::write(&disk, vec![7; 3 << 20]).unwrap();
    for bad in ["../old.img", "/etc/passwd", "..", "", "old.img\n", "sub/old.img"] {
        assert_eq!(import(wish(bad, 1)).await.unwrap_err().code, FaultCode::FailedPrecondition, "{bad:?}");
    }
    let nothing = import(wish("new.img", 1)).await.unwrap_err();
    assert!(nothing.code == FaultCode::NotFound && nothing.to_string().contains("import/new.img"), "{nothing}");
    assert_eq!(import(wish("old.img", 4)).await.unwrap_err().code, FaultCode::FailedPrecondition, "too small");
    fs::hard_link(&disk, imports.join("other")).unwrap();
    assert_eq!(import(wish("old.img", 1)).await.unwrap_err().code, FaultCode::FailedPrecondition, "two names");
    fs::remove_file(imports.join("other")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", imports.join("link")).unwrap();
    assert!(import(wish("link", 0)).await.is_err());
    fs::remove_file(imports.join("link")).unwrap();
    let output = Process::new("losetup").args(["-f", "--show"]).arg(&disk).output().unwrap();
    let device = String::from_utf8(output.stdout).unwrap();
    assert_eq!(import(wish("old.img", 1)).await.unwrap_err().code, FaultCode::FailedPrecondition, "in use");
    assert!(Process::new("losetup").args(["-d", device.trim()]).status().unwrap().success());
    // The kernel lets go of a device that somebody is just looking at a little later than it says.
    let is_used = || !Process::new("losetup").arg("-j").arg(&disk).output().unwrap().stdout.is_empty();
    let let_go = async {
        while is_used() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), let_go).await.expect("the device is let go of");
    let made = import(wish("old.img", 1)).await.unwrap();
    assert_eq!(made.size, SizeMib(3));
    assert_eq!(import(wish("old.img", 1)).await.unwrap(), made);
    assert!(!disk.exists());
    let attached = only(volumes.attach_volumes(vec![attach_volume(TO_1, DATA)]).await).unwrap();
    let mut found = [0; 4];
    fs::File::open(&attached.path).unwrap().read_exact_at(&mut found, 1 << 20).unwrap();
    assert_eq!(found, [7; 4], "the data came with it");
    only(volumes.detach_volumes(vec![detach_volume(TO_1, DATA)]).await).unwrap();
    only(volumes.destroy_volumes(vec![effect(DATA)]).await).unwrap();
    fs::remove_dir(imports).unwrap();
    lab.assert_nothing_left("at the end");
}

/// A program of our own. Another process writes it: what another thread starts at the same moment would inherit the open file,
/// and nobody can run what somebody has open to write.
pub fn script(path: &std::path::Path, body: &str) {
    let mut install = std::process::Command::new("sh");
    install.args(["-c", "printf '%s' \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(path);
    assert!(install.arg(format!("#!/bin/sh\n{body}\n")).status().unwrap().success());
}

#[tokio::test]
async fn a_volume_whose_file_is_gone_is_not_listed() {
    // given two volumes, and one of their files removed behind everybody's back
    let lab = Lab::new();
    let volumes = lab.providers().volumes;
    let made = only(volumes.create_volumes(vec![volume(DATA, 1)]).await).unwrap();
    only(volumes.create_volumes(vec![volume(TO_1, 1)]).await).unwrap();
    assert_eq!(volumes.list_volumes().await.unwrap().items.len(), 2);
    fs::remove_file(lab.storage().join(format!("volume-{}", effect(TO_1)))).unwrap();
    // when it is asked what there is
    let listing = volumes.list_volumes().await.unwrap();
    // then it is missing from a list that is complete
    assert!(listing.complete);
    assert_eq!(listing.items, [made]);
}
