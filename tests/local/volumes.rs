//! Volumes and their attachments.

use std::{fs, os::unix::fs::MetadataExt};

use bailiwick::{
    actors::{
        ports::{AttachVolume, AttachmentInfo, CreateVolume, DetachVolume, Lookup, ProvisionedVolume, VolumeProvider},
        vocab::{Fault, FaultCode, InstanceId, SizeMib, Uid},
    },
    providers::local::LocalProvider,
};

use crate::{
    node::Node,
    support::{Ground, create, delete, effect, eventually, name, only},
};

/// Effect ids of the volume and of attachments to machine 1 and 2.
const DATA: u128 = 100;
const TO_1: u128 = 201;
const TO_2: u128 = 202;

fn data(size: u64) -> CreateVolume {
    CreateVolume {
        id: effect(DATA),
        volume: name("data-1"),
        uid: Uid(uuid::Uuid::from_u128(DATA)),
        size: SizeMib(size),
        pool: None,
        tags: Default::default(),
    }
}

async fn make(provider: &LocalProvider, size: u64) -> Result<ProvisionedVolume, Fault> {
    only(provider.create_volumes(vec![data(size)]).await)
}

async fn attach(provider: &LocalProvider, id: u128, machine: u128) -> Result<AttachmentInfo, Fault> {
    let wish = AttachVolume {
        id: effect(id),
        machine: name("web"),
        machine_effect: effect(machine),
        instance: InstanceId("local-00000000".into()),
        volume: name("data-1"),
        volume_effect: effect(DATA),
        volume_id: InstanceId("vol-00000000".into()),
        read_only: false,
    };
    only(provider.attach_volumes(vec![wish]).await)
}

async fn detach(provider: &LocalProvider, id: u128, machine: u128) {
    let wish = DetachVolume {
        id: effect(id),
        machine: name("web"),
        machine_effect: effect(machine),
        volume: name("data-1"),
        volume_effect: effect(DATA),
    };
    only(provider.detach_volumes(vec![wish]).await).unwrap();
}

async fn attached(provider: &LocalProvider, id: u128) -> Lookup<AttachmentInfo> {
    only(provider.lookup_attachments(vec![effect(id)]).await).unwrap()
}

async fn destroy(provider: &LocalProvider) -> Result<(), Fault> {
    only(provider.destroy_volumes(vec![effect(DATA)]).await)
}

#[tokio::test]
async fn a_volume_is_a_sparse_file_of_exactly_its_size() {
    let ground = Ground::new();
    let provider = ground.provider();
    let made = make(&provider, 4096).await.unwrap();
    assert_eq!((made.volume_id.0.as_str(), made.size), ("vol-00000000", SizeMib(4096)));
    let image = fs::metadata(ground.volume(effect(DATA)).join("disk.img")).unwrap();
    assert_eq!(image.len(), 4096 * 1024 * 1024);
    assert!(image.blocks() * 512 < 1024 * 1024, "it is sparse");
    assert_eq!(make(&provider, 4096).await.unwrap(), made);
    let found = only(ground.provider().lookup_volumes(vec![effect(DATA)]).await).unwrap();
    assert_eq!(found, Lookup::Present(made));
    destroy(&provider).await.unwrap();
    destroy(&provider).await.unwrap();
    assert_eq!(only(provider.lookup_volumes(vec![effect(DATA)]).await).unwrap(), Lookup::Absent);
    assert_eq!(fs::read_dir(ground.root().join("volumes")).unwrap().count(), 0);
}

#[tokio::test]
async fn sizes_that_cannot_be_are_refused() {
    let ground = Ground::new();
    let provider = ground.provider();
    assert_eq!(make(&provider, 0).await.unwrap_err().code, FaultCode::InvalidArgument);
    for size in [u64::MAX, 1 << 44, (1 << 43) - 1] {
        let fault = make(&provider, size).await;
        // The last one fits a file offset; whether it fits the file system is the file system's word.
        if let Err(fault) = fault {
            assert_eq!(fault.code, FaultCode::OutOfRange, "{size}: {fault}");
        } else {
            assert_eq!(size, (1 << 43) - 1);
        }
    }
    assert_eq!(make(&provider, 1).await.is_ok(), fs::read_dir(ground.root().join("volumes")).unwrap().count() == 1);
}

#[tokio::test]
async fn a_damaged_volume_is_not_passed_off_as_whole() {
    let ground = Ground::new();
    let provider = ground.provider();
    let made = make(&provider, 4).await.unwrap();
    assert_eq!(provider.list_volumes().await.unwrap().items, [made]);
    let image = ground.volume(effect(DATA)).join("disk.img");
    fs::File::options().write(true).open(&image).unwrap().set_len(1024).unwrap();
    let code = |fault: Fault| fault.code;
    assert_eq!(only(provider.lookup_volumes(vec![effect(DATA)]).await).map_err(code), Err(FaultCode::DataLoss));
    fs::remove_file(&image).unwrap();
    let listing = provider.list_volumes().await.unwrap();
    assert_eq!((listing.complete, listing.items), (true, vec![]), "what is not whole is not there");
    assert_eq!(make(&provider, 4).await.map_err(code), Err(FaultCode::DataLoss));
}

#[tokio::test]
async fn a_volume_belongs_to_one_machine_at_a_time() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    create(&provider, 2).await;
    assert_eq!(attach(&provider, TO_1, 1).await.unwrap_err().code, FaultCode::NotFound);
    make(&provider, 4).await.unwrap();
    assert_eq!(attached(&provider, TO_1).await, Lookup::Absent);
    let info = attach(&provider, TO_1, 1).await.unwrap();
    assert_eq!(info.path, format!("{}/volumes/data-1/disk.img", ground.machine(effect(1)).path().display()));
    assert_eq!(fs::metadata(&info.path).unwrap().len(), 4 * 1024 * 1024);
    assert_eq!(attach(&provider, TO_1, 1).await.unwrap(), info);
    assert_eq!(attached(&ground.provider(), TO_1).await, Lookup::Present(info));

    for (id, machine) in [(TO_2, 2), (TO_2, 1)] {
        assert_eq!(attach(&provider, id, machine).await.unwrap_err().code, FaultCode::FailedPrecondition);
    }
    assert_eq!(destroy(&provider).await.unwrap_err().code, FaultCode::FailedPrecondition);
    // Detaching what is not attached under that id leaves the other attachment alone.
    detach(&provider, TO_2, 2).await;
    assert!(matches!(attached(&provider, TO_1).await, Lookup::Present(_)));

    detach(&provider, TO_1, 1).await;
    detach(&provider, TO_1, 1).await;
    assert_eq!(attached(&provider, TO_1).await, Lookup::Absent);
    attach(&provider, TO_2, 2).await.unwrap();
    detach(&provider, TO_2, 2).await;
    destroy(&provider).await.unwrap();
    detach(&provider, TO_2, 2).await;
    assert_eq!(fs::read_dir(ground.root().join("attachments")).unwrap().count(), 0);
}

#[tokio::test]
async fn of_many_at_once_one_attaches() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    create(&provider, 2).await;
    make(&provider, 4).await.unwrap();
    let (one, two) = tokio::join!(attach(&provider, TO_1, 1), attach(&provider, TO_2, 2));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
}

#[tokio::test]
async fn a_machine_that_is_gone_holds_nothing() {
    let ground = Ground::new();
    let provider = ground.provider();
    assert_eq!(make(&provider, 4).await.unwrap().size, SizeMib(4));
    assert_eq!(attach(&provider, TO_1, 1).await.unwrap_err().code, FaultCode::NotFound);
    create(&provider, 1).await;
    attach(&provider, TO_1, 1).await.unwrap();
    ground.kill_agent(effect(1));
    create(&provider, 2).await;
    assert_eq!(attach(&provider, TO_2, 2).await.unwrap_err().code, FaultCode::FailedPrecondition, "merely stopped");
    delete(&provider, 1).await;
    assert_eq!(fs::metadata(ground.volume(effect(DATA)).join("disk.img")).unwrap().len(), 4 * 1024 * 1024);
    attach(&provider, TO_2, 2).await.unwrap();
    // The first one is long gone; its detaching must not take the volume from the second.
    detach(&provider, TO_1, 1).await;
    assert!(matches!(attached(&provider, TO_2).await, Lookup::Present(_)));
    delete(&provider, 2).await;
    assert_eq!(attached(&provider, TO_2).await, Lookup::Absent);
    destroy(&provider).await.unwrap();
}

#[tokio::test]
async fn attaching_can_be_finished_after_any_step() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    make(&provider, 4).await.unwrap();
    let info = attach(&provider, TO_1, 1).await.unwrap();
    let link = ground.machine(effect(1)).volume(&name("data-1"));
    let claim = ground.volume(effect(DATA)).join("attached.json");
    let record = ground.root().join("attachments").join(format!("{}.json", effect(TO_1)));
    // A crash before the link, before the claim, before the record.
    let undone = [vec![&link], vec![&link, &claim], vec![&link, &claim, &record]];
    for missing in &undone {
        missing.iter().for_each(|path| fs::remove_file(path).unwrap());
        assert_eq!(attach(&provider, TO_1, 1).await.unwrap(), info);
        assert_eq!(attached(&provider, TO_1).await, Lookup::Present(info.clone()));
    }
    // Looked up instead, it is taken back; another may have the volume then.
    for missing in &undone {
        missing.iter().for_each(|path| fs::remove_file(path).unwrap());
        assert_eq!(attached(&provider, TO_1).await, Lookup::Absent);
        assert!(!claim.exists() && !record.exists());
        attach(&provider, TO_1, 1).await.unwrap();
    }
    // A crash while detaching.
    for missing in &undone {
        missing.iter().for_each(|path| fs::remove_file(path).unwrap());
        detach(&provider, TO_1, 1).await;
        assert!(!link.exists() && !claim.exists() && !record.exists());
        attach(&provider, TO_1, 1).await.unwrap();
    }
}

#[tokio::test]
async fn a_workload_uses_its_volume_and_the_agent_watches_it() {
    let ground = Ground::new();
    let provider = ground.provider();
    let node = Node::at(&ground.socket());
    create(&provider, 1).await;
    make(&provider, 4).await.unwrap();
    let path = attach(&provider, TO_1, 1).await.unwrap().path;
    let script = "printf '%s' \"$BAILIWICK_VOLUME_DATA_1\" > seen; exec sleep 600";
    node.wish(&[("user", script)], &[]);
    let seen = ground.machine(effect(1)).work().join("user/seen");
    eventually("it runs without volume", || fs::read_to_string(&seen).is_ok_and(|seen| seen.is_empty()));
    node.wish(&[("user", script)], &[("data-1", &path)]);
    eventually("it was started again with its volume", || fs::read_to_string(&seen).is_ok_and(|seen| seen == path));

    let is = |healthy: bool| {
        let kind = "VolumeWritable/data-1";
        let text = "the image can be opened and the volume can be written";
        move |report: &bailiwick::api::wire::agent::Report| {
            report
                .conditions
                .iter()
                .any(|c| c.kind == kind && c.healthy == Some(healthy) && (!healthy || c.text == text))
        }
    };
    node.hears("the volume is writable", is(true));
    let image = ground.volume(effect(DATA)).join("disk.img");
    let aside = image.with_extension("aside");
    fs::rename(&image, &aside).unwrap();
    node.hears("the image has vanished", is(false));
    fs::rename(&aside, &image).unwrap();
    node.hears("the image is back", is(true));
    node.wish(&[("user", script)], &[]);
    node.hears("nothing is watched any more", |report| report.conditions.iter().all(|c| !c.kind.starts_with("Volume")));
}
