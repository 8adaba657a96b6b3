//! A disk in memory that knows what is durable, so that a power cut can be tried.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Access, Disk, DiskFile, Lock, LockError, LockMode, Space, Stamp, folder_of};

const PAGE: usize = 4096;

/// A deterministic disk in memory. Clones are the same disk; [`SimulatedDisk::after_kill`] and
/// [`SimulatedDisk::after_power_cut`] give another one, as a restarted machine would find it.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

#[derive(Clone, Debug)]
struct State {
    names: BTreeMap<String, u64>,
    /// The names as they are on the platter, and what was done to each folder since.
    durable_names: BTreeMap<String, u64>,
    pending: Vec<NameChange>,
    files: BTreeMap<u64, FileState>,
    next_file: u64,
    space: Space,
    /// Whatever is written fails.
    failing: bool,
    exclusive: bool,
    shared: u32,
}

impl Default for State {
    fn default() -> Self {
        let space = Space { free: 1 << 40, total: 1 << 40 };
        Self {
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending: Vec::new(),
            files: BTreeMap::new(),
            next_file: 1,
            space,
            failing: false,
            exclusive: false,
            shared: 0,
        }
    }
}

#[derive(Clone, Debug)]
enum NameChange {
    Create { name: String, file: u64 },
    Rename { from: String, to: String },
    Remove { name: String },
}

#[derive(Clone, Debug, Default)]
struct FileState {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    dirty: BTreeSet<usize>,
    /// How often it was written into, by whatever would also be seen in a file's time.
    written: u64,
}

impl SimulatedDisk {
    /// What is left from now on, in bytes. Nothing is counted off by writing.
    pub fn set_space(&self, space: Space) {
        self.state().space = space;
    }

    /// Whether writing, syncing and changes of names fail from now on.
    pub fn set_failing(&self, failing: bool) {
        self.state().failing = failing;
    }

    /// The state, to change it.
    fn writable(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.failing { Err(io::Error::other("the disk fails")) } else { Ok(state) }
    }
}

/// What a test does to a disk that no process would.
#[cfg(feature = "testing")]
impl SimulatedDisk {
    /// Every file with its content, for comparing and damaging.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        state.names.iter().map(|(name, file)| (name.clone(), state.files[file].bytes.clone())).collect()
    }

    /// Changes a file in place, durably, as damage or a foreign hand would. Does nothing if there is no such file.
    pub fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let Some(file) = state.names.get(name).copied() else { return };
        let content = state.files.entry(file).or_default();
        content.written += 1;
        content.change(change);
    }

    /// As [`SimulatedDisk::damage`], by the medium itself: nothing but the content tells.
    pub fn rot(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let Some(file) = state.names.get(name).copied() else { return };
        state.files.entry(file).or_default().change(change);
    }
}

impl SimulatedDisk {
    /// An empty disk with 1 TiB of space.
    pub fn new() -> Self {
        Self::default()
    }

    /// The disk as a new process finds it after the old one was killed: all that was written is there.
    pub fn after_kill(&self) -> Self {
        let mut state = self.state().clone();
        state.exclusive = false;
        state.shared = 0;
        Self(Arc::new(Mutex::new(state)))
    }

    /// The disk as it is found after a power cut: what was synced is there; of the rest, each page of 4 KiB by the
    /// seed's choice, and of the changes of names a beginning.
    pub fn after_power_cut(&self, seed: u64) -> Self {
        let mut state = self.state().clone();
        let mut dice = Dice(seed);
        let kept = dice.below(state.pending.len() as u64 + 1) as usize;
        let mut names = state.durable_names.clone();
        for change in state.pending.drain(..).take(kept) {
            apply(&mut names, &change);
        }
        state.names.clone_from(&names);
        state.durable_names = names;
        for file in state.files.values_mut() {
            file.cut(&mut dice);
        }
        state.exclusive = false;
        state.shared = 0;
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, file: u64, access: Access) -> Box<dyn DiskFile> {
        Box::new(SimulatedFile { disk: self.clone(), file, access })
    }
}

impl Disk for SimulatedDisk {
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let state = self.state();
        let inside = state.names.keys().filter_map(|name| name.strip_prefix(&prefix));
        let first = inside.map(|rest| rest.split('/').next().unwrap_or(rest).to_owned());
        Ok(first.collect::<BTreeSet<_>>().into_iter().collect())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.writable()?;
        let file = state.next_file;
        state.next_file += 1;
        state.files.insert(file, FileState::default());
        state.change(NameChange::Create { name: name.to_owned(), file });
        drop(state);
        Ok(self.handle(file, Access::Write))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = self.state().names.get(name).copied();
        file.map(|file| self.handle(file, access)).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.writable()?;
        if !state.names.keys().any(|name| name == from || inside(name, from)) {
            return Err(ErrorKind::NotFound.into());
        }
        state.change(NameChange::Rename { from: from.to_owned(), to: to.to_owned() });
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.writable()?.change(NameChange::Remove { name: name.to_owned() });
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        let mut state = self.writable()?;
        let state = &mut *state;
        // As in a file system with a journal of its own: changes of names become durable in their order.
        let last = state.pending.iter().rposition(|change| change.touches(dir));
        for change in state.pending.drain(..last.map_or(0, |last| last + 1)) {
            apply(&mut state.durable_names, &change);
        }
        Ok(())
    }

    fn space(&self) -> io::Result<Space> {
        Ok(self.state().space)
    }

    fn stamp(&self, name: &str) -> io::Result<Option<Stamp>> {
        let state = self.state();
        let file = state.names.get(name).and_then(|file| state.files.get_key_value(file));
        // Another file of the same name is another one, however often each was written into.
        let stamp = |(number, file): (&u64, &FileState)| Stamp {
            size: file.bytes.len() as u64,
            written: number << 32 | file.written,
        };
        Ok(file.map(stamp))
    }

    fn lock(&self, how: LockMode) -> Result<Lock, LockError> {
        let mut state = self.state();
        if state.exclusive {
            return Err(LockError::Held { holder: "simulated".into() });
        }
        if how == LockMode::Exclusive && state.shared > 0 {
            return Err(LockError::Read);
        }
        match how {
            LockMode::Exclusive => state.exclusive = true,
            LockMode::Shared => state.shared += 1,
        }
        drop(state);
        Ok(Lock { _held: Box::new(Held { disk: self.clone(), how }) })
    }

    fn path(&self) -> PathBuf {
        PathBuf::from("(simulated)")
    }
}

struct Held {
    disk: SimulatedDisk,
    how: LockMode,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        match self.how {
            LockMode::Exclusive => state.exclusive = false,
            LockMode::Shared => state.shared -= 1,
        }
    }
}

impl State {
    fn change(&mut self, change: NameChange) {
        apply(&mut self.names, &change);
        self.pending.push(change);
    }
}

impl NameChange {
    fn touches(&self, dir: &str) -> bool {
        match self {
            Self::Create { name, .. } | Self::Remove { name } => folder_of(name) == dir,
            Self::Rename { from, to } => folder_of(from) == dir || folder_of(to) == dir,
        }
    }
}

fn apply(names: &mut BTreeMap<String, u64>, change: &NameChange) {
    match change {
        NameChange::Create { name, file } => {
            names.insert(name.clone(), *file);
        }
        NameChange::Remove { name } => names.retain(|other, _| other != name && !inside(other, name)),
        NameChange::Rename { from, to } => {
            let moved: Vec<String> = names.keys().filter(|name| *name == from || inside(name, from)).cloned().collect();
            for name in moved {
                if let Some(file) = names.remove(&name) {
                    names.insert(format!("{to}{}", &name[from.len()..]), file);
                }
            }
        }
    }
}

fn inside(name: &str, folder: &str) -> bool {
    name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

impl FileState {
    #[cfg(feature = "testing")]
    fn change(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.bytes);
        self.durable.clone_from(&self.bytes);
        self.dirty.clear();
    }

    fn write(&mut self, bytes: &[u8], offset: usize) {
        self.written += 1;
        let end = offset + bytes.len();
        if self.bytes.len() < end {
            let old_end = self.bytes.len();
            self.bytes.resize(end, 0);
            self.dirty.extend(old_end / PAGE..end.div_ceil(PAGE));
        }
        self.bytes[offset..end].copy_from_slice(bytes);
        self.dirty.extend(offset / PAGE..end.div_ceil(PAGE));
    }

    fn sync(&mut self) {
        self.durable.resize(self.bytes.len(), 0);
        for page in std::mem::take(&mut self.dirty) {
            let from = (page * PAGE).min(self.bytes.len());
            let to = (from + PAGE).min(self.bytes.len());
            self.durable[from..to].copy_from_slice(&self.bytes[from..to]);
        }
    }

    fn cut(&mut self, dice: &mut Dice) {
        if self.dirty.is_empty() && self.bytes.len() == self.durable.len() {
            return;
        }
        let len = if dice.below(2) == 0 { self.durable.len() } else { self.bytes.len() };
        // How much the drive had already written differs from cut to cut.
        let survive_of_ten = [0, 5, 9][dice.below(3) as usize];
        let mut found = self.durable.clone();
        found.resize(len, 0);
        for page in std::mem::take(&mut self.dirty) {
            let from = (page * PAGE).min(len).min(self.bytes.len());
            let to = (from + PAGE).min(len).min(self.bytes.len());
            if dice.below(10) < survive_of_ten {
                found[from..to].copy_from_slice(&self.bytes[from..to]);
            }
        }
        self.bytes.clone_from(&found);
        self.durable = found;
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    file: u64,
    access: Access,
}

impl SimulatedFile {
    fn with<T>(&self, act: impl FnOnce(&mut FileState) -> T) -> T {
        act(self.disk.state().files.entry(self.file).or_default())
    }

    fn written<T>(&self, act: impl FnOnce(&mut FileState) -> T) -> io::Result<T> {
        match self.access {
            Access::Write => {
                drop(self.disk.writable()?);
                Ok(self.with(act))
            }
            Access::Read => Err(ErrorKind::PermissionDenied.into()),
        }
    }
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(self.with(|file| {
            let from = usize::try_from(offset).unwrap_or(usize::MAX).min(file.bytes.len());
            let count = buffer.len().min(file.bytes.len() - from);
            buffer[..count].copy_from_slice(&file.bytes[from..from + count]);
            count
        }))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.written(|file| file.write(bytes, offset as usize))
    }

    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        self.written(|file| file.write(&vec![0; to.saturating_sub(from) as usize], from as usize))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.written(|file| {
            let old = file.bytes.len();
            file.written += 1;
            file.bytes.resize(len as usize, 0);
            file.dirty.extend(old.min(len as usize) / PAGE..old.max(len as usize).div_ceil(PAGE));
        })
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.with(|file| file.bytes.len() as u64))
    }

    fn sync(&self) -> io::Result<()> {
        self.written(FileState::sync)
    }
}

/// A small generator (splitmix64): the same seed gives the same cut for ever.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}
