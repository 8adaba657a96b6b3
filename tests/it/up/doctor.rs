//! `doctor` says what is wrong, in its exit code as well, and changes nothing.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, Ran};

/// What tells that a file or directory was changed: its size, and when it was written and changed.
type Looks = BTreeMap<PathBuf, (u64, i64, i64, i64, i64)>;

fn looks(place: &Path) -> Looks {
    let mut looks = Looks::new();
    let mut places = vec![place.to_owned()];
    while let Some(place) = places.pop() {
        let found = fs::symlink_metadata(&place).expect("it is there");
        if found.is_dir() {
            places.extend(fs::read_dir(&place).expect("readable").map(|entry| entry.expect("an entry").path()));
        }
        looks.insert(place, (found.size(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()));
    }
    looks
}

/// The level of each finding of this check, and what it says.
#[track_caller]
fn findings(ran: &Ran, check: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let found = report["findings"].as_array().expect("a list").iter().filter(|finding| finding["check"] == check);
    found.map(|finding| (text(finding, "level"), text(finding, "finding"))).collect()
}

#[track_caller]
fn levels(ran: &Ran, check: &str) -> Vec<String> {
    findings(ran, check).into_iter().map(|(level, _)| level).collect()
}

#[test]
fn a_directory_is_followed_from_its_beginning_and_never_changed() {
    let lab = Lab::new();
    let doctor = || lab.run(&["doctor", "-o", "json"]);
    // Given nothing, it says that a start makes it, and makes nothing.
    let none = doctor().code(0);
    assert_eq!(levels(&none, "data-directory"), ["note"], "{none:?}");
    assert!(!lab.data().exists());
    // Given a running node, it is asked.
    let node = lab.start(&["serve"]);
    node.says("listening on");
    let running = doctor().code(0);
    assert_eq!(levels(&running, "node"), ["ok"], "{running:?}");
    assert!(findings(&running, "node")[0].1.starts_with(&format!("process {} runs it", node.pid())));
    // Given one that was killed, its socket is told, and the journal is read as it lies there.
    drop(node.kill());
    let before = looks(lab.data());
    let killed = doctor().code(0);
    assert_eq!((levels(&killed, "socket"), levels(&killed, "journal")), (vec!["note".into()], vec!["ok".into()]));
    assert_eq!(looks(lab.data()), before);
    // Given a directory that others may write to, nothing in it is read, and the exit code says so.
    fs::set_permissions(lab.data(), fs::Permissions::from_mode(0o777)).expect("ours");
    let open = doctor().code(3);
    assert_eq!(levels(&open, "data-directory"), ["problem"], "{open:?}");
    assert_eq!(levels(&open, "journal"), [""; 0]);
    let shown = lab.run(&["doctor"]).code(3);
    assert!(shown.out.contains("next: check that nobody changed anything in it, then run `chmod go-w"), "{shown:?}");
    fs::set_permissions(lab.data(), fs::Permissions::from_mode(0o700)).expect("ours");
}

#[test]
fn a_journal_that_lost_history_is_a_problem() {
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    node.stopped().code(0);
    let journal = lab.data().join("journal");
    let log = fs::read_dir(journal.join("log")).expect("a log").next().expect("a segment").expect("an entry").path();
    let (sled, kept) = (journal.join("sled"), lab.data().join("kept"));
    // Given a log whose first entry was changed, and no store that has it.
    fs::rename(&sled, &kept).expect("moved");
    let whole = fs::read(&log).expect("readable");
    let mut changed = whole.clone();
    changed[..4_096].fill(0xA5);
    fs::write(&log, changed).expect("written");
    let lost = lab.run(&["doctor", "-o", "json"]).code(3);
    assert_eq!(levels(&lost, "journal"), ["problem"], "{lost:?}");
    fs::write(&log, whole).expect("written");
    fs::rename(&kept, &sled).expect("moved back");
    lab.run(&["doctor"]).code(0);
}

/// A node that is stopped and does not answer is found by its lock.
#[test]
fn a_node_whose_socket_is_gone_is_a_problem() {
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    fs::remove_file(lab.data().join("node.sock")).expect("removed");
    let gone = lab.run(&["doctor", "-o", "json"]).code(3);
    assert!(findings(&gone, "node")[0].1.contains("does not answer at"), "{gone:?}");
    node.signal(Signal::TERM);
    node.ended().code(0);
}
