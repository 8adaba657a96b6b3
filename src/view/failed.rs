//! What failed, and with what.

use bailiwick_actors::{
    contract::{Decider, Fold},
    filesystem, filesystem_attachment, machine,
    vocab::{Effort, Fault},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::Fleet;
use crate::custom_kind;

/// Everything that waits for its next attempt, or was given up, after a fault like this: by kind, then by name.
pub fn failed(fleet: &Fleet, is_meant: impl Fn(&Fault) -> bool) -> Vec<StreamId> {
    let mut all = Vec::new();
    those(&fleet.machines, machine::State::effort, &is_meant, &mut all);
    those(&fleet.volumes, volume::State::effort, &is_meant, &mut all);
    those(&fleet.attachments, volume_attachment::State::effort, &is_meant, &mut all);
    those(&fleet.filesystems, filesystem::State::effort, &is_meant, &mut all);
    those(&fleet.filesystem_attachments, filesystem_attachment::State::effort, &is_meant, &mut all);
    let is_custom = |stream: &StreamId| custom_kind::kind(stream.kind()).is_some();
    let custom = fleet.efforts().filter(|(stream, effort)| is_custom(stream) && effort.fault().is_some_and(&is_meant));
    all.extend(custom.map(|(stream, _)| stream));
    all
}

fn those<D: Decider>(
    entities: &Fold<D>,
    effort: fn(&D) -> Option<&Effort>,
    is_meant: &impl Fn(&Fault) -> bool,
    all: &mut Vec<StreamId>,
) {
    let meant = entities.iter().filter(|(_, folded)| {
        let fault = effort(&folded.state).and_then(Effort::fault);
        fault.is_some_and(is_meant)
    });
    all.extend(meant.filter_map(|(name, _)| StreamId::new(D::KIND, name).ok()));
}
