//! Volume effects as provider calls.

use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::{Command, Effect, Report, Spec, State, Storage};
use crate::{
    ports::{BulkAnswer, CreateVolume, ImportVolume, Lookup, Operation, ProvisionedVolume, VolumeProvider},
    shell::{AnyCommand, AnyWish, Asked, Call, Kind, Make, Services, Thing, Undo, Urgency, Volumes, Work},
    storage_rules::ImportWish,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, Timestamp, Uid},
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let provider = self.spec.as_ref().map(|spec| spec.provider.clone());
        let (id, attempt) = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Create { intent, attempt } => (EffectId::of(journal, stream, *intent), *attempt),
            Effect::Destroy { of, attempt } | Effect::Release { of, attempt } => {
                (EffectId::of(journal, stream, *of), *attempt)
            }
        };
        let wish = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(volume)) => {
                let uid = self.uid(journal, stream);
                match &self.import {
                    Some(volume_id) => AnyWish::make(import(id, volume, uid, spec, volume_id)),
                    None => AnyWish::make(create(id, volume, self, uid, spec)),
                }
            }
            (Effect::Release { .. }, ..) => AnyWish::undo(&RELEASE, id),
            _ => AnyWish::undo(&DESTROY, id),
        };
        let machine = self.place.as_ref().map(|place| &place.machine).or(self.wanted_on.as_ref()).cloned();
        Work::Call(Box::new(Call { stream: stream.clone(), provider, machine, id, attempt, wish }))
    }

    fn made(&self) -> Option<(Version, EffectId)> {
        match &self.storage {
            Storage::Provisioned { intent, volume } => Some((*intent, volume.effect)),
            _ => None,
        }
    }

    fn is_report(command: &Command) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Remove
            | Command::RemoveForced
            | Command::RemoveWithFilesystem
            | Command::Release
            | Command::Destroy
            | Command::ReleaseAttachment { .. }
            | Command::ReleaseFilesystem { .. }
            | Command::Report(_) => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<Command> {
        Some(Command::Wake { due })
    }
}

fn create(id: EffectId, volume: Name, state: &State, uid: Uid, spec: &Spec) -> CreateVolume {
    CreateVolume { id, volume, uid, size: spec.size, pool: state.pool.clone() }
}

fn import(id: EffectId, volume: Name, uid: Uid, spec: &Spec, volume_id: &InstanceId) -> ImportVolume {
    ImportVolume { volume, uid, wish: ImportWish { id, volume_id: volume_id.clone(), size_min: spec.size } }
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
        created(attempt, result)
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
        created(attempt, result)
    }
}

/// The end of a volume and of its data.
static DESTROY: Undo<Kept> = Undo {
    operation: Operation::DestroyVolume,
    undo: |by, ids| by.destroy_volumes(ids),
    report: |_, attempt, result| destroyed(attempt, result),
};

/// The end of a volume here; its data stays.
static RELEASE: Undo<Kept> = Undo {
    operation: Operation::ReleaseVolume,
    undo: |by, ids| by.release_volumes(ids),
    report: |_, attempt, result| destroyed(attempt, result),
};

fn created(attempt: u32, result: Result<ProvisionedVolume, Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(volume) => Report::Created { attempt, volume },
        Err(fault) => Report::CreateFailed { attempt, fault },
    }))
}

fn destroyed(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(()) => Report::Destroyed { attempt },
        Err(fault) => Report::DestroyFailed { attempt, fault },
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bailiwick_journal::Version;

    use super::*;
    use crate::{
        contract::{Decider, NoView, given::after},
        storage_rules::FromPool,
        vocab::SizeMib,
        volume::Event,
    };

    #[test]
    fn what_a_pool_said_goes_to_the_provider() {
        let attributes = [("tier".to_owned(), "gold".to_owned())].into();
        let pool = FromPool { name: "fast".parse().unwrap(), attributes };
        let spec = Spec { provider: "mine".parse().unwrap(), size: SizeMib(64) };
        let given = [
            Event::Declared { spec },
            Event::TakenFrom { pool: pool.clone() },
            Event::CreateRequested { at: Timestamp(1) },
        ];
        let (state, _) = after::<State>(&given);
        let effect = Effect::Create { intent: Version(3), attempt: 1 };
        assert_eq!(state.pending(&NoView), BTreeSet::from([effect.clone()]));
        let Work::Call(call) = state.work(crate::contract::given::JOURNAL, &"volume/data".parse().unwrap(), &effect)
        else {
            panic!("a call")
        };
        let wish = call.wish.making::<CreateVolume>().expect("a create");
        assert_eq!(wish.pool, Some(pool));
    }
}
