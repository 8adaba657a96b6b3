//! What the machine sets supervisor looks at.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Cite, StreamId};

use super::{ClassUses, Event, Members, Owners, members::Place};
use crate::{
    contract::{self, Decider, Decoded, Fold, Stored, StoredError},
    filesystem, machine, machine_class, machine_deployment, machine_set, policy,
    storage_rules::{StorageClaim, claimed},
    supervisor::{Orders, machines},
    vocab::{Fact, Life, Name},
    volume,
};

/// Machines that exist, their sets and classes, and the orders that wait for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub machines: Fold<machine::State>,
    pub sets: Fold<machine_set::State>,
    pub classes: Fold<machine_class::State>,
    pub deployments: Fold<machine_deployment::State>,
    pub uses: ClassUses,
    pub orders: Orders,
    members: BTreeMap<Name, Members>,
    /// The event with which the last machine of a set went.
    left: BTreeMap<Name, Cite>,
    /// The events since which sets have a machine less than they should, and nobody has come for it.
    dropped: BTreeMap<Name, Vec<Cite>>,
    /// The sets that have a pass under way, are frozen, or go.
    pub busy: BTreeSet<Name>,
    /// The providers that do not answer.
    out: BTreeSet<Name>,
    /// The sets of the providers that ceased to answer, or came back, with the last entry about them.
    turned: BTreeSet<Name>,
    /// Who owns which sets.
    pub(super) owners: Owners,
    /// The last event of a policy: what deployments wait for may have become another moment.
    pub(super) revised: Option<Cite>,
    /// What volumes and filesystems are called that exist.
    volumes: BTreeSet<Name>,
    filesystems: BTreeSet<Name>,
}

/// Where one machine counts.
#[derive(Default, PartialEq)]
struct Standing {
    /// The set that it belongs to, and where it stands there.
    set: Option<(Name, Place)>,
    /// The class that it uses, and whether it waits for what that says.
    class: Option<(Name, bool)>,
}

impl View {
    /// The name of the supervisor's stream.
    pub const NAME: &'static str = "machine-sets";

    /// The set that a machine belongs to.
    pub fn set_of(&self, machine: &Name) -> Option<&Name> {
        let state = self.machines.get(machine.as_str()).filter(|machine| machine.life.exists())?;
        state.spec.as_ref()?.set.as_ref()
    }

    /// The deployment that a set belongs to, or belonged to when it went.
    pub fn owner_of(&self, set: &Name) -> Option<&Name> {
        self.sets.get(set.as_str())?.spec.as_ref()?.deployment.as_ref()
    }

    /// The machines of a set; none if it has none.
    pub fn members(&self, set: &Name) -> Option<&Members> {
        self.members.get(set)
    }

    /// Whether nobody is called like this, nor anything like what a machine of this name would ask for.
    pub(super) fn is_free(&self, machine: &Name, claims: &[StorageClaim]) -> bool {
        let is_taken = |all: &BTreeSet<Name>, name: &Option<Name>| name.as_ref().is_some_and(|name| all.contains(name));
        self.machines.get(machine.as_str()).is_none()
            && !claimed(machine, claims).any(|claimed| {
                is_taken(&self.volumes, &claimed.volume) || is_taken(&self.filesystems, &claimed.filesystem)
            })
    }

    /// How many machines the deployment of a set has at most while it exchanges them; none if it has none.
    pub fn room(&self, set: &machine_set::State) -> Option<u32> {
        let deployment = self.deployments.get(set.spec.as_ref()?.deployment.as_ref()?.as_str())?;
        let spec = deployment.spec.as_ref()?;
        Some(spec.replicas.saturating_add(machine_deployment::bounds(spec.strategy, spec.replicas).surge))
    }

    /// Whether a provider does not answer, and nothing is replaced there.
    pub fn is_out(&self, provider: &Name) -> bool {
        self.out.contains(provider)
    }

    /// Records that an outage of a provider began or ended.
    fn turned(&mut self, provider: &Name, is_out: bool) {
        let has_turned = if is_out { self.out.insert(provider.clone()) } else { self.out.remove(provider) };
        if !has_turned {
            return;
        }
        let of_provider = |state: &machine_set::State| {
            state.life.exists() && state.spec.as_ref().is_some_and(|spec| spec.template.provider == *provider)
        };
        let sets = self.sets.iter().filter(|(_, folded)| of_provider(&folded.state));
        self.turned.extend(sets.filter_map(|(name, _)| name.parse::<Name>().ok()));
    }

    /// The sets that have to be looked at because of the last entry of a stream: their provider ceased to answer, or answers
    /// again.
    pub fn woken_by(&self, stream: &StreamId) -> Vec<StreamId> {
        if stream.kind() != "supervisor" || stream.name() != machines::View::NAME {
            return Vec::new();
        }
        self.turned.iter().filter_map(|set| StreamId::new(machine_set::State::KIND, set.as_str()).ok()).collect()
    }

    /// The event with which the last machine of a set went.
    pub(super) fn left(&self, set: &Name) -> Option<Cite> {
        self.left.get(set).cloned()
    }

    /// The events since which a set has a machine less than it should.
    pub(super) fn dropped(&self, set: &Name) -> impl Iterator<Item = &Cite> {
        self.dropped.get(set).into_iter().flatten()
    }

    /// A set has so many machines more or less than before that run, or may come to run.
    fn counted(&mut self, set: &Name, before: usize, by: Option<Cite>) {
        let now = self.members.get(set).map_or(0, Members::active);
        let wanted = self.sets.get(set.as_str()).and_then(|set| set.spec.as_ref()).map(|spec| spec.replicas);
        if wanted.is_some_and(|wanted| u64::from(wanted) == now as u64) {
            self.dropped.remove(set);
        } else if now < before {
            self.dropped.entry(set.clone()).or_default().extend(by);
        } else if now > before
            && let Some(dropped) = self.dropped.get_mut(set).filter(|dropped| !dropped.is_empty())
        {
            dropped.remove(0);
        }
    }

    /// Where a machine counts now; nowhere if it is not known.
    fn standing(&self, machine: &str) -> Standing {
        let Some(state) = self.machines.get(machine) else { return Standing::default() };
        let set = state.spec.as_ref().filter(|_| state.life.exists()).and_then(|spec| spec.set.clone());
        let class = state.uses_class().map(|class| (class.clone(), state.awaits_class().is_some()));
        Standing { set: set.map(|set| (set, Place::of(state))), class }
    }

    /// A machine has changed, which counted there before.
    fn saw_machine(&mut self, name: &Name, before: Standing) {
        let now = self.standing(name.as_str());
        if before != now {
            self.moved(name, before, now);
        }
        if self.machines.get(name.as_str()).is_some_and(|machine| machine.life == Life::Removed) {
            self.machines.remove(name.as_str());
        }
    }

    /// A machine counts elsewhere now.
    fn moved(&mut self, name: &Name, before: Standing, now: Standing) {
        let gone = self.machines.cite(name.as_str(), Fact::Life);
        let by = self.machines.folded(name.as_str()).and_then(|folded| {
            Some(Cite::new(StreamId::new(machine::State::KIND, name.as_str()).ok()?, folded.version))
        });
        let sets: BTreeSet<Name> = before.set.iter().chain(&now.set).map(|(set, _)| set.clone()).collect();
        let active = |view: &Self, set: &Name| view.members.get(set).map_or(0, Members::active);
        let counts: Vec<usize> = sets.iter().map(|set| active(self, set)).collect();
        if before.set != now.set {
            sets.iter().for_each(|set| self.owners.moved(set, by.clone()));
        }
        match (before.set, now.set) {
            // Most of what happens to a machine: its set need not be searched for it.
            (Some((was_of, from)), Some((set, to))) if was_of == set => {
                if let Some(members) = self.members.get_mut(&set).filter(|_| from != to) {
                    members.moved(from, to);
                }
            }
            (was_of, of) => {
                if let Some((set, phase)) = was_of
                    && let Some(members) = self.members.get_mut(&set)
                {
                    members.lost(name, phase);
                    if let Some(gone) = gone.clone() {
                        self.left.insert(set.clone(), gone);
                    }
                    if members.is_empty() {
                        self.members.remove(&set);
                    }
                }
                if let (Some((set, phase)), Some(folded)) = (of, self.machines.folded(name.as_str())) {
                    self.members.entry(set).or_default().joined(name, phase, folded.changed);
                }
            }
        }
        for (set, before) in sets.iter().zip(counts) {
            self.counted(set, before, by.clone());
        }
        if before.class != now.class {
            self.uses.saw_machine(name, now.class, gone);
        }
    }

    fn saw_set(&mut self, name: &Name) {
        let Some(folded) = self.sets.folded(name.as_str()) else { return };
        self.owners.saw_set(name, folded);
        let active = self.members.get(name).map_or(0, Members::active);
        self.counted(name, active, None);
        let Some(folded) = self.sets.folded(name.as_str()) else { return };
        let set = &folded.state;
        if !set.life.exists() {
            self.left.remove(name);
            self.dropped.remove(name);
        }
        let is_marked = set.frozen.is_some() || set.spared > 0;
        if set.life == Life::Dying || (set.life.exists() && (!set.is_at_rest() || is_marked)) {
            self.busy.insert(name.clone());
        } else {
            self.busy.remove(name);
        }
    }
}

impl contract::View for View {
    fn wants(kind: &str) -> bool {
        matches!(
            kind,
            "machine"
                | "machine-set"
                | "machine-class"
                | "machine-deployment"
                | "supervisor"
                | "volume"
                | "filesystem"
                | "policy"
        )
    }

    fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        let stream = &entry.header.stream;
        if stream.kind() == "supervisor" {
            if stream.name() == Self::NAME {
                for (at, body) in entry.versioned_events() {
                    let Event::Issued { order, cites } = Event::load(body)?;
                    self.orders.issued(stream, at, entry.header.position, order, cites);
                }
            }
            if stream.name() == machines::View::NAME {
                self.turned.clear();
                for event in entry.events::<machines::Event>()?.iter() {
                    match event {
                        machines::Event::OutageBegan { provider, .. } => self.turned(provider, true),
                        machines::Event::ListRecovered { provider, .. } => self.turned(provider, false),
                        _ => (),
                    }
                }
            }
            return Ok(());
        }
        if stream.kind() == policy::State::KIND {
            if entry.header.events > 0 {
                self.revised = Some(Cite::new(stream.clone(), entry.header.last_version()));
            }
            return Ok(());
        }
        let name = stream.name().parse::<Name>().ok();
        let is_machine = stream.kind() == machine::State::KIND;
        let before = if is_machine { self.standing(stream.name()) } else { Standing::default() };
        self.machines.apply_decoded(entry)?;
        self.sets.apply_decoded(entry)?;
        self.classes.apply_decoded(entry)?;
        self.deployments.apply_decoded(entry)?;
        self.orders.answered(entry);
        let Some(name) = name else { return Ok(()) };
        match stream.kind() {
            machine::State::KIND => self.saw_machine(&name, before),
            machine_set::State::KIND => self.saw_set(&name),
            machine_deployment::State::KIND => {
                if let Some(state) = self.deployments.get(name.as_str()) {
                    self.owners.saw_deployment(&name, state);
                }
            }
            volume::State::KIND => {
                for event in entry.events::<volume::Event>()?.iter() {
                    match event {
                        volume::Event::Declared { .. } => drop(self.volumes.insert(name.clone())),
                        volume::Event::Removed => drop(self.volumes.remove(&name)),
                        _ => (),
                    }
                }
            }
            filesystem::State::KIND => {
                for event in entry.events::<filesystem::Event>()?.iter() {
                    match event {
                        filesystem::Event::Declared { .. } => drop(self.filesystems.insert(name.clone())),
                        filesystem::Event::Removed => drop(self.filesystems.remove(&name)),
                        _ => (),
                    }
                }
            }
            machine_class::State::KIND => {
                for event in entry.events::<machine_class::Event>()?.iter() {
                    self.uses.saw_class(&name, event);
                }
            }
            _ => (),
        }
        Ok(())
    }
}
