//! Every revision of the policy in force: who set it when, what it changed, and all that it says.

use bailiwick_actors::{
    contract::{Decider, Entity},
    policy::{Document, State, default_name},
    vocab::Timestamp,
};
use bailiwick_journal::{Journal, Position, StreamId, Version};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    FleetError,
    policies::{as_declared, policy_changes},
};

/// One revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRevision {
    /// From 1, as decisions cite it.
    pub revision: u64,
    /// The entry that set it.
    pub position: u64,
    pub time: String,
    pub time_ms: u64,
    /// Who had it set.
    pub principal: String,
    /// Whether it is in force at the moment that is asked about.
    pub in_force: bool,
    /// The settings that it changed: `spec.machines.poll: 1s -> 5s (the default)`. Of the first one, those that are not as by
    /// default.
    pub changes: Vec<String>,
    /// All that it says, as a manifest would.
    pub spec: Value,
}

/// The revisions up to an entry, the oldest first.
///
/// # Errors
/// If the journal cannot be read, or an entry cannot be understood.
pub fn policy_revisions(journal: &dyn Journal, until: Position) -> Result<Vec<PolicyRevision>, FleetError> {
    let stream = StreamId::new(State::KIND, default_name().as_str()).expect("the name of a policy names a stream");
    let mut policy = Entity::<State>::new(stream.clone());
    let mut revisions: Vec<PolicyRevision> = Vec::new();
    let mut before = Document::default();
    for entry in journal.read_stream(&stream, Version(1)) {
        let entry = entry?;
        let (position, meta) = (entry.header.position, &entry.header.meta);
        if until < position {
            break;
        }
        let wrong = |source| FleetError::Stored { position, stream: stream.clone(), source };
        policy.take_in(&entry).map_err(wrong)?;
        let State { revision, document, .. } = policy.state();
        if revisions.last().map_or(0, |last| last.revision) == *revision {
            continue;
        }
        revisions.push(PolicyRevision {
            revision: *revision,
            position: position.0,
            time: Timestamp(meta.time_ms).to_string(),
            time_ms: meta.time_ms,
            principal: meta.principal.clone(),
            in_force: false,
            changes: policy_changes(&before, document),
            spec: as_declared(document),
        });
        before.clone_from(document);
    }
    if let Some(last) = revisions.last_mut() {
        last.in_force = true;
    }
    Ok(revisions)
}
