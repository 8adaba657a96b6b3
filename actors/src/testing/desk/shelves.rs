//! The entities at the desk, by kind.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_journal::{Entry, Journal, StreamId, append_blocking};

use super::From;
use crate::{
    contract::{Decider, Entity, Known, NoView, Request},
    document, filesystem, machine, machine_class, machine_deployment, machine_set, policy, provider, replica_set,
    volume, volume_attachment,
};

/// All entities of one kind.
pub(super) type Shelf<D> = BTreeMap<StreamId, Entity<D>>;

/// All entities.
#[derive(Debug, Default)]
pub(super) struct Shelves {
    pub machines: Shelf<machine::State>,
    pub volumes: Shelf<volume::State>,
    pub attachments: Shelf<volume_attachment::State>,
    pub policies: Shelf<policy::State>,
    pub providers: Shelf<provider::State>,
    pub sets: Shelf<machine_set::State>,
    pub deployments: Shelf<machine_deployment::State>,
    pub classes: Shelf<machine_class::State>,
    pub documents: Shelf<document::State>,
    pub filesystems: Shelf<filesystem::State>,
    pub replica_sets: Shelf<replica_set::State>,
}

/// A kind that has a shelf.
pub(super) trait Shelved: Decider<View = NoView> {
    fn shelf(shelves: &mut Shelves) -> &mut Shelf<Self>;
}

macro_rules! shelved {
    ($($kind:ident: $shelf:ident),*) => {$(
        impl Shelved for $kind::State {
            fn shelf(shelves: &mut Shelves) -> &mut Shelf<Self> {
                &mut shelves.$shelf
            }
        }
    )*};
}
shelved!(machine: machines, volume: volumes, volume_attachment: attachments, policy: policies);
shelved!(machine_deployment: deployments, machine_set: sets, machine_class: classes, document: documents);
shelved!(filesystem: filesystems, replica_set: replica_sets, provider: providers);

impl Shelves {
    /// One entity decides, and what it decided is recorded and taken in.
    pub fn step<D: Shelved>(
        &mut self,
        journal: &dyn Journal,
        stream: &StreamId,
        command: D::Command,
        from: From,
        known: &Known<'_, NoView>,
    ) -> Arc<Entry> {
        let entity = D::shelf(self).entry(stream.clone()).or_insert_with(|| Entity::new(stream.clone()));
        let From { id, principal, cause, cites } = from;
        let request = Request { command, id, principal, cause, cites };
        let verdict = entity.decide(&request.command, known);
        let draft = entity.draft(&request, known, &verdict).expect("a small decision");
        let entry = append_blocking(journal, vec![draft]).expect("the journal takes it").entries()[0].clone();
        entity.take_in(&entry).expect("what was stored can be read");
        entry
    }
}
