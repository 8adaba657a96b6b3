//! The opening table, row by row; and what opening leaves alone.

mod doubt;
mod ends;
mod exports;
mod folders;
mod log_filled;
mod making;
mod rolled_back;
mod sled;
mod store;
mod told;

use bailiwick_journal::{OpenError, ProblemKind, blocks::Store, disk::SimulatedDisk};

use crate::tools::open;

pub(super) fn refused(disk: &SimulatedDisk, store: &dyn Store) -> bailiwick_journal::IntegrityReport {
    let before = disk.contents();
    let OpenError::Integrity { report, .. } = open(disk, store).expect_err("is refused") else {
        panic!("is refused for its history");
    };
    assert!(!report.is_whole());
    let (mut before, mut after) = (before, disk.contents());
    before.remove("lock");
    after.remove("lock");
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "a refusal changes no file");
    assert!(before == after, "a refusal changes nothing");
    *report
}

pub(super) fn kinds(report: &bailiwick_journal::IntegrityReport) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}
