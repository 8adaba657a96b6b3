//! What an entity lacks.

use bailiwick_actors::vocab::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// Something that is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmet {
    /// What is missing, as a noun.
    pub precondition: &'static str,
    /// Why it is missing.
    pub because: String,
    /// What helps.
    pub satisfied_by: String,
    /// When the node checks next by itself; none if it waits for a command or a report.
    pub next_look: Option<String>,
    pub next_look_ms: Option<u64>,
    /// How long until then; 0 if it is due.
    pub next_look_in_ms: Option<u64>,
    /// Whom it waits for, if it is another entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// The command line without which it does not go on, whatever the node does: an operator protected or held something, or has
    /// to supply it. None where the node, a provider or an agent comes next.
    #[serde(skip)]
    pub command: Option<String>,
}

impl Unmet {
    pub(super) fn new(precondition: &'static str, because: impl Into<String>, satisfied_by: impl Into<String>) -> Self {
        let (because, satisfied_by) = (because.into(), satisfied_by.into());
        Self { precondition, because, satisfied_by, ..Self::default() }
    }

    pub(super) fn looked_at(self, at: Option<Timestamp>) -> Self {
        Self { next_look: at.map(|at| at.to_string()), next_look_ms: at.map(|at| at.0), ..self }
    }

    /// Something that only this command line brings about.
    pub(super) fn of_operator(precondition: &'static str, because: impl Into<String>, command: String) -> Self {
        let by = format!("`{command}`");
        Self { command: Some(command), ..Self::new(precondition, because, by) }
    }

    /// The command line that it waits for, unless it also ends at a time of its own.
    pub fn awaited_command(&self) -> Option<&str> {
        self.command.as_deref().filter(|_| self.next_look_ms.is_none())
    }
}
