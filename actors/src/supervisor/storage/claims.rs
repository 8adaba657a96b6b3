//! The storage that machines of sets ask for, made and removed with them.
//!
//! A machine's declaration says what it asks for, and makes room for all of it: that is the intent, and it is durable before
//! anything is ordered. Then come, one after the other, the volume, the filesystem on it, its mount, the attachment; each is
//! born with the room for what follows, so whatever moment a node ends at, the next one sees what is still to come. When the
//! machine goes, it lets go of what never came to be, and what was made goes as well, or stays for its own sake if it is to.
//! What was never made holds no data: it goes in any case.

use bailiwick_journal::{StreamId, Version};

use super::{View, known::version};
use crate::{
    contract::Decider,
    filesystem::{self, MANAGED},
    filesystem_attachment,
    machine::{self, Command},
    storage_rules::{ClaimForm, Claimed, ClaimedBy, claimed},
    supervisor::Order,
    vocab::{Life, Name},
    volume, volume_attachment,
};

/// What follows for what a machine asks for.
pub(super) fn machine(view: &View, machine: &Name) -> Vec<Order> {
    let Some(folded) = view.machines.folded(machine.as_str()) else { return Vec::new() };
    let Some(spec) = &folded.state.spec else { return Vec::new() };
    let claims = Claims { view, machine, state: &folded.state, version: folded.version };
    let follows = |claimed: Claimed<'_>| match folded.state.life {
        Life::Alive => claims.next(&claimed).into_iter().collect(),
        Life::Dying | Life::Dead => claims.let_go(&claimed),
        Life::Undeclared | Life::Removed => Vec::new(),
    };
    claimed(machine, &spec.storage).flat_map(follows).collect()
}

/// What follows for a volume from what becomes of the machine that it was made for.
pub(super) fn volume(view: &View, volume: &Name, state: &volume::State) -> Option<volume::Command> {
    use volume::Command;
    let by = state.claim.as_ref()?;
    if is_asked_for(view, by, |claimed| claimed.volume.as_ref() == Some(volume)) {
        return None;
    }
    let attachment = stream(volume_attachment::State::KIND, &format!("{}:{volume}", by.machine))?;
    if state.attached_to.contains(&by.machine) && is_never_to_be(view, &attachment) {
        return Some(Command::ReleaseAttachment { machine: by.machine.clone() });
    }
    let own = state.own.filesystem.as_ref().filter(|filesystem| is_for(state, filesystem));
    if let Some(filesystem) = own
        && is_never_to_be(view, &stream(filesystem::State::KIND, filesystem.as_str())?)
    {
        return Some(Command::Own(volume::OwnCommand::ReleaseFilesystem {
            filesystem: filesystem.clone(),
            leaves: Default::default(),
        }));
    }
    let is_made = match own {
        Some(filesystem) => view.filesystems.get(filesystem.as_str()).is_some_and(is_filesystem_made),
        None => state.made().is_some(),
    };
    let is_elsewhere = state.attached_to.iter().any(|machine| *machine != by.machine);
    match (state.life, is_made && stays(view, by, is_elsewhere), &state.own.filesystem) {
        (Life::Alive, true, _) => Some(Command::Keep),
        (Life::Alive, false, Some(_)) => Some(Command::Own(volume::OwnCommand::RemoveWithFilesystem)),
        (Life::Alive, false, None) => Some(Command::Remove),
        _ => None,
    }
}

/// As [`volume`], of a filesystem.
pub(super) fn filesystem(view: &View, filesystem: &Name, state: &filesystem::State) -> Option<filesystem::Command> {
    use filesystem::Command;
    let by = state.claim.as_ref()?;
    if is_asked_for(view, by, |claimed| claimed.filesystem.as_ref() == Some(filesystem)) {
        return None;
    }
    let mount = stream(filesystem_attachment::State::KIND, &format!("{}:{filesystem}", by.machine))?;
    if state.attached_to.contains(&by.machine) && is_never_to_be(view, &mount) {
        return Some(Command::ReleaseAttachment { machine: by.machine.clone() });
    }
    let is_elsewhere = state.attached_to.iter().any(|machine| *machine != by.machine);
    match (state.life, is_filesystem_made(state) && stays(view, by, is_elsewhere)) {
        (Life::Alive, true) => Some(Command::Keep),
        (Life::Alive, false) => Some(Command::Remove),
        _ => None,
    }
}

/// Whether the machine is there, stays, and asks for it.
fn is_asked_for(view: &View, by: &ClaimedBy, is_it: impl Fn(&Claimed<'_>) -> bool) -> bool {
    let machine = view.machines.get(by.machine.as_str()).filter(|state| state.life == Life::Alive);
    let spec = machine.and_then(|state| state.spec.as_ref());
    spec.is_some_and(|spec| claimed(&by.machine, &spec.storage).any(|claimed| is_it(&claimed)))
}

/// Whether what was made outlives its machine: it is to, somebody else uses it, or the machine's instance stays and works
/// with it.
fn stays(view: &View, by: &ClaimedBy, is_elsewhere: bool) -> bool {
    let keeps_instance = || view.machines.get(by.machine.as_str()).is_some_and(|state| state.keeps_instance);
    by.is_persistent || is_elsewhere || keeps_instance()
}

/// Whether something was not declared, and is not being declared either.
fn is_never_to_be(view: &View, stream: &StreamId) -> bool {
    let is_known = match stream.kind() {
        volume::State::KIND => view.volumes.get(stream.name()).is_some(),
        filesystem::State::KIND => view.filesystems.get(stream.name()).is_some(),
        volume_attachment::State::KIND => view.attachments.get(stream.name()).is_some(),
        _ => view.filesystem_attachments.get(stream.name()).is_some(),
    };
    !is_known && !view.orders.any_open(stream)
}

fn is_filesystem_made(state: &filesystem::State) -> bool {
    matches!(state.storage, filesystem::Storage::Provisioned { .. })
}

/// Whether a volume is there for a filesystem on it.
fn is_for(state: &volume::State, filesystem: &Name) -> bool {
    let owner = state.owner.as_ref();
    owner.is_some_and(|owner| owner.kind() == filesystem::State::KIND && owner.name() == filesystem.as_str())
}

fn stream(kind: &str, name: &str) -> Option<StreamId> {
    StreamId::new(kind, name).ok()
}

/// A machine that asks for storage, as it is.
struct Claims<'a> {
    view: &'a View,
    machine: &'a Name,
    state: &'a machine::State,
    version: Version,
}

impl Claims<'_> {
    /// What has still to come of one of its claims, the first of it.
    fn next(&self, claimed: &Claimed<'_>) -> Option<Order> {
        let follows = self.volume(claimed).or_else(|| self.filesystem(claimed));
        follows.or_else(|| self.mount(claimed)).or_else(|| self.attachment(claimed))
    }

    fn volume(&self, claimed: &Claimed<'_>) -> Option<Order> {
        let volume = claimed.volume.as_ref()?;
        let is_there = self.view.volumes.get(volume.as_str()).is_some();
        if is_there || !self.awaits_attachment(volume) {
            return None;
        }
        let claim = claimed.claim;
        let command = volume::Command::Claim(Box::new(volume::Claim {
            spec: volume::Spec { provider: claim.provider.clone(), size: claim.size },
            pool: claim.pool.clone(),
            by: self.by(claimed),
            owner: match &claimed.filesystem {
                Some(filesystem) => stream(filesystem::State::KIND, filesystem.as_str()),
                None => self.owner(claimed),
            },
            filesystem: claimed.filesystem.clone(),
        }));
        let version = version(&self.view.volumes, volume);
        self.news(Order::Volume { volume: volume.clone(), command }, version)
    }

    fn filesystem(&self, claimed: &Claimed<'_>) -> Option<Order> {
        let filesystem = claimed.filesystem.as_ref()?;
        let is_there = self.view.filesystems.get(filesystem.as_str()).is_some();
        let has_room = claimed.volume.as_ref().is_none_or(|volume| {
            self.own_volume(volume).is_some_and(|state| state.own.filesystem.as_ref() == Some(filesystem))
        });
        if is_there || !has_room || !self.awaits_mount(filesystem) {
            return None;
        }
        let claim = claimed.claim;
        let (provider, is_inside, pool) = match &claim.form {
            ClaimForm::OnVolume { is_inside, .. } => (MANAGED.parse().expect("a valid name"), *is_inside, None),
            ClaimForm::Filesystem { is_inside, .. } => (claim.provider.clone(), *is_inside, Some(claim.pool.clone())),
            ClaimForm::Volume => return None,
        };
        let machine = is_inside.then(|| self.machine.clone());
        let spec = filesystem::Spec { provider, size: claim.size, backing: claimed.volume.clone(), machine };
        let claim = filesystem::Claim { spec, pool, by: self.by(claimed), owner: self.owner(claimed) };
        let command = filesystem::Command::Claim(Box::new(claim));
        let version = version(&self.view.filesystems, filesystem);
        self.news(Order::Filesystem { filesystem: filesystem.clone(), command }, version)
    }

    fn mount(&self, claimed: &Claimed<'_>) -> Option<Order> {
        let filesystem = claimed.filesystem.as_ref()?;
        let state = self.view.filesystems.get(filesystem.as_str()).filter(|state| self.is_own(state.claim.as_ref()))?;
        let has_room = state.life == Life::Alive && state.attached_to.contains(self.machine);
        if !has_room || !self.awaits_mount(filesystem) {
            return None;
        }
        let (path, read_only) = (claimed.claim.path().cloned(), claimed.claim.read_only);
        let (machine, filesystem) = (self.machine.clone(), filesystem.clone());
        let spec = filesystem_attachment::Spec { machine, filesystem: filesystem.clone(), path, read_only };
        let command = filesystem_attachment::Command::Declare(spec);
        self.news(Order::FilesystemAttachment { machine: self.machine.clone(), filesystem, command }, Version::ZERO)
    }

    /// The attachment of a volume comes after the mount of what is on it: without that it would be let go of at once.
    fn attachment(&self, claimed: &Claimed<'_>) -> Option<Order> {
        let volume = claimed.volume.as_ref()?;
        let state = self.own_volume(volume)?;
        let is_mounted = claimed.filesystem.as_ref().is_none_or(|filesystem| {
            let mount = self.view.filesystem_attachments.get(&self.pair(filesystem));
            mount.is_some_and(|mount| mount.life.exists())
        });
        if !is_mounted || !state.attached_to.contains(self.machine) || !self.awaits_attachment(volume) {
            return None;
        }
        // What is on it has to be made first: only the mount is read-only, where that is asked for.
        let read_only = claimed.claim.read_only && claimed.filesystem.is_none();
        let (machine, volume) = (self.machine.clone(), volume.clone());
        let spec = volume_attachment::Spec { machine: machine.clone(), volume: volume.clone(), read_only };
        let command = volume_attachment::Command::Declare(spec);
        self.news(Order::VolumeAttachment { machine, volume, command }, Version::ZERO)
    }

    /// What never came to be does not keep a machine that goes.
    fn let_go(&self, claimed: &Claimed<'_>) -> Vec<Order> {
        let comes =
            |kind: &str, name: &str| stream(kind, name).is_none_or(|stream| !is_never_to_be(self.view, &stream));
        let is_coming = |kind: &str, name: &Name| {
            stream(kind, name.as_str()).is_some_and(|stream| self.view.orders.any_open(&stream))
        };
        let volume = claimed.volume.iter().filter(|volume| {
            let is_coming = is_coming(volume::State::KIND, volume);
            self.state.attachments.contains(*volume)
                && !is_coming
                && !comes(volume_attachment::State::KIND, &self.pair(volume))
        });
        let filesystem = claimed.filesystem.iter().filter(|filesystem| {
            let is_coming = is_coming(filesystem::State::KIND, filesystem);
            self.state.mounts.contains(*filesystem)
                && !is_coming
                && !comes(filesystem_attachment::State::KIND, &self.pair(filesystem))
        });
        let volume = volume.map(|volume| Command::ReleaseAttachment { volume: volume.clone() });
        let filesystem = filesystem.map(|filesystem| Command::ReleaseMount { filesystem: filesystem.clone() });
        let order = |command| self.news(Order::Machine { machine: self.machine.clone(), command }, self.version);
        volume.chain(filesystem).filter_map(order).collect()
    }

    /// Whether it has room for an attachment of which nothing was heard yet.
    fn awaits_attachment(&self, volume: &Name) -> bool {
        self.state.attachments.contains(volume) && self.view.attachments.get(&self.pair(volume)).is_none()
    }

    fn awaits_mount(&self, filesystem: &Name) -> bool {
        self.state.mounts.contains(filesystem) && self.view.filesystem_attachments.get(&self.pair(filesystem)).is_none()
    }

    fn own_volume(&self, volume: &Name) -> Option<&volume::State> {
        let state = self.view.volumes.get(volume.as_str()).filter(|state| state.life == Life::Alive)?;
        self.is_own(state.claim.as_ref()).then_some(state)
    }

    fn is_own(&self, claim: Option<&ClaimedBy>) -> bool {
        claim.is_some_and(|by| by.machine == *self.machine)
    }

    fn by(&self, claimed: &Claimed<'_>) -> ClaimedBy {
        ClaimedBy { machine: self.machine.clone(), is_persistent: claimed.claim.is_persistent }
    }

    fn owner(&self, claimed: &Claimed<'_>) -> Option<StreamId> {
        let goes = !claimed.claim.is_persistent;
        goes.then(|| stream(machine::State::KIND, self.machine.as_str())).flatten()
    }

    fn pair(&self, other: &Name) -> String {
        format!("{}:{other}", self.machine)
    }

    fn news(&self, order: Order, version: Version) -> Option<Order> {
        self.view.orders.is_news(&order, version).then_some(order)
    }
}
