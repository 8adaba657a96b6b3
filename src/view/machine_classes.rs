//! Machine classes as rows.

use bailiwick_actors::{contract::Folded, machine_class::State, vocab::Life};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Fleet, effort::stream};

/// A machine class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineClassRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    /// Whether machines can be made from it.
    pub ready: bool,
    pub provider: String,
    /// Which content it has, counted from 1.
    pub revision: u32,
    /// Tells apart what classes say.
    pub digest: String,
    /// The secrets that it names.
    pub secrets: Vec<String>,
    /// How many machines use it, and how many of them were made from an earlier revision.
    pub machines: usize,
    pub of_earlier_revisions: usize,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// The machine classes that exist, by name.
pub fn machine_classes(fleet: &Fleet) -> Vec<MachineClassRow> {
    let existing = fleet.machine_classes.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| machine_class_row(fleet, name, folded)).collect()
}

pub(super) fn machine_class_row(fleet: &Fleet, name: &str, folded: &Folded<State>) -> MachineClassRow {
    let (state, stream) = (&folded.state, stream::<State>(name));
    let content = state.content.as_deref();
    let copies = state.users.iter().filter_map(|user| fleet.machines.get(user.as_str())?.class());
    let is_going = state.life != Life::Alive;
    MachineClassRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: !is_going,
        provider: content.map(|content| content.provider.to_string()).unwrap_or_default(),
        revision: state.revision,
        digest: content.map(|content| content.digest().to_string()).unwrap_or_default(),
        secrets: content.into_iter().flat_map(|content| content.secrets()).map(ToString::to_string).collect(),
        machines: state.users.len(),
        of_earlier_revisions: copies.filter(|copy| copy.revision != state.revision).count(),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: None,
        detail: is_going.then(|| format!("removed once no machine uses it ({} left)", state.users.len())),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}
