//! What operations stand on: where things lie, how commands are run, what can be seen.

use std::{fmt, fs::Permissions, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

use bailiwick_actors::vocab::SizeMib;
use bailiwick_journal::crash;
use rustix::fs::Mode;
use uuid::Uuid;

use super::{
    AbsPath, Command, Content, DeviceName, DfField, Found, HelpedRunner, KernelSight, Mount, Runner, Seen, Sight,
    StorageError, SystemRunner, Tag, Tree, Turn, boot_table,
    error::{Doing, Step},
    helper::client::StorageHelper,
};

/// One machine's ground for storage.
pub struct Ground {
    pub tree: Tree,
    /// Where everything of ours lies. It has to be there, and to be closed to others.
    pub storage_dir: AbsPath,
    pub runner: Arc<dyn Runner>,
    pub sight: Arc<dyn Sight>,
    /// The directories in and beneath which anything may be mounted.
    pub mount_roots: Vec<AbsPath>,
    /// The table of what is mounted when the machine starts; without it, none is kept.
    pub boot_table: Option<AbsPath>,
    /// The size of the kernel's pages in MiB; 0 where they are smaller than one.
    pub page_size_mib: u64,
}

impl fmt::Debug for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ground").field("storage_dir", &self.storage_dir).finish_non_exhaustive()
    }
}

/// How one of our mounts is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ours {
    /// It shows this directory.
    Directory(AbsPath),
    /// It is a filesystem in memory of this name.
    Memory(Tag),
    /// It is the filesystem of this id, if that is known; else whatever is on the device of this name.
    Device { name: DeviceName, uuid: Option<Uuid> },
}

/// Mounts on top of one another at one path: more than this are not ours.
const STACKED_MAX: usize = 8;

/// Makes a directory in one that is there; one that is there already is fine.
pub(crate) fn make_directory(path: &Path) -> std::io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

impl Ground {
    /// This machine, with everything of ours in one directory, which is made if it is not there and closed to others. What
    /// leads to it is not made: where a machine is removed meanwhile, its directory must not come back.
    /// Mounts go beneath it and beneath `mount_roots`; no boot table is kept.
    ///
    /// # Errors
    /// If the directory cannot be made, or others could change it or what leads to it.
    pub fn of_this_machine(
        storage_dir: &Path,
        mount_roots: &[&Path],
        runner: Arc<dyn Runner>,
    ) -> Result<Self, StorageError> {
        make_directory(storage_dir).doing("make the storage directory")?;
        let storage_dir = plain(storage_dir)?;
        // One group may go through it, if it was let in: that of the workloads' user.
        let mode = std::fs::metadata(storage_dir.as_str()).doing("examine the storage directory")?.permissions().mode();
        if mode & 0o7067 != 0 {
            let owner_only = Permissions::from_mode(0o700);
            std::fs::set_permissions(storage_dir.as_str(), owner_only).doing("close the storage directory")?;
        }
        let tree = Tree::system().doing("open the root directory")?;
        tree.ensure_trusted(&storage_dir)?;
        let mut roots = vec![storage_dir.clone()];
        for root in mount_roots {
            roots.push(plain(root)?);
        }
        let page_size_mib = (rustix::param::page_size() >> 20) as u64;
        let sight = Arc::new(KernelSight::default());
        Ok(Self { tree, storage_dir, runner, sight, mount_roots: roots, boot_table: None, page_size_mib })
    }

    /// The same for a node: with the help of a process of root's, if there is one.
    ///
    /// # Errors
    /// As of [`of_this_machine`](Self::of_this_machine).
    pub fn of_node(storage_dir: &Path, helper: Option<&StorageHelper>) -> Result<Self, StorageError> {
        let own = SystemRunner::default();
        let Some(helper) = helper else { return Self::of_this_machine(storage_dir, &[], Arc::new(own)) };
        let ground = Self::of_this_machine(storage_dir, &[], Arc::new(HelpedRunner { own, helper: helper.clone() }))?;
        Ok(Self { sight: Arc::new(KernelSight { helper: Some(helper.clone()) }), ..ground })
    }

    /// Removes the records that were begun by somebody who was killed. Nobody may be at work here.
    ///
    /// # Errors
    /// If the storage directory cannot be read or changed.
    pub fn clear_unfinished(&self) -> Result<(), StorageError> {
        self.tree.clear_unfinished(&self.storage_dir)
    }

    /// Takes the turn at a thing; everything that changes it happens within one.
    pub fn turn(&self, tag: &Tag) -> Result<Turn, StorageError> {
        Turn::take(&self.tree, &self.storage_dir, tag)
    }

    /// Gives the turn at a thing that is gone back.
    pub fn retire(&self, turn: Turn, tag: &Tag) -> Result<(), StorageError> {
        turn.retire(&self.tree, &self.storage_dir, tag)
    }

    /// Runs one command.
    pub(super) async fn run(&self, doing: Step, command: Command, turn: &Turn) -> Result<String, StorageError> {
        crash::point("storage-before-command");
        let answer = self.runner.run(&command, turn).await;
        crash::point("storage-after-command");
        answer.map_err(|source| StorageError::Command { doing, source })
    }

    /// What `df` says: a header, and the value on the second line.
    pub(super) async fn df(&self, field: DfField, path: &AbsPath, turn: &Turn) -> Result<String, StorageError> {
        let text = self.run(Step::Ask, Command::df(field, path), turn).await?;
        let value = text.lines().nth(1).map(|line| line.trim().to_owned());
        value.ok_or_else(|| StorageError::BadAnswer { program: "df", text: super::names::cut(&text) })
    }

    /// The size of the filesystem that a path is on.
    pub(super) async fn df_size(&self, path: &AbsPath, turn: &Turn) -> Result<SizeMib, StorageError> {
        let text = self.df(DfField::Size, path, turn).await?;
        let kib: Result<u64, _> = text.parse();
        let kib = kib.map_err(|_| StorageError::BadAnswer { program: "df", text: super::names::cut(&text) })?;
        Ok(SizeMib(kib / 1_024))
    }

    /// The wanted mount point, if anything may be mounted there.
    pub(super) fn mount_point<'p>(&self, path: Option<&'p AbsPath>) -> Result<&'p AbsPath, StorageError> {
        let path = path.ok_or(StorageError::NoMountPoint)?;
        let is_allowed = path.name().is_some() && self.mount_roots.iter().any(|root| path.is_within(root));
        if is_allowed { Ok(path) } else { Err(StorageError::NotAllowedThere { path: path.clone() }) }
    }

    /// Makes the directory that something is mounted on, and refuses one that others could swap for a link.
    pub(super) fn prepare(&self, path: &AbsPath) -> Result<(), StorageError> {
        self.tree.ensure_directory(path, Mode::from_raw_mode(0o755))?;
        crash::point("storage-mount-point-made");
        self.tree.ensure_trusted(path)
    }

    pub(super) fn ensure_empty(&self, path: &AbsPath) -> Result<(), StorageError> {
        if self.tree.is_empty(path)? { Ok(()) } else { Err(StorageError::NotEmpty { path: path.clone() }) }
    }

    /// Whether a mount is the one that is meant.
    pub(super) fn is_ours(&self, mount: &Mount, path: &AbsPath, ours: &Ours) -> Result<bool, StorageError> {
        Ok(match ours {
            Ours::Directory(directory) => self.tree.is_same_directory(path, directory)?,
            Ours::Memory(tag) => mount.kind == "tmpfs" && mount.source == tag.to_string(),
            Ours::Device { name, uuid: None } => match self.sight.device(name)? {
                Some(facts) => mount.device == facts.number,
                None => mount.source == name.path().as_str(),
            },
            // After the machine was started again, it may have been mounted from a device of another name.
            Ours::Device { uuid: Some(wanted), .. } => self.uuid_of(mount)? == Some(*wanted),
        })
    }

    /// The id of the filesystem that is mounted.
    fn uuid_of(&self, mount: &Mount) -> Result<Option<Uuid>, StorageError> {
        let name = mount.source.strip_prefix("/dev/").and_then(|name| name.parse::<DeviceName>().ok());
        let Some(name) = name.filter(|_| mount.kind == "ext4") else { return Ok(None) };
        // The name in the table is only a word; the number is what is mounted.
        if self.sight.device(&name)?.is_none_or(|facts| facts.number != mount.device) {
            return Ok(None);
        }
        Ok(match self.sight.recognised(&name)? {
            Content::Ext4 { uuid } => Some(uuid),
            _ => None,
        })
    }

    /// Whether the mount that is meant is there; something else in its place is an error.
    pub(super) fn is_mounted(&self, path: &AbsPath, ours: &Ours) -> Result<Seen<Mount>, StorageError> {
        match self.sight.mounted_at(path)? {
            Seen::It(mount) if !self.is_ours(&mount, path, ours)? => {
                Err(StorageError::MountedByOthers { path: path.clone() })
            }
            seen => Ok(seen),
        }
    }

    /// As [`is_mounted`](Self::is_mounted), and mounted with other rights to write counts as something else.
    pub(super) fn is_mounted_as(
        &self,
        path: &AbsPath,
        ours: &Ours,
        read_only: bool,
    ) -> Result<Seen<Mount>, StorageError> {
        match self.is_mounted(path, ours)? {
            Seen::It(mount) if mount.read_only != read_only => {
                Err(StorageError::MountedByOthers { path: path.clone() })
            }
            seen => Ok(seen),
        }
    }

    /// Makes sure that a mount has gone where it was meant to; if somebody managed to send it elsewhere, says so.
    pub(super) fn ensure_mounted(&self, path: &AbsPath, ours: &Ours) -> Result<(), StorageError> {
        match self.is_mounted(path, ours)? {
            Seen::It(_) | Seen::CannotTell => Ok(()),
            Seen::Nothing => Err(StorageError::UnsafePath { path: path.clone(), why: "the mount ended up elsewhere" }),
        }
    }

    /// Unmounts what is ours at a path, and takes it out of the boot table, mounted or not.
    ///
    /// Whether anything is mounted there is seen by its source differing from that of the directory above. A directory of
    /// the same filesystem that is bound there does not differ: that is seen in the mount table.
    pub async fn unmount(&self, path: &AbsPath, ours: &Ours, turn: &Turn) -> Result<(), StorageError> {
        let Some(parent) = path.parent() else { return Ok(()) };
        if self.tree.look(path)? != Found::Directory {
            return self.forget_at_boot(path);
        }
        for _ in 0..STACKED_MAX {
            let above = self.df(DfField::Source, &parent, turn).await?;
            let here = self.df(DfField::Source, path, turn).await?;
            let seen = self.sight.mounted_at(path)?;
            if let Seen::It(mount) = &seen
                && !self.is_ours(mount, path, ours)?
            {
                // Somebody else's alone: ours is not there. On top of another, that one may be ours.
                return if mount.beneath == 0 {
                    Ok(())
                } else {
                    Err(StorageError::MountedByOthers { path: path.clone() })
                };
            }
            self.forget_at_boot(path)?;
            crash::point("storage-boot-table-left");
            let is_mounted = matches!(seen, Seen::It(_)) || seen == Seen::CannotTell && above != here;
            if !is_mounted {
                return Ok(());
            }
            self.run(Step::Detach, Command::unmount(path), turn).await?;
            if seen == Seen::CannotTell || self.sight.mounted_at(path)? == Seen::Nothing {
                return Ok(());
            }
        }
        Err(StorageError::MountedByOthers { path: path.clone() })
    }

    /// Writes a filesystem into the boot table, if one is kept.
    pub(super) fn remember_at_boot(&self, uuid: Uuid, path: &AbsPath, read_only: bool) -> Result<(), StorageError> {
        let Some(place) = &self.boot_table else { return Ok(()) };
        let table = self.tree.read(place)?.unwrap_or_default();
        let wanted = boot_table::with(&table, uuid, path, read_only);
        if wanted == table { Ok(()) } else { self.tree.write(place, &wanted, Mode::from_raw_mode(0o644)) }
    }

    fn forget_at_boot(&self, path: &AbsPath) -> Result<(), StorageError> {
        let Some(place) = &self.boot_table else { return Ok(()) };
        let table = self.tree.read(place)?.unwrap_or_default();
        match boot_table::without(&table, path) {
            Some(left) => self.tree.write(place, &left, Mode::from_raw_mode(0o644)),
            None => Ok(()),
        }
    }
}

/// A directory's path without links in it.
fn plain(directory: &Path) -> Result<AbsPath, StorageError> {
    let path = directory.canonicalize().doing("find a directory")?;
    path.to_string_lossy().parse()
}
