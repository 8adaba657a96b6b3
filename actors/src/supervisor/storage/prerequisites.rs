//! What follows when something has changed: who is looked at, and what those are told.

use std::collections::BTreeSet;

use bailiwick_journal::StreamId;

use super::{View, claims, filesystems, volumes};
use crate::{
    contract::Decider,
    filesystem, filesystem_attachment, machine,
    supervisor::{Order, order::ORDERS_MAX},
    vocab::Name,
    volume, volume_attachment,
};

/// The orders that follow for these entities and for those that hang on them, in the order of their streams; the first so
/// many of them. Filesystems that name no path are mounted under `mount_dir`, if there is one.
pub(super) fn orders(view: &View, about: &BTreeSet<StreamId>, mount_dir: Option<&str>) -> Vec<Order> {
    let mut subjects: BTreeSet<&StreamId> = about.iter().collect();
    let mut open: Vec<&StreamId> = about.iter().collect();
    while let Some(stream) = open.pop() {
        for dependent in view.dependents(stream) {
            if subjects.insert(dependent) {
                open.push(dependent);
            }
        }
    }
    subjects.into_iter().flat_map(|stream| orders_for(view, stream, mount_dir)).take(ORDERS_MAX).collect()
}

fn orders_for(view: &View, stream: &StreamId, mount_dir: Option<&str>) -> Vec<Order> {
    let name = stream.name();
    match stream.kind() {
        machine::State::KIND => name.parse().ok().map(|name| claims::machine(view, &name)).unwrap_or_default(),
        volume::State::KIND => name.parse().ok().and_then(|name| volumes::volume(view, name)).into_iter().collect(),
        volume_attachment::State::KIND => {
            pair(name).map(|(machine, volume)| volumes::attachment(view, stream, &machine, &volume)).unwrap_or_default()
        }
        filesystem::State::KIND => {
            name.parse().ok().map(|name| filesystems::filesystem(view, &name)).unwrap_or_default()
        }
        filesystem_attachment::State::KIND => pair(name)
            .map(|(machine, filesystem)| filesystems::attachment(view, stream, &machine, &filesystem, mount_dir))
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Whether an attachment that is made is to be made sure of in this session, and was not yet.
pub(super) fn is_to_be_reattached(view: &View, stream: &StreamId) -> bool {
    let Some((machine, other)) = pair(stream.name()) else { return false };
    match stream.kind() {
        volume_attachment::State::KIND => volumes::is_to_be_reattached(view, stream, &machine, &other),
        filesystem_attachment::State::KIND => filesystems::is_to_be_reattached(view, stream, &machine, &other),
        _ => false,
    }
}

fn pair(name: &str) -> Option<(Name, Name)> {
    let (machine, other) = name.split_once(':')?;
    Some((machine.parse().ok()?, other.parse().ok()?))
}
