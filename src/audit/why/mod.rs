//! Why something is as it is: from a decision back along what it cites, until somebody's wish, an observation of the world
//! or a due time. Nothing is guessed: a step is shown because a later one names it.

mod cited;
mod following;
mod sides;
mod tell;
mod walk;

use bailiwick_journal::{Journal, Position, ReadError, StreamId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::words::Line;

pub use following::{causes, consequences, following};
pub use sides::{Side, UnknownSide};

/// The most steps that one answer has; what lies further back can be asked for from there.
pub const STEPS_MAX: usize = 100;

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// An entity: the last thing that mattered about it, or about one side of it.
    Entity { entity: StreamId, side: Option<Side> },
    /// One entry.
    Entry(Position),
}

/// The decisions that one rests on, or those that rest on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The stream that is asked about.
    pub entity: String,
    /// The side that is asked about: `health`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<&'static str>,
    /// Up to where the journal was looked at.
    pub at: u64,
    /// `causes` or `consequences`.
    pub direction: Direction,
    /// What is asked about comes first. Of causes each follows the step that names it, and what came from elsewhere comes
    /// before the entity's own history; consequences are in the order in which they happened.
    pub steps: Vec<Step>,
    /// Entries that are named and not shown, because [`STEPS_MAX`] are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<u64>,
}

/// Where an answer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Causes,
    Consequences,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WhyStep")]
pub struct Step {
    /// The entry. What it says to have happened is only what a later step rests on.
    #[serde(flatten)]
    pub line: Line,
    pub source: Source,
    /// How far it is off the main line: 0 for the entity's own history.
    pub depth: usize,
    /// The entries that it rests on.
    pub causes: Vec<u64>,
    /// The supervisor's entry that ordered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered_by: Option<u64>,
    /// What it names that is not there, or not before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfounded: Vec<String>,
}

/// What made somebody decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Somebody asked for it.
    Wish,
    /// A provider answered, an agent reported, a list differed from what was known.
    Observation,
    /// A time had come.
    DueTime,
    /// A supervisor ordered it.
    Order,
    /// A supervisor concluded it from what it cites.
    Conclusion,
    /// The node did it by itself when it started.
    Node,
}

/// What led to a decision, as of a position; none if there was none by then.
///
/// # Errors
/// If the journal cannot be read.
pub fn why(journal: &dyn Journal, about: &About, at: Position) -> Result<Option<Why>, ReadError> {
    why_up_to(journal, about, at, STEPS_MAX)
}

/// As [`why()`], with another limit of steps.
///
/// # Errors
/// As [`why()`].
pub fn why_up_to(
    journal: &dyn Journal,
    about: &About,
    at: Position,
    steps_max: usize,
) -> Result<Option<Why>, ReadError> {
    let at = at.min(journal.head().position);
    let Some(start) = walk::start(journal, about, at)? else { return Ok(None) };
    let entity = start.entry.header.stream.to_string();
    let (steps, further) = walk::walk(journal, start, steps_max)?;
    let side = match about {
        About::Entity { side, .. } => side.map(Side::as_str),
        About::Entry(_) => None,
    };
    Ok(Some(Why { entity, side, at: at.0, direction: Direction::Causes, steps, further }))
}
