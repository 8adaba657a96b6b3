//! What the kernel says about mounts and block devices: looked at right before anything is done, never remembered.

use std::{
    fmt,
    fs::{self, File},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::PathBuf,
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use super::{
    AbsPath, Content, DeviceName, StorageError,
    attribute::{attribute, block_class},
    content,
    error::Doing,
    helper::{
        client::{HelperError, StorageHelper},
        wire::Verb,
    },
    written,
};

/// Looks at mounts and devices.
pub trait Sight: Send + Sync + fmt::Debug {
    /// What is mounted at exactly this path, the last one.
    fn mounted_at(&self, path: &AbsPath) -> Result<Seen<Mount>, StorageError>;

    /// The file behind a loop device.
    fn loop_file(&self, device: &DeviceName) -> Result<Seen<LoopFile>, StorageError>;

    /// The loop devices that there are, in use or not, in order.
    fn loop_devices(&self) -> Result<Vec<DeviceName>, StorageError>;

    /// Whether one more loop device can be had now, and if not, why.
    fn room_for_loop(&self) -> Result<Seen<LoopRoom>, StorageError>;

    /// A block device; none if there is none of this name.
    fn device(&self, device: &DeviceName) -> Result<Option<DeviceFacts>, StorageError>;

    /// What a block device holds, from all its bytes. May take as long as reading it does.
    fn content(&self, device: &DeviceName) -> Result<Content, StorageError>;

    /// How much was written to a block device up to now, by anybody. What was written and is only in memory is counted as well.
    fn writes(&self, device: &DeviceName) -> Result<Writes, StorageError>;

    /// What the beginning of a block device says it is; quick, and no proof that the rest is empty.
    fn recognised(&self, device: &DeviceName) -> Result<Content, StorageError>;
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen<T> {
    Nothing,
    It(T),
    /// Nobody can look here; what commands say has to do.
    CannotTell,
}

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the device, as `8:1`.
    pub device: String,
    pub path: String,
    pub kind: String,
    pub source: String,
    pub read_only: bool,
    /// How many more are mounted at the same path, beneath this one.
    pub beneath: usize,
}

/// A count of what was written to a device: if it is the same later, nothing was written in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// The sectors that were written through the device, if the kernel counts them.
    pub sectors: Option<u64>,
    /// To the file behind it: seconds and nanoseconds of its last change.
    pub file: Option<(i64, i64)>,
}

/// The file behind a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFile {
    pub path: String,
    pub read_only: bool,
}

/// Whether one more loop device can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopRoom {
    Free,
    /// None, and this is why.
    Full {
        why: String,
    },
}

impl LoopRoom {
    /// What follows from the devices that there are (whether each has a node here, and shows a file), if the kernel
    /// makes others on demand, or if their nodes would not appear here.
    pub(super) fn of(devices: impl IntoIterator<Item = (bool, bool)>, nodes_appear: bool) -> Self {
        let has_free = devices.into_iter().any(|(has_node, is_used)| has_node && !is_used);
        if has_free || nodes_appear {
            return Self::Free;
        }
        Self::Full { why: "all visible ones are in use, and new ones would not appear here".to_owned() }
    }
}

/// A block device as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Major and minor number, as `8:1`.
    pub number: String,
    pub bytes: u64,
    /// Why nobody else may write to it now.
    pub in_use: Option<&'static str>,
    pub identity: Identity,
}

/// What tells one device from another that has its name later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// World wide name or serial number.
    pub hardware_id: Option<String>,
    /// The file behind a loop device.
    pub loop_file: Option<String>,
    /// The kernel's running number of the disk, and the start of the machine that it counts from.
    pub sequence: Option<(String, u64)>,
    pub bytes: u64,
}

impl Identity {
    /// Whether this is certainly the same device; what cannot be told apart is not the same.
    pub fn is_same(&self, other: &Self) -> bool {
        if self.bytes != other.bytes {
            return false;
        }
        match (&self.hardware_id, &other.hardware_id, &self.loop_file, &other.loop_file) {
            (Some(one), Some(two), ..) => one == two,
            (None, None, Some(one), Some(two)) => one == two,
            (None, None, None, None) => self.sequence.is_some() && self.sequence == other.sequence,
            _ => false,
        }
    }
}

/// Looks at this machine.
#[derive(Clone, Debug, Default)]
pub struct KernelSight {
    /// Opens devices for us, where only root can.
    pub helper: Option<StorageHelper>,
}

impl KernelSight {
    /// Opens `/dev/<name>`, if that is the device of this number and no link to it.
    fn open(&self, device: &DeviceName, number: &str, exclusive: bool) -> io::Result<File> {
        let file = match &self.helper {
            Some(helper) => helper.open(device, exclusive)?,
            None => open_node(device, exclusive)?,
        };
        let found = file.metadata()?;
        let found_number = format!("{}:{}", rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
        if found.file_type().is_block_device() && found_number == number {
            return Ok(file);
        }
        Err(io::Error::other("the node in /dev is another device"))
    }

    fn in_use(&self, device: &DeviceName, number: &str) -> Result<Option<&'static str>, StorageError> {
        let class = block_class(device);
        let partitions = fs::read_dir(&class).doing("list a device")?.filter_map(Result::ok).map(|entry| entry.path());
        let partitions: Vec<PathBuf> = partitions.filter(|path| path.join("partition").exists()).collect();
        let mut numbers = vec![number.to_owned()];
        for partition in &partitions {
            numbers.extend(attribute(&partition.join("dev"))?);
        }
        if mounts()?.iter().any(|mount| numbers.contains(&mount.device)) {
            return Ok(Some("it is mounted"));
        }
        let has_holders =
            |path: &PathBuf| fs::read_dir(path.join("holders")).is_ok_and(|mut held| held.next().is_some());
        if has_holders(&class) || partitions.iter().any(has_holders) {
            return Ok(Some("another device is built on it"));
        }
        // Exclusive opening fails if anybody has claimed it: a filesystem of another namespace, swap, an array.
        match self.open(device, number, true) {
            Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {
                Ok(Some("the kernel has it in use"))
            }
            opened => opened.doing("open a device").map(|_| None),
        }
    }
}

/// Opens `/dev/<name>` for reading, whatever it is.
pub(super) fn open_node(device: &DeviceName, exclusive: bool) -> io::Result<File> {
    let mut flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    flags.set(OFlags::EXCL, exclusive);
    Ok(File::from(rustix::fs::open(device.path().as_str(), flags, Mode::empty())?))
}

impl Sight for KernelSight {
    fn mounted_at(&self, path: &AbsPath) -> Result<Seen<Mount>, StorageError> {
        let mut here: Vec<Mount> = mounts()?.into_iter().filter(|mount| mount.path == path.as_str()).collect();
        let Some(top) = here.pop() else { return Ok(Seen::Nothing) };
        Ok(Seen::It(Mount { beneath: here.len(), ..top }))
    }

    fn loop_file(&self, device: &DeviceName) -> Result<Seen<LoopFile>, StorageError> {
        let class = block_class(device);
        let Some(path) = attribute(&class.join("loop/backing_file"))? else { return Ok(Seen::Nothing) };
        let read_only = attribute(&class.join("ro"))?.is_some_and(|flag| flag == "1");
        Ok(Seen::It(LoopFile { path, read_only }))
    }

    fn loop_devices(&self) -> Result<Vec<DeviceName>, StorageError> {
        let mut names: Vec<DeviceName> = Vec::new();
        for entry in fs::read_dir("/sys/class/block").doing("list the devices")? {
            let name = entry.doing("list the devices")?.file_name().to_string_lossy().into_owned();
            let is_whole = name.strip_prefix("loop").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
            names.extend(name.parse().ok().filter(|_| is_whole));
        }
        names.sort();
        Ok(names)
    }

    fn room_for_loop(&self) -> Result<Seen<LoopRoom>, StorageError> {
        if let Some(helper) = &self.helper {
            return Ok(match helper.ask(&Verb::RoomForLoop, None) {
                Ok(_) => Seen::It(LoopRoom::Free),
                Err(HelperError::NoRoom { why }) => Seen::It(LoopRoom::Full { why }),
                // It says so itself when it is asked for one.
                Err(_) => Seen::CannotTell,
            });
        }
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let full = |why: &str| Ok(Seen::It(LoopRoom::Full { why: why.to_owned() }));
        match rustix::fs::open("/dev/loop-control", flags, Mode::empty()) {
            Ok(_) => (),
            Err(Errno::NOENT) => return full("there is no /dev/loop-control"),
            Err(Errno::ACCESS | Errno::PERM) => return full("/dev/loop-control may not be opened"),
            Err(Errno::NODEV | Errno::NXIO) => return full("the kernel has no loop devices"),
            Err(error) => return Err(error).doing("open /dev/loop-control"),
        }
        let mut devices = Vec::new();
        for device in self.loop_devices()? {
            let node = fs::metadata(PathBuf::from("/dev").join(device.as_str()));
            let has_node = node.is_ok_and(|node| node.file_type().is_block_device());
            devices.push((has_node, self.loop_file(&device)? != Seen::Nothing));
        }
        // In the kernel's own /dev the node of a new device appears with it; in a container's nobody makes it.
        let dev = mounts()?.into_iter().rfind(|mount| mount.path == "/dev");
        Ok(Seen::It(LoopRoom::of(devices, dev.is_some_and(|mount| mount.kind == "devtmpfs"))))
    }

    fn device(&self, device: &DeviceName) -> Result<Option<DeviceFacts>, StorageError> {
        let class = block_class(device);
        let Some(number) = attribute(&class.join("dev"))? else { return Ok(None) };
        let sectors = attribute(&class.join("size"))?.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let loop_file = attribute(&class.join("loop/backing_file"))?;
        let is_unbound_loop = class.join("loop").exists() && loop_file.is_none();
        if sectors == 0 || device.as_str().starts_with("loop") && loop_file.is_none() || is_unbound_loop {
            return Ok(None);
        }
        let bytes = sectors.saturating_mul(512);
        let in_use = self.in_use(device, &number)?;
        Ok(Some(DeviceFacts { identity: identity(device, loop_file, bytes)?, number, bytes, in_use }))
    }

    fn content(&self, device: &DeviceName) -> Result<Content, StorageError> {
        let Some(facts) = self.device(device)? else { return Err(StorageError::BackingVolumeNotAttached) };
        let file = self.open(device, &facts.number, false).doing("open a device")?;
        written::settle(&file).doing("sync a device")?;
        let behind = written::behind(self, device, facts.bytes)?;
        content::inspect(&file, behind.as_ref(), facts.bytes).doing("read a device")
    }

    fn writes(&self, device: &DeviceName) -> Result<Writes, StorageError> {
        let Some(facts) = self.device(device)? else { return Err(StorageError::BackingVolumeNotAttached) };
        self.open(device, &facts.number, false).and_then(|file| file.sync_all()).doing("sync a device")?;
        let class = block_class(device);
        let counted = attribute(&class.join("stat"))?.unwrap_or_default();
        // Source: the kernel's Documentation/block/stat.rst. Requests to write would be wrong: a flush is one.
        let sectors = counted.split_whitespace().nth(6).and_then(|sectors| sectors.parse().ok());
        let behind = attribute(&class.join("loop/backing_file"))?.and_then(|path| fs::symlink_metadata(path).ok());
        let file = behind.map(|behind| (behind.mtime(), behind.mtime_nsec()));
        Ok(Writes { sectors, file })
    }

    fn recognised(&self, device: &DeviceName) -> Result<Content, StorageError> {
        let Some(facts) = self.device(device)? else { return Err(StorageError::BackingVolumeNotAttached) };
        let file = self.open(device, &facts.number, false).doing("open a device")?;
        content::recognised(&file, facts.bytes).doing("read a device")
    }
}

pub(super) fn identity(device: &DeviceName, loop_file: Option<String>, bytes: u64) -> Result<Identity, StorageError> {
    let class = block_class(device);
    // A partition's facts are those of its disk.
    let disk = if class.join("partition").exists() { class.join("..") } else { class };
    let mut hardware_id = None;
    for name in ["wwid", "device/wwid", "serial", "device/serial"] {
        hardware_id = hardware_id.or(attribute(&disk.join(name))?.filter(|id| !id.is_empty()));
    }
    let number = attribute(&disk.join("diskseq"))?.and_then(|text| text.parse().ok());
    let boot = attribute(&PathBuf::from("/proc/sys/kernel/random/boot_id"))?;
    Ok(Identity { hardware_id, loop_file, sequence: boot.zip(number), bytes })
}

pub(super) fn mounts() -> Result<Vec<Mount>, StorageError> {
    let table = fs::read("/proc/self/mountinfo").doing("read the mount table")?;
    Ok(parse_mounts(&String::from_utf8_lossy(&table)))
}

/// Reads the kernel's mount table. A line that is not understood is left out.
fn parse_mounts(table: &str) -> Vec<Mount> {
    let parse = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(2);
        let (device, path, options) = (before.next()?, before.nth(1)?, before.next()?);
        let mut after = after.split(' ');
        let (kind, source) = (after.next()?, after.next()?);
        Some(Mount {
            device: device.to_owned(),
            path: unescape(path),
            kind: kind.to_owned(),
            source: unescape(source),
            read_only: options.split(',').any(|option| option == "ro"),
            beneath: 0,
        })
    };
    table.lines().filter_map(parse).collect()
}

/// The kernel writes blanks, tabs, line ends and backslashes as three octal digits.
pub(super) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let digits =
            more.get(..3).filter(|digits| *first == b'\\' && digits.iter().all(|digit| (b'0'..b'8').contains(digit)));
        let value = digits.map(|digits| digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0')));
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_table_is_read() {
        let table = "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n\
                     garbage\n37 35 0:52 / /m ro,relatime - tmpfs filesystem-1 rw,size=1024k\n";
        let mounts = parse_mounts(table);
        assert_eq!(mounts.len(), 2);
        assert_eq!(
            (mounts[0].device.as_str(), mounts[0].path.as_str(), mounts[0].read_only),
            ("98:0", "/mnt 2", false)
        );
        assert_eq!(
            (mounts[1].kind.as_str(), mounts[1].source.as_str(), mounts[1].read_only),
            ("tmpfs", "filesystem-1", true)
        );
        assert_eq!(unescape("a\\134b\\12\\"), "a\\b\\12\\");
    }

    #[test]
    fn a_loop_device_is_free_if_it_can_be_reached_and_shows_nothing() {
        let (free, used, unseen) = ((true, false), (true, true), (false, false));
        assert_eq!(LoopRoom::of([used, free], false), LoopRoom::Free);
        assert_eq!(LoopRoom::of([used, used], true), LoopRoom::Free, "the kernel makes one");
        assert!(matches!(LoopRoom::of([used, unseen], false), LoopRoom::Full { .. }), "a container without its node");
        assert!(matches!(LoopRoom::of([], false), LoopRoom::Full { .. }));
    }

    #[test]
    fn only_what_is_certain_is_the_same_device() {
        let of = |hardware: Option<&str>, file: Option<&str>, sequence: Option<u64>| Identity {
            hardware_id: hardware.map(str::to_owned),
            loop_file: file.map(str::to_owned),
            sequence: sequence.map(|number| ("boot".to_owned(), number)),
            bytes: 1,
        };
        assert!(of(Some("x"), None, Some(1)).is_same(&of(Some("x"), None, Some(2))));
        assert!(of(None, Some("/a"), Some(1)).is_same(&of(None, Some("/a"), Some(2))));
        assert!(of(None, None, Some(1)).is_same(&of(None, None, Some(1))));
        for (one, two) in [
            (of(None, None, None), of(None, None, None)),
            (of(Some("x"), None, Some(1)), of(Some("y"), None, Some(1))),
            (of(Some("x"), None, Some(1)), of(None, None, Some(1))),
            (of(None, Some("/a"), None), of(None, Some("/b"), None)),
            (of(Some("x"), None, None), Identity { bytes: 2, ..of(Some("x"), None, None) }),
        ] {
            assert!(!one.is_same(&two), "{one:?} {two:?}");
        }
    }
}
