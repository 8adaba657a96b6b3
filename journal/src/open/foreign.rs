//! Refuses folders that are no journal of ours, or that no journal may be in, by name and before anything is written.

use crate::{
    OpenError,
    disk::Disk,
    open::{
        format_file::{self, FORMAT_FILE},
        io_error,
    },
};

/// What a folder has to hold for us to know whose it is, and what we say then.
const OTHERS: &[(&str, &[&str])] = &[
    ("it is the folder of a sled 1.0 database, not of a journal", &["metadata", "slabs"]),
    ("it is the folder of a sled 0.34 database, not of a journal", &["conf", "db"]),
    ("it is a data directory of bailiwick; the journal is the folder \"journal\" in it", &["journal", "node.key"]),
    ("it is a git working tree", &[".git"]),
    ("it is the folder of a PostgreSQL cluster", &["PG_VERSION"]),
    ("it is the data directory of an etcd", &["member"]),
];
const SLED_1: &str = "its folder \"sled\" was written by sled 1.0, and this version reads sled 0.34; move it away, and it is \
                      built anew from the log";

/// Refuses a folder that a journal must not be opened or made in.
pub(crate) fn refuse(disk: &dyn Disk) -> Result<(), OpenError> {
    let refused = |problem: String| Err(OpenError::Foreign { path: disk.path(), problem });
    if let Some(name) = disk.network_file_system() {
        return refused(format!(
            "it lies on a network file system ({name}), whose locks and syncs a journal cannot rely on; put it on a local disk"
        ));
    }
    let names = disk.list("").map_err(io_error(disk, "list"))?;
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    // A FORMAT file that was lost is known by what head file and log say.
    if !has(FORMAT_FILE) && format_file::recover_id(disk).map_err(io_error(disk, "read head and log in"))?.is_none() {
        if let Some((problem, _)) = OTHERS.iter().find(|(_, marks)| marks.iter().all(|mark| has(mark))) {
            return refused((*problem).to_owned());
        }
        let begun = ["lock", "FORMAT.tmp"];
        if let Some(other) = names.iter().find(|name| !begun.contains(&name.as_str())) {
            return refused(format!("it has no FORMAT file and is not empty: it holds {other:?}"));
        }
        return Ok(());
    }
    let store = disk.list("sled").map_err(io_error(disk, "list"))?;
    // sled 0.34 would overlook the files of 1.0 and begin an empty database beside them.
    if store.iter().any(|name| name == "slabs" || name == "metadata") {
        return refused(SLED_1.to_owned());
    }
    Ok(())
}
