//! What happens next by itself, when, and why.

use bailiwick_actors::{
    contract::{Decider, Fold},
    filesystem, filesystem_attachment,
    vocab::{Effort, Timestamp, sort_by},
    volume, volume_attachment,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet,
    filesystem_rows::{filesystem_attachments, filesystems},
    kinds::added_rows,
    machine_deployments::machine_deployments,
    machine_sets::machine_sets,
    providers::providers,
    rows::{attachments, machines, volumes},
};

/// One due time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Upcoming {
    pub due_ms: u64,
    pub due: String,
    /// How long until then; 0 if it is due.
    pub in_ms: u64,
    pub entity: String,
    pub why: String,
}

/// Until when storage may take to be undone.
fn deadlines(fleet: &Fleet) -> Vec<(&'static str, &str, Timestamp)> {
    fn of<'f, D: Decider>(
        all: &'f Fold<D>,
        undoing: impl Fn(&'f D) -> Option<&'f Effort>,
    ) -> impl Iterator<Item = (&'static str, &'f str, Timestamp)> {
        all.iter().filter_map(move |(name, folded)| Some((D::KIND, name, undoing(&folded.state)?.deadline()?)))
    }
    let volumes = of(&fleet.volumes, volume::State::undoing);
    let filesystems = of(&fleet.filesystems, filesystem::State::undoing);
    let attachments = of(&fleet.attachments, volume_attachment::State::undoing);
    let mounts = of(&fleet.filesystem_attachments, filesystem_attachment::State::undoing);
    volumes.chain(filesystems).chain(attachments).chain(mounts).collect()
}

/// The first `limit` due times, soonest first.
pub fn upcoming(fleet: &Fleet, limit: usize) -> Vec<Upcoming> {
    let mut all = Vec::new();
    let now_ms = fleet.time.0;
    let mut add = |kind: &str, name: &str, due: Option<u64>, why: Option<String>| {
        if let Some(due_ms) = due {
            let due = Timestamp(due_ms).to_string();
            all.push(Upcoming {
                due_ms,
                due,
                in_ms: due_ms.saturating_sub(now_ms),
                entity: format!("{kind}/{name}"),
                why: why.unwrap_or_default(),
            });
        }
    };
    for row in machines(fleet) {
        add("machine", &row.name, row.next_look_ms, row.detail);
    }
    for row in volumes(fleet) {
        add("volume", &row.name, row.next_try_ms, row.detail);
    }
    for row in attachments(fleet) {
        add("volume-attachment", &row.name, row.next_try_ms, row.detail);
    }
    for row in filesystems(fleet) {
        add("filesystem", &row.name, row.next_try_ms, row.detail);
    }
    for row in filesystem_attachments(fleet) {
        add("filesystem-attachment", &row.name, row.next_try_ms, row.detail);
    }
    for row in machine_sets(fleet) {
        add("machine-set", &row.name, row.next_try_ms, row.detail);
    }
    for row in machine_deployments(fleet) {
        add("machine-deployment", &row.name, row.next_look_ms, row.detail);
    }
    for row in providers(fleet) {
        add("provider", &row.name, row.held_until_ms, row.held.map(|reason| format!("its hold ends: {reason}")));
    }
    for (kind, rows) in added_rows(fleet) {
        for row in rows {
            add(kind, &row.name, row.next_try_ms, row.detail);
        }
    }
    for (kind, name, deadline) in deadlines(fleet) {
        add(kind, name, Some(deadline.0), Some("its removal or detachment is reported as blocked from then on".into()));
    }
    sort_by(&mut all, Ord::cmp);
    all.truncate(limit);
    all
}
