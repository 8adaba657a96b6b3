//! What a set tells about itself.

use serde::{Deserialize, Serialize};

use super::Member;

/// What a set tells about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub replicas: usize,
    /// Those with all labels of the template.
    pub fully_labelled: usize,
    pub ready: usize,
    pub available: usize,
    /// Those whose latest operation failed.
    pub failed: Vec<String>,
    /// What keeps it from its number, since when it first did.
    pub failure: Option<Failure>,
}

/// What keeps a set from its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// None if it had its number and something failed all the same.
    pub reason: Option<FailureReason>,
}

/// Which half of its work fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureReason {
    FailedCreate,
    FailedDelete,
}

/// What a set tells about itself after a pass. A failure that stands keeps its reason until a pass succeeds.
pub fn status(wanted: usize, members: &[Member], has_failed: bool, before: Option<Failure>) -> Status {
    let count = |counts: fn(&Member) -> bool| members.iter().filter(|member| counts(member)).count();
    let reason = match wanted.cmp(&members.len()) {
        std::cmp::Ordering::Greater => Some(FailureReason::FailedCreate),
        std::cmp::Ordering::Less => Some(FailureReason::FailedDelete),
        std::cmp::Ordering::Equal => None,
    };
    Status {
        replicas: members.len(),
        fully_labelled: count(|member| member.has_template_labels),
        ready: count(Member::is_ready),
        available: count(Member::is_available),
        failed: members.iter().filter(|member| member.has_failed_operation).map(|member| member.name.clone()).collect(),
        failure: has_failed.then(|| before.unwrap_or(Failure { reason })),
    }
}

impl FailureReason {
    /// Gardener's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FailedCreate => "FailedCreate",
            Self::FailedDelete => "FailedDelete",
        }
    }
}
