//! What can be asked of an entity whatever its kind: to go, to try again, to be protected. A new kind has its line in
//! [`KINDS`].

use std::marker::PhantomData;

use bailiwick_actors::{
    attachment::{self, Attached},
    contract::Decider,
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, provider, replica_set,
    shell::{AnyCommand, Kind},
    storage::{self, Provisioned},
    vocab::Added,
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::Going;
use crate::custom_kind::CustomKind;

/// What a kind can be asked.
trait Changed: Kind {
    /// What is declared first has the lowest, and goes last.
    const RANK: u8 = 3;

    /// To go; none for a kind that cannot be removed.
    fn remove(_how: Going) -> Option<Self::Command> {
        None
    }

    /// To try again what failed; none for a kind that tries nothing.
    fn retry() -> Option<Self::Command> {
        None
    }

    /// To be protected from deletion, or not any more; none for a kind that cannot be.
    fn protect(_on: bool) -> Option<Self::Command> {
        None
    }
}

/// A kind, in the table.
pub(super) struct KindEntry {
    name: &'static str,
    pub rank: u8,
    pub remove: fn(Going) -> Option<AnyCommand>,
    pub retry: fn() -> Option<AnyCommand>,
    pub protect: fn(bool) -> Option<AnyCommand>,
}

const fn entry<D: Changed>() -> KindEntry {
    KindEntry {
        name: D::KIND,
        rank: D::RANK,
        remove: |how| D::remove(how).map(AnyCommand::from),
        retry: || D::retry().map(AnyCommand::from),
        protect: |on| D::protect(on).map(AnyCommand::from),
    }
}

/// The kinds that a program adds.
static ADDED: Added<KindEntry> = Added::new();

struct Of<K>(PhantomData<K>);

impl<K: CustomKind> Of<K> {
    const ENTRY: KindEntry = entry::<K>();
}

/// Adds a kind.
pub(crate) fn add<K: CustomKind>() {
    ADDED.add(&Of::<K>::ENTRY);
}

static KINDS: [KindEntry; 12] = [
    entry::<machine::State>(),
    entry::<machine_class::State>(),
    entry::<machine_set::State>(),
    entry::<machine_deployment::State>(),
    entry::<volume::State>(),
    entry::<volume_attachment::State>(),
    entry::<filesystem::State>(),
    entry::<filesystem_attachment::State>(),
    entry::<replica_set::State>(),
    entry::<member::State>(),
    entry::<policy::State>(),
    entry::<provider::State>(),
];

/// The kind of that name, unless it is a kind of documents.
pub(super) fn kind(name: &str) -> Option<&'static KindEntry> {
    KINDS.iter().find(|entry| entry.name == name).or_else(|| ADDED.find(|entry| entry.name == name))
}

/// What is declared first has the lowest, and goes last.
pub(super) fn rank(name: &str) -> u8 {
    kind(name).map_or(3, |entry| entry.rank)
}

/// What asks an entity to go; none for a kind that cannot be removed. A document is asked as one that nothing uses.
pub fn going(stream: &StreamId, how: Going) -> Option<AnyCommand> {
    let of_document = |kind| document::Command::Remove { kind, used_by: document::Users::default() };
    match kind(stream.kind()) {
        Some(entry) => (entry.remove)(how),
        None => document::Kind::of(stream.kind()).map(|kind| of_document(kind).into()),
    }
}

/// What asks an entity to try again what failed; none for a kind that tries nothing.
pub fn retrying(stream: &StreamId) -> Option<AnyCommand> {
    (kind(stream.kind())?.retry)()
}

/// What protects an entity from deletion, or ends that; none for kinds that cannot be protected.
pub fn protecting(stream: &StreamId, on: bool) -> Option<AnyCommand> {
    (kind(stream.kind())?.protect)(on)
}

impl Changed for machine::State {
    const RANK: u8 = 1;

    fn remove(how: Going) -> Option<machine::Command> {
        let of_machine = machine::Removal { force: how.force, keep_instance: how.keep_instance, ..Default::default() };
        let is_plain = of_machine == machine::Removal::default();
        Some(if is_plain { machine::Command::Remove } else { machine::Command::RemoveWith(of_machine) })
    }

    fn retry() -> Option<machine::Command> {
        Some(machine::Command::RetryProvisioning)
    }

    fn protect(on: bool) -> Option<machine::Command> {
        Some(machine::Command::Protect { on })
    }
}

impl Changed for machine_class::State {
    const RANK: u8 = 0;

    fn remove(_how: Going) -> Option<machine_class::Command> {
        Some(machine_class::Command::Remove)
    }
}

impl Changed for machine_set::State {
    const RANK: u8 = 4;

    fn remove(_how: Going) -> Option<machine_set::Command> {
        Some(machine_set::Command::Remove)
    }

    fn protect(on: bool) -> Option<machine_set::Command> {
        Some(machine_set::Command::Protect { on })
    }
}

impl Changed for machine_deployment::State {
    // Sets that it may take are there before it.
    const RANK: u8 = 5;

    fn remove(_how: Going) -> Option<machine_deployment::Command> {
        Some(machine_deployment::Command::Remove)
    }

    fn protect(on: bool) -> Option<machine_deployment::Command> {
        Some(machine_deployment::Command::Protect { on })
    }
}

impl<K: Provisioned> Changed for storage::State<K>
where
    Self: Kind + Decider<Command = storage::Command<K>>,
{
    const RANK: u8 = 2;

    fn remove(how: Going) -> Option<storage::Command<K>> {
        Some(match how {
            Going { force: true, .. } => storage::Command::RemoveForced,
            Going { release: true, .. } => storage::Command::Release,
            Going { destroy: true, .. } => storage::Command::Destroy,
            Going { .. } => storage::Command::Remove,
        })
    }

    fn retry() -> Option<storage::Command<K>> {
        Some(storage::Command::RetryProvisioning)
    }

    fn protect(on: bool) -> Option<storage::Command<K>> {
        Some(storage::Command::Protect { on })
    }
}

impl<A: Attached> Changed for attachment::State<A>
where
    Self: Kind + Decider<Command = attachment::Command<A>>,
{
    fn remove(how: Going) -> Option<attachment::Command<A>> {
        Some(if how.force { attachment::Command::RemoveForced } else { attachment::Command::Remove })
    }

    fn retry() -> Option<attachment::Command<A>> {
        Some(attachment::Command::Retry)
    }
}

impl Changed for replica_set::State {
    const RANK: u8 = 4;

    fn remove(_how: Going) -> Option<replica_set::Command> {
        Some(replica_set::Command::Remove)
    }

    fn retry() -> Option<replica_set::Command> {
        Some(replica_set::Command::RetryNow)
    }

    fn protect(on: bool) -> Option<replica_set::Command> {
        Some(replica_set::Command::Protect { on })
    }
}

impl Changed for member::State {}

impl Changed for policy::State {
    const RANK: u8 = 0;
}

impl Changed for provider::State {
    const RANK: u8 = 0;
}

impl<K: CustomKind> Changed for K {
    // What it follows is there before it.
    const RANK: u8 = 6;

    fn remove(_how: Going) -> Option<K::Command> {
        Some(<K as CustomKind>::remove())
    }

    fn retry() -> Option<K::Command> {
        Some(<K as CustomKind>::retry())
    }
}
