//! What log, head file and block store together say about each other: nothing is to be done, the log is to be written
//! anew, or opening is refused. Readers judge by the same.

use super::{
    catch_up::Survey,
    evidence::Evidence,
    rollback_guard::{RollbackGuard, required},
};
use crate::{
    IntegrityReport,
    format::head_file::{FoundHead, HEAD_FILE},
    log::{scan::Scanned, segment::LOG_DIR},
    model::integrity::{Problem, ProblemKind},
    open::repair::{self, Wanted},
};

impl Evidence<'_> {
    /// What the log has to be written anew as, if it has to be; or why nobody goes on with this journal.
    pub(crate) fn judge(&self) -> Result<Option<Wanted>, IntegrityReport> {
        let Self { scanned, survey, found, guard, .. } = *self;
        self.refuse_differences()?;
        let rolled_back = guard.rolled_back(scanned, survey, found);
        let last = required(scanned, survey, found).max(guard.block());
        let last = if last > scanned.tip.block {
            last
        } else if scanned.damaged_inside() || scanned.differs() {
            scanned.tip.block
        } else {
            return Ok(None);
        };
        let vouched = match rolled_back {
            Some(rolled_back) => rolled_back.whole,
            // A log that simply ends was cut, or is an older one. Without a head file nobody knows where it should end.
            None if scanned.faults.is_empty() && vouched(found).is_none() => return Err(self.refusal()),
            None => return Ok(Some(Wanted { last, vouched: vouched(found) })),
        };
        // What came behind the store's last block is lost, and nobody knows how much that was.
        if vouched.is_some() { Ok(Some(Wanted { last, vouched })) } else { Err(self.refusal()) }
    }

    /// Why the log cannot be written anew: what is wrong with it, and what is missing.
    pub(crate) fn refusal(&self) -> IntegrityReport {
        let mut report = self.missing();
        report.problems.extend(self.scanned.faults.iter().map(|fault| fault.problem.clone()));
        report
    }

    fn refuse_differences(&self) -> Result<(), IntegrityReport> {
        let Self { scanned, survey, found, .. } = *self;
        let mut problems = differences(scanned, found);
        if vouched(found).is_some() {
            // Whether the store has what should be there instead is seen when the log is written anew.
            problems.retain(|problem| problem.kind == ProblemKind::HeadDiffers);
        }
        if let Some(block) = survey.differs {
            problems.push(Problem {
                kind: ProblemKind::StoreDiffers,
                file: "sled".into(),
                offset: None,
                blocks: Some((block, block)),
            });
        }
        problems.extend(unknown_end(scanned, found));
        // Neither log nor head, and a store that cannot say what there was: not a journal that was just being made.
        let nothing_left = scanned.segments.is_empty() && found == FoundHead::Missing;
        if nothing_left && survey.trouble.is_some() {
            problems.push(Problem { kind: ProblemKind::FileMissing, file: "log".into(), offset: None, blocks: None });
        }
        if problems.is_empty() {
            return Ok(());
        }
        let mut report = self.missing();
        report.problems.splice(0..0, problems);
        Err(report)
    }

    /// What is known to have been there behind the log's end.
    fn missing(&self) -> IntegrityReport {
        let Self { journal, disk, scanned, index, found, guard, survey } = *self;
        let mut report = repair::missing(journal, disk, scanned, survey, index, found);
        if let Some(rolled_back) = guard.rolled_back(scanned, survey, found) {
            let mut problem = rolled_back.problem;
            if matches!(found, FoundHead::Read { .. }) {
                report.problems.insert(0, problem);
            } else if report.problems.is_empty() {
                // There is no head file that could be an older one.
                problem.kind = ProblemKind::LogCut;
                problem.file = format!("{LOG_DIR} (against {})", problem.file);
                report.problems.push(problem);
            }
            let first = report.missing_positions.map_or(scanned.tip.position.next(), |missing| missing.0);
            let last = report.missing_positions.map_or(rolled_back.known, |missing| missing.1.max(rolled_back.known));
            report.missing_positions = Some((first, last));
        }
        report
    }
}

/// What is wrong with the log's end where no head file says how far it reached: no crash leaves it so. A journal that
/// was just being made has no blocks, and no head file yet.
fn unknown_end(scanned: &Scanned, found: FoundHead) -> Vec<Problem> {
    let being_made = found == FoundHead::Missing && scanned.newest_block() == 0;
    if being_made || matches!(found, FoundHead::Read { .. }) || scanned.faults_at_the_end().next().is_none() {
        return Vec::new();
    }
    let head = Problem { kind: ProblemKind::HeadDamaged, file: HEAD_FILE.into(), offset: None, blocks: None };
    let at_the_end = scanned.faults_at_the_end().filter(|fault| !fault.differs);
    std::iter::once(head).chain(at_the_end.map(|fault| fault.problem.clone())).collect()
}

/// Whether log and head file alone show that the log has to be repaired or refused, or leave it open.
pub(crate) fn is_in_doubt(scanned: &Scanned, found: FoundHead, guard: &RollbackGuard) -> bool {
    let without_store = required(scanned, &Survey::default(), found).max(guard.block());
    let headless = !matches!(found, FoundHead::Read { .. });
    headless || without_store > scanned.tip.block || scanned.damaged_inside() || scanned.differs()
}

/// The block that the head file names, and its chain value: a log that is written anew and goes through it is the one
/// that was acknowledged.
fn vouched(found: FoundHead) -> Option<(u64, [u8; 32])> {
    match found {
        FoundHead::Read { newest, .. } if newest.head.block > 0 => Some((newest.head.block, newest.head.hash)),
        FoundHead::Read { .. } | FoundHead::Missing | FoundHead::Damaged => None,
    }
}

/// History that is there but is not what it should be: repaired only where the head file vouches for another one.
fn differences(scanned: &Scanned, found: FoundHead) -> Vec<Problem> {
    let differing = scanned.faults.iter().filter(|fault| fault.differs);
    let mut problems: Vec<Problem> = differing.map(|fault| fault.problem.clone()).collect();
    if let FoundHead::Read { newest, .. } = found {
        let block = newest.head.block;
        let in_log = block.checked_sub(1).and_then(|at| scanned.hashes.get(at as usize));
        if in_log.is_some_and(|hash| *hash != newest.head.hash) {
            let blocks = Some((block, block));
            problems.push(Problem { kind: ProblemKind::HeadDiffers, file: HEAD_FILE.into(), offset: None, blocks });
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{Head, Position, format::head_record::HeadRecord};

    #[test]
    fn a_head_file_of_before_the_first_block_vouches_for_nothing() {
        let vouched_at = |block| {
            let head = Head { position: Position(block), time_ms: 1, block, hash: [7; 32] };
            let newest =
                HeadRecord { journal: Uuid::nil(), sequence: 1, head, epoch: 1, store_synced: 0, clean: false };
            vouched(FoundHead::Read { newest, other_damaged: false })
        };
        assert_eq!((vouched_at(0), vouched_at(1)), (None, Some((1, [7; 32]))));
        assert_eq!((vouched(FoundHead::Missing), vouched(FoundHead::Damaged)), (None, None));
    }
}
