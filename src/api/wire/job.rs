//! Long questions, which a node works on beside everything else.

use bailiwick_actors::vocab::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{problem::Problem, sweep::Sweep};
use crate::audit::{Backtest, ReplayReport};

/// A long question: how far it is, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub id: Uuid,
    pub question: Question,
    /// Who asked: `account:ada`.
    pub principal: String,
    pub asked: Timestamp,
    pub state: State,
    /// So many entries, or starts, of so many; both are 0 until it runs.
    pub done: u64,
    pub of: u64,
    /// Once it is done. Lists leave it out.
    #[schemars(with = "Option<Answer>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// What is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Whether every decision comes out the same when it is decided again.
    Replay,
    /// What would have been decided under another policy.
    Backtest,
    /// Whether a node converges after a crash at each block of the journal.
    CrashSweep,
}

impl Question {
    /// As it is told.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Backtest => "backtest",
            Self::CrashSweep => "crash-sweep",
        }
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// For other jobs to end.
    Waiting,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl State {
    /// As it is told.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing comes after it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// What came of a job, by its question.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it describes answers, which are values already")]
enum Answer {
    Replay(ReplayReport),
    Backtest(Backtest),
    CrashSweep(Sweep),
}
