//! What the machines supervisor looks at.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Cite, StreamId};
use uuid::Uuid;

use super::{Event, Tally, deleted::Deleted, tally::group};
use crate::{
    contract::{self, Decider, Decoded, Fold, Stored, StoredError, StoredFacts},
    document::{self, Documents},
    machine::{self, Instance},
    supervisor::{Order, Orders},
    vocab::{EffectId, Fact, Name},
};

/// The machines that exist, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub orders: Orders,
    /// Instances that operators let go of when their machines went: they are nobody's, and nobody removes them.
    pub kept: BTreeSet<EffectId>,
    /// Instances that machines had deleted: what a provider still shows of them goes again.
    pub deleted: Deleted,
    /// The machines whose time is over: those that may have to be given up.
    pub overdue: BTreeSet<Name>,
    pub tally: Tally,
    /// By group: the last event that left its budget more room.
    made_room: BTreeMap<String, Cite>,
    pub documents: Documents,
    /// The machines that wait for what they are started with.
    pub unprepared: BTreeSet<Name>,
    /// The machines of which workloads go on because of a budget that could never have room.
    pub stranded: BTreeSet<Name>,
    /// The machines that stand in each other one, or are to.
    pub children: BTreeMap<Name, BTreeSet<Name>>,
    parent_of: BTreeMap<Name, Name>,
    /// Machines that are gone, and for which their host keeps room: host and container, and the event that says so.
    pub leaving: BTreeMap<(Name, Name), Option<Cite>>,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "machines";

    /// The last event that left the budget of a machine more room: one without a group shares that of all.
    pub(super) fn made_room(&self, machine: &machine::State) -> Option<&Cite> {
        self.made_room.get(&group(machine))
    }
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(kind, "machine" | "supervisor")
            || document::Kind::of(kind).is_some_and(document::Kind::is_for_machines)
    }

    fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        if stream.kind() == "supervisor" {
            if stream.name() == Self::NAME {
                for (at, body) in entry.versioned_events() {
                    if let Event::Issued { order, cites } = Event::load(body)? {
                        self.sited(&order);
                        self.orders.issued(stream, at, entry.header.position, order, cites);
                    }
                }
            }
            return Ok(());
        }
        if stream.kind() != machine::State::KIND {
            return self.documents.apply_decoded(entry);
        }
        let name = stream.name();
        let counted = self.tally.mark(name, self.machines.get(name));
        let sharing = self.machines.get(name).map(group);
        let taken = sharing.as_ref().map(|group| self.tally.share(group).in_replacement);
        let own = match self.machines.get(name).filter(|machine| matches!(machine.instance, Instance::Deleting { .. }))
        {
            Some(machine) => machine.own(StoredFacts::load(&entry.facts)?.journal, stream),
            None => None,
        };
        let Self { machines, deleted, .. } = self;
        machines.apply_showing(entry, |event| deleted.saw(own, event))?;
        self.orders.answered(entry);
        // What is gone, and has nothing left that is to go, leaves the view.
        let over = self.machines.get(name).filter(|machine| !machine.life.exists() && machine.strays.is_empty());
        let gone = over.and_then(|_| self.machines.cite(name, Fact::Life));
        if let Some(machine) = over {
            self.kept.extend(&machine.kept);
            self.machines.remove(name);
        }
        let Ok(name) = name.parse::<Name>() else { return Ok(()) };
        let machine = self.machines.get(name.as_str());
        self.tally.saw(&name, counted, machine);
        if let (Some(group), Some(taken), Some(last)) = (sharing, taken, entry.versioned_events().last())
            && self.tally.share(&group).in_replacement < taken
        {
            self.made_room.insert(group, Cite::new(stream.clone(), last.0));
        }
        if machine.is_some_and(machine::State::awaits_start) {
            self.unprepared.insert(name.clone());
        } else {
            self.unprepared.remove(&name);
        }
        if machine.is_some_and(|machine| machine.stranded().next().is_some()) {
            self.stranded.insert(name.clone());
        } else {
            self.stranded.remove(&name);
        }
        if machine.is_some_and(machine::is_overdue) {
            self.overdue.insert(name.clone());
        } else {
            self.overdue.remove(&name);
        }
        self.saw_container(&name, gone);
        Ok(())
    }
}

impl View {
    /// The machine that one stands in, or is to.
    pub fn parent_of(&self, machine: &Name) -> Option<&Name> {
        self.parent_of.get(machine)
    }

    /// The machines of a provider that are not well and were, in the order of their names.
    pub fn doubted(&self, provider: &Name) -> Vec<Name> {
        let is_doubted = |state: &machine::State| {
            machine::is_doubted(state) && state.spec.as_ref().is_some_and(|spec| spec.provider == *provider)
        };
        let doubted = self.machines.iter().filter(|(_, folded)| is_doubted(&folded.state));
        doubted.filter_map(|(name, _)| name.parse().ok()).collect()
    }

    /// The machines that have to be looked at because something has happened in a stream: those that wait for what a
    /// document may say, those that a budget without hope holds up, and those that stand in a machine.
    pub fn woken_by(&self, stream: &StreamId) -> Vec<StreamId> {
        let woken = match document::Kind::of(stream.kind()) {
            Some(kind) if !kind.is_for_machines() => BTreeSet::new(),
            Some(document::Kind::Application) => &self.unprepared | &self.stranded,
            Some(_) => self.unprepared.clone(),
            None => {
                stream.name().parse().ok().and_then(|host: Name| self.children.get(&host)).cloned().unwrap_or_default()
            }
        };
        woken.iter().map(self::stream).collect()
    }

    /// A machine has changed: where it stands, and whether its host still keeps room for what is gone.
    fn saw_container(&mut self, name: &Name, gone: Option<Cite>) {
        let existing = |name: &Name| self.machines.get(name.as_str()).filter(|machine| machine.life.exists());
        let keeps =
            |host: &Name, container: &Name| existing(host).is_some_and(|host| host.containers.contains(container));
        let parent = existing(name).and_then(|machine| machine.spec.as_ref()?.parent.clone());
        self.leaving = std::mem::take(&mut self.leaving)
            .into_iter()
            .filter(|((host, container), _)| if host == name { keeps(host, container) } else { container != name })
            .collect();
        match (self.parent_of.get(name).cloned(), parent) {
            (known, Some(parent)) => {
                if known.as_ref() != Some(&parent) {
                    self.children.entry(parent.clone()).or_default().insert(name.clone());
                    self.parent_of.insert(name.clone(), parent);
                }
            }
            (Some(host), None) => {
                if keeps(&host, name) {
                    self.leaving.insert((host.clone(), name.clone()), gone);
                }
                self.parent_of.remove(name);
                if let Some(children) = self.children.get_mut(&host) {
                    children.remove(name);
                    if children.is_empty() {
                        self.children.remove(&host);
                    }
                }
            }
            (None, None) => (),
        }
    }

    fn sited(&mut self, order: &Order) {
        if let Order::Machine { machine, command: machine::Command::Site { zone, .. } } = order
            && let Some(state) = self.machines.get(machine.as_str())
        {
            self.tally.chose(machine, state, zone.as_ref());
        }
    }

    /// The instance that is a machine's own: that it has, or may have, or is getting rid of.
    pub fn own(&self, journal: Uuid, machine: &Name) -> Option<EffectId> {
        self.machines.get(machine.as_str())?.own(journal, &stream(machine))
    }

    /// Whether some machine claims the instance, whose name it bears, or an operator keeps it.
    pub fn is_claimed(&self, journal: Uuid, machine: &Name, effect: EffectId) -> bool {
        let stream = stream(machine);
        let claims = |state: &machine::State| state.claims(journal, &stream).contains(&effect);
        self.kept.contains(&effect) || self.machines.get(machine.as_str()).is_some_and(claims)
    }
}

pub(super) fn stream(machine: &Name) -> StreamId {
    StreamId::new(machine::State::KIND, machine.as_str()).expect("names are checked")
}
