//! Filesystems in memory, and bound directories.

use std::{fs, process::Command as Process};

use bailiwick::actors::{
    ports::{AttachFilesystem, FilesystemProvider, Lookup},
    vocab::{FaultCode, SizeMib},
};

use crate::support::{Lab, attach_filesystem, detach_filesystem, effect, filesystem, may_mount, only};

const FILES: u128 = 300;
const AT: u128 = 301;

#[tokio::test]
async fn memory_is_mounted_once_where_it_is_wanted() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let tmpfs = lab.providers().tmpfs;
    let place = lab.srv().join("a place/deep");
    let wish = || attach_filesystem(AT, FILES, Some(&place));
    let early = only(tmpfs.attach_filesystems(vec![wish()]).await);
    assert_eq!(early.unwrap_err().code, FaultCode::NotFound);
    let made = only(tmpfs.create_filesystems(vec![filesystem(FILES, 2, None)]).await).unwrap();
    assert_eq!(only(tmpfs.create_filesystems(vec![filesystem(FILES, 2, None)]).await).unwrap(), made);
    let info = only(tmpfs.attach_filesystems(vec![wish()]).await).unwrap();
    let stat = rustix::fs::statvfs(&place).unwrap();
    assert_eq!(stat.f_blocks * stat.f_frsize, 2 << 20);
    fs::write(place.join("file"), "x").unwrap();
    // Again, after a restart: not a second time on top.
    let tmpfs = lab.providers().tmpfs;
    assert_eq!(only(tmpfs.attach_filesystems(vec![wish()]).await).unwrap(), info);
    assert_eq!(lab.mounts(), [place.display().to_string()]);
    assert!(place.join("file").exists());
    let other_rights = AttachFilesystem { read_only: true, ..wish() };
    let refused = only(tmpfs.attach_filesystems(vec![other_rights]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
    let busy = fs::File::open(place.join("file")).unwrap();
    let refused = only(tmpfs.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition, "busy");
    let attached = only(tmpfs.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap();
    assert_eq!(attached, Lookup::Present(info));
    drop(busy);
    let refused = only(tmpfs.destroy_filesystems(vec![effect(FILES)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition, "attached");
    for _ in 0..2 {
        only(tmpfs.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    }
    for _ in 0..2 {
        only(tmpfs.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    }
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn what_others_mounted_is_left_alone() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let providers = lab.providers();
    let place = lab.srv().join("theirs");
    fs::create_dir(&place).unwrap();
    assert!(Process::new("mount").args(["-t", "tmpfs", "theirs"]).arg(&place).status().unwrap().success());
    for provider in [&providers.tmpfs, &providers.rootfs] {
        only(provider.create_filesystems(vec![filesystem(FILES, 2, None)]).await).unwrap();
        let refused = only(provider.attach_filesystems(vec![attach_filesystem(AT, FILES, Some(&place))]).await);
        assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
        // Nothing of ours is there, and what is there stays.
        let attached = only(provider.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap();
        assert_eq!(attached, Lookup::Absent);
        only(provider.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    }
    assert_eq!(lab.mounts().len(), 1);
    // On top of ours it keeps ours from being unmounted, and that is told.
    let tmpfs = &providers.tmpfs;
    let ours = lab.srv().join("ours");
    only(tmpfs.attach_filesystems(vec![attach_filesystem(AT, FILES, Some(&ours))]).await).unwrap();
    assert!(Process::new("mount").args(["-t", "tmpfs", "theirs"]).arg(&ours).status().unwrap().success());
    let detached = only(tmpfs.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await);
    assert_eq!(detached.unwrap_err().code, FaultCode::FailedPrecondition);
    assert_eq!(lab.mounts().len(), 3);
    assert!(Process::new("umount").arg(&ours).status().unwrap().success());
    assert!(Process::new("umount").arg(&place).status().unwrap().success());
    for provider in [&providers.tmpfs, &providers.rootfs] {
        only(provider.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
        only(provider.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    }
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_mount_that_somebody_took_away_is_absent_and_can_be_made_again() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let tmpfs = lab.providers().tmpfs;
    only(tmpfs.create_filesystems(vec![filesystem(FILES, 2, None)]).await).unwrap();
    let info = only(tmpfs.attach_filesystems(vec![attach_filesystem(AT, FILES, None)]).await).unwrap();
    assert!(Process::new("umount").arg(&info.mount_point).status().unwrap().success());
    assert_eq!(only(tmpfs.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap(), Lookup::Absent);
    assert_eq!(only(tmpfs.attach_filesystems(vec![attach_filesystem(AT, FILES, None)]).await).unwrap(), info);
    only(tmpfs.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    only(tmpfs.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_directory_is_bound_once_and_its_data_is_kept() {
    if !may_mount() {
        return;
    }
    let lab = Lab::new();
    let rootfs = lab.providers().rootfs;
    let place = lab.srv().join("bound");
    let too_much = only(rootfs.create_filesystems(vec![filesystem(FILES + 50, 1 << 40, None)]).await);
    assert_eq!(too_much.unwrap_err().code, FaultCode::ResourceExhausted);
    assert_eq!(only(rootfs.lookup_filesystems(vec![effect(FILES + 50)]).await).unwrap(), Lookup::Absent);
    let made = only(rootfs.create_filesystems(vec![filesystem(FILES, 1, None)]).await).unwrap();
    assert!(SizeMib(1) < made.size, "the whole filesystem");
    let wish = || attach_filesystem(AT, FILES, Some(&place));
    only(rootfs.attach_filesystems(vec![wish()]).await).unwrap();
    fs::write(place.join("file"), "precious").unwrap();
    // A bound directory of the same filesystem is seen as such, neither bound again nor left when it shall go.
    let rootfs = lab.providers().rootfs;
    only(rootfs.attach_filesystems(vec![wish()]).await).unwrap();
    assert_eq!(lab.mounts().len(), 1);
    only(rootfs.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    assert_eq!(lab.mounts().len(), 0);
    let read_only = AttachFilesystem { read_only: true, ..wish() };
    only(rootfs.attach_filesystems(vec![read_only]).await).unwrap();
    assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "precious");
    assert!(fs::write(place.join("file"), "other").is_err());
    only(rootfs.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    only(rootfs.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    assert_eq!(lab.mounts(), [""; 0]);
    let kept = lab.storage().join("rootfs").join(effect(FILES).to_string()).join("file");
    assert_eq!(fs::read_to_string(kept).unwrap(), "precious", "a filesystem goes, data of the machine stays");
}
