//! The storage helper itself: what root does for a node that is not root.
//!
//! A caller is not trusted further than this: he may mount and attach what is his, where the
//! machines of his node lie. So a path
//! is walked without following a link, what it leads to has to be the node's user's, and it is used through the directory
//! that was reached, because he can put something else in its place at any time. A device has to be a loop device that
//! shows such a file, seen through an open file of the device: while that is open, the kernel gives its number to nothing
//! else. What is mounted has neither devices nor programs that give rights.

use std::{
    convert::Infallible,
    ffi::CString,
    fs::{self, File},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::{FileTypeExt, MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use bailiwick_actors::vocab::{FaultCode, SizeMib};
use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fstat, openat},
    io::Errno,
    mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount},
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, socket_with,
        sockopt::{Timeout, set_socket_timeout, socket_peercred},
    },
};
use tracing::{debug, info, warn};

use super::wire::{BadMessage, Told, Verb, receive, send};
use crate::providers::{
    fault::code_of,
    storage::{
        AbsPath, Command, DeviceName, KernelSight, LoopRoom, RunError, Seen, Sight, StorageError, SystemRunner, Tag,
        Tree, Turn, sight::open_node,
    },
};

/// Whom a helper works for.
#[derive(Clone, Debug)]
pub struct HelperConfig {
    /// The node's data directory.
    pub data_dir: PathBuf,
    /// Where its local machines lie, and so whatever it asks for, on a path without links.
    pub machines: PathBuf,
    /// The node's user and group.
    pub user: (u32, u32),
    /// Where it listens.
    pub socket: PathBuf,
}

/// Why a helper cannot start.
#[derive(Debug, thiserror::Error)]
pub enum HelperStartError {
    #[error("only root can do what a storage helper is for")]
    NotRoot,
    #[error("{} belongs to user {found}, and the node's user is {wanted}", data_dir.display())]
    NotHis { data_dir: PathBuf, found: u32, wanted: u32 },
    #[error("another storage helper listens on {}", socket.display())]
    Taken { socket: PathBuf },
    #[error("cannot use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot use {}", path.display())]
    Storage { path: PathBuf, source: StorageError },
}

/// This many questions are answered at a time; another one waits until one of them is.
const AT_ONCE: usize = 32;
/// How long a client may take to ask after it has connected.
const PATIENCE: Duration = Duration::from_secs(10);

/// A helper that listens.
#[derive(Debug)]
pub struct Helper {
    listener: OwnedFd,
    answers: Arc<Answers>,
}

/// What the answers depend on.
#[derive(Debug)]
struct Answers {
    /// Where the node's machines lie.
    machines: AbsPath,
    user: (u32, u32),
    tree: Tree,
    runner: SystemRunner,
    sight: KernelSight,
}

/// Why something is not done.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    NotAllowed(String),
    #[error("{why}")]
    NoRoom { why: String },
    #[error("cannot {doing}: {errno}")]
    Kernel { doing: &'static str, errno: Errno },
    #[error(transparent)]
    Command(#[from] RunError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Helper {
    /// Listens. Only the node's user can connect.
    ///
    /// # Errors
    /// If this process is not root's, the directory is not that user's, or the socket cannot be used.
    pub fn start(config: HelperConfig) -> Result<Self, HelperStartError> {
        let HelperConfig { data_dir, machines, user, socket } = config;
        if !rustix::process::geteuid().is_root() {
            return Err(HelperStartError::NotRoot);
        }
        let found = fs::metadata(&data_dir).map_err(io(&data_dir))?.uid();
        if found != user.0 {
            return Err(HelperStartError::NotHis { data_dir, found, wanted: user.0 });
        }
        let machines: AbsPath = machines
            .to_string_lossy()
            .parse()
            .map_err(|source| HelperStartError::Storage { path: machines.clone(), source })?;
        let tree = Tree::system().map_err(io(Path::new("/")))?;
        let listener = open_socket(&socket, user).map_err(|errno| match errno {
            Errno::ADDRINUSE => HelperStartError::Taken { socket: socket.clone() },
            errno => HelperStartError::Io { path: socket.clone(), source: errno.into() },
        })?;
        let (runner, sight) = (SystemRunner::default(), KernelSight::default());
        Ok(Self { listener, answers: Arc::new(Answers { machines, user, tree, runner, sight }) })
    }

    /// Answers, until the process ends.
    ///
    /// # Errors
    /// If nobody can connect any more.
    pub fn serve(self) -> io::Result<Infallible> {
        let room = Arc::new(Room::default());
        loop {
            let place = Room::take(&room);
            let socket = match accept_with(&self.listener, SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => {
                    warn!(%errno, "cannot take a connection");
                    thread::sleep(Duration::from_millis(100));
                    continue;
                }
                Err(errno) => return Err(errno.into()),
            };
            let answers = self.answers.clone();
            let answer = move || {
                let _place = place;
                answers.answer(&socket);
            };
            if let Err(error) = thread::Builder::new().name("storage-helper".to_owned()).spawn(answer) {
                warn!(%error, "cannot start a thread");
            }
        }
    }
}

/// How many questions are answered now.
#[derive(Default)]
struct Room {
    taken: Mutex<usize>,
    left: Condvar,
}

/// One of them, until dropped.
struct Place(Arc<Room>);

impl Room {
    fn take(room: &Arc<Self>) -> Place {
        let taken = room.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |taken: &mut usize| AT_ONCE <= *taken;
        let mut taken = room.left.wait_while(taken, full).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Place(room.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.left.notify_one();
    }
}

fn io(path: &Path) -> impl FnOnce(io::Error) -> HelperStartError {
    move |source| HelperStartError::Io { path: path.to_owned(), source }
}

/// A socket that one user can connect to. One that was left behind is replaced; one that somebody listens on is not.
fn open_socket(path: &Path, (user, group): (u32, u32)) -> Result<OwnedFd, Errno> {
    let address = SocketAddrUnix::new(path)?;
    let new = || socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        match connect(new()?, &address) {
            Err(Errno::CONNREFUSED) => rustix::fs::unlink(path)?,
            _ => return Err(Errno::ADDRINUSE),
        }
    }
    let listener = new()?;
    bind(&listener, &address)?;
    // The umask keeps everybody but root away until here.
    rustix::fs::chown(path, Some(rustix::fs::Uid::from_raw(user)), Some(rustix::fs::Gid::from_raw(group)))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    listen(&listener, 64)?;
    Ok(listener)
}

impl Answers {
    fn answer(&self, socket: &OwnedFd) {
        match self.asked(socket) {
            Ok(()) | Err(BadMessage::Closed) => (),
            Err(error) => warn!(%error, "a question was not answered"),
        }
    }

    fn asked(&self, socket: &OwnedFd) -> Result<(), BadMessage> {
        let user = socket_peercred(socket).map_err(io::Error::from)?.uid.as_raw();
        set_socket_timeout(socket, Timeout::Recv, Some(PATIENCE)).map_err(io::Error::from)?;
        set_socket_timeout(socket, Timeout::Send, Some(PATIENCE)).map_err(io::Error::from)?;
        let (verb, turn) = match receive::<Verb>(socket) {
            Ok(asked) => asked,
            Err(error @ (BadMessage::Garbled(_) | BadMessage::TooLong)) => {
                let why = error.to_string();
                return send(socket, &Told::Failed { code: FaultCode::InvalidArgument, why, errno: None }, None);
            }
            Err(error) => return Err(error),
        };
        // Only now: who is answered before he has asked finds the line cut.
        if user != self.user.0 && user != 0 {
            let why = format!("user {user} is not the node's");
            return send(socket, &Told::Failed { code: FaultCode::PermissionDenied, why, errno: None }, None);
        }
        let told = self.carry_out(&verb, turn);
        match &told {
            Ok(_) if matches!(verb, Verb::OpenDevice { .. } | Verb::FindLoop { .. } | Verb::RoomForLoop) => {
                debug!(?verb, "done")
            }
            Ok(_) => info!(?verb, "done"),
            Err(refusal) => warn!(?verb, why = refusal.why(), "not done"),
        }
        match told {
            Ok((printed, file)) => send(socket, &Told::Done { printed }, file.as_ref().map(std::os::fd::AsFd::as_fd)),
            Err(refusal) => send(socket, &refusal.told(), None),
        }
    }

    fn carry_out(&self, verb: &Verb, turn: Option<OwnedFd>) -> Result<(String, Option<File>), Refusal> {
        let turn = Turn::lent(match turn {
            Some(share) => share,
            None => File::open("/dev/null")?.into(),
        });
        let printed = match verb {
            Verb::FindLoop { file } => {
                self.file(file)?;
                self.run(&Command::losetup_find(file), &turn)?
            }
            Verb::AttachLoop { file, read_only } => self.attach(file, *read_only, &turn)?,
            Verb::DetachLoop { device } => {
                let _bound = self.device(device, &turn)?;
                self.run(&Command::losetup_detach(device), &turn)?
            }
            Verb::MountDirectory { directory, at, read_only } => self.bind(directory, at, *read_only)?,
            Verb::MountMemory { tag, size, at, read_only } => self.mount_memory(tag, *size, at, *read_only)?,
            Verb::MountDevice { device, at, read_only } => {
                let _bound = self.device(device, &turn)?;
                let at = self.directory(at)?;
                self.mount(device.path().as_str(), &at, "ext4", *read_only, None)?
            }
            Verb::Unmount { at } => self.unmount(at)?,
            Verb::MakeExt4 { device } => {
                let _bound = self.device(device, &turn)?;
                self.run(&Command::make_ext4_for(device, self.user), &turn)?
            }
            Verb::OpenDevice { device, exclusive } => {
                let bound = self.device(device, &turn)?;
                let file = if *exclusive { open_node(device, true)? } else { bound };
                return Ok((String::new(), Some(file)));
            }
            Verb::RoomForLoop => match self.sight.room_for_loop()? {
                Seen::It(LoopRoom::Full { why }) => return Err(Refusal::NoRoom { why }),
                _ => String::new(),
            },
        };
        Ok((printed, None))
    }

    fn run(&self, command: &Command, turn: &Turn) -> Result<String, Refusal> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(self.runner.run_to_end(command, turn))?)
    }

    /// The file of a volume: the node's user's, under no other name.
    fn file(&self, path: &AbsPath) -> Result<Stat, Refusal> {
        let (directory, name) = self.parent(path)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&directory, name, flags, Mode::empty()).map_err(kernel("reach the file"))?;
        let found = fstat(&file).map_err(kernel("examine the file"))?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if is_file && found.st_uid == self.user.0 && found.st_nlink == 1 {
            return Ok(found);
        }
        Err(Refusal::NotAllowed(format!("{path} is not a file of the node's user alone")))
    }

    /// A directory of the node's user, where its machines lie.
    fn directory(&self, path: &AbsPath) -> Result<OwnedFd, Refusal> {
        self.within(path)?;
        let directory = self.tree.reach(path)?;
        if fstat(&directory).map_err(kernel("examine the directory"))?.st_uid == self.user.0 {
            return Ok(directory);
        }
        Err(Refusal::NotAllowed(format!("{path} is not the node's")))
    }

    fn parent<'p>(&self, path: &'p AbsPath) -> Result<(OwnedFd, &'p str), Refusal> {
        self.within(path)?;
        match (path.parent(), path.name()) {
            (Some(parent), Some(name)) => Ok((self.tree.reach(&parent)?, name)),
            _ => Err(Refusal::NotAllowed(format!("{path} is the root"))),
        }
    }

    fn within(&self, path: &AbsPath) -> Result<(), Refusal> {
        if path.is_within(&self.machines) && *path != self.machines {
            return Ok(());
        }
        Err(Refusal::NotAllowed(format!("{path} is not below {}", self.machines)))
    }

    /// A loop device that shows a file of the node's. As long as the answer is open, its number stays that file's.
    fn device(&self, device: &DeviceName, turn: &Turn) -> Result<File, Refusal> {
        let not_ours = |why: &str| Refusal::NotAllowed(format!("{device} {why}"));
        let number = device.as_str().strip_prefix("loop").filter(|number| number.bytes().all(|b| b.is_ascii_digit()));
        if number.is_none_or(str::is_empty) {
            return Err(not_ours("is no loop device"));
        }
        let open = open_node(device, false)?;
        if !open.metadata()?.file_type().is_block_device() {
            return Err(not_ours("is no device"));
        }
        let Seen::It(behind) = self.sight.loop_file(device)? else { return Err(not_ours("shows no file")) };
        let file = self.file(&behind.path.parse::<AbsPath>()?)?;
        if self.behind(device, turn)? != identity(&file) {
            return Err(not_ours("shows another file than the one at its path"));
        }
        Ok(open)
    }

    /// What the kernel says is behind a loop device.
    fn behind(&self, device: &DeviceName, turn: &Turn) -> Result<(u64, String), Refusal> {
        let told = self.run(&Command::losetup_behind(device), turn)?;
        let mut fields = told.split_whitespace();
        match (fields.next().and_then(|inode| inode.parse().ok()), fields.next()) {
            (Some(inode), Some(device)) => Ok((inode, device.to_owned())),
            _ => Err(Refusal::NotAllowed(format!("nobody knows what {device} shows"))),
        }
    }

    fn attach(&self, path: &AbsPath, read_only: bool, turn: &Turn) -> Result<String, Refusal> {
        let file = self.file(path)?;
        if let Seen::It(LoopRoom::Full { why }) = self.sight.room_for_loop()? {
            return Err(Refusal::NoRoom { why });
        }
        let printed = self.run(&Command::losetup_attach(path, read_only), turn)?;
        let device = printed.trim().strip_prefix("/dev/").unwrap_or_default().parse::<DeviceName>()?;
        // The program has walked the path again.
        if self.behind(&device, turn)? == identity(&file) {
            return Ok(printed);
        }
        self.run(&Command::losetup_detach(&device), turn)?;
        Err(Refusal::NotAllowed(format!("{path} was replaced meanwhile")))
    }

    fn bind(&self, directory: &AbsPath, at: &AbsPath, read_only: bool) -> Result<String, Refusal> {
        let (source, target) = (self.directory(directory)?, self.directory(at)?);
        mount_bind(held(&source), held(&target)).map_err(kernel("bind the directory"))?;
        // Only what is bound can be told how; it lies on top of the directory that was opened.
        let told = self.directory(at).and_then(|bound| {
            let (wanted, found) = (fstat(&source), fstat(&bound));
            let same = wanted.is_ok_and(|one| found.is_ok_and(|two| identity(&one) == identity(&two)));
            if !same {
                return Err(Refusal::NotAllowed(format!("{at} was replaced meanwhile")));
            }
            let flags = MountFlags::BIND | flags(read_only);
            mount_remount(held(&bound), flags, c"").map_err(kernel("set how the directory is bound"))
        });
        if let Err(refusal) = told {
            self.unmount(at)?;
            return Err(refusal);
        }
        Ok(String::new())
    }

    fn mount_memory(&self, tag: &Tag, size: SizeMib, at: &AbsPath, read_only: bool) -> Result<String, Refusal> {
        let (user, group) = self.user;
        let options = format!("size={}m,mode=0700,uid={user},gid={group}", size.0);
        self.mount(&tag.to_string(), &self.directory(at)?, "tmpfs", read_only, Some(&options))
    }

    fn mount(
        &self,
        source: &str,
        at: &OwnedFd,
        kind: &str,
        read_only: bool,
        options: Option<&str>,
    ) -> Result<String, Refusal> {
        let options = options.map(CString::new).transpose().map_err(io::Error::from)?;
        mount(source, held(at), kind, flags(read_only), options.as_deref()).map_err(kernel("mount"))?;
        Ok(String::new())
    }

    fn unmount(&self, at: &AbsPath) -> Result<String, Refusal> {
        let (parent, name) = self.parent(at)?;
        // Opened itself, it could not be unmounted.
        unmount(format!("{}/{name}", held(&parent)), UnmountFlags::NOFOLLOW).map_err(kernel("unmount"))?;
        Ok(String::new())
    }
}

impl Refusal {
    fn told(&self) -> Told {
        let failed = |code, errno: Option<i32>| Told::Failed { code, why: self.why(), errno };
        match self {
            Self::NotAllowed(_) => failed(FaultCode::PermissionDenied, None),
            Self::NoRoom { why } => Told::NoRoom { why: why.clone() },
            Self::Kernel { errno, .. } => failed(FaultCode::FailedPrecondition, Some(errno.raw_os_error())),
            Self::Command(error) => failed(error.code(), None),
            Self::Storage(error) => failed(error.code(), None),
            Self::Io(error) => failed(code_of(error), error.raw_os_error()),
        }
    }

    /// With all causes.
    fn why(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |error| error.source());
        causes.fold(self.to_string(), |told, cause| format!("{told}: {cause}"))
    }
}

fn kernel(doing: &'static str) -> impl FnOnce(Errno) -> Refusal {
    move |errno| Refusal::Kernel { doing, errno }
}

/// The path of what is open, whatever it is called by now.
fn held(open: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

fn flags(read_only: bool) -> MountFlags {
    let mut flags = MountFlags::NOSUID | MountFlags::NODEV;
    flags.set(MountFlags::RDONLY, read_only);
    flags
}

/// Inode and device, as `losetup` prints them.
fn identity(found: &Stat) -> (u64, String) {
    (found.st_ino, format!("{}:{}", rustix::fs::major(found.st_dev), rustix::fs::minor(found.st_dev)))
}

#[cfg(test)]
mod tests;
