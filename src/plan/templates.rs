//! The storage that machines of sets bring with them.

use std::sync::Arc;

use bailiwick_actors::{
    contract::Decider,
    filesystem_attachment, machine,
    storage_rules::{ClaimedBy, StorageClaim},
    vocab::Life,
    volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{Action, Plan};
use crate::{view::Fleet, words::claim_told};

/// A template, with its storage as it was asked for before where only the pool says something else by now: that is the
/// business of those that come after, and no reason to exchange machines.
pub(super) fn steady(present: Option<&Arc<machine::Spec>>, wanted: &Arc<machine::Spec>) -> Arc<machine::Spec> {
    let Some(present) = present.filter(|present| present.storage != wanted.storage) else { return wanted.clone() };
    let before = |claim: &StorageClaim| {
        let before = present.storage.iter().find(|before| before.name == claim.name)?;
        (before.pool.name == claim.pool.name).then(|| StorageClaim { pool: before.pool.clone(), ..claim.clone() })
    };
    let storage = wanted.storage.iter().map(|claim| before(claim).unwrap_or_else(|| claim.clone())).collect();
    Arc::new(machine::Spec { storage, ..(**wanted).clone() })
}

/// The attachments of what was not made for a machine of a set, or not for the one that it is attached to.
pub(super) fn free_attachments(fleet: &Fleet) -> Vec<StreamId> {
    let is_of = |claim: Option<&ClaimedBy>, machine: &str| claim.is_some_and(|by| by.machine.as_str() == machine);
    let is_claimed = |stream: &StreamId| {
        let Some((machine, other)) = stream.name().split_once(':') else { return false };
        match stream.kind() {
            volume_attachment::State::KIND => {
                fleet.volumes.get(other).is_some_and(|state| is_of(state.claim.as_ref(), machine))
            }
            _ => fleet.filesystems.get(other).is_some_and(|state| is_of(state.claim.as_ref(), machine)),
        }
    };
    let volumes = fleet.attachments.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    let volumes = volumes.filter_map(|(name, _)| StreamId::new(volume_attachment::State::KIND, name).ok());
    let mounts = fleet.filesystem_attachments.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    let mounts = mounts.filter_map(|(name, _)| StreamId::new(filesystem_attachment::State::KIND, name).ok());
    volumes.chain(mounts).filter(|stream| !is_claimed(stream)).collect()
}

impl Plan {
    /// Says what each machine of the set that was planned last brings with it, if it is new or another one than before.
    pub(super) fn brings(&mut self, storage: &[StorageClaim]) {
        let Some(step) = self.steps.last_mut() else { return };
        let is_told = match step.action {
            Action::Create => true,
            Action::Change => step.fields.iter().any(|field| field == "spec.template"),
            _ => false,
        };
        if is_told {
            step.brings = storage.iter().map(claim_told).collect();
        }
    }
}
