//! Volume effects as provider calls.

use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::{Command, Effect, Report, Spec, State, Storage};
use crate::{
    ports::{CreateVolume, ImportVolume, ProvisionedVolume},
    shell::{AnyCommand, Asked, Call, Kind, Urgency, VolumeCall, Work},
    storage_rules::ImportWish,
    vocab::{EffectId, Fault, InstanceId, Name, Timestamp, Uid},
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
        let call = match (effect, &self.spec, stream.name().parse::<Name>()) {
            (Effect::Create { .. }, Some(spec), Ok(volume)) => match &self.import {
                Some(volume_id) => {
                    VolumeCall::Import(Box::new(import(id, volume, self.uid(journal, stream), spec, volume_id)))
                }
                None => VolumeCall::Create(create(id, volume, self, self.uid(journal, stream), spec)),
            },
            (Effect::Release { .. }, ..) => VolumeCall::Release(id),
            _ => VolumeCall::Destroy(id),
        };
        let machine = self.place.as_ref().map(|place| &place.machine).or(self.wanted_on.as_ref()).cloned();
        Work::Call(Box::new(Call::Volume { stream: stream.clone(), provider, machine, id, attempt, call }))
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

/// How a create went, as a command.
pub(crate) fn created(attempt: u32, result: Result<ProvisionedVolume, Fault>) -> AnyCommand {
    AnyCommand::from(Command::Report(match result {
        Ok(volume) => Report::Created { attempt, volume },
        Err(fault) => Report::CreateFailed { attempt, fault },
    }))
}

/// How a destroy went, as a command.
pub(crate) fn destroyed(attempt: u32, result: Result<(), Fault>) -> AnyCommand {
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
        let Call::Volume { call: VolumeCall::Create(wish), .. } = *call else { panic!("a create") };
        assert_eq!(wish.pool, Some(pool));
    }
}
