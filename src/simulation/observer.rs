//! What the journal says is true, as a simulation looks at it from outside.

mod needs;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::{Decider, StoredError},
    filesystem, filesystem_attachment, machine, machine_deployment, provider,
    shell::Kind,
    supervisor::storage::zone_of,
    vocab::{EffectId, FaultCode, Life, Name, Outlook, Timestamp, Zone},
    volume,
    volume_attachment::{self, Link},
};
use bailiwick_journal::{Entry, Filter, Journal, Position, StreamId};
use uuid::Uuid;

use crate::{
    custom_kind,
    providers::simulated::Claims,
    view::{Fleet, missing, pending},
};

/// A command that an operator has to give before an entity goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The entity that waits for it, which may be another one.
    pub by: StreamId,
    pub because: String,
    /// The command line.
    pub command: String,
}

/// The fleet as the journal tells of it, and what a simulation asks of it.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    fleet: Fleet,
}

impl Observer {
    /// Of a journal of which nothing was read yet.
    pub fn of(journal: Uuid) -> Self {
        let mut fleet = Fleet::default();
        fleet.journal = journal;
        Self { fleet }
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
        for entry in journal.read(self.fleet.position.next(), head, &Filter::all()) {
            self.take_in(&entry.expect("a simulated disk can be read"))?;
        }
        Ok(())
    }

    /// Takes the next entry in.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn take_in(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.fleet.apply(entry)
    }

    /// Whether an attachment is declared and not removed.
    pub fn has_attachment(&self, name: &str) -> bool {
        self.fleet.attachments.get(name).is_some_and(|state| state.life.exists())
    }

    /// The zone that a volume is in, if that is known.
    pub fn zone_of(&self, volume: &Name) -> Option<Zone> {
        let state = self.fleet.volumes.get(volume.as_str()).filter(|state| state.life.exists())?;
        zone_of(&self.fleet.machines, state)
    }

    /// As [`has_attachment`](Self::has_attachment), of a filesystem.
    pub fn has_mount(&self, name: &str) -> bool {
        self.fleet.filesystem_attachments.get(name).is_some_and(|state| state.life.exists())
    }

    /// The entities that are not as they should be, or have not gone as they should have.
    pub fn unready(&self) -> BTreeSet<StreamId> {
        let streams = pending(&self.fleet).into_iter().map(|pending| pending.entity.parse());
        streams.collect::<Result<_, _>>().expect("names of streams of the journal")
    }

    /// The last entry that was taken in.
    pub fn at(&self) -> Position {
        self.fleet.position
    }

    /// One word for each entity.
    pub fn statuses(&self) -> BTreeMap<StreamId, &'static str> {
        self.fleet.statuses()
    }

    /// The next moment that some entity waits for.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.fleet.next_due()
    }

    /// The entities whose work was given up, and the machines whose time to become healthy is over.
    pub fn given_up(&self) -> Vec<StreamId> {
        let mut streams: Vec<StreamId> = self.ended_by(|outlook| matches!(outlook, Outlook::GivenUp { .. })).collect();
        let overdue = self.fleet.machines.iter().filter(|(_, folded)| machine::is_overdue(&folded.state));
        let overdue = overdue.map(|(name, _)| stream::<machine::State>(name));
        let others: Vec<StreamId> = overdue.filter(|machine| !streams.contains(machine)).collect();
        streams.extend(others);
        streams
    }

    /// Those of them whose provider does not have what was asked of it: no start of a node changes that.
    pub fn not_offered(&self) -> Vec<StreamId> {
        let is_lacking = |outlook: &Outlook| matches!(outlook, Outlook::GivenUp { fault, .. } if fault.code == FaultCode::Unimplemented);
        self.ended_by(is_lacking).collect()
    }

    /// The entities whose work came to this.
    fn ended_by(&self, is_it: impl Fn(&Outlook) -> bool) -> impl Iterator<Item = StreamId> {
        self.fleet.efforts().filter(move |(_, effort)| is_it(&effort.outlook)).map(|(stream, _)| stream)
    }

    /// The volumes and filesystems that belong to the journal which this one was imported from as new.
    pub fn taken_over(&self) -> Vec<StreamId> {
        let mut streams = Vec::new();
        for (name, folded) in self.fleet.volumes.iter() {
            let stream = stream::<volume::State>(name);
            streams.extend(folded.state.is_taken_over(self.fleet.journal, &stream).then_some(stream));
        }
        for (name, folded) in self.fleet.filesystems.iter() {
            let stream = stream::<filesystem::State>(name);
            streams.extend(folded.state.is_taken_over(self.fleet.journal, &stream).then_some(stream));
        }
        streams
    }

    /// What only an operator, or a client of Juju's, sets going again before that moment: machines that such a client makes or
    /// ends, or whose agent it is, and volumes that come with them; machines without an instance because they were told to let go
    /// of it, those held until later or until somebody says otherwise, those kept for diagnosis until later, and what is attached
    /// to them; filesystems on volumes that nobody has attached yet; deployments that are paused; what waits for a provider that is
    /// held so long.
    pub fn left_to_operators(&self, before: Timestamp) -> Vec<StreamId> {
        let is_left = |state: &machine::State| {
            let is_held = state.hold.as_ref().is_some_and(|hold| hold.until.is_none_or(|until| before < until));
            let is_kept = state.is_aside() && state.aside.is_some_and(|aside| before < aside.until);
            if state.is_external() {
                return state.life.exists() && !state.is_ready();
            }
            state.life == Life::Alive && (state.instance == machine::Instance::None || is_held || is_kept)
        };
        let machines: Vec<&str> =
            self.fleet.machines.iter().filter(|(_, folded)| is_left(&folded.state)).map(|(name, _)| name).collect();
        let is_there = |name: &str| name.split_once(':').is_some_and(|(machine, _)| machines.contains(&machine));
        let mut streams: Vec<StreamId> = machines.iter().map(|name| stream::<machine::State>(name)).collect();
        let attachments = self.fleet.attachments.iter().filter(|(name, _)| is_there(name));
        streams.extend(attachments.map(|(name, _)| stream::<volume_attachment::State>(name)));
        let mounts = self.fleet.filesystem_attachments.iter().filter(|(name, _)| is_there(name));
        streams.extend(mounts.map(|(name, _)| stream::<filesystem_attachment::State>(name)));
        let makes_no_client =
            |machine: &Name| self.fleet.machines.get(machine.as_str()).is_some_and(|machine| !machine.is_external());
        let is_of_clients = |state: &volume::State| {
            let waits = state.is_external() && state.life.exists() && state.made().is_none();
            waits && !state.own.wanted_on.as_ref().is_some_and(makes_no_client)
        };
        let unmade = self.fleet.volumes.iter().filter(|(_, folded)| is_of_clients(&folded.state));
        streams.extend(unmade.map(|(name, _)| stream::<volume::State>(name)));
        let unmounted = self.fleet.filesystems.iter().filter(|(_, folded)| folded.state.awaits_mount());
        streams.extend(unmounted.map(|(name, _)| stream::<filesystem::State>(name)));
        let paused = self.fleet.machine_deployments.iter().filter(|(_, folded)| folded.state.is_paused());
        streams.extend(paused.map(|(name, _)| stream::<machine_deployment::State>(name)));
        let is_held = |hold: &provider::Hold| hold.until.is_none_or(|until| before < until);
        let held = self.fleet.providers.iter().filter(|(_, folded)| folded.state.hold.as_ref().is_some_and(is_held));
        streams.extend(held.flat_map(|(name, _)| self.fleet.asking(name)));
        streams
    }

    /// What an entity waits for until an operator gives a command, as `why-not` tells it.
    pub fn awaits_operator(&self, of: &StreamId) -> Option<Awaited> {
        let unmet = missing(&self.fleet, of)?;
        let by = unmet.blocked_by.as_ref().map_or_else(|| Some(of.clone()), |other| other.parse().ok())?;
        let command = unmet.awaited_command()?.to_owned();
        Some(Awaited { by, because: unmet.because, command })
    }

    /// When the last of what ends by itself before that moment does so: holds, and the time for which machines are kept for
    /// diagnosis.
    pub fn held_until(&self, before: Timestamp) -> Option<Timestamp> {
        let until = |state: &machine::State| {
            let kept = state.aside.filter(|_| state.is_aside()).map(|aside| aside.until);
            let held = state.hold.as_ref().and_then(|hold| hold.until);
            [kept, held].into_iter().flatten().filter(|until| *until <= before).max()
        };
        let machines = self.fleet.machines.iter().filter_map(|(_, folded)| until(&folded.state));
        let holds = self.fleet.providers.iter().filter_map(|(_, folded)| folded.state.hold.as_ref()?.until);
        machines.chain(holds.filter(|until| *until <= before)).max()
    }

    /// The instance that is a machine's own.
    pub fn own(&self, machine: &Name) -> Option<EffectId> {
        self.fleet.machines.get(machine.as_str())?.own(self.fleet.journal, &stream::<machine::State>(machine.as_str()))
    }

    /// What the journal claims to have in the world, or may have there.
    pub fn claims(&self) -> Claims {
        let mut claims = Claims::default();
        for (name, folded) in self.fleet.machines.iter().filter(|(_, folded)| !folded.state.is_external()) {
            claims.instances.extend(folded.state.claims(self.fleet.journal, &stream::<machine::State>(name)));
            claims.kept.extend(&folded.state.kept);
        }
        for (name, folded) in self.fleet.volumes.iter().filter(|(_, folded)| !folded.state.is_external()) {
            let Some(intent) = folded.state.intent() else { continue };
            claims.volumes.insert(EffectId::of(self.fleet.journal, &stream::<volume::State>(name), intent));
        }
        for (name, folded) in self.fleet.attachments.iter().filter(|(_, folded)| !folded.state.is_external()) {
            let intent = match &folded.state.link {
                Link::Waiting => continue,
                Link::Attaching { effort, .. } => effort.intent,
                Link::Attached { intent, .. } => *intent,
                Link::Detaching { of, .. } => *of,
            };
            claims.attachments.insert(EffectId::of(
                self.fleet.journal,
                &stream::<volume_attachment::State>(name),
                intent,
            ));
        }
        for (name, folded) in self.fleet.filesystems.iter() {
            let Some(intent) = folded.state.intent() else { continue };
            claims.filesystems.insert(EffectId::of(self.fleet.journal, &stream::<filesystem::State>(name), intent));
        }
        for (name, folded) in self.fleet.filesystem_attachments.iter() {
            let intent = match &folded.state.link {
                filesystem_attachment::Link::Waiting => continue,
                filesystem_attachment::Link::Attaching { effort, .. } => effort.intent,
                filesystem_attachment::Link::Attached { intent, .. } => *intent,
                filesystem_attachment::Link::Detaching { of, .. } => *of,
            };
            claims.mounts.insert(EffectId::of(
                self.fleet.journal,
                &stream::<filesystem_attachment::State>(name),
                intent,
            ));
        }
        let kept =
            custom_kind::all().into_iter().flat_map(|kind| (kind.keepings)(&self.fleet.custom, self.fleet.journal));
        claims.custom.extend(kept.map(|kept| kept.id));
        claims
    }
}

fn stream<D: Decider>(name: &str) -> StreamId {
    StreamId::new(D::KIND, name).expect("the name of a stream")
}
