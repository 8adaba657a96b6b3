//! Making a filesystem on a whole disk that was plugged in: a disk of the imagination, cut short at every command.

use std::sync::{Arc, Mutex};

use bailiwick::{
    actors::{
        ports::Answer,
        vocab::{FaultCode, SizeMib},
    },
    providers::storage::{
        AbsPath, Command, Content, DeviceFacts, DeviceName, Ground, Identity, LoopFile, LoopRoom, Mount, RunError,
        Runner, Seen, Sight, Step, StorageError, Tag, TagKind, Turn, Writes, loop_device, managed,
    },
};
use uuid::Uuid;

use crate::support::{Lab, effect};

/// `sdz` with its first partition.
#[derive(Debug)]
struct Disk {
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
struct State {
    whole: Content,
    partition: Option<Content>,
    serial: &'static str,
    in_use: Option<&'static str>,
    ran: Vec<String>,
    /// How often somebody else has written to it, and whether they do while it is read.
    writes: u64,
    is_written: bool,
    /// Before or after which command the node is cut short.
    cut: Option<(usize, bool)>,
}

impl Disk {
    fn new(whole: Content) -> Arc<Self> {
        let state = State {
            whole,
            partition: None,
            serial: "one",
            in_use: None,
            ran: Vec::new(),
            writes: 0,
            is_written: false,
            cut: None,
        };
        Arc::new(Self { state: Mutex::new(state) })
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    fn ran(&self) -> Vec<String> {
        self.state.lock().unwrap().ran.clone()
    }
}

impl Runner for Disk {
    fn run<'a>(&'a self, command: &'a Command, _: &'a Turn) -> Answer<'a, Result<String, RunError>> {
        Box::pin(async move {
            let mut state = self.state.lock().unwrap();
            let number = state.ran.len() + 1;
            let lost = || RunError::TimedOut { program: command.program().to_owned(), after_ms: 1 };
            if state.cut == Some((number, false)) {
                return Err(lost());
            }
            let argv: Vec<&str> = command.argv().iter().map(String::as_str).collect();
            match argv[..] {
                // There are no loop devices beside this disk.
                ["losetup", "-j", ..] => (),
                ["sgdisk", "--zap-all", "/dev/sdz"] => (state.whole, state.partition) = (Content::Blank, None),
                ["sgdisk", "-n", "1:0:-1", "/dev/sdz"] => {
                    (state.whole, state.partition) = (Content::Table, Some(Content::Blank));
                }
                ["mkfs.ext4", "--", "/dev/sdz1"] => {
                    let uuid = Uuid::from_u128(1 + state.ran.len() as u128);
                    state.partition = Some(Content::Ext4 { uuid });
                }
                _ => panic!("{argv:?} was not expected"),
            }
            state.ran.push(command.argv().join(" "));
            if state.cut == Some((number, true)) { Err(lost()) } else { Ok(String::new()) }
        })
    }
}

impl Sight for Disk {
    fn mounted_at(&self, _: &AbsPath) -> Result<Seen<Mount>, StorageError> {
        Ok(Seen::Nothing)
    }

    fn loop_file(&self, _: &DeviceName) -> Result<Seen<LoopFile>, StorageError> {
        Ok(Seen::Nothing)
    }

    fn loop_devices(&self) -> Result<Vec<DeviceName>, StorageError> {
        Ok(Vec::new())
    }

    fn room_for_loop(&self) -> Result<Seen<LoopRoom>, StorageError> {
        Ok(Seen::It(LoopRoom::Full { why: "there are none at all".to_owned() }))
    }

    fn device(&self, device: &DeviceName) -> Result<Option<DeviceFacts>, StorageError> {
        let state = self.state.lock().unwrap();
        let is_there = device.as_str() == "sdz" || device.as_str() == "sdz1" && state.partition.is_some();
        let identity = Identity { hardware_id: Some(state.serial.to_owned()), bytes: 64 << 20, ..Identity::default() };
        let facts = DeviceFacts { number: "8:16".to_owned(), bytes: 64 << 20, in_use: state.in_use, identity };
        Ok(is_there.then_some(facts))
    }

    fn content(&self, device: &DeviceName) -> Result<Content, StorageError> {
        let mut state = self.state.lock().unwrap();
        state.writes += u64::from(state.is_written);
        match device.as_str() {
            "sdz" => Ok(state.whole),
            _ => state.partition.ok_or(StorageError::BackingVolumeNotAttached),
        }
    }

    fn writes(&self, _: &DeviceName) -> Result<Writes, StorageError> {
        Ok(Writes { sectors: Some(self.state.lock().unwrap().writes), file: None })
    }

    fn recognised(&self, device: &DeviceName) -> Result<Content, StorageError> {
        self.content(device)
    }
}

async fn create(lab: &Lab, disk: &Arc<Disk>) -> Result<managed::Made, StorageError> {
    let ground = Ground::of_this_machine(&lab.storage(), &[], disk.clone()).unwrap();
    let ground = Ground { sight: disk.clone(), ..ground };
    let tag = Tag::of(TagKind::Filesystem, effect(1));
    let turn = ground.turn(&tag).unwrap();
    let beneath =
        managed::Beneath { name: "sdz".parse().unwrap(), size: SizeMib(64), hardware_id: Some("one".to_owned()) };
    let volume = Tag::of(TagKind::Volume, effect(2));
    managed::create(&ground, &tag, (&volume, Some(&beneath)), &turn).await
}

const WHOLE: [&str; 3] = ["sgdisk --zap-all /dev/sdz", "sgdisk -n 1:0:-1 /dev/sdz", "mkfs.ext4 -- /dev/sdz1"];

#[tokio::test]
async fn what_was_cut_short_is_finished_and_what_was_finished_is_kept() {
    for cut in 1..=3 {
        for after in [false, true] {
            let (lab, disk) = (Lab::quick(), Disk::new(Content::Blank));
            disk.change(|state| state.cut = Some((cut, after)));
            let failed = create(&lab, &disk).await.unwrap_err();
            assert!(matches!(failed, StorageError::Command { doing: Step::Create, .. }), "{failed}");
            disk.change(|state| (state.cut, state.ran) = (None, Vec::new()));
            let made = create(&lab, &disk).await.unwrap_or_else(|error| panic!("cut {cut}, after {after}: {error}"));
            let was_finished = (cut, after) == (3, true);
            let expected: &[&str] = if was_finished { &[] } else { &WHOLE };
            assert_eq!(disk.ran(), expected, "cut {cut}, after {after}");
            assert_eq!(create(&lab, &disk).await.unwrap(), made);
            assert_eq!(disk.ran(), expected, "cut {cut}, after {after}: again");
        }
    }
}

#[tokio::test]
async fn what_is_anybodys_is_never_touched() {
    let ext4 = Content::Ext4 { uuid: Uuid::from_u128(9) };
    let data = Content::Data { what: "an XFS filesystem" };
    let unknown = Content::Unknown { at: 7 << 20 };
    for whole in [ext4, data, unknown, Content::Table, Content::Unfinished] {
        let (lab, disk) = (Lab::quick(), Disk::new(whole));
        disk.change(|state| state.partition = Some(Content::Blank));
        let refused = create(&lab, &disk).await.unwrap_err();
        assert!(matches!(refused, StorageError::HoldsData { .. }), "{whole:?}");
        assert_eq!(disk.ran(), [""; 0], "{whole:?}");
    }
    // Begun, cut short, and then used by somebody.
    for (whole, partition) in [
        (data, None),
        (unknown, None),
        (Content::Table, None),
        (Content::Table, Some(data)),
        (Content::Table, Some(unknown)),
    ] {
        let (lab, disk) = (Lab::quick(), Disk::new(Content::Blank));
        disk.change(|state| state.cut = Some((1, false)));
        create(&lab, &disk).await.unwrap_err();
        disk.change(|state| (state.cut, state.whole, state.partition) = (None, whole, partition));
        let refused = create(&lab, &disk).await.unwrap_err();
        assert!(matches!(refused, StorageError::HoldsData { .. }), "{whole:?} {partition:?}");
        assert_eq!(disk.ran(), [""; 0]);
    }
    // Begun, cut short, and then another disk has the name; or it is in use.
    let (lab, disk) = (Lab::quick(), Disk::new(Content::Blank));
    disk.change(|state| state.cut = Some((1, false)));
    create(&lab, &disk).await.unwrap_err();
    disk.change(|state| (state.cut, state.serial) = (None, "two"));
    assert!(matches!(create(&lab, &disk).await, Err(StorageError::DeviceChanged { .. })));
    disk.change(|state| (state.serial, state.in_use) = ("one", Some("it is mounted")));
    assert!(matches!(create(&lab, &disk).await, Err(StorageError::DeviceInUse { .. })));
    assert_eq!(disk.ran(), [""; 0]);
}

#[tokio::test]
async fn what_is_written_to_while_it_is_read_is_not_formatted() {
    let (lab, disk) = (Lab::quick(), Disk::new(Content::Blank));
    disk.change(|state| state.is_written = true);
    let refused = create(&lab, &disk).await.unwrap_err();
    assert_eq!(refused.to_string(), "the device sdz is in use: it was written to while it was read");
    assert_eq!(disk.ran(), [""; 0]);
    // What was found then says nothing: it is read once more.
    let data = Content::Data { what: "an XFS filesystem" };
    disk.change(|state| (state.is_written, state.whole) = (false, data));
    assert!(matches!(create(&lab, &disk).await, Err(StorageError::HoldsData { .. })));
    disk.change(|state| state.whole = Content::Blank);
    create(&lab, &disk).await.unwrap();
    assert_eq!(disk.ran(), WHOLE);
}

#[tokio::test]
async fn without_a_free_loop_device_nothing_is_tried_and_the_file_stays() {
    let (lab, disk) = (Lab::quick(), Disk::new(Content::Blank));
    let ground = Ground::of_this_machine(&lab.storage(), &[], disk.clone()).unwrap();
    let ground = Ground { sight: disk.clone(), ..ground };
    let tag = Tag::of(TagKind::Volume, effect(1));
    let file = lab.storage().join(tag.to_string());
    std::fs::write(&file, b"precious").unwrap();
    let turn = ground.turn(&tag).unwrap();
    let error = loop_device::attach(&ground, &tag, false, &turn).await.unwrap_err();
    assert!(matches!(error, StorageError::NoLoopDevice { .. }), "{error}");
    let fault = error.into_fault();
    assert_eq!(fault.code, FaultCode::ResourceExhausted, "others may let go of one");
    assert!(fault.text.contains("detach another volume") && fault.text.contains("there are none"), "{fault}");
    assert_eq!(disk.ran().len(), 1, "it was only asked for: {:?}", disk.ran());
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}
