//! Why a volume, a filesystem or an attachment is not gone: who blocks it, since when, and what comes next.

use bailiwick_actors::{
    contract::Decider,
    filesystem, filesystem_attachment,
    vocab::{Effort, Life, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{Blocker, Fleet, blockers, why_not::Unmet};

/// Whether entities of this kind are storage, or attach it.
pub(super) fn is_storage(kind: &str) -> bool {
    let kinds = [
        volume::State::KIND,
        volume_attachment::State::KIND,
        filesystem::State::KIND,
        filesystem_attachment::State::KIND,
    ];
    kinds.contains(&kind)
}

/// What is missing for its removal, the inner none if it is gone; none at all if nothing was ever heard of it.
#[allow(clippy::option_option, reason = "not known is something else than gone")]
pub(super) fn storage_removed(fleet: &Fleet, entity: &StreamId) -> Option<Option<Unmet>> {
    let (life, undoing) = going(fleet, entity)?;
    match life {
        Life::Undeclared | Life::Removed => return Some(None),
        Life::Alive => {
            let by = format!("`bailiwick delete {entity}`");
            return Some(Some(Unmet::new("its removal was asked for", "nobody asked for it", by)));
        }
        Life::Dying | Life::Dead => (),
    }
    let first = blockers(fleet, entity).into_iter().next();
    // What blocks it may itself be what takes long.
    let beneath = first.as_ref().and_then(|blocker| blocker.by.parse::<StreamId>().ok());
    let of_blocker = beneath.as_ref().and_then(|beneath| going(fleet, beneath)).and_then(|(_, undoing)| undoing);
    let (stuck, undoing) = match (beneath, of_blocker) {
        (Some(beneath), Some(undoing)) => (beneath, Some(undoing)),
        _ => (entity.clone(), undoing),
    };
    let because = match first {
        Some(Blocker { by, why, since_ms, .. }) => {
            let since = since_ms.map(|since| format!(", since {}", Timestamp(since))).unwrap_or_default();
            format!("it waits for {by}: {why}{since}")
        }
        None => "its provider is at it".to_owned(),
    };
    let next = undoing.and_then(|effort| effort.wakes_at(effort.deadline()));
    let unmet = Unmet::new("nothing stands in the way of its removal", because, remedy(&stuck, undoing));
    Some(Some(unmet.looked_at(next)))
}

fn remedy(stuck: &StreamId, undoing: Option<&Effort>) -> String {
    let force = format!("`bailiwick delete {stuck} --force`, which records what may be left behind");
    match undoing.map(|effort| (effort.overdue, effort.deadline())) {
        Some((Some(_), _)) => format!("its provider's answer, or {force}"),
        Some((None, Some(deadline))) => format!("its provider's answer; from {deadline} on it is said to be blocked"),
        Some((None, None)) => format!("`bailiwick retry {stuck}`, or {force}"),
        None => "what it waits for".to_owned(),
    }
}

/// How far something is on its way out, and what is done about that.
fn going<'f>(fleet: &'f Fleet, entity: &StreamId) -> Option<(Life, Option<&'f Effort>)> {
    let name = entity.name();
    match entity.kind() {
        volume::State::KIND => fleet.volumes.get(name).map(|state| (state.life, state.undoing())),
        filesystem::State::KIND => fleet.filesystems.get(name).map(|state| (state.life, state.undoing())),
        volume_attachment::State::KIND => fleet.attachments.get(name).map(|state| (state.life, state.undoing())),
        filesystem_attachment::State::KIND => {
            fleet.filesystem_attachments.get(name).map(|state| (state.life, state.undoing()))
        }
        _ => None,
    }
}
