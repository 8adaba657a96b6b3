//! Orders: commands that a supervisor issues to entities.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Bound,
};

use bailiwick_journal::{Cite, Draft, Entry, Outcome, Position, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    attachment::{self, Attached},
    contract::Decider,
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member, replica_set,
    storage::{self, Provisioned},
    vocab::{Call, Name, derived_uuid},
    volume, volume_attachment,
};

/// The most orders that one decision issues: what one entry holds, and one event beside them. A supervisor from which more
/// follows looks once more when these are issued.
pub(crate) const ORDERS_MAX: usize = Draft::EVENTS_MAX - 1;

/// A command to one entity, whichever supervisor issues it.
pub trait Ordered: Clone + fmt::Debug + PartialEq + Send + Unpin + 'static {
    /// Whom it is for.
    fn target(&self) -> StreamId;
}

/// A command to one entity of a built-in kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    Machine { machine: Name, command: machine::Command },
    Volume { volume: Name, command: volume::Command },
    VolumeAttachment { machine: Name, volume: Name, command: volume_attachment::Command },
    ReplicaSet { set: Name, command: replica_set::Command },
    Filesystem { filesystem: Name, command: filesystem::Command },
    FilesystemAttachment { machine: Name, filesystem: Name, command: filesystem_attachment::Command },
    Member { set: Name, machine: Name, command: member::Command },
    MachineSet { set: Name, command: machine_set::Command },
    MachineClass { class: Name, command: machine_class::Command },
    MachineDeployment { deployment: Name, command: machine_deployment::Command },
}

impl Ordered for Order {
    fn target(&self) -> StreamId {
        Self::target(self)
    }
}

impl Order {
    /// What its target calls a provider for once it takes it; none if for nothing.
    pub fn calls_for(&self) -> Option<Call> {
        match self {
            Self::Machine { command, .. } => match command {
                machine::Command::Declare(_) => Some(Call::Create),
                machine::Command::GiveUp { .. }
                | machine::Command::Remove
                | machine::Command::RemoveWith(_)
                | machine::Command::RemoveStray { .. }
                | machine::Command::RemoveReturned { .. } => Some(Call::Delete),
                _ => None,
            },
            Self::Volume { command, .. } => calls_for_storage(command),
            Self::Filesystem { command, .. } => calls_for_storage(command),
            Self::VolumeAttachment { command, .. } => calls_for_attachment(command),
            Self::FilesystemAttachment { command, .. } => calls_for_attachment(command),
            Self::ReplicaSet { command: replica_set::Command::TakeStep { .. }, .. } => Some(Call::Reconfigure),
            Self::ReplicaSet { .. }
            | Self::Member { .. }
            | Self::MachineSet { .. }
            | Self::MachineClass { .. }
            | Self::MachineDeployment { .. } => None,
        }
    }

    /// Whom it is for.
    pub fn target(&self) -> StreamId {
        let (kind, name) = match self {
            Self::Machine { machine, .. } => (machine::State::KIND, machine.to_string()),
            Self::Volume { volume, .. } => (volume::State::KIND, volume.to_string()),
            Self::ReplicaSet { set, .. } => (replica_set::State::KIND, set.to_string()),
            Self::MachineSet { set, .. } => (machine_set::State::KIND, set.to_string()),
            Self::MachineClass { class, .. } => (machine_class::State::KIND, class.to_string()),
            Self::MachineDeployment { deployment, .. } => (machine_deployment::State::KIND, deployment.to_string()),
            Self::VolumeAttachment { machine, volume, .. } => {
                (volume_attachment::State::KIND, format!("{machine}:{volume}"))
            }
            Self::Filesystem { filesystem, .. } => (filesystem::State::KIND, filesystem.to_string()),
            Self::FilesystemAttachment { machine, filesystem, .. } => {
                (filesystem_attachment::State::KIND, format!("{machine}:{filesystem}"))
            }
            Self::Member { set, machine, .. } => (member::State::KIND, format!("{set}:{machine}")),
        };
        StreamId::new(kind, &name).expect("names and kinds are checked")
    }
}

fn calls_for_storage<K: Provisioned>(command: &storage::Command<K>) -> Option<Call> {
    use storage::Command::{Claim, Declare, Destroy, Release, Remove, RemoveForced};
    match command {
        Declare(_) | Claim(_) => Some(Call::Create),
        Remove | Destroy | Release | RemoveForced => Some(Call::Delete),
        _ => None,
    }
}

fn calls_for_attachment<A: Attached>(command: &attachment::Command<A>) -> Option<Call> {
    use attachment::Command::{Attach, Detach, Reattach, Remove, RemoveForced};
    match command {
        Attach { .. } | Reattach => Some(Call::Attach),
        Detach { .. } | Remove | RemoveForced => Some(Call::Detach),
        _ => None,
    }
}

/// The orders that a supervisor has issued and that are not answered yet; a part of its view.
#[derive(Clone, Debug, PartialEq)]
pub struct Orders<O = Order> {
    open: BTreeMap<Uuid, Issued<O>>,
    /// The open ones in the order of the entries that issued them.
    by_entry: BTreeSet<(Position, Uuid)>,
    /// The open ones by target, so that looking for one does not cost the number of all.
    by_target: BTreeMap<StreamId, BTreeSet<Uuid>>,
    /// What was answered with nothing done, and at which version of the target: it is not said again before the target
    /// has changed.
    in_vain: BTreeMap<StreamId, (O, Version)>,
}

/// An order, and the entry that issued it.
#[derive(Clone, Debug, PartialEq)]
pub struct Issued<O = Order> {
    pub order: O,
    /// Whom it is for.
    pub target: StreamId,
    /// The position of the entry that issued it.
    pub by: Position,
    /// What it rests on: its target's decision cites the same.
    pub cites: Vec<Cite>,
}

impl<O> Default for Orders<O> {
    fn default() -> Self {
        let (open, by_entry, by_target) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { open, by_entry, by_target, in_vain: BTreeMap::new() }
    }
}

impl Orders {
    /// The command id of the order that an event of a supervisor's stream issues.
    pub fn command_id(supervisor: &StreamId, at: Version) -> Uuid {
        derived_uuid(&format!("order {supervisor} {at}"))
    }
}

impl<O: Ordered> Orders<O> {
    /// An order was issued.
    pub fn issued(&mut self, supervisor: &StreamId, at: Version, by: Position, order: O, cites: Vec<Cite>) {
        let id = Orders::command_id(supervisor, at);
        let target = order.target();
        self.by_target.entry(target.clone()).or_default().insert(id);
        self.by_entry.insert((by, id));
        self.open.insert(id, Issued { order, target, by, cites });
        debug_assert_eq!(self.open.len(), self.by_entry.len(), "each open order stands once under its entry");
    }

    /// Some entry was written: if it answers an order, that order is done with.
    pub fn answered(&mut self, entry: &Entry) {
        let header = &entry.header;
        let Some(issued) = self.open.remove(&header.meta.command_id) else {
            return;
        };
        let stood_under_its_entry = self.by_entry.remove(&(issued.by, header.meta.command_id));
        debug_assert!(stood_under_its_entry, "each open order stands once under its entry");
        if let Some(ids) = self.by_target.get_mut(&issued.target) {
            let stood_under_its_target = ids.remove(&header.meta.command_id);
            debug_assert!(stood_under_its_target, "each open order stands once under its target");
            if ids.is_empty() {
                self.by_target.remove(&issued.target);
            }
        }
        if header.meta.outcome != Outcome::Done {
            self.in_vain.insert(header.stream.clone(), (issued.order, header.last_version()));
        }
    }

    /// The orders that wait for an answer, by command id.
    pub fn open(&self) -> impl Iterator<Item = (&Uuid, &Issued<O>)> {
        self.open.iter()
    }

    /// An order that waits for an answer.
    pub fn get(&self, id: &Uuid) -> Option<&Issued<O>> {
        self.open.get(id)
    }

    /// The first order that waits for an answer, or the first after one of them: by the position of the entry that issued
    /// it, then by its command id.
    pub fn after(&self, last: Option<(Position, Uuid)>) -> Option<((Position, Uuid), &Issued<O>)> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        let place = self.by_entry.range((from, Bound::Unbounded)).next()?;
        Some((*place, self.open.get(&place.1)?))
    }

    /// The open orders to one target.
    pub fn open_to(&self, target: &StreamId) -> impl Iterator<Item = &O> {
        let ids = self.by_target.get(target).into_iter().flatten();
        ids.filter_map(|id| self.open.get(id)).map(|issued| &issued.order)
    }

    /// Whether an order to this target waits for an answer.
    pub fn any_open(&self, target: &StreamId) -> bool {
        self.by_target.contains_key(target)
    }

    /// Whether the order makes sense now: it is not open already, and was not answered in vain since its target changed.
    pub fn is_news(&self, order: &O, target_version: Version) -> bool {
        let target = order.target();
        let open = self.open_to(&target).any(|other| other == order);
        let in_vain =
            self.in_vain.get(&target).is_some_and(|(said, version)| said == order && *version == target_version);
        !open && !in_vain
    }
}
