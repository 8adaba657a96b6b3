//! What is owed at the desk, done: each effect is a call of the provider, and its answer a report.
//!
//! As on a node, calls go out in the order of their operations; an attempt that may have begun before is asked about by its
//! id first; and that something is not there is believed only if a lookup says so.

use std::collections::BTreeMap;

use bailiwick_journal::{Position, StreamId};

use super::{
    Desk, name,
    provider::{Answer, Asked, Call},
};
use crate::{
    contract::{Decider, NoView},
    machine, machine_deployment, machine_set,
    ports::{AttachmentInfo, InstanceStatus, MachineInstance, Operation, ProvisionedVolume, Turn},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Nonce, SizeMib, Timestamp, Zone},
    volume, volume_attachment,
};

/// One call that somebody waits for.
#[derive(Clone, Debug)]
struct Owed {
    cause: Position,
    effect: EffectId,
    attempt: u32,
    /// Where a machine is to be made, and how large a volume.
    zone: Option<Zone>,
    size: SizeMib,
}

impl Desk {
    /// What is owed is done, or fails as `faults` and the provider's answers say. Whether anything was owed, and answered.
    pub fn perform(&mut self) -> bool {
        self.perform_those(|_| true)
    }

    /// As [`Desk::perform`], for one entity.
    pub fn perform_for(&mut self, stream: &StreamId) -> bool {
        self.perform_those(|owing| owing == stream)
    }

    fn perform_those(&mut self, is_meant: impl Fn(&StreamId) -> bool) -> bool {
        let mut turn: Turn<(StreamId, EffectId), Owed, ()> = Turn::default();
        for (stream, operation, owed) in self.owed().into_iter().filter(|(stream, ..)| is_meant(stream)) {
            turn.add(operation, (), (stream, owed.effect), owed);
        }
        let mut any = false;
        for batch in turn.take_some(|_, _, ready| ready) {
            for ((stream, _), owed) in batch.items {
                any |= match stream.kind() {
                    machine::State::KIND => self.call_about_machine(&stream, batch.operation, &owed),
                    volume::State::KIND => self.call_about_volume(&stream, batch.operation, &owed),
                    _ => self.call_about_attachment(&stream, batch.operation, &owed),
                };
            }
        }
        any
    }

    /// When something is due, and for whom.
    pub fn due(&self) -> Vec<(Timestamp, StreamId)> {
        let mut due = Vec::new();
        for (stream, entity) in &self.shelves.machines {
            due.extend(entity.state().pending(&NoView).into_iter().filter_map(|effect| match effect {
                machine::Effect::WakeAt(at) => Some((at, stream.clone())),
                machine::Effect::Create { .. }
                | machine::Effect::Delete { .. }
                | machine::Effect::DeleteStray { .. } => None,
            }));
        }
        for (stream, entity) in &self.shelves.volumes {
            due.extend(entity.state().pending(&NoView).into_iter().filter_map(|effect| match effect {
                volume::Effect::WakeAt(at) => Some((at, stream.clone())),
                volume::Effect::Create { .. } | volume::Effect::Destroy { .. } | volume::Effect::Release { .. } => None,
            }));
        }
        for (stream, entity) in &self.shelves.attachments {
            due.extend(entity.state().pending(&NoView).into_iter().filter_map(|effect| match effect {
                volume_attachment::Effect::WakeAt(at) => Some((at, stream.clone())),
                volume_attachment::Effect::Attach { .. } | volume_attachment::Effect::Detach { .. } => None,
            }));
        }
        for (stream, entity) in &self.shelves.sets {
            let effects = entity.state().pending(&NoView);
            due.extend(effects.into_iter().map(|machine_set::Effect::WakeAt(at)| (at, stream.clone())));
        }
        for (stream, entity) in &self.shelves.deployments {
            let effects = entity.state().pending(&NoView);
            due.extend(effects.into_iter().map(|machine_deployment::Effect::WakeAt(at)| (at, stream.clone())));
        }
        due.sort();
        due
    }

    fn owed(&self) -> Vec<(StreamId, Operation, Owed)> {
        let journal = self.journal.id();
        let mut all = Vec::new();
        for (stream, entity) in &self.shelves.machines {
            let (state, cause, size) = (entity.state(), entity.position(), SizeMib::default());
            for effect in state.pending(&NoView) {
                let (operation, effect, attempt, zone) = match effect {
                    machine::Effect::WakeAt(_) => continue,
                    machine::Effect::Create { intent, attempt } => {
                        let effect = state.effect_of(journal, stream, intent);
                        (Operation::CreateMachine, effect, attempt, state.zone())
                    }
                    machine::Effect::Delete { of, attempt } => {
                        (Operation::DeleteMachine, state.effect_of(journal, stream, of), attempt, None)
                    }
                    machine::Effect::DeleteStray { effect, attempt } => (Operation::DeleteStray, effect, attempt, None),
                };
                all.push((stream.clone(), operation, Owed { cause, effect, attempt, zone, size }));
            }
        }
        for (stream, entity) in &self.shelves.volumes {
            let size = entity.state().spec.as_ref().map(|spec| spec.size).unwrap_or_default();
            let (cause, zone) = (entity.position(), None);
            for effect in entity.state().pending(&NoView) {
                let (operation, intent, attempt) = match effect {
                    volume::Effect::WakeAt(_) => continue,
                    volume::Effect::Create { intent, attempt } => (Operation::CreateVolume, intent, attempt),
                    volume::Effect::Destroy { of, attempt } => (Operation::DestroyVolume, of, attempt),
                    volume::Effect::Release { of, attempt } => (Operation::ReleaseVolume, of, attempt),
                };
                let effect = EffectId::of(journal, stream, intent);
                all.push((stream.clone(), operation, Owed { cause, effect, attempt, zone: zone.clone(), size }));
            }
        }
        for (stream, entity) in &self.shelves.attachments {
            let (cause, size, zone) = (entity.position(), SizeMib::default(), None);
            for effect in entity.state().pending(&NoView) {
                let (operation, intent, attempt) = match effect {
                    volume_attachment::Effect::WakeAt(_) => continue,
                    volume_attachment::Effect::Attach { intent, attempt } => (Operation::AttachVolume, intent, attempt),
                    volume_attachment::Effect::Detach { of, attempt } => (Operation::DetachVolume, of, attempt),
                };
                let effect = EffectId::of(journal, stream, intent);
                all.push((stream.clone(), operation, Owed { cause, effect, attempt, zone: zone.clone(), size }));
            }
        }
        all
    }

    fn call_about_machine(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> bool {
        use machine::Report;
        let attempt = owed.attempt;
        let report = match operation {
            Operation::CreateMachine => match self.make(stream, owed) {
                Some(Ok(instance)) => Report::Created { attempt, instance },
                Some(Err(fault)) => Report::CreateFailed { attempt, fault },
                None => return false,
            },
            operation => {
                let other = self.whose(stream, operation, owed);
                let Some(report) = other.or_else(|| self.removed(stream, operation, owed)) else { return false };
                report
            }
        };
        let from = self.from("provider".into(), Some(owed.cause));
        self.ask::<machine::State>(stream, machine::Command::Report(report), from);
        true
    }

    /// Makes an instance, or finds the one that an earlier attempt has made.
    fn make(&mut self, stream: &StreamId, owed: &Owed) -> Option<Result<MachineInstance, Fault>> {
        if owed.attempt > 1 {
            let looked = self.call(stream, Asked::Lookup, owed);
            match self.provider.lookup(looked) {
                Ok(Some(instance)) => return Some(Ok(instance)),
                Ok(None) => (),
                Err(fault) => return Some(Err(fault)),
            }
        }
        let instance = match self.answer(stream, Operation::CreateMachine, owed)? {
            Answer::Fails(fault) => return Some(Err(fault)),
            Answer::Instance(instance) => *instance,
            Answer::Done | Answer::Absent | Answer::Late => instance(stream, owed),
        };
        self.provider.instances.insert(instance.effect, instance.clone());
        Some(Ok(instance))
    }

    /// What is reported instead of a removal: an instance that was not seen yet is asked for first, and left alone if it is
    /// somebody else's, or if nobody can tell.
    fn whose(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> Option<machine::Report> {
        let state = self.machine_state(stream.name())?;
        let is_proven =
            operation == Operation::DeleteMachine && state.intent().is_some_and(|of| state.has_proof_of(of));
        if is_proven || self.provider.is_asked(stream, owed.effect, owed.attempt) {
            return None;
        }
        let (looked, journal) = (self.call(stream, Asked::Lookup, owed), self.journal.id());
        match self.provider.lookup(looked) {
            Ok(None) => None,
            Ok(Some(instance)) => {
                let own = Nonce::of(journal, instance.effect);
                let nonce = instance.nonce().filter(|nonce| *nonce != own.as_str())?.to_owned();
                let (effect, instance) = (instance.effect, instance.instance);
                Some(machine::Report::StartedByOther { effect, instance, nonce })
            }
            Err(fault) => Some(not_removed(operation, owed, fault)),
        }
    }

    fn removed(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> Option<machine::Report> {
        use machine::Report;
        let (attempt, effect) = (owed.attempt, owed.effect);
        Some(match (self.unmake(stream, operation, owed)?, operation) {
            (Ok(()), Operation::DeleteMachine) => Report::Deleted { attempt },
            (Ok(()), _) => Report::StrayDeleted { effect, attempt },
            (Err(fault), operation) => not_removed(operation, owed, fault),
        })
    }

    /// Removes an instance.
    fn unmake(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> Option<Result<(), Fault>> {
        match self.answer(stream, operation, owed)? {
            Answer::Fails(fault) if fault.code == FaultCode::NotFound => {
                let looked = self.call(stream, Asked::Lookup, owed);
                Some(match self.provider.lookup(looked) {
                    Ok(None) => Ok(()),
                    Ok(Some(_)) => Err(Fault::new(FaultCode::Internal, "a lookup by id still finds it")),
                    Err(fault) => Err(fault),
                })
            }
            Answer::Fails(fault) => Some(Err(fault)),
            Answer::Done | Answer::Instance(_) | Answer::Absent | Answer::Late => {
                self.provider.instances.remove(&owed.effect);
                Some(Ok(()))
            }
        }
    }

    fn call_about_volume(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> bool {
        use volume::Report;
        let (attempt, effect, size) = (owed.attempt, owed.effect, owed.size);
        let Some(answer) = self.answer(stream, operation, owed) else { return false };
        let volume_id = InstanceId(format!("v-{}", stream.name()));
        let report = match (operation, answer) {
            (Operation::CreateVolume, Answer::Fails(fault)) => Report::CreateFailed { attempt, fault },
            (Operation::CreateVolume, _) => {
                Report::Created { attempt, made: ProvisionedVolume { effect, volume_id, size } }
            }
            (_, Answer::Fails(fault)) => Report::DestroyFailed { attempt, fault },
            (..) => Report::Destroyed { attempt },
        };
        let from = self.from("provider".into(), Some(owed.cause));
        self.ask::<volume::State>(stream, volume::Command::Report(report), from);
        true
    }

    fn call_about_attachment(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> bool {
        use volume_attachment::Report;
        let attempt = owed.attempt;
        let Some(answer) = self.answer(stream, operation, owed) else { return false };
        let report = match (operation, answer) {
            (Operation::AttachVolume, Answer::Fails(fault)) => Report::AttachFailed { attempt, fault },
            (Operation::AttachVolume, _) => {
                Report::Attached { attempt, info: AttachmentInfo { path: "/vol".into(), read_only: false } }
            }
            (_, Answer::Fails(fault)) => Report::DetachFailed { attempt, fault },
            (..) => Report::Detached { attempt },
        };
        let from = self.from("provider".into(), Some(owed.cause));
        self.ask::<volume_attachment::State>(stream, volume_attachment::Command::Report(report), from);
        true
    }

    /// What comes of a call; none as long as it is under way.
    fn answer(&mut self, stream: &StreamId, operation: Operation, owed: &Owed) -> Option<Answer> {
        let call = self.call(stream, Asked::Operation(operation), owed);
        let answer = self.provider.ask(call)?;
        let fault = self.faults.get_mut(stream).and_then(std::collections::VecDeque::pop_front);
        Some(fault.map_or(answer, Answer::Fails))
    }

    fn call(&self, stream: &StreamId, asked: Asked, owed: &Owed) -> Call {
        let zone = owed.zone.clone().filter(|_| asked == Asked::Operation(Operation::CreateMachine));
        let (at, stream, effect) = (self.now, Some(stream.clone()), Some(owed.effect));
        Call { at, stream, asked, effect, attempt: owed.attempt, zone }
    }
}

fn not_removed(operation: Operation, owed: &Owed, fault: Fault) -> machine::Report {
    let (attempt, effect) = (owed.attempt, owed.effect);
    match operation {
        Operation::DeleteMachine => machine::Report::DeleteFailed { attempt, fault },
        _ => machine::Report::StrayDeleteFailed { effect, attempt, fault },
    }
}

fn instance(stream: &StreamId, owed: &Owed) -> MachineInstance {
    let zone = owed.zone.iter().map(|zone| (MachineInstance::ZONE.to_owned(), zone.to_string()));
    MachineInstance {
        effect: owed.effect,
        instance: InstanceId(format!("i-{}", stream.name())),
        machine: name(stream.name()),
        facts: zone.collect::<BTreeMap<_, _>>(),
        status: InstanceStatus::Running,
    }
}
