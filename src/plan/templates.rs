//! The storage that machines of sets bring with them.

use std::sync::Arc;

use bailiwick_actors::{
    contract::Decider,
    filesystem_attachment, machine,
    storage_rules::{ClaimedBy, StorageClaim},
    vocab::Life,
    volume_attachment,
};

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
pub(super) fn free_attachments(fleet: &Fleet) -> impl Iterator<Item = (&str, &str)> {
    let is_of = |claim: Option<&ClaimedBy>, machine: &str| claim.is_some_and(|by| by.machine.as_str() == machine);
    let is_claimed = move |(kind, name): &(&str, &str)| {
        let Some((machine, other)) = name.split_once(':') else { return false };
        match *kind {
            volume_attachment::State::KIND => {
                fleet.volumes.get(other).is_some_and(|state| is_of(state.claim.as_ref(), machine))
            }
            _ => fleet.filesystems.get(other).is_some_and(|state| is_of(state.claim.as_ref(), machine)),
        }
    };
    let volumes = fleet.attachments.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    let volumes = volumes.map(|(name, _)| (volume_attachment::State::KIND, name));
    let mounts = fleet.filesystem_attachments.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    let mounts = mounts.map(|(name, _)| (filesystem_attachment::State::KIND, name));
    volumes.chain(mounts).filter(move |attachment| !is_claimed(attachment))
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
