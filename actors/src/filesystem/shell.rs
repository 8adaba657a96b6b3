//! Filesystem effects as provider calls.

use super::{Filesystem, State, Storage};
use crate::{
    ports::{BulkAnswer, CreateFilesystem, FilesystemProvider, Lookup, Operation, ProvisionedFilesystem},
    shell::{AnyCommand, AnyWish, Filesystems, Make, Services, Thing, Undo},
    storage::shell::{Calls, ToMake, created, destroyed},
    vocab::{EffectId, Fault, Name},
};

impl Calls for Filesystem {
    fn provider(state: &State) -> Option<Name> {
        state.source()
    }

    fn machine(state: &State) -> Option<Name> {
        state.machine().cloned()
    }

    fn make(state: &State, of: &ToMake<'_, Self>) -> AnyWish {
        let (backing, over) = match &state.storage {
            Storage::Creating { base, .. } => (base.backing.clone(), base.over.iter()),
            Storage::None | Storage::Provisioned { .. } | Storage::Destroying { .. } => Default::default(),
        };
        let of_others = over.map(|left| EffectId::of(of.journal, &left.stream, left.version));
        let own = state.own.destroyed.iter().map(|left| EffectId::of(of.journal, of.stream, *left));
        AnyWish::make(CreateFilesystem {
            id: of.id,
            filesystem: of.name.clone(),
            uid: state.uid(of.journal, of.stream),
            size: of.spec.size,
            backing,
            pool: state.pool.clone(),
            replaces: own.chain(of_others).collect(),
        })
    }

    fn destroy(id: EffectId) -> AnyWish {
        AnyWish::undo(&DESTROY, id)
    }

    fn release(id: EffectId) -> AnyWish {
        AnyWish::undo(&RELEASE, id)
    }
}

/// Filesystems, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = Filesystems;
    type Made = ProvisionedFilesystem;
    type Handle = EffectId;

    fn lookup(by: &dyn FilesystemProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        by.lookup_filesystems(ids)
    }
}

impl Make for CreateFilesystem {
    const OPERATION: Operation = Operation::CreateFilesystem;
    type Thing = Kept;

    fn make<'a>(
        by: &'a dyn FilesystemProvider,
        _: &Services,
        wishes: Vec<Self>,
    ) -> BulkAnswer<'a, ProvisionedFilesystem> {
        by.create_filesystems(wishes)
    }

    fn report(attempt: u32, result: Result<ProvisionedFilesystem, Fault>) -> AnyCommand {
        created::<Filesystem>(attempt, result)
    }

    fn works_on(&self) -> Vec<EffectId> {
        self.backing.iter().map(|backing| backing.volume_effect).collect()
    }
}

/// The end of a filesystem and of its data.
static DESTROY: Undo<Kept> = Undo {
    operation: Operation::DestroyFilesystem,
    undo: |by, ids| by.destroy_filesystems(ids),
    report: |_, attempt, result| destroyed::<Filesystem>(attempt, result),
};

/// The end of a filesystem here; its data stays.
static RELEASE: Undo<Kept> = Undo {
    operation: Operation::ReleaseFilesystem,
    undo: |by, ids| by.release_filesystems(ids),
    report: |_, attempt, result| destroyed::<Filesystem>(attempt, result),
};
