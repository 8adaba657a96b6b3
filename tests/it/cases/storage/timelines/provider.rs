//! The provider of a timeline: it answers at once, with what the case's script says, or else with success.

use std::collections::{BTreeMap, VecDeque};

use bailiwick::actors::{
    ports::{Batch, Operation},
    shell::Call,
    vocab::{EffectId, Fault, FaultCode},
};
use bailiwick_journal::StreamId;

/// How one item of a call goes.
pub(super) enum Outcome {
    Ok,
    /// A volume is made and attached in one go.
    OkAttached,
    Failed(Fault),
}

pub(super) struct Provider {
    script: BTreeMap<(String, String), VecDeque<String>>,
    /// What things are called, by the id that they were made under.
    pub(super) known: BTreeMap<EffectId, String>,
}

impl Provider {
    pub(super) fn new(script: BTreeMap<String, BTreeMap<String, Vec<String>>>) -> Self {
        let mut flat = BTreeMap::new();
        for (call, keys) in script {
            for (key, outcomes) in keys {
                flat.insert((call.clone(), key), outcomes.into());
            }
        }
        Self { script: flat, known: BTreeMap::new() }
    }

    /// How the items of a bulk call go, in order.
    pub(super) fn outcomes(&mut self, batch: &Batch<StreamId, Call>, keys: &[String]) -> Result<Vec<Outcome>, String> {
        let call = name(batch.operation);
        let source = batch.source.as_ref().map(ToString::to_string).unwrap_or_default();
        if let Outcome::Failed(fault) = self.next(call, &format!("@{source}"))? {
            return Ok(keys.iter().map(|_| Outcome::Failed(fault.clone())).collect());
        }
        keys.iter().map(|key| self.next(call, key)).collect()
    }

    /// The next outcome for a key.
    pub(super) fn next(&mut self, call: &str, key: &str) -> Result<Outcome, String> {
        let next = self.script.get_mut(&(call.to_owned(), key.to_owned())).and_then(VecDeque::pop_front);
        match next.as_deref() {
            None | Some("ok") => Ok(Outcome::Ok),
            Some("ok+attached") => Ok(Outcome::OkAttached),
            Some(other) => match other.strip_prefix("err:") {
                // It says that it has not begun.
                Some(text) => Ok(Outcome::Failed(Fault::new(FaultCode::FailedPrecondition, text))),
                None => Err(format!("the runner does not know the outcome {other:?}")),
            },
        }
    }
}

/// What a case calls an operation.
pub(super) fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::DeleteMachine => "delete_machines",
        Operation::DeleteStray => "delete_strays",
        Operation::CreateMachine => "create_machines",
        Operation::CreateVolume => "create_volumes",
        Operation::ImportVolume => "import_volumes",
        Operation::DestroyVolume => "destroy_volumes",
        Operation::ReleaseVolume => "release_volumes",
        Operation::AttachVolume => "attach_volumes",
        Operation::DetachVolume => "detach_volumes",
        Operation::CreateFilesystem => "create_filesystems",
        Operation::DestroyFilesystem => "destroy_filesystems",
        Operation::ReleaseFilesystem => "release_filesystems",
        Operation::AttachFilesystem => "attach_filesystems",
        Operation::DetachFilesystem => "detach_filesystems",
        Operation::LookAtReplicaSet => "look_at_replica_sets",
        Operation::StepReplicaSet => "step_replica_sets",
        Operation::MakeCustom(kind) | Operation::UndoCustom(kind) => kind,
    }
}
