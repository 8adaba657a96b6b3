//! Folders that a journal must not be opened or made in are refused by name, and stay as they are.

use std::{fs, io, path::Path, sync::Arc};

use bailiwick_journal::{
    LocalJournal, OpenError, Settings,
    blocks::MemoryStore,
    disk::{Access, Disk, DiskFile, Lock, LockError, LockMode, SimulatedDisk, Space},
};

use crate::tools::{ID, config, stopped, write};

fn refusal(dir: &Path) -> String {
    let before = listing(dir);
    match LocalJournal::open(config(dir)) {
        Err(OpenError::Foreign { problem, .. }) => {
            assert_eq!(listing(dir), before, "nothing is written into what is not ours");
            problem
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a foreign folder was opened"),
    }
}

fn listing(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn folders_of_others_are_refused_by_name() {
    let cases: [(&[&str], &[&str], &str); 6] = [
        (&["slabs", "metadata"], &["DO_NOT_PUT_YOUR_FILES_HERE", "durability_cookie"], "sled 1.0"),
        (&["blobs"], &["conf", "db"], "sled 0.34"),
        (&["journal"], &["node.key"], "data directory of bailiwick"),
        (&["base"], &["PG_VERSION"], "PostgreSQL"),
        (&["member"], &[], "etcd"),
        (&[], &["notes.txt"], "it holds \"notes.txt\""),
    ];
    for (folders, files, expected) in cases {
        let dir = tempfile::tempdir().unwrap();
        folders.iter().for_each(|name| fs::create_dir(dir.path().join(name)).unwrap());
        files.iter().for_each(|name| fs::write(dir.path().join(name), "x").unwrap());
        let problem = refusal(dir.path());
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn a_real_sled_database_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    drop(sled::Config::new().path(dir.path()).open().unwrap());
    assert!(refusal(dir.path()).contains("sled 0.34"));
}

#[test]
fn a_journal_whose_sled_was_replaced_by_sled_1_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 10);
    journal.close().unwrap();
    drop(journal);
    fs::remove_dir_all(dir.path().join("sled")).unwrap();
    fs::create_dir_all(dir.path().join("sled/slabs")).unwrap();
    fs::create_dir_all(dir.path().join("sled/metadata")).unwrap();
    assert!(refusal(dir.path()).contains("sled 1.0"));
    // As it says: moved away, everything is there again.
    fs::remove_dir_all(dir.path().join("sled")).unwrap();
    let (_, report) = LocalJournal::open(config(dir.path())).unwrap();
    assert_eq!(report.head.position.0, 11);
}

#[test]
fn a_newer_format_is_refused_with_its_number() {
    let dir = tempfile::tempdir().unwrap();
    drop(LocalJournal::open(config(dir.path())).unwrap());
    let path = dir.path().join("FORMAT");
    let newer = fs::read_to_string(&path).unwrap().replace("format 2\n", "format 3\n");
    fs::write(&path, newer).unwrap();
    assert!(refusal(dir.path()).contains("format 3"));
}

#[test]
fn a_network_file_system_is_refused_before_anything_is_written() {
    let on_network = OnNetwork(SimulatedDisk::new());
    let disk = on_network.0.clone();
    let opened = LocalJournal::open_with(Arc::new(on_network), &MemoryStore::new(), ID, 0, Settings::default());
    let error = opened.expect_err("no journal is made there").to_string();
    assert!(error.contains("network file system (NFS)"), "{error}");
    assert!(disk.contents().is_empty());
    // Reading does no harm.
    let on_network = OnNetwork(stopped(3).disk);
    assert!(bailiwick_journal::ReadOnlyJournal::open_on(Arc::new(on_network)).is_ok());
}

/// A disk that says it is elsewhere.
#[derive(Debug)]
struct OnNetwork(SimulatedDisk);

impl Disk for OnNetwork {
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.0.list(dir)
    }
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.0.create(name)
    }
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        self.0.open(name, access)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.0.sync_dir(dir)
    }
    fn space(&self) -> io::Result<Space> {
        self.0.space()
    }
    fn network_file_system(&self) -> Option<&'static str> {
        Some("NFS")
    }
    fn lock(&self, how: LockMode) -> Result<Lock, LockError> {
        self.0.lock(how)
    }
    fn path(&self) -> std::path::PathBuf {
        self.0.path()
    }
}
