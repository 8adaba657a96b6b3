//! A crash at every boundary of a journal: what is asked, and what came of it.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/jobs/crash-sweep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SweepWish {
    /// Only crashes at or after this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// Only crashes at or before this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Only every n-th of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<NonZeroUsize>,
    /// What chance follows from; 1 unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether each call that is under way happens alone as well, beside none and all of them; true unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each_call: Option<bool>,
    /// How long a node has to converge, in milliseconds of virtual time; two hours unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
}

/// Which of the calls that were under way at the end of a prefix have happened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InFlight {
    /// None of them.
    DidNotHappen,
    /// All of them.
    Happened,
    /// Those of these objects: `["machine/web"]`.
    Only(Vec<String>),
}

impl InFlight {
    /// Whether a call for this object has.
    pub fn has_happened(&self, object: &str) -> bool {
        match self {
            Self::DidNotHappen => false,
            Self::Happened => true,
            Self::Only(objects) => objects.iter().any(|happened| happened == object),
        }
    }
}

/// How a node that started over a prefix ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "ending")]
pub enum Ending {
    /// Everything is as declared, and nothing is left over. What is held, or kept for diagnosis, is as it should be.
    Converged,
    /// All else is, but this was given up, before the start or because its provider does not have what was asked, or waits for
    /// what was: an operator's turn.
    GivenUp { entities: Vec<String> },
    /// All else is, but this does not go on before an operator gives a command, which is named as `why-not` names it.
    AwaitsOperator { entities: Vec<String> },
    /// Something is not as declared when the time is over.
    Stuck { entities: Vec<String> },
    /// Something is that must never be: an orphan, a duplicate, a decision that does not replay.
    Violated { wrong: Vec<String> },
}

/// One start over one prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The last entry of the prefix.
    pub position: u64,
    /// What that entry is about, and its code.
    pub stream: String,
    pub code: String,
    /// How many calls were under way, or may have been.
    pub calls: usize,
    pub in_flight: InFlight,
    #[serde(flatten)]
    pub ending: Ending,
    /// Virtual time from the start until everything was as declared for good; none if it never was.
    pub converged_ms: Option<u64>,
    /// Virtual time from the start to the end.
    pub virtual_ms: u64,
}

/// What came of all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sweep {
    pub boundaries: usize,
    pub converged: usize,
    pub given_up: usize,
    pub awaits_operator: usize,
    pub stuck: usize,
    pub violated: usize,
    /// In order of position.
    pub trials: Vec<Trial>,
}

impl Sweep {
    /// Whether every start converged, but for what is an operator's turn.
    pub fn is_good(&self) -> bool {
        self.stuck == 0 && self.violated == 0
    }
}
