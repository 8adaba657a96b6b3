//! Failures as problems with a status.

use std::{fmt, num::NonZeroU32};

use actix_web::{
    HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{RETRY_AFTER, WWW_AUTHENTICATE},
    },
};
use bailiwick_actors::shell::AskError;
use bailiwick_journal::{AppendError, ReadError};

use super::wire::problem::Problem;
use crate::{
    handle::{ApplyError, QuestionError, Refusal},
    manifest::ManifestError,
};

/// A problem on its way out.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    status: StatusCode,
    pub(super) problem: Problem,
    /// When to come back, in seconds from now.
    retry_after: Option<NonZeroU32>,
}

/// The code of a problem, for the layers that see the answer on its way out.
#[derive(Debug)]
pub(super) struct Code(pub String);

impl Failure {
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            problem: Problem { code: code.into(), message: message.into(), ..Problem::default() },
            retry_after: None,
        }
    }

    /// Something that cannot be, and is told instead of ending the server.
    pub(super) fn internal(message: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub(super) fn retry_after(mut self, wait_ms: u64) -> Self {
        self.retry_after = u32::try_from(wait_ms.div_ceil(1_000)).ok().and_then(NonZeroU32::new);
        self
    }

    pub(super) fn next(mut self, next_step: &str) -> Self {
        self.problem.next_step = Some(next_step.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::build(self.status);
        if matches!(self.status.as_u16(), 401 | 403 | 408 | 413 | 421) {
            // What is left of the request is not read.
            answer.force_close();
        }
        if self.status == StatusCode::UNAUTHORIZED {
            answer.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            answer.insert_header((RETRY_AFTER, seconds.get()));
        }
        let mut answer = answer.json(&self.problem);
        answer.extensions_mut().insert(Code(self.problem.code.clone()));
        answer
    }
}

impl From<Problem> for Failure {
    /// The status follows from the code.
    fn from(problem: Problem) -> Self {
        let status = match problem.code.as_str() {
            "not-found" => StatusCode::NOT_FOUND,
            "integrity" => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self { status, problem, retry_after: None }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "integrity", error.to_string())
            .next("stop the node and run `bailiwick journal check`")
    }
}

impl From<ManifestError> for Failure {
    fn from(error: ManifestError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-manifest", error.to_string())
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        match &error {
            AskError::Overloaded => Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
                .next("retry in a moment, with the same --id"),
            AskError::Stopping => Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message)
                .next("restart the node, then retry with the same --id"),
            AskError::Changed { .. } => Self::new(StatusCode::PRECONDITION_FAILED, "changed", message)
                .next("look at it again, and retry with the version that it has then"),
            AskError::Contended => {
                Self::new(StatusCode::CONFLICT, "contended", message).next("retry with the same --id")
            }
            AskError::CommandReused { .. } => {
                Self::new(StatusCode::CONFLICT, "command-reused", message).next("use another --id, or omit it")
            }
            AskError::Misdirected { .. } => Self::new(StatusCode::BAD_REQUEST, "misdirected", message)
                .next("send the command to an object of the right kind"),
            AskError::Unstorable { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
                .next("split the request into several manifests"),
            AskError::NotRecorded(cause) => not_recorded(&message, cause),
            AskError::Crashed { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "crashed", message)
                .next("this is a bug; `bailiwick log` shows the command that failed"),
            AskError::Quarantined { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "quarantined", message)
                .next("this is a bug; `bailiwick log` shows the command that failed; restart the node to retry"),
            AskError::Unreadable { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "integrity", message)
                .next("stop the node and run `bailiwick journal check`"),
        }
    }
}

/// That an append failed, by how.
pub(super) fn not_recorded(message: &str, cause: &AppendError) -> Failure {
    let failure = match cause {
        AppendError::NearlyFull(_) => Failure::new(StatusCode::INSUFFICIENT_STORAGE, "disk-nearly-full", message)
            .next("free space on the disk of the data directory; running work is still recorded"),
        AppendError::Overloaded { .. } => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
            .next("retry in a moment, with the same --id"),
        AppendError::Unknown { .. } => Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "outcome-unknown", message)
            .next("retry with the same --id: if it was recorded, you get the first answer"),
        AppendError::Closed => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message)
            .next("restart the node, then retry with the same --id"),
        AppendError::Conflict { .. } | AppendError::Repeated { .. } | AppendError::Invalid { .. } => {
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "not-recorded", message)
                .next("nothing was done; retry, and check the node's log if it fails again")
        }
    };
    Failure { problem: Problem { detail: vec![cause.to_string()], ..failure.problem }, ..failure }
}

impl From<QuestionError> for Failure {
    fn from(error: QuestionError) -> Self {
        match error {
            QuestionError::Ask(error) => error.into(),
            QuestionError::Read(error) => error.into(),
        }
    }
}

impl From<ApplyError> for Failure {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Ask(error) => error.into(),
            ApplyError::Read(error) => error.into(),
            ApplyError::StillMounted { ref by, .. } => {
                Self::new(StatusCode::CONFLICT, "still-mounted", error.to_string())
                    .next(&format!("`bailiwick delete {by}` first"))
            }
            ApplyError::NotOffered(not) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, not.code(), not.to_string()).next(&not.next())
            }
            ApplyError::Refused { refusals } => {
                let detail = refusals
                    .iter()
                    .map(|answer| {
                        let at = answer.position.map(|at| format!(" (entry {at})")).unwrap_or_default();
                        format!("{}: {} [{}]{at}", answer.stream, answer.text, answer.code)
                    })
                    .collect();
                let Refusal { code, message, next } = Refusal::of(&refusals);
                let failure = Self::new(StatusCode::CONFLICT, code, message).next(next);
                Self { problem: Problem { detail, ..failure.problem }, ..failure }
            }
        }
    }
}
