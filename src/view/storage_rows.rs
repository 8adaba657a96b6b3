//! All storage in one table: what it is, where it comes from and goes to, and how it is.

use bailiwick_actors::{
    filesystem, filesystem_attachment,
    storage_rules::FromPool,
    supervisor::storage::{Linked, Told, elsewhere, of_filesystem, of_volume},
    vocab::Name,
    volume, volume_attachment,
};
use serde::Serialize;

use super::{
    Fleet,
    effort::{effort_detail, stream},
    rows::{kept, volume_detail},
};

/// A volume or filesystem, with its attachments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StorageRow {
    /// `volume/data`, `filesystem/files`.
    pub storage: String,
    /// Where it comes from: its pool, else its provider, or the volume that it is on.
    pub pool: String,
    pub size: String,
    pub size_mib: u64,
    /// The machines that it is attached to or is to be, each with the place there if it has one: `web:/dev/loop0`.
    #[serde(rename = "where")]
    pub places: Vec<String>,
    /// `pending`, `attaching`, `attached`, `detaching`, `detached`, `destroying` or `error`.
    pub status: String,
    /// What went wrong last, or what it waits for.
    pub detail: Option<String>,
    /// What it is there for, and goes with: `machine/web`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// All volumes, and then all filesystems, by name.
pub fn storage(fleet: &Fleet) -> Vec<StorageRow> {
    let volumes = fleet.volumes.iter().filter(|(_, folded)| folded.state.life.exists());
    let volumes = volumes.map(|(name, folded)| volume_row(fleet, name, &folded.state));
    let filesystems = fleet.filesystems.iter().filter(|(_, folded)| folded.state.life.exists());
    let filesystems = filesystems.map(|(name, folded)| filesystem_row(fleet, name, &folded.state));
    volumes.chain(filesystems).collect()
}

fn volume_row(fleet: &Fleet, name: &str, state: &volume::State) -> StorageRow {
    let machine = state.attached_to.as_ref();
    let attachment = machine.and_then(|machine| Some((machine, fleet.attachments.get(&format!("{machine}:{name}"))?)));
    let link = |(machine, of)| Linked::of_volume(state, machine, of, elsewhere(&fleet.machines, state, machine));
    let links: Vec<Linked<'_>> = attachment.map(link).into_iter().collect();
    let place = |(machine, of): (&Name, &volume_attachment::State)| match &of.link {
        volume_attachment::Link::Attached { info, .. } => format!("{machine}:{}", info.path),
        _ => machine.to_string(),
    };
    let told = of_volume(state, &links);
    let lost = state.lost.and_then(|_| volume_detail(fleet, &stream::<volume::State>(name), state));
    let made = match &state.storage {
        volume::Storage::Provisioned { volume, .. } => Some(volume.size),
        _ => None,
    };
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    let size = made.unwrap_or(asked);
    StorageRow {
        storage: format!("volume/{name}"),
        pool: source(state.spec.as_ref().map(|spec| &spec.provider), state.pool.as_ref()),
        size: size.to_string(),
        size_mib: size.0,
        places: attachment.map(place).into_iter().collect(),
        status: told.status.to_string(),
        detail: lost.or_else(|| detail(fleet, &told)).or_else(|| kept(state.kept_of.as_ref())),
        owner: state.owner.as_ref().map(ToString::to_string),
    }
}

fn filesystem_row(fleet: &Fleet, name: &str, state: &filesystem::State) -> StorageRow {
    let attachment = |machine| Some((machine, fleet.filesystem_attachments.get(&format!("{machine}:{name}"))?));
    let attachments: Vec<(&Name, &filesystem_attachment::State)> =
        state.attached_to.iter().filter_map(attachment).collect();
    let links: Vec<Linked<'_>> = attachments.iter().map(|(_, of)| Linked::of_filesystem(of)).collect();
    let place = |(machine, of): (&Name, &filesystem_attachment::State)| match &of.link {
        filesystem_attachment::Link::Attached { info, .. } => format!("{machine}:{}", info.mount_point),
        _ => machine.to_string(),
    };
    let told = of_filesystem(state, &links);
    let made = match &state.storage {
        filesystem::Storage::Provisioned { filesystem, .. } => Some(filesystem.size),
        _ => None,
    };
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    let provider = source(state.spec.as_ref().map(|spec| &spec.provider), state.pool.as_ref());
    let size = made.unwrap_or(asked);
    StorageRow {
        storage: format!("filesystem/{name}"),
        pool: state.backing().map_or(provider, |volume| format!("volume/{volume}")),
        size: size.to_string(),
        size_mib: size.0,
        places: attachments.into_iter().map(place).collect(),
        status: told.status.to_string(),
        detail: detail(fleet, &told).or_else(|| kept(state.kept_of.as_ref())),
        owner: state.owner.as_ref().map(ToString::to_string),
    }
}

/// What went wrong last, or what it waits for.
fn detail(fleet: &Fleet, told: &Told<'_>) -> Option<String> {
    let tried = told.effort.and_then(|effort| effort_detail(effort, fleet.time));
    told.held.as_ref().map(ToString::to_string).or(tried)
}

fn source(provider: Option<&Name>, pool: Option<&FromPool>) -> String {
    let pool = pool.map(|pool| pool.name.to_string());
    pool.or_else(|| provider.map(ToString::to_string)).unwrap_or_default()
}
