//! A node that is not root's, and the process of root that attaches, formats and mounts for it.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{
    inside::{Inside, inside},
    support::{QUICK, Ran, Running, eventually},
};

/// Nobody's numbers: the system need not know a user to run something as it.
const USER: u32 = 64_990;
const GROUP: u32 = 64_991;

/// A data directory of that user's, and the program where he can run it.
struct Apart {
    inside: Inside,
    program: PathBuf,
    socket: PathBuf,
}

fn apart() -> Option<Apart> {
    let inside = inside()?;
    let above = inside.lab.data().parent().expect("a directory").to_owned();
    fs::set_permissions(&above, fs::Permissions::from_mode(0o755)).expect("set");
    fs::create_dir(inside.lab.data()).expect("made");
    chown(inside.lab.data(), Some(USER), Some(GROUP)).expect("given");
    // The directory that it was built in may be closed to others.
    let program = above.join("bailiwick");
    let built = Path::new(env!("CARGO_BIN_EXE_bailiwick"));
    fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).expect("copied");
    Some(Apart { inside, program, socket: above.join("helper.sock") })
}

impl Apart {
    fn command(&self, user: u32, args: &[&str]) -> Command {
        self.command_in(self.inside.lab.data(), user, args)
    }

    fn command_in(&self, data: &Path, user: u32, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--data-dir").arg(data).args(args).env_clear();
        command.uid(user).gid(if user == 0 { 0 } else { GROUP }).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, args: &[&str]) -> Running {
        Running::of(&mut self.command(USER, args))
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> Ran {
        self.start(args).ended().code(0)
    }

    fn helper(&self) -> Running {
        let socket = self.socket.to_str().expect("text");
        let helper =
            Running::of(&mut self.command(0, &["storage-helper", "--user", "64990:64991", "--socket", socket]));
        helper.says("ready");
        helper
    }

    fn node(&self) -> Running {
        let node = self.start(&["serve", "--storage-helper", self.socket.to_str().expect("text")]);
        node.says("listening");
        node
    }
}

/// What the kernel says of a process.
fn status(pid: u32) -> Vec<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let told = |line: &&str| ["Uid:", "CapPrm:", "CapEff:", "NoNewPrivs:"].iter().any(|name| line.starts_with(name));
    status.lines().filter(told).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_node_that_is_not_roots_has_storage_by_its_helper_and_leaves_nothing() {
    let Some(apart) = apart() else { return };
    let inside = &apart.inside;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/storage.yaml");
    let text = fs::read_to_string(examples).expect("an example");
    let (manifest, quick) = (inside.lab.manifest("it.yaml", text), inside.lab.manifest("quick.yaml", QUICK));
    // given a node that may nothing, and a helper
    let (helper, node) = (apart.helper(), apart.node());
    apart.run(&["apply", &quick, &manifest]);
    apart.run(&["wait", "--timeout", "60s"]);
    // then nothing of the node has a right, or can get one
    let agents: Vec<u32> =
        inside.lab.processes().iter().map(|mark| mark.pid).filter(|pid| *pid != helper.pid()).collect();
    assert!(agents.contains(&node.pid()) && agents.len() >= 2, "{agents:?}");
    for pid in agents {
        let none =
            ["Uid: 64990 64990 64990 64990", "CapPrm: 0000000000000000", "CapEff: 0000000000000000", "NoNewPrivs: 1"];
        assert_eq!(status(pid), none);
    }
    // and what is mounted is its user's, and gives no rights either
    let table = fs::read_to_string("/proc/mounts").expect("the mounts");
    for at in inside.kernel.mounts() {
        assert_eq!(fs::metadata(&at).expect("it is there").uid(), USER, "{at}");
        let line = table.lines().find(|line| line.split(' ').nth(1) == Some(&at)).expect("its line");
        assert!(line.contains(" rw,nosuid,nodev,"), "{line}");
    }
    // when the helper dies, what needs it waits and says what for
    helper.kill();
    apart.run(&["detach", "filesystem/memory", "keeper"]);
    eventually("it is told", || apart.run(&["status"]).out.contains("the storage helper at"));
    let helper = apart.helper();
    let is_detached = || inside.kernel.mounts().len() == 2;
    eventually("it is detached", is_detached);
    apart.run(&["wait", "filesystem-attachment/keeper:memory", "--for", "removed", "--timeout", "60s"]);
    // and the node starts again on what is there
    assert_eq!(node.stopped().code, Some(0));
    let node = apart.node();
    apart.run(&["apply", &quick, &manifest]);
    apart.run(&["wait", "--timeout", "60s"]);
    assert_eq!(node.stopped().code, Some(0));
    inside.is_so("found again");
    let node = apart.node();
    apart.run(&["delete", "--all", "--wait"]);
    assert_eq!(node.stopped().code, Some(0));
    helper.kill();
    inside.nothing_left("gone");
}

#[test]
fn nobody_but_the_nodes_user_can_ask_a_helper_and_everybody_is_told_why() {
    let Some(apart) = apart() else { return };
    let helper = apart.helper();
    let config = apart.inside.lab.manifest("config.toml", format!("storage-helper = {:?}\n", apart.socket));
    let told = |data: &Path, user: u32| {
        let args = ["doctor", "--config", &config, "-o", "json"];
        let ran = Running::of(&mut apart.command_in(data, user, &args)).ended();
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let findings = report["findings"].as_array().expect("findings");
        let found = findings.iter().find(|finding| finding["check"] == "storage-helper");
        found.unwrap_or_else(|| panic!("{report}"))["finding"].as_str().expect("text").to_owned()
    };
    let his = apart.inside.lab.data();
    assert!(told(his, USER).starts_with("answers on"), "{}", told(his, USER));
    // Others cannot reach it, and could not ask it if they did.
    let others = his.with_file_name("others");
    fs::create_dir(&others).expect("made");
    chown(&others, Some(64_992), Some(GROUP)).expect("given");
    assert!(told(&others, 64_992).contains("cannot be asked: Permission denied"), "{}", told(&others, 64_992));
    fs::set_permissions(&apart.socket, fs::Permissions::from_mode(0o666)).expect("set");
    assert_eq!(told(&others, 64_992), "the storage helper: user 64992 is not the node's");
    helper.kill();
    assert!(told(his, USER).contains("cannot be asked: Connection refused"), "{}", told(his, USER));
    // What needs root says so, and who else's directory it is.
    let socket = apart.socket.to_str().expect("text");
    let refused = |user: u32, node: &str| {
        Running::of(&mut apart.command(user, &["storage-helper", "--user", node, "--socket", socket])).ended()
    };
    let (not_root, not_his) = (refused(USER, "64990:64991"), refused(0, "64999:64999"));
    assert_eq!((not_root.code, not_his.code), (Some(78), Some(78)), "{not_root:?} {not_his:?}");
    assert!(
        not_root.err.contains("only root") && not_his.err.contains("give --user 64990"),
        "{not_root:?} {not_his:?}"
    );
}
