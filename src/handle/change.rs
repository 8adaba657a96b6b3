//! What a change of the declared did, and why it did nothing.

use bailiwick_actors::{
    shell::{Answer, AskError},
    vocab::{InstanceId, Name},
    volume,
};
use bailiwick_journal::{Outcome, ReadError, StreamId};

use super::NotOffered;
use crate::plan::Plan;

/// What an apply did.
#[derive(Clone, Debug)]
pub struct Applied {
    pub plan: Plan,
    /// One answer per command of the plan; empty when nothing had to be asked.
    pub answers: Vec<Answer>,
    /// Whether this is the first answer to the same id, told again.
    pub repeated: bool,
}

/// A volume that is there already, to be taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportVolume {
    pub name: Name,
    pub spec: volume::Spec,
    /// What its provider calls it.
    pub volume_id: InstanceId,
    pub machine: Option<Name>,
}

/// Why an apply did nothing.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// At least one entity refused; nothing was applied.
    #[error("{} refused", refusing(.refusals))]
    Refused { refusals: Vec<Answer> },
    /// A volume is not detached while a filesystem on it is mounted.
    #[error("{entity} is still mounted by {by}")]
    StillMounted { entity: StreamId, by: StreamId },
    /// Nobody here could make it; nothing was applied.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl ApplyError {
    /// Those of the answers that refuse, each once: several may have been asked of one entity.
    pub(super) fn refused(answers: Vec<Answer>) -> Self {
        let mut refusals: Vec<Answer> = Vec::new();
        for answer in answers.into_iter().filter(|answer| answer.outcome == Outcome::Refused) {
            if !refusals.iter().any(|known| known.stream == answer.stream && known.text == answer.text) {
                refusals.push(answer);
            }
        }
        Self::Refused { refusals }
    }
}

/// What refusals come to, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// `refused`, or `leaving` where all that was refused is on its way out.
    pub code: &'static str,
    pub message: &'static str,
    /// What to do about it.
    pub next: &'static str,
}

impl Refusal {
    /// What these refusals come to.
    pub fn of(refusals: &[Answer]) -> Self {
        if !refusals.is_empty() && refusals.iter().all(|answer| answer.code == "leaving") {
            return Self {
                code: "leaving",
                message: "nothing was applied: an object is still being removed",
                next: "wait until it is gone, then apply again; `bailiwick why-not KIND/NAME removed` shows what blocks it",
            };
        }
        if !refusals.is_empty() && refusals.iter().all(|answer| answer.code == "owned") {
            return Self {
                code: "refused",
                message: "nothing was applied: an object belongs to a deployment",
                next: "`bailiwick apply` the deployment with another number or template, or delete the deployment",
            };
        }
        if !refusals.is_empty() && refusals.iter().all(|answer| answer.code == "protected") {
            return Self {
                code: "refused",
                message: "nothing was applied: an object is protected",
                next: "`bailiwick unprotect` what is named above, then retry",
            };
        }
        Self {
            code: "refused",
            message: "nothing was applied: a change was refused",
            next: "resolve what is named above, then retry",
        }
    }
}

fn refusing(refusals: &[Answer]) -> String {
    refusals.iter().map(|answer| format!("{} ({})", answer.stream, answer.text)).collect::<Vec<_>>().join(", ")
}
