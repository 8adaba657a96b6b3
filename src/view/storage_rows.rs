//! All storage in one table: what it is, where it comes from and goes to, and how it is.

use bailiwick_actors::{
    filesystem, filesystem_attachment,
    storage::{Provisioned, State},
    storage_rules::FromPool,
    supervisor::storage::{Linked, Told, elsewhere, status_of},
    vocab::{Name, SizeMib},
    volume, volume_attachment,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet,
    effort::{effort_detail, stream},
    rows::{kept, volume_detail},
};

/// A volume or filesystem, with its attachments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    let attachment = |machine| Some((machine, fleet.attachments.get(&format!("{machine}:{name}"))?));
    let attachments: Vec<(&Name, &volume_attachment::State)> =
        state.attached_to.iter().filter_map(attachment).collect();
    let zone = |machine: &Name| elsewhere(&fleet.machines, state, machine);
    let links = attachments.iter().map(|(machine, of)| Linked::of_volume(state, machine, of, zone(machine)));
    let links: Vec<Linked<'_>> = links.collect();
    let place = |(machine, of): (&Name, &volume_attachment::State)| match &of.link {
        volume_attachment::Link::Attached { info, .. } => format!("{machine}:{}", info.path),
        _ => machine.to_string(),
    };
    let lost = state.own.lost.and_then(|_| volume_detail(fleet, &stream::<volume::State>(name), state));
    let provider = source(state.spec.as_ref().map(|spec| &spec.provider), state.pool.as_ref());
    let size = state.spec.as_ref().map(|spec| spec.size);
    let row = row(fleet, name, state, (provider, size), &links);
    StorageRow { places: attachments.into_iter().map(place).collect(), detail: lost.or(row.detail), ..row }
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
    let provider = source(state.spec.as_ref().map(|spec| &spec.provider), state.pool.as_ref());
    let from = state.backing().map_or(provider, |volume| format!("volume/{volume}"));
    let size = state.spec.as_ref().map(|spec| spec.size);
    let row = row(fleet, name, state, (from, size), &links);
    StorageRow { places: attachments.into_iter().map(place).collect(), ..row }
}

/// What both say alike: where it comes from and its declared size come with it.
fn row<K: Provisioned>(
    fleet: &Fleet,
    name: &str,
    state: &State<K>,
    (pool, asked): (String, Option<SizeMib>),
    links: &[Linked<'_>],
) -> StorageRow {
    let told = status_of(state, links);
    let size = state.made().map(|made| K::made(made).size).or(asked).unwrap_or_default();
    StorageRow {
        storage: format!("{}/{name}", K::KIND),
        pool,
        size: size.to_string(),
        size_mib: size.0,
        places: Vec::new(),
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
