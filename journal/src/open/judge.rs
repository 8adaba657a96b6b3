//! What log and head file together say about each other.

use super::Survey;
use crate::{
    head::{FoundHead, HEAD_FILE},
    integrity::{Problem, ProblemKind},
    scan::Scanned,
};

/// The newest block that anybody knows to have been acknowledged.
pub(crate) fn required(scanned: &Scanned, survey: &Survey, found: FoundHead) -> u64 {
    let by_head = match found {
        FoundHead::Read { newest, .. } => newest.head.block,
        FoundHead::Missing | FoundHead::Damaged => 0,
    };
    scanned.newest_block().max(survey.newest).max(by_head)
}

/// What is wrong with the log's end where no head file says how far it reached: no crash leaves it so. A journal that
/// was just being made has no blocks, and no head file yet.
pub(crate) fn unknown_end(scanned: &Scanned, found: FoundHead) -> Vec<Problem> {
    let being_made = found == FoundHead::Missing && scanned.newest_block() == 0;
    if being_made || matches!(found, FoundHead::Read { .. }) || scanned.faults_at_the_end().next().is_none() {
        return Vec::new();
    }
    let head = Problem { kind: ProblemKind::HeadDamaged, file: HEAD_FILE.into(), offset: None, blocks: None };
    let at_the_end = scanned.faults_at_the_end().filter(|fault| !fault.differs);
    std::iter::once(head).chain(at_the_end.map(|fault| fault.problem.clone())).collect()
}

/// Whether log and head file alone show that the log has to be repaired or refused, or leave it open.
pub(super) fn is_in_doubt(scanned: &Scanned, found: FoundHead) -> bool {
    let without_store = required(scanned, &Survey::default(), found);
    let headless = !matches!(found, FoundHead::Read { .. });
    headless || without_store > scanned.tip.block || scanned.damaged_inside() || scanned.differs()
}

/// The block that the head file names, and its chain value: a log that is written anew and goes through it is the one
/// that was acknowledged.
pub(super) fn vouched(found: FoundHead) -> Option<(u64, [u8; 32])> {
    match found {
        FoundHead::Read { newest, .. } if newest.head.block > 0 => Some((newest.head.block, newest.head.hash)),
        FoundHead::Read { .. } | FoundHead::Missing | FoundHead::Damaged => None,
    }
}

/// History that is there but is not what it should be: repaired only where the head file vouches for another one.
pub(crate) fn differences(scanned: &Scanned, found: FoundHead) -> Vec<Problem> {
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
    use crate::{Head, Position, head::HeadRecord};

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
