//! Who asks for what is not on the list, or is not his, gets nothing; the helper goes on. Only root can try it.

use std::{
    io::{IoSlice, Write},
    mem::MaybeUninit,
    os::unix::fs::{chown, symlink},
};

use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use super::*;
use crate::providers::storage::helper::client::StorageHelper;

/// Nobody's numbers.
const USER: (u32, u32) = (64_990, 64_991);

struct Lab {
    scratch: tempfile::TempDir,
    socket: PathBuf,
}

/// A helper in this process; none where only root could have one, which is a failure where `BAILIWICK_CI` is set.
fn lab() -> Option<Lab> {
    if !rustix::process::geteuid().is_root() {
        assert!(std::env::var_os("BAILIWICK_CI").is_none(), "only root can try this");
        writeln!(io::stderr().lock(), "NOT TESTED FOR REAL: only root can be a storage helper").unwrap();
        return None;
    }
    let scratch = tempfile::tempdir().unwrap();
    let data_dir = scratch.path().join("data");
    fs::create_dir_all(data_dir.join("local")).unwrap();
    chown(&data_dir, Some(USER.0), Some(USER.1)).unwrap();
    let socket = scratch.path().join("helper.sock");
    let machines = data_dir.canonicalize().unwrap().join("local");
    let helper = Helper::start(HelperConfig { data_dir, machines, user: USER, socket: socket.clone() }).unwrap();
    thread::spawn(move || helper.serve());
    Some(Lab { scratch, socket })
}

impl Lab {
    /// A path where machines lie, which is the node's user's if something is there.
    fn local(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join("data/local").join(name)
    }

    fn give(&self, name: &str) -> AbsPath {
        let path = self.local(name);
        if path.exists() {
            chown(&path, Some(USER.0), Some(USER.1)).unwrap();
        }
        path.to_str().unwrap().parse().unwrap()
    }

    fn ask(&self, verb: &Verb) -> Result<String, FaultCode> {
        StorageHelper::at(&self.socket).ask(verb, None).map_err(|error| error.code())
    }

    /// Sends bytes as they are, and reads what is answered.
    fn raw(&self, bytes: &[u8]) -> Result<Told, BadMessage> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        connect(&socket, &SocketAddrUnix::new(&self.socket).unwrap()).unwrap();
        let mut space: [MaybeUninit<u8>; 0] = [];
        let mut none = SendAncillaryBuffer::new(&mut space);
        sendmsg(&socket, &[IoSlice::new(bytes)], &mut none, SendFlags::NOSIGNAL).unwrap();
        receive::<Told>(&socket).map(|(told, _)| told)
    }
}

fn path(text: &str) -> AbsPath {
    text.parse().unwrap()
}

#[test]
fn what_is_not_on_the_list_is_refused_and_the_helper_goes_on() {
    let Some(lab) = lab() else { return };
    let too_long = format!(r#"{{"unmount":{{"at":"/{}"}}}}"#, "x".repeat(100_000));
    for asked in [br#"{"run":{"program":"sh"}}"#.as_slice(), b"\xff", b"{", too_long.as_bytes()] {
        let told = lab.raw(asked).unwrap();
        assert!(matches!(told, Told::Failed { code: FaultCode::InvalidArgument, .. }), "{told:?}");
    }
    // Who asks nothing is answered nothing.
    assert!(matches!(lab.raw(b""), Err(BadMessage::Closed)));
    assert!(matches!(lab.ask(&Verb::RoomForLoop), Ok(_) | Err(FaultCode::ResourceExhausted)));
}

#[test]
fn whoever_asks_nothing_keeps_nobody_out_for_long() {
    let Some(lab) = lab() else { return };
    let connected = || {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        connect(&socket, &SocketAddrUnix::new(&lab.socket).unwrap()).unwrap();
        socket
    };
    // given more that ask nothing than are answered at a time
    let silent: Vec<OwnedFd> = (0..AT_ONCE + 8).map(|_| connected()).collect();
    // when they hang up while somebody else waits
    thread::scope(|scope| {
        let asked = scope.spawn(|| lab.ask(&Verb::RoomForLoop));
        drop(silent);
        // then he is answered
        assert!(matches!(asked.join().unwrap(), Ok(_) | Err(FaultCode::ResourceExhausted)));
    });
}

#[test]
fn only_what_is_the_nodes_where_its_machines_lie_is_mounted() {
    let Some(lab) = lab() else { return };
    fs::create_dir(lab.local("mine")).unwrap();
    fs::create_dir(lab.local("roots")).unwrap();
    fs::create_dir_all(lab.local("deep/below")).unwrap();
    symlink("/etc", lab.local("link")).unwrap();
    let (mine, roots, deep) = (lab.give("mine"), path(lab.local("roots").to_str().unwrap()), lab.give("deep"));
    lab.give("deep/below");
    let tag: Tag = "filesystem-0".to_owned().try_into().unwrap();
    let memory =
        |at: &AbsPath| Verb::MountMemory { tag: tag.clone(), size: SizeMib(1), at: at.clone(), read_only: false };
    let bound = |directory: &AbsPath, at: &AbsPath| {
        lab.ask(&Verb::MountDirectory { directory: directory.clone(), at: at.clone(), read_only: true })
    };
    let unmount = |at: &AbsPath| lab.ask(&Verb::Unmount { at: at.clone() });
    // given that it can be done where it may
    assert_eq!(lab.ask(&memory(&mine)), Ok(String::new()));
    let found = fs::metadata(mine.as_str()).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (USER.0, USER.1, 0o700));
    let options = |at: &AbsPath| {
        let table = fs::read_to_string("/proc/self/mounts").unwrap();
        let line = table.lines().rfind(|line| line.split(' ').nth(1) == Some(at.as_str())).map(str::to_owned);
        line.and_then(|line| line.split(' ').nth(3).map(str::to_owned)).unwrap_or_default()
    };
    assert!(options(&mine).starts_with("rw,nosuid,nodev"), "{}", options(&mine));
    assert_eq!(unmount(&mine), Ok(String::new()));
    assert_eq!(bound(&deep, &mine), Ok(String::new()));
    assert!(fs::exists(format!("{mine}/below")).unwrap());
    assert!(options(&mine).starts_with("ro,nosuid,nodev"), "{}", options(&mine));
    assert_eq!(unmount(&mine), Ok(String::new()));
    // when it is asked for elsewhere, by a link, for what is root's, or for all of it at once
    let above = path(mine.parent().unwrap().as_str());
    let refused = [
        lab.ask(&memory(&path("/mnt"))),
        lab.ask(&memory(&roots)),
        lab.ask(&memory(&above)),
        lab.ask(&memory(&path(&format!("{above}/link")))),
        lab.ask(&memory(&path(&format!("{above}/link/default")))),
        lab.ask(&memory(&path(&format!("{above}/none")))),
        bound(&path("/etc"), &mine),
        bound(&roots, &mine),
        bound(&path(&format!("{above}/link")), &mine),
        unmount(&path("/proc")),
        unmount(&path(&format!("{above}/link/x"))),
        unmount(&mine),
    ];
    // then it is not done
    for (n, told) in refused.iter().enumerate() {
        assert!(told.is_err(), "{n}: {told:?}");
    }
    assert_eq!(options(&mine), "");
    assert!(fs::exists("/etc").unwrap() && options(&path("/mnt")).is_empty() && options(&path("/etc")).is_empty());
}

#[test]
fn only_a_loop_device_with_a_file_of_the_nodes_is_touched() {
    let Some(lab) = lab() else { return };
    let write = |path: &Path| File::create(path).and_then(|file| file.set_len(4 << 20)).unwrap();
    for name in ["mine", "roots", "twice", "kept"] {
        write(&lab.local(name));
    }
    let (mine, twice) = (lab.give("mine"), lab.give("twice"));
    fs::hard_link(lab.local("twice"), lab.local("again")).unwrap();
    symlink(lab.local("roots"), lab.local("link")).unwrap();
    let attach = |file: &AbsPath| lab.ask(&Verb::AttachLoop { file: file.clone(), read_only: false });
    if matches!(lab.ask(&Verb::RoomForLoop), Err(FaultCode::ResourceExhausted)) {
        assert!(std::env::var_os("BAILIWICK_CI").is_none(), "there is no loop device to try this with");
        return;
    }
    for (n, file) in ["roots", "link", "none"].into_iter().enumerate() {
        assert!(attach(&path(lab.local(file).to_str().unwrap())).is_err(), "{n}");
    }
    assert_eq!(attach(&twice), Err(FaultCode::PermissionDenied));
    assert_eq!(attach(&path("/etc/passwd")), Err(FaultCode::PermissionDenied));
    assert_eq!(lab.ask(&Verb::FindLoop { file: path("/etc/passwd") }), Err(FaultCode::PermissionDenied));
    // given one of the node's, and one of somebody else's
    let name = |printed: String| printed.trim().strip_prefix("/dev/").unwrap().parse::<DeviceName>().unwrap();
    let ours = name(attach(&mine).unwrap());
    let turn = Turn::lent(File::open("/dev/null").unwrap().into());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let run = |command: &Command| runtime.block_on(SystemRunner::default().run_to_end(command, &turn)).unwrap();
    let others = name(run(&Command::losetup_attach(&path(lab.local("kept").to_str().unwrap()), false)));
    let on = |device: &DeviceName| {
        let device = device.clone();
        [
            lab.ask(&Verb::MakeExt4 { device: device.clone() }),
            lab.ask(&Verb::OpenDevice { device: device.clone(), exclusive: false }),
            lab.ask(&Verb::DetachLoop { device }),
        ]
    };
    let found = lab.ask(&Verb::FindLoop { file: mine.clone() }).unwrap();
    assert!(found.starts_with(&format!("{}:", ours.path())), "{found}");
    // when the same is asked for both, and for what is no loop device
    let (refused, no_loop) = (on(&others), on(&"null".parse().unwrap()));
    let done = on(&ours);
    // then only the node's was formatted and detached
    run(&Command::losetup_detach(&others));
    for told in refused.iter().chain(&no_loop) {
        assert_eq!(told, &Err(FaultCode::PermissionDenied));
    }
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    let superblock = |name: &str| fs::read(lab.local(name)).unwrap()[1_080..1_082].to_vec();
    assert_eq!((superblock("mine"), superblock("kept")), (vec![0x53, 0xef], vec![0, 0]));
    assert_eq!(KernelSight::default().loop_file(&ours).unwrap(), Seen::Nothing);
}

#[test]
fn a_second_helper_does_not_take_the_firsts_place() {
    let Some(lab) = lab() else { return };
    let data_dir = lab.scratch.path().join("data");
    let config = HelperConfig { data_dir, machines: lab.local("x"), user: USER, socket: lab.socket.clone() };
    let second = Helper::start(config.clone());
    assert!(matches!(second, Err(HelperStartError::Taken { .. })), "{second:?}");
    let wrong = Helper::start(HelperConfig { user: (1, 1), socket: lab.local("other.sock"), ..config });
    assert!(matches!(wrong, Err(HelperStartError::NotHis { found: 64_990, wanted: 1, .. })), "{wrong:?}");
    let found = fs::metadata(&lab.socket).unwrap();
    assert_eq!((found.uid(), found.mode() & 0o777), (USER.0, 0o600));
}
