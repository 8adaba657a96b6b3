//! Lists of filesystems and their attachments.

use bailiwick_actors::{
    contract::Folded,
    filesystem::{self, Storage},
    filesystem_attachment::{self, Link},
    machine::Instance,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet,
    effort::{effort_detail, next_try, stream},
    rows::kept,
};

/// A filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesystemRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    pub ready: bool,
    pub provider: String,
    /// As it is if it is there, or else as it was asked for.
    pub size: String,
    pub size_mib: u64,
    /// The volume that it lives on.
    pub volume: Option<String>,
    /// What the provider calls it.
    pub filesystem_id: Option<String>,
    pub attached_to: Vec<String>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// A filesystem on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesystemAttachmentRow {
    /// `machine:filesystem`.
    pub name: String,
    pub machine: String,
    pub filesystem: String,
    pub status: &'static str,
    pub life: String,
    pub ready: bool,
    pub read_only: bool,
    /// Where it is mounted.
    pub path: Option<String>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// The filesystems that exist, by name.
pub fn filesystems(fleet: &Fleet) -> Vec<FilesystemRow> {
    let existing = fleet.filesystems.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| filesystem_row(fleet, name, folded)).collect()
}

/// The attachments of filesystems that exist, by machine and filesystem.
pub fn filesystem_attachments(fleet: &Fleet) -> Vec<FilesystemAttachmentRow> {
    let existing = fleet.filesystem_attachments.iter().filter(|(_, folded)| folded.state.life.exists());
    existing.map(|(name, folded)| filesystem_attachment_row(fleet, name, folded)).collect()
}

pub(super) fn filesystem_row(fleet: &Fleet, name: &str, folded: &Folded<filesystem::State>) -> FilesystemRow {
    let (state, stream) = (&folded.state, stream::<filesystem::State>(name));
    let made = state.made();
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    let size = made.map_or(asked, |made| made.size);
    let waits = matches!(state.storage, Storage::None) && state.life.exists();
    let detail = match (state.effort().and_then(|effort| effort_detail(effort, fleet.time)), state.backing()) {
        (Some(detail), _) => Some(detail),
        (None, Some(_)) if waits && state.machine().is_none() => Some("waits to be attached to a machine".to_owned()),
        (None, Some(volume)) if waits => Some(format!("waits for the device of volume {volume}")),
        (None, _) => None,
    };
    FilesystemRow {
        name: name.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.is_ready(),
        provider: state.spec.as_ref().map(|spec| spec.provider.to_string()).unwrap_or_default(),
        size: size.to_string(),
        size_mib: size.0,
        volume: state.backing().map(ToString::to_string),
        filesystem_id: made.map(|made| made.filesystem_id.to_string()),
        attached_to: state.attached_to.iter().map(ToString::to_string).collect(),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.effort().and_then(next_try).map(|until| until.0),
        detail: detail.or_else(|| kept(state.kept_of.as_ref())),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

pub(super) fn filesystem_attachment_row(
    fleet: &Fleet,
    name: &str,
    folded: &Folded<filesystem_attachment::State>,
) -> FilesystemAttachmentRow {
    let (state, stream) = (&folded.state, stream::<filesystem_attachment::State>(name));
    let (machine, filesystem) = name.split_once(':').unwrap_or((name, ""));
    FilesystemAttachmentRow {
        name: name.to_owned(),
        machine: machine.to_owned(),
        filesystem: filesystem.to_owned(),
        status: state.status(),
        life: state.life.to_string(),
        ready: state.is_ready(),
        read_only: state.spec.as_ref().is_some_and(|spec| spec.read_only),
        path: state.attached().map(|(_, info)| info.mount_point.clone()),
        age_ms: fleet.age_ms(&stream),
        next_try_ms: state.effort().and_then(next_try).map(|until| until.0),
        detail: mount_detail(fleet, name, state),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

/// What an attachment of a filesystem waits for, or ended with.
pub(super) fn mount_detail(fleet: &Fleet, name: &str, state: &filesystem_attachment::State) -> Option<String> {
    let (machine, filesystem) = name.split_once(':')?;
    let detail = state.effort().and_then(|effort| effort_detail(effort, fleet.time));
    detail.or_else(|| waits_for(fleet, machine, filesystem, state))
}

/// What an attachment waits for is the state of others.
fn waits_for(fleet: &Fleet, machine: &str, filesystem: &str, state: &filesystem_attachment::State) -> Option<String> {
    if !matches!(state.link, Link::Waiting) || !state.life.exists() {
        return None;
    }
    let mut waits = Vec::new();
    let there = fleet.machines.get(machine);
    if !there.is_some_and(|state| matches!(state.instance, Instance::Running { .. })) {
        waits.push(format!("machine {machine}"));
    }
    let there = fleet.filesystems.get(filesystem);
    if !there.is_some_and(|state| matches!(state.storage, Storage::Provisioned { .. })) {
        waits.push(format!("filesystem {filesystem}"));
    }
    (!waits.is_empty()).then(|| format!("waits for {}", waits.join(" and ")))
}
