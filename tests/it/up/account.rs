//! Several journals with one account of a provider: none of them touches what another one made.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use bailiwick::agent::process::processes_where;
use rustix::process::Signal;

use super::support::{Lab, QUICK, Ran, run_in, start_in};

/// The sample provider, with what it makes in one place for all nodes.
struct Account {
    lab: Lab,
    account: PathBuf,
    manifest: String,
    quick: String,
    provider: String,
}

impl Account {
    /// None where there is no Python; where `BAILIWICK_CI` is set, that is a failure.
    fn new() -> Option<Self> {
        let found =
            std::process::Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success());
        if !found {
            assert!(std::env::var_os("BAILIWICK_CI").is_none(), "exec providers cannot be tested here: no python3");
            writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: the sample provider needs python3").unwrap();
            return None;
        }
        let lab = Lab::new();
        let account = lab.data().with_file_name("account");
        fs::create_dir(&account).expect("a directory");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let program = lab.manifest(
            "account.py",
            format!(
                "import sys\nsys.path.insert(0, {:?})\nsys.dont_write_bytecode = True\nimport provider\nserve = provider.serve\n\
                 def shared(verb, sep, noun, asked):\n    answer = serve(verb, sep, noun, asked)\n    provider.STATE = {:?}\n    return answer\n\
                 provider.serve = shared\nprovider.main()\n",
                examples.to_str().expect("text"),
                account.to_str().expect("text"),
            ),
        );
        let quick = lab.manifest("quick.yaml", QUICK);
        let manifest = examples.join("provider.yaml").to_str().expect("text").to_owned();
        Some(Self { lab, account, manifest, quick, provider: format!("sample=python3 '{program}'") })
    }

    /// Has the node of a data directory make everything of the manifest.
    #[track_caller]
    fn up(&self, data: &Path, timeout: &str) -> Ran {
        let with = ["up", &self.manifest, &self.quick, "--provider", &self.provider, "--timeout", timeout, "--once"];
        run_in(data, &with)
    }

    fn other(&self) -> PathBuf {
        self.lab.data().with_file_name("other")
    }

    /// What is in the account: the effect ids of everything.
    fn things(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.account).expect("the account").flatten();
        let things = entries.filter(|entry| entry.path().join("thing.json").exists());
        things.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn disk(&self) -> PathBuf {
        let with_disk = |thing: &String| self.account.join(thing).join("disk").exists();
        self.account.join(self.things().into_iter().find(with_disk).expect("a volume")).join("disk")
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let is_home =
            |pid: u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|home| home.starts_with(&self.account));
        for sleep in processes_where(|pid, _| is_home(pid)).unwrap_or_default() {
            let _ = sleep.signal(Signal::KILL);
        }
    }
}

#[test]
#[ignore = "takes long"]
fn two_nodes_with_one_account_and_one_manifest_leave_each_other_alone() {
    let Some(account) = Account::new() else { return };
    let (first, second) = (account.lab.data(), account.other());
    // given a node that has made everything
    account.up(first, "60s").code(0);
    let ours = account.things();
    // when another one makes the same there, and removes it
    account.up(&second, "60s").code(0);
    let all = account.things();
    assert!(ours.is_subset(&all) && all.len() == 2 * ours.len(), "{ours:?} {all:?}");
    run_in(&second, &["down", "--timeout", "60s"]).code(0);
    // then the first one has what it had
    assert_eq!(account.things(), ours);
    account.up(first, "60s").code(0);
    assert_eq!(account.things(), ours);
}

#[test]
#[ignore = "takes long"]
fn an_emptied_data_directory_gets_new_things_and_no_old_data() {
    let Some(account) = Account::new() else { return };
    let data = account.lab.data();
    account.up(data, "60s").code(0);
    let (ours, disk) = (account.things(), account.disk());
    fs::write(&disk, "precious").expect("written");
    // when the journal is gone, and the same manifest is declared
    fs::remove_dir_all(data).expect("emptied");
    account.up(data, "60s").code(0);
    // then everything is there anew, beside what was there
    let all = account.things();
    assert!(ours.is_subset(&all) && all.len() == 2 * ours.len(), "{ours:?} {all:?}");
    run_in(data, &["down", "--timeout", "60s"]).code(0);
    assert_eq!(account.things(), ours);
    assert_eq!(fs::read_to_string(&disk).expect("it is there"), "precious");
}

#[test]
#[ignore = "takes long"]
fn a_journal_that_was_imported_as_new_touches_nothing_of_the_one_it_was_made_of() {
    let Some(account) = Account::new() else { return };
    let (first, second) = (account.lab.data(), account.other());
    account.up(first, "60s").code(0);
    let ours = account.things();
    let file = first.with_file_name("lines");
    let name = file.to_str().expect("text");
    run_in(first, &["journal", "export", name]).code(0);
    run_in(&second, &["journal", "import", "--as-new", name]).code(0);
    // when its node has lists of the account, and takes the machines for lost
    let ran = account.up(&second, "8s").code(124);
    // then it has machines of its own, and says why it has not had the volume
    ran.says("machine/napper is ready").says("volume/dreams is lost").says("stays there; destroy it here");
    assert!(ours.is_subset(&account.things()));
    run_in(&second, &["down", "--timeout", "60s"]).code(0);
    assert_eq!(account.things(), ours);
    account.up(first, "60s").code(0);
    assert_eq!(account.things(), ours);
}

#[test]
#[ignore = "takes long"]
fn a_copy_of_a_data_directory_does_not_run_beside_the_original() {
    // given a data directory that was copied
    let lab = Lab::new();
    lab.up();
    let copy = lab.data().with_file_name("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(lab.data()).arg(&copy).status().expect("cp");
    assert!(copied.success());
    // when its node is started while the original's node runs, then it is refused
    let node = lab.stay();
    let refused = run_in(&copy, &["serve"]).code(5);
    refused.says("error[same-identity]").says("is a copy of").says("journal import --as-new");
    node.signal(Signal::TERM);
    node.ended().code(0);
    // and said, while the original is still there
    let policy = lab.manifest("quick.yaml", QUICK);
    run_in(&copy, &["up", &policy, "--once"]).says("COPY: a copy of this journal, with the same identity, is in");
    // and the other way round, once the copy has run
    let node = start_in(&copy, &["serve"]);
    node.says("listening on");
    run_in(lab.data(), &["serve"]).code(5).says("error[same-identity]").says("is a copy of");
    node.signal(Signal::TERM);
    node.ended().code(0);
    run_in(lab.data(), &["up", &policy, "--once"]).says("COPY: a copy of this journal, with the same identity, is in");
    // but not when the original has gone
    lab.down();
    fs::remove_dir_all(lab.data()).expect("removed");
    let ran = run_in(&copy, &["up", &policy, "--once"]);
    assert!(!ran.err.contains("COPY:"), "{ran:?}");
}

#[test]
fn a_journal_that_came_alone_is_told_to_be_perhaps_a_copy() {
    // given the journal of a data directory, and its key, without all else
    let lab = Lab::new();
    lab.up();
    let copy = lab.data().with_file_name("copy");
    fs::create_dir(&copy).expect("a new folder");
    for part in ["journal", "node.key"] {
        let copied =
            std::process::Command::new("cp").arg("-a").arg(lab.data().join(part)).arg(&copy).status().expect("cp");
        assert!(copied.success());
    }
    // when its node starts, then it says that there may be an original; and once is enough
    let told = "COPY: there is no record of where this journal was before";
    assert!(served(&copy).err.contains(told));
    assert!(!served(&copy).err.contains("COPY:"));
    // and what has an identity of its own, or is new, is no copy
    let (file, other) = (lab.data().with_file_name("journal.jsonl"), lab.data().with_file_name("other"));
    let file = file.to_str().expect("text");
    run_in(lab.data(), &["journal", "export", file]).code(0);
    run_in(&other, &["journal", "import", "--as-new", file]).code(0);
    for dir in [&other, &lab.data().with_file_name("new")] {
        assert!(!served(dir).err.contains("COPY:"));
    }
    lab.down();
}

/// What a node says that is started and stopped.
fn served(dir: &Path) -> Ran {
    let node = start_in(dir, &["serve"]);
    node.says("listening on");
    node.signal(Signal::TERM);
    node.ended().code(0)
}
