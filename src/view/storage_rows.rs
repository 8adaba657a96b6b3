//! All storage in one table: what it is, where it comes from and goes to, and how it is.

use bailiwick_actors::{
    filesystem, filesystem_attachment,
    storage_rules::FromPool,
    supervisor::storage::{Elsewhere, StorageStatus, elsewhere},
    vocab::{Effort, Life, Name, Outlook, Timestamp},
    volume, volume_attachment,
};
use serde::Serialize;

use super::{
    Fleet,
    rows::{effort_detail, volume_detail},
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

/// One attachment, as far as it matters to its storage.
struct Link {
    place: String,
    status: StorageStatus,
    detail: Option<String>,
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
    use volume_attachment::{Link as Of, State};
    let link = |machine: &str, state: &State| {
        let (status, path) = match &state.link {
            Of::Waiting => (StorageStatus::Pending, None),
            Of::Attaching { .. } => (StorageStatus::Attaching, None),
            Of::Attached { info, .. } => (StorageStatus::Attached, Some(info.path.clone())),
            Of::Detaching { .. } => (StorageStatus::Detaching, None),
        };
        link(fleet.time, machine, (status, path), state.effort())
    };
    let held = |machine: &Name, of: &State| match of.link {
        Of::Waiting => elsewhere(&fleet.machines, state, machine),
        Of::Attaching { .. } | Of::Attached { .. } | Of::Detaching { .. } => None,
    };
    let machine = state.attached_to.as_ref();
    let attachment = machine.and_then(|machine| fleet.attachments.get(&format!("{machine}:{name}")));
    let links: Vec<Link> = machine
        .zip(attachment)
        .map(|(machine, of)| link(machine.as_str(), of).held(held(machine, of)))
        .into_iter()
        .collect();
    let made = match &state.storage {
        volume::Storage::Provisioned { volume, .. } => Some(volume.size),
        _ => None,
    };
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    let own = match &state.storage {
        volume::Storage::None | volume::Storage::Creating(_) => Some(StorageStatus::Pending),
        volume::Storage::Provisioned { .. } => None,
        volume::Storage::Destroying { .. } => Some(StorageStatus::Destroying),
    };
    let size = made.unwrap_or(asked);
    let (status, detail) = match volume_detail(state, fleet.time).filter(|_| state.lost.is_some()) {
        // What is not there is nowhere, whatever was attached.
        Some(detail) => (StorageStatus::Error, Some(detail)),
        None => status(fleet.time, own, state.life, state.effort(), &links),
    };
    StorageRow {
        storage: format!("volume/{name}"),
        pool: source(state.spec.as_ref().map(|spec| &spec.provider), state.pool.as_ref()),
        size: size.to_string(),
        size_mib: size.0,
        places: links.into_iter().map(|link| link.place).collect(),
        status: status.to_string(),
        detail,
        owner: state.owner.as_ref().map(ToString::to_string),
    }
}

fn filesystem_row(fleet: &Fleet, name: &str, state: &filesystem::State) -> StorageRow {
    use filesystem_attachment::{Link as Of, State};
    let link = |machine: &str, state: &State| {
        let (status, path) = match &state.link {
            Of::Waiting => (StorageStatus::Pending, None),
            Of::Attaching { .. } => (StorageStatus::Attaching, None),
            Of::Attached { info, .. } => (StorageStatus::Attached, Some(info.mount_point.clone())),
            Of::Detaching { .. } => (StorageStatus::Detaching, None),
        };
        link(fleet.time, machine, (status, path), state.effort())
    };
    let attachment = |machine: &Name| {
        let state = fleet.filesystem_attachments.get(&format!("{machine}:{name}"))?;
        Some(link(machine.as_str(), state))
    };
    let links: Vec<Link> = state.attached_to.iter().filter_map(attachment).collect();
    let made = match &state.storage {
        filesystem::Storage::Provisioned { filesystem, .. } => Some(filesystem.size),
        _ => None,
    };
    let asked = state.spec.as_ref().map(|spec| spec.size).unwrap_or_default();
    let own = match &state.storage {
        filesystem::Storage::None | filesystem::Storage::Creating { .. } => Some(StorageStatus::Pending),
        filesystem::Storage::Provisioned { .. } => None,
        filesystem::Storage::Destroying { .. } => Some(StorageStatus::Destroying),
    };
    let provider = source(state.spec.as_ref().map(|spec| &spec.provider), state.pool.as_ref());
    let size = made.unwrap_or(asked);
    let (status, detail) = status(fleet.time, own, state.life, state.effort(), &links);
    StorageRow {
        storage: format!("filesystem/{name}"),
        pool: state.backing().map_or(provider, |volume| format!("volume/{volume}")),
        size: size.to_string(),
        size_mib: size.0,
        places: links.into_iter().map(|link| link.place).collect(),
        status: status.to_string(),
        detail,
        owner: state.owner.as_ref().map(ToString::to_string),
    }
}

fn link(
    now: Timestamp,
    machine: &str,
    (status, path): (StorageStatus, Option<String>),
    effort: Option<&Effort>,
) -> Link {
    let place = path.map_or_else(|| machine.to_owned(), |path| format!("{machine}:{path}"));
    let status = if effort.is_some_and(needs_a_look) { StorageStatus::Error } else { status };
    Link { place, status, detail: effort.and_then(|effort| effort_detail(effort, now)) }
}

impl Link {
    /// What keeps it from being attached at all.
    fn held(self, why: Option<Elsewhere>) -> Self {
        match why {
            Some(why) => Self { status: StorageStatus::Error, detail: Some(why.to_string()), ..self },
            None => self,
        }
    }
}

fn source(provider: Option<&Name>, pool: Option<&FromPool>) -> String {
    let pool = pool.map(|pool| pool.name.to_string());
    pool.or_else(|| provider.map(ToString::to_string)).unwrap_or_default()
}

/// Nobody tries again by himself, or it takes longer than it may: somebody has to look.
fn needs_a_look(effort: &Effort) -> bool {
    matches!(&effort.outlook, Outlook::GivenUp { .. }) || effort.overdue.is_some()
}

/// How the storage is, and why it is not better. What is not right with an attachment says more than what is.
fn status(
    now: Timestamp,
    own: Option<StorageStatus>,
    life: Life,
    effort: Option<&Effort>,
    links: &[Link],
) -> (StorageStatus, Option<String>) {
    let detail = effort.and_then(|effort| effort_detail(effort, now));
    let detail = detail.or_else(|| links.iter().find_map(|link| link.detail.clone()));
    let status = match own {
        Some(_) if effort.is_some_and(needs_a_look) => StorageStatus::Error,
        Some(own) => own,
        None => {
            let worst = |link: &&Link| (link.status != StorageStatus::Attached, link.status);
            match links.iter().max_by_key(worst) {
                // It waits for its machine, or is on its way.
                Some(link) if link.status == StorageStatus::Pending => StorageStatus::Attaching,
                Some(link) => link.status,
                None if life != Life::Alive => StorageStatus::Destroying,
                None => StorageStatus::Detached,
            }
        }
    };
    (status, detail)
}
