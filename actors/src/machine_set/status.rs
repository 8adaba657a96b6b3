//! What a set tells about itself: the one count of its machines, for people and for what waits for it.

use super::{Member, State};
use crate::vocab::FailureReason;

/// What a set tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub replicas: usize,
    /// Those with all labels of the template.
    pub fully_labelled: usize,
    pub ready: usize,
    pub available: usize,
    /// Those that were given up.
    pub failed: Vec<String>,
    /// What keeps it from its number.
    pub failure: Option<FailureReason>,
}

/// What a set with these machines tells about itself. A failure stands while the set rests for it, or has not the number of
/// machines that it shall have.
pub fn status(state: &State, members: &[Member]) -> Status {
    let in_service = || members.iter().filter(|member| !member.is_kept);
    let count = |counts: fn(&Member) -> bool| in_service().filter(|member| counts(member)).count();
    let replicas = in_service().count();
    let wanted = state.spec.as_ref().map_or(0, |spec| usize::try_from(spec.replicas).unwrap_or(usize::MAX));
    let stands = state.rests_until.is_some() || replicas != wanted;
    Status {
        replicas,
        fully_labelled: count(|member| member.has_template_labels),
        ready: count(Member::is_ready),
        available: count(Member::is_available),
        failed: in_service().filter(|member| member.has_failed_operation).map(|member| member.name.clone()).collect(),
        failure: state.failure.filter(|_| stands),
    }
}
