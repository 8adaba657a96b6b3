//! Volume effects as provider calls.

use super::{State, Volume};
use crate::{
    ports::{BulkAnswer, CreateVolume, ImportVolume, Lookup, Operation, ProvisionedVolume, VolumeProvider},
    shell::{AnyCommand, AnyWish, Make, Services, Thing, Undo, Volumes},
    storage::shell::{Calls, ToMake, created, destroyed},
    storage_rules::ImportWish,
    vocab::{EffectId, Fault, FaultCode, Name},
};

impl Calls for Volume {
    fn provider(state: &State) -> Option<Name> {
        state.spec.as_ref().map(|spec| spec.provider.clone())
    }

    fn machine(state: &State) -> Option<Name> {
        let own = &state.own;
        own.place.as_ref().map(|place| &place.machine).or(own.wanted_on.as_ref()).cloned()
    }

    fn make(state: &State, of: &ToMake<'_, Self>) -> AnyWish {
        let (id, volume, uid) = (of.id, of.name.clone(), state.uid(of.journal, of.stream));
        match &state.own.import {
            Some(volume_id) => {
                let wish = ImportWish { id, volume_id: volume_id.clone(), size_min: of.spec.size };
                AnyWish::make(ImportVolume { volume, uid, wish })
            }
            None => {
                let (pool, tags) = (state.pool.clone(), state.own.tags.clone());
                AnyWish::make(CreateVolume { id, volume, uid, size: of.spec.size, pool, tags })
            }
        }
    }

    fn destroy(id: EffectId) -> AnyWish {
        AnyWish::undo(&DESTROY, id)
    }

    fn release(id: EffectId) -> AnyWish {
        AnyWish::undo(&RELEASE, id)
    }
}

/// Volumes, as providers keep them.
#[derive(Clone, Debug)]
pub struct Kept;

impl Thing for Kept {
    type Port = Volumes;
    type Made = ProvisionedVolume;
    type Handle = EffectId;

    fn lookup(by: &dyn VolumeProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>> {
        by.lookup_volumes(ids)
    }
}

impl Make for CreateVolume {
    const OPERATION: Operation = Operation::CreateVolume;
    type Thing = Kept;

    fn make<'a>(by: &'a dyn VolumeProvider, _: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, ProvisionedVolume> {
        by.create_volumes(wishes)
    }

    fn report(attempt: u32, result: Result<ProvisionedVolume, Fault>) -> AnyCommand {
        created::<Volume>(attempt, result)
    }
}

impl Make for ImportVolume {
    const OPERATION: Operation = Operation::ImportVolume;
    type Thing = Kept;

    fn make<'a>(by: &'a dyn VolumeProvider, _: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, ProvisionedVolume> {
        let cannot = || Fault::new(FaultCode::Unimplemented, "the provider cannot take over what it has not made");
        match by.importer() {
            Some(importer) => importer.import_volumes(wishes),
            None => Box::pin(std::future::ready(Ok(wishes.iter().map(|_| Err(cannot())).collect()))),
        }
    }

    fn report(attempt: u32, result: Result<ProvisionedVolume, Fault>) -> AnyCommand {
        created::<Volume>(attempt, result)
    }
}

/// The end of a volume and of its data.
static DESTROY: Undo<Kept> = Undo {
    operation: Operation::DestroyVolume,
    undo: |by, ids| by.destroy_volumes(ids),
    report: |_, attempt, result| destroyed::<Volume>(attempt, result),
};

/// The end of a volume here; its data stays.
static RELEASE: Undo<Kept> = Undo {
    operation: Operation::ReleaseVolume,
    undo: |by, ids| by.release_volumes(ids),
    report: |_, attempt, result| destroyed::<Volume>(attempt, result),
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bailiwick_journal::Version;

    use super::*;
    use crate::{
        contract::{Decider, NoView, given::after},
        shell::{Kind, Work},
        storage_rules::FromPool,
        vocab::{SizeMib, Timestamp},
        volume::{Effect, Event, OwnEvent, Spec, Where},
    };

    #[test]
    fn what_a_pool_said_and_the_tags_go_to_the_provider() {
        let attributes = [("tier".to_owned(), "gold".to_owned())].into();
        let pool = FromPool { name: "fast".parse().unwrap(), attributes };
        let tags: crate::volume::Tags = [("team".to_owned(), "storage".to_owned())].into();
        let spec = Spec { provider: "mine".parse().unwrap(), size: SizeMib(64) };
        let given = [
            Event::Declared { spec },
            Event::TakenFrom { pool: pool.clone() },
            Event::Own(OwnEvent::Tagged { tags: tags.clone() }),
            Event::CreateRequested { base: Where::Anywhere, at: Timestamp(1) },
        ];
        let (state, _) = after::<State>(&given);
        let effect = Effect::Create { intent: Version(4), attempt: 1 };
        assert_eq!(state.pending(&NoView), BTreeSet::from([effect.clone()]));
        let Work::Call(call) = state.work(crate::contract::given::JOURNAL, &"volume/data".parse().unwrap(), &effect)
        else {
            panic!("a call")
        };
        let wish = call.wish.making::<CreateVolume>().expect("a create");
        assert_eq!((&wish.pool, &wish.tags), (&Some(pool), &tags));
    }
}
