//! What the journal says is true, as a simulation looks at it from outside.

mod needs;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::{Decider, Fold, Folded, StoredError},
    filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, replica_set,
    shell::Kind,
    supervisor::storage::zone_of,
    vocab::{EffectId, FaultCode, Life, Name, Outlook, Timestamp, Zone},
    volume::{self, Storage},
    volume_attachment::{self, Link},
};
use bailiwick_journal::{Entry, Filter, Journal, Position, StreamId};
use uuid::Uuid;

use crate::providers::simulated::Claims;

/// The states of all entities, folded from the journal as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    journal: Uuid,
    at: Position,
    machines: Fold<machine::State>,
    volumes: Fold<volume::State>,
    attachments: Fold<volume_attachment::State>,
    filesystems: Fold<filesystem::State>,
    mounts: Fold<filesystem_attachment::State>,
    machine_sets: Fold<machine_set::State>,
    machine_deployments: Fold<machine_deployment::State>,
    machine_classes: Fold<machine_class::State>,
    replica_sets: Fold<replica_set::State>,
}

impl Observer {
    /// Of a journal of which nothing was read yet.
    pub fn of(journal: Uuid) -> Self {
        Self { journal, ..Self::default() }
    }

    /// Reads on.
    ///
    /// # Errors
    /// If an entry cannot be understood.
    ///
    /// # Panics
    /// If the journal cannot be read: a simulated disk is always there.
    pub fn advance(&mut self, journal: &dyn Journal) -> Result<(), StoredError> {
        let head = journal.head().position;
        for entry in journal.read(self.at.next(), head, &Filter::all()) {
            self.take_in(&entry.expect("a simulated disk can be read"))?;
        }
        Ok(())
    }

    /// Takes the next entry in.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn take_in(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.machines.apply(entry)?;
        self.volumes.apply(entry)?;
        self.attachments.apply(entry)?;
        self.filesystems.apply(entry)?;
        self.mounts.apply(entry)?;
        self.machine_sets.apply(entry)?;
        self.machine_deployments.apply(entry)?;
        self.machine_classes.apply(entry)?;
        self.replica_sets.apply(entry)?;
        self.at = entry.header.position;
        Ok(())
    }

    /// Whether an attachment is declared and not removed.
    pub fn has_attachment(&self, name: &str) -> bool {
        self.attachments.get(name).is_some_and(|state| state.life.exists())
    }

    /// The zone that a volume is in, if that is known.
    pub fn zone_of(&self, volume: &Name) -> Option<Zone> {
        let state = self.volumes.get(volume.as_str()).filter(|state| state.life.exists())?;
        zone_of(&self.machines, state)
    }

    /// As [`has_attachment`](Self::has_attachment), of a filesystem.
    pub fn has_mount(&self, name: &str) -> bool {
        self.mounts.get(name).is_some_and(|state| state.life.exists())
    }

    /// The entities that are not as they should be, or have not gone as they should have.
    pub fn unready(&self) -> BTreeSet<StreamId> {
        let mut unready = BTreeSet::new();
        let is_at_rest = |life: Life, is_ready: bool| matches!(life, Life::Undeclared | Life::Removed) || is_ready;
        for (name, Folded { state, .. }) in self.machines.iter() {
            if !is_at_rest(state.life, state.is_ready()) {
                unready.insert(stream::<machine::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.volumes.iter() {
            if !is_at_rest(state.life, state.is_ready()) {
                unready.insert(stream::<volume::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.attachments.iter() {
            if !is_at_rest(state.life, state.is_ready()) {
                unready.insert(stream::<volume_attachment::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.filesystems.iter() {
            if !is_at_rest(state.life, state.is_ready()) {
                unready.insert(stream::<filesystem::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.mounts.iter() {
            if !is_at_rest(state.life, state.is_ready()) {
                unready.insert(stream::<filesystem_attachment::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.machine_sets.iter() {
            let is_full = state.is_at_rest() && state.rests_until.is_none() && self.is_full(name, state);
            if !is_at_rest(state.life, state.life == Life::Alive && is_full) {
                unready.insert(stream::<machine_set::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.machine_deployments.iter() {
            if !is_at_rest(state.life, state.is_complete()) {
                unready.insert(stream::<machine_deployment::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.machine_classes.iter() {
            if !is_at_rest(state.life, state.life == Life::Alive) {
                unready.insert(stream::<machine_class::State>(name));
            }
        }
        for (name, Folded { state, .. }) in self.replica_sets.iter() {
            if !is_at_rest(state.life, has_its_voters(state)) {
                unready.insert(stream::<replica_set::State>(name));
            }
        }
        unready
    }

    /// The last entry that was taken in.
    pub fn at(&self) -> Position {
        self.at
    }

    /// Whether a set has as many machines as it shall have.
    fn is_full(&self, name: &str, set: &machine_set::State) -> bool {
        let is_its = |machine: &machine::State| {
            let of = machine.spec.as_ref().and_then(|spec| spec.set.as_ref());
            machine.life.exists() && machine.aside.is_none() && of.is_some_and(|of| of.as_str() == name)
        };
        let count = self.machines.iter().filter(|(_, folded)| is_its(&folded.state)).count();
        set.spec.as_ref().is_some_and(|spec| u32::try_from(count) == Ok(spec.replicas))
    }

    /// One word for each entity.
    pub fn statuses(&self) -> BTreeMap<StreamId, &'static str> {
        let mut statuses = BTreeMap::new();
        for (name, folded) in self.machines.iter() {
            statuses.insert(stream::<machine::State>(name), folded.state.status());
        }
        for (name, folded) in self.volumes.iter() {
            statuses.insert(stream::<volume::State>(name), folded.state.status());
        }
        for (name, folded) in self.attachments.iter() {
            statuses.insert(stream::<volume_attachment::State>(name), folded.state.status());
        }
        for (name, folded) in self.filesystems.iter() {
            statuses.insert(stream::<filesystem::State>(name), folded.state.status());
        }
        for (name, folded) in self.mounts.iter() {
            statuses.insert(stream::<filesystem_attachment::State>(name), folded.state.status());
        }
        for (name, folded) in self.machine_sets.iter() {
            statuses.insert(stream::<machine_set::State>(name), folded.state.status());
        }
        for (name, folded) in self.machine_deployments.iter() {
            statuses.insert(stream::<machine_deployment::State>(name), folded.state.status());
        }
        for (name, folded) in self.machine_classes.iter() {
            statuses.insert(stream::<machine_class::State>(name), folded.state.status());
        }
        for (name, folded) in self.replica_sets.iter() {
            statuses.insert(stream::<replica_set::State>(name), folded.state.status());
        }
        statuses
    }

    /// The entities whose work was given up.
    pub fn given_up(&self) -> Vec<StreamId> {
        self.ended_by(|outlook| matches!(outlook, Outlook::GivenUp { .. }), machine::is_overdue)
    }

    /// Those of them whose provider does not have what was asked of it: no start of a node changes that.
    pub fn not_offered(&self) -> Vec<StreamId> {
        let is_lacking = |outlook: &Outlook| matches!(outlook, Outlook::GivenUp { fault, .. } if fault.code == FaultCode::Unimplemented);
        self.ended_by(is_lacking, |_| false)
    }

    /// The entities whose work came to this, and the machines of which that holds.
    fn ended_by(&self, is_it: impl Fn(&Outlook) -> bool, holds: fn(&machine::State) -> bool) -> Vec<StreamId> {
        let mut streams = Vec::new();
        for (name, folded) in self.machines.iter() {
            if folded.state.effort().is_some_and(|effort| is_it(&effort.outlook)) || holds(&folded.state) {
                streams.push(stream::<machine::State>(name));
            }
        }
        for (name, folded) in self.volumes.iter() {
            if folded.state.effort().is_some_and(|effort| is_it(&effort.outlook)) {
                streams.push(stream::<volume::State>(name));
            }
        }
        for (name, folded) in self.attachments.iter() {
            if folded.state.effort().is_some_and(|effort| is_it(&effort.outlook)) {
                streams.push(stream::<volume_attachment::State>(name));
            }
        }
        for (name, folded) in self.filesystems.iter() {
            if folded.state.effort().is_some_and(|effort| is_it(&effort.outlook)) {
                streams.push(stream::<filesystem::State>(name));
            }
        }
        for (name, folded) in self.mounts.iter() {
            if folded.state.effort().is_some_and(|effort| is_it(&effort.outlook)) {
                streams.push(stream::<filesystem_attachment::State>(name));
            }
        }
        streams
    }

    /// The volumes and filesystems that belong to the journal which this one was imported from as new.
    pub fn taken_over(&self) -> Vec<StreamId> {
        let mut streams = Vec::new();
        for (name, folded) in self.volumes.iter() {
            let stream = stream::<volume::State>(name);
            streams.extend(folded.state.is_taken_over(self.journal, &stream).then_some(stream));
        }
        for (name, folded) in self.filesystems.iter() {
            let stream = stream::<filesystem::State>(name);
            streams.extend(folded.state.is_taken_over(self.journal, &stream).then_some(stream));
        }
        streams
    }

    /// What only an operator sets going again before that moment: machines without an instance because they were told to let go
    /// of it, those held until later or until somebody says otherwise, those kept for diagnosis until later, and what is attached
    /// to them; filesystems on volumes that nobody has attached yet; deployments that are paused.
    pub fn left_to_operators(&self, before: Timestamp) -> Vec<StreamId> {
        let is_left = |state: &machine::State| {
            let is_held = state.hold.as_ref().is_some_and(|hold| hold.until.is_none_or(|until| before < until));
            let is_kept = state.is_aside() && state.aside.is_some_and(|aside| before < aside.until);
            state.life == Life::Alive && (state.instance == machine::Instance::None || is_held || is_kept)
        };
        let machines: Vec<&str> =
            self.machines.iter().filter(|(_, folded)| is_left(&folded.state)).map(|(name, _)| name).collect();
        let is_there = |name: &str| name.split_once(':').is_some_and(|(machine, _)| machines.contains(&machine));
        let mut streams: Vec<StreamId> = machines.iter().map(|name| stream::<machine::State>(name)).collect();
        let attachments = self.attachments.iter().filter(|(name, _)| is_there(name));
        streams.extend(attachments.map(|(name, _)| stream::<volume_attachment::State>(name)));
        let mounts = self.mounts.iter().filter(|(name, _)| is_there(name));
        streams.extend(mounts.map(|(name, _)| stream::<filesystem_attachment::State>(name)));
        let unmounted = self.filesystems.iter().filter(|(_, folded)| folded.state.awaits_mount());
        streams.extend(unmounted.map(|(name, _)| stream::<filesystem::State>(name)));
        let paused = self.machine_deployments.iter().filter(|(_, folded)| folded.state.is_paused());
        streams.extend(paused.map(|(name, _)| stream::<machine_deployment::State>(name)));
        streams
    }

    /// When the last of what ends by itself before that moment does so: holds, and the time for which machines are kept for
    /// diagnosis.
    pub fn held_until(&self, before: Timestamp) -> Option<Timestamp> {
        let until = |state: &machine::State| {
            let kept = state.aside.filter(|_| state.is_aside()).map(|aside| aside.until);
            let held = state.hold.as_ref().and_then(|hold| hold.until);
            [kept, held].into_iter().flatten().filter(|until| *until <= before).max()
        };
        self.machines.iter().filter_map(|(_, folded)| until(&folded.state)).max()
    }

    /// The instance that is a machine's own.
    pub fn own(&self, machine: &Name) -> Option<EffectId> {
        self.machines.get(machine.as_str())?.own(self.journal, &stream::<machine::State>(machine.as_str()))
    }

    /// What the journal claims to have in the world, or may have there.
    pub fn claims(&self) -> Claims {
        let mut claims = Claims::default();
        for (name, folded) in self.machines.iter() {
            claims.instances.extend(folded.state.claims(self.journal, &stream::<machine::State>(name)));
            claims.kept.extend(&folded.state.kept);
        }
        for (name, folded) in self.volumes.iter() {
            let intent = match &folded.state.storage {
                Storage::None => continue,
                Storage::Creating(effort) => effort.intent,
                Storage::Provisioned { intent, .. } => *intent,
                Storage::Destroying { of, .. } => *of,
            };
            claims.volumes.insert(EffectId::of(self.journal, &stream::<volume::State>(name), intent));
        }
        for (name, folded) in self.attachments.iter() {
            let intent = match &folded.state.link {
                Link::Waiting => continue,
                Link::Attaching { effort, .. } => effort.intent,
                Link::Attached { intent, .. } => *intent,
                Link::Detaching { of, .. } => *of,
            };
            claims.attachments.insert(EffectId::of(self.journal, &stream::<volume_attachment::State>(name), intent));
        }
        for (name, folded) in self.filesystems.iter() {
            let intent = match &folded.state.storage {
                filesystem::Storage::None => continue,
                filesystem::Storage::Creating { effort, .. } => effort.intent,
                filesystem::Storage::Provisioned { intent, .. } => *intent,
                filesystem::Storage::Destroying { of, .. } => *of,
            };
            claims.filesystems.insert(EffectId::of(self.journal, &stream::<filesystem::State>(name), intent));
        }
        for (name, folded) in self.mounts.iter() {
            let intent = match &folded.state.link {
                filesystem_attachment::Link::Waiting => continue,
                filesystem_attachment::Link::Attaching { effort, .. } => effort.intent,
                filesystem_attachment::Link::Attached { intent, .. } => *intent,
                filesystem_attachment::Link::Detaching { of, .. } => *of,
            };
            claims.mounts.insert(EffectId::of(self.journal, &stream::<filesystem_attachment::State>(name), intent));
        }
        claims
    }
}

fn stream<D: Decider>(name: &str) -> StreamId {
    StreamId::new(D::KIND, name).expect("the name of a stream")
}

/// Whether as many members vote as shall, and all are well.
fn has_its_voters(set: &replica_set::State) -> bool {
    let wanted = set.spec.as_ref().map(|spec| spec.servers as usize);
    let are_well = set.seen.iter().flat_map(|seen| &seen.statuses).all(|status| status.healthy);
    set.is_settled() && wanted == Some(set.voters()) && are_well
}
