//! Plain directories: no rights needed.

use std::fs;

use bailiwick::actors::{
    ports::{AttachFilesystem, CreateFilesystem, FilesystemProvider, Lookup},
    storage_rules::FromPool,
    vocab::{FaultCode, SizeMib},
};

use crate::support::{Lab, attach_filesystem, detach_filesystem, effect, filesystem, only};

const FILES: u128 = 300;
const AT: u128 = 301;

#[tokio::test]
async fn directories_are_promised_from_one_capacity() {
    let lab = Lab::new();
    let directories = lab.directories(10);
    let make = async |id: u128, size: u64| only(directories.create_filesystems(vec![filesystem(id, size, None)]).await);
    assert_eq!(make(1, 6).await.unwrap().size, SizeMib(6));
    assert_eq!(make(2, 5).await.unwrap_err().code, FaultCode::ResourceExhausted);
    assert_eq!(make(2, 0).await.unwrap_err().code, FaultCode::InvalidArgument);
    assert_eq!(make(1, 6).await.unwrap().size, SizeMib(6), "again");
    assert_eq!(make(1, 5).await.unwrap_err().code, FaultCode::AlreadyExists);
    assert_eq!(make(3, 4).await.unwrap().size, SizeMib(4));
    only(directories.destroy_filesystems(vec![effect(1)]).await).unwrap();
    assert_eq!(make(4, 6).await.unwrap().size, SizeMib(6), "given back");
    // Many at once promise no more than there is.
    only(directories.destroy_filesystems(vec![effect(3)]).await).unwrap();
    let wishes = (10..30).map(|id| filesystem(id, 1, None)).collect();
    let made = directories.create_filesystems(wishes).await.unwrap();
    assert_eq!(made.iter().filter(|answer| answer.is_ok()).count(), 4);
    assert_eq!(directories.list_filesystems().await.unwrap().items.len(), 5);
    // Nor after a restart.
    let again = lab.directories(10);
    let refused = only(again.create_filesystems(vec![filesystem(50, 1, None)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::ResourceExhausted);
    only(again.destroy_filesystems(vec![effect(4)]).await).unwrap();
    only(again.create_filesystems(vec![filesystem(50, 6, None)]).await).unwrap();
}

#[tokio::test]
async fn a_pool_promises_no_more_than_it_says() {
    let lab = Lab::new();
    let directories = lab.directories(20);
    let from = |id: u128, size: u64, capacity: &str| {
        let attributes = [("capacity".to_owned(), capacity.to_owned())].into();
        let pool = FromPool { name: "small".parse().unwrap(), attributes };
        CreateFilesystem { pool: Some(pool), ..filesystem(id, size, None) }
    };
    let make = async |wish| only(directories.create_filesystems(vec![wish]).await);
    make(from(1, 6, "8M")).await.unwrap();
    assert_eq!(make(from(2, 3, "8M")).await.unwrap_err().code, FaultCode::ResourceExhausted);
    make(from(2, 2, "8M")).await.unwrap();
    make(filesystem(3, 10, None)).await.unwrap();
    assert_eq!(make(filesystem(4, 3, None)).await.unwrap_err().code, FaultCode::ResourceExhausted, "20 in all");
    assert_eq!(make(from(4, 1, "much")).await.unwrap_err().code, FaultCode::InvalidArgument);
    // What was promised from the pool is known after a restart.
    let again = lab.directories(40);
    let refused = only(again.create_filesystems(vec![from(5, 1, "8M")]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::ResourceExhausted);
    only(again.destroy_filesystems(vec![effect(2)]).await).unwrap();
    only(again.create_filesystems(vec![from(5, 1, "8M")]).await).unwrap();
}

#[tokio::test]
async fn a_directory_is_linked_where_it_is_wanted_and_goes_with_its_data() {
    let lab = Lab::new();
    let directories = lab.directories(10);
    only(directories.create_filesystems(vec![filesystem(FILES, 1, None)]).await).unwrap();
    let place = lab.srv().join("place");
    let wish = || attach_filesystem(AT, FILES, Some(&place));
    let read_only = AttachFilesystem { read_only: true, ..wish() };
    let refused = only(directories.attach_filesystems(vec![read_only]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition);
    let info = only(directories.attach_filesystems(vec![wish()]).await).unwrap();
    assert_eq!(only(directories.attach_filesystems(vec![wish()]).await).unwrap(), info);
    fs::write(place.join("file"), vec![1; 2 << 20]).unwrap();
    let over = directories.over_quota().await.unwrap();
    assert_eq!((over.len(), over[0].effect, over[0].promised), (1, effect(FILES), SizeMib(1)));
    assert!(SizeMib(2) <= over[0].used);
    // After a restart it is known again; what lies elsewhere is never touched, and removing follows no link.
    let outside = lab.path.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, place.join("link")).unwrap();
    let directories = lab.directories(10);
    let found = only(directories.lookup_filesystem_attachments(vec![effect(AT)]).await).unwrap();
    assert_eq!(found, Lookup::Present(info));
    let refused = only(directories.destroy_filesystems(vec![effect(FILES)]).await);
    assert_eq!(refused.unwrap_err().code, FaultCode::FailedPrecondition, "attached");
    only(directories.detach_filesystems(vec![detach_filesystem(AT, FILES)]).await).unwrap();
    assert!(fs::symlink_metadata(&place).is_err());
    only(directories.destroy_filesystems(vec![effect(FILES)]).await).unwrap();
    assert!(outside.join("precious").exists());
    lab.assert_nothing_left("at the end");
}

#[tokio::test]
async fn a_damaged_record_is_told_and_the_list_is_not_complete() {
    let lab = Lab::new();
    let directories = lab.directories(10);
    for id in [FILES, FILES + 1] {
        only(directories.create_filesystems(vec![filesystem(id, 1, None)]).await).unwrap();
    }
    let whole = directories.list_filesystems().await.unwrap();
    assert!(whole.complete && whole.items.len() == 2);
    let record = lab.storage().join("directory").join(format!("filesystem-{}.json", effect(FILES)));
    fs::write(record, "{").unwrap();
    let partial = directories.list_filesystems().await.unwrap();
    assert!(!partial.complete && partial.items.len() == 1);
    let fault = only(directories.lookup_filesystems(vec![effect(FILES)]).await).unwrap_err();
    assert_eq!(fault.code, FaultCode::DataLoss);
}
