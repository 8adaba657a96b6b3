//! Volumes, filesystems, and what they are attached by.

use bailiwick_actors::{
    contract::{Fold, Folded},
    filesystem, filesystem_attachment,
    vocab::{Effort, Life, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{Obstacle, Portrait, Shown};
use crate::view::{
    Fleet,
    blockers::{self, of_attachment, of_storage},
    clients,
    declared::{self, of},
    diff::facts,
    filesystem_rows::{filesystem_attachment_row, filesystem_row},
    portrait::Row,
    rows::{attachment_row, volume_row},
    told::Told,
    unmet::Unmet,
    why_not_storage::storage_missing,
};

impl Shown for volume::State {
    const STATUSES: &'static [&'static str] = &[
        "pending",
        "creating",
        "available",
        "reserved",
        "lost",
        "failed",
        "dying",
        "releasing",
        "destroying",
        "blocked",
    ];
    const GOALS: &'static [&'static str] = &["ready", "attached", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.volumes)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn is_protected(&self) -> bool {
        self.protected
    }

    fn effort(&self) -> Option<&Effort> {
        Self::effort(self)
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Volume(volume_row(fleet, stream.name(), folded));
        Portrait::of(row, declared::of_volume(&folded.state))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::volume(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn since(&self, _fleet: &Fleet, _stream: &StreamId) -> Option<Timestamp> {
        self.own.lost.or(Self::effort(self).map(|effort| effort.since))
    }

    fn blocked(&self, fleet: &Fleet, stream: &StreamId) -> Vec<Obstacle> {
        of_storage(fleet, stream.name(), self, blockers::attachment)
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        storage_missing(fleet, stream, goal)
    }
}

impl Shown for volume_attachment::State {
    const STATUSES: &'static [&'static str] =
        &["waiting", "attaching", "attached", "lost", "failed", "detaching", "blocked"];
    const GOALS: &'static [&'static str] = &["ready", "attached", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.attachments)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn effort(&self) -> Option<&Effort> {
        Self::effort(self)
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Attachment(attachment_row(fleet, stream.name(), folded));
        Portrait::of(row, of(folded.state.spec.as_ref(), declared::volume_attachment))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::attachment(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn since(&self, fleet: &Fleet, stream: &StreamId) -> Option<Timestamp> {
        let volume = stream.name().split_once(':').and_then(|(_, volume)| fleet.volumes.get(volume));
        Self::effort(self).map(|effort| effort.since).or(volume.and_then(|state| state.own.lost))
    }

    fn blocked(&self, fleet: &Fleet, _stream: &StreamId) -> Vec<Obstacle> {
        if clients::is_going(self) {
            let machine = self.spec.as_ref().map(|spec| spec.machine.to_string()).unwrap_or_default();
            let (by, why) = clients::waits_for(fleet, &machine);
            return vec![(by, why, self.undoing().map(|effort| effort.since))];
        }
        let is_going = matches!(self.link, volume_attachment::Link::Detaching { .. });
        of_attachment(self.life, Self::effort(self).filter(|_| is_going), "detach", fleet.time)
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        storage_missing(fleet, stream, goal)
    }
}

impl Shown for filesystem::State {
    const STATUSES: &'static [&'static str] =
        &["pending", "creating", "available", "reserved", "failed", "dying", "releasing", "destroying", "blocked"];
    const GOALS: &'static [&'static str] = &["ready", "mounted", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.filesystems)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn is_protected(&self) -> bool {
        self.protected
    }

    fn effort(&self) -> Option<&Effort> {
        Self::effort(self)
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::Filesystem(filesystem_row(fleet, stream.name(), folded));
        Portrait::of(row, declared::of_filesystem(&folded.state))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::filesystem(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn blocked(&self, fleet: &Fleet, stream: &StreamId) -> Vec<Obstacle> {
        of_storage(fleet, stream.name(), self, blockers::mount)
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        storage_missing(fleet, stream, goal)
    }
}

impl Shown for filesystem_attachment::State {
    const STATUSES: &'static [&'static str] = &["waiting", "attaching", "attached", "failed", "detaching", "blocked"];
    const GOALS: &'static [&'static str] = &["ready", "mounted", "removed"];

    fn fold<'f>(fleet: &'f Fleet, _kind: &str) -> Option<&'f Fold<Self>> {
        Some(&fleet.filesystem_attachments)
    }

    fn life(&self) -> Life {
        self.life
    }

    fn effort(&self) -> Option<&Effort> {
        Self::effort(self)
    }

    fn portrait(fleet: &Fleet, stream: &StreamId, folded: &Folded<Self>) -> Portrait {
        let row = Row::FilesystemAttachment(filesystem_attachment_row(fleet, stream.name(), folded));
        Portrait::of(row, of(folded.state.spec.as_ref(), declared::filesystem_attachment))
    }

    fn facts(&self, fleet: &Fleet, stream: &StreamId) -> Told {
        facts::mount(fleet, stream, self)
    }

    fn status(&self) -> Option<&'static str> {
        Some(Self::status(self))
    }

    fn blocked(&self, fleet: &Fleet, _stream: &StreamId) -> Vec<Obstacle> {
        let is_going = matches!(self.link, filesystem_attachment::Link::Detaching { .. });
        of_attachment(self.life, Self::effort(self).filter(|_| is_going), "unmount", fleet.time)
    }

    #[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
    fn missing(fleet: &Fleet, stream: &StreamId, goal: &str) -> Option<Option<Unmet>> {
        storage_missing(fleet, stream, goal)
    }
}
