//! What watchers are told: which machines appeared, changed their life or started, and when configuration changed.
//!
//! One table for all who watch. A watcher only keeps up to which entry of the journal it was told, so that thousands of them
//! cost little, and what came between two questions is told at once, each machine once.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bailiwick_actors::{
    contract::{Decider, Stored},
    document::Kind,
    machine::{self, juju},
    vocab::Life,
};
use bailiwick_journal::{Body, Entry, Filter, Outcome, Position, ReadError};
use tokio::sync::watch;

use crate::{handle::Handle, juju::MachineId, view::Fleet};

/// What can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// The lives of the machines of their own.
    Machines,
    /// The same, and when their agents started.
    Starts,
    /// The lives of the containers in a machine, of one type or of all.
    Containers {
        of: MachineId,
        of_type: Option<String>,
    },
    ModelConfig,
    ApiHostPorts,
    /// Nothing but time: one minute, and the next.
    ErrorRetry,
}

impl Watched {
    /// Whether it tells names.
    pub(super) fn has_names(&self) -> bool {
        matches!(self, Self::Machines | Self::Starts | Self::Containers { .. })
    }
}

/// What is known of a machine.
#[derive(Clone, Copy, Debug)]
struct Known {
    life: Life,
    /// Since when it is there, changed its life, or its agent started; as entries of the journal.
    declared: u64,
    changed: u64,
    started: u64,
    /// When it was dead or gone; 0 before that.
    over: u64,
}

#[derive(Debug, Default)]
struct Table {
    machines: HashMap<MachineId, Known>,
    /// Each machine by the entry that it changed with last, starts included.
    by_entry: BTreeSet<(u64, MachineId)>,
    /// The last entry that was taken in.
    position: u64,
    model_config: u64,
    host_ports: u64,
    /// How many minutes have passed.
    minutes: u64,
}

/// The table, and what tells that it has changed.
#[derive(Debug)]
pub(super) struct Changes {
    table: Mutex<Table>,
    /// Held while entries are taken in. The last one that was; none before anybody watched.
    taken: Mutex<Option<Position>>,
    news: watch::Sender<u64>,
}

impl Default for Changes {
    fn default() -> Self {
        Self { table: Mutex::default(), taken: Mutex::default(), news: watch::Sender::new(0) }
    }
}

/// How far a watcher was told: the entry, or the minute.
pub(super) type Told = u64;

impl Changes {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes whenever there may be something to tell.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// All that is watched now, and how far that is.
    pub(super) fn first(&self, watched: &Watched) -> (Vec<String>, Told) {
        let table = self.table();
        match watched {
            Watched::ErrorRetry => (Vec::new(), table.minutes),
            Watched::ModelConfig | Watched::ApiHostPorts => (Vec::new(), table.position),
            _ => {
                let there = table.machines.iter().filter(|(id, known)| known.life.exists() && watched.covers(id));
                let mut names: Vec<String> = there.map(|(id, _)| id.to_string()).collect();
                names.sort();
                (names, table.position)
            }
        }
    }

    /// What a watcher that was told so far is told now; none if there is nothing.
    pub(super) fn next(&self, watched: &Watched, told: Told) -> Option<(Vec<String>, Told)> {
        let table = self.table();
        let since = |at: u64| (at > told).then_some((Vec::new(), table.position));
        match watched {
            Watched::ErrorRetry => (table.minutes > told).then_some((Vec::new(), table.minutes)),
            Watched::ModelConfig => since(table.model_config),
            Watched::ApiHostPorts => since(table.host_ports),
            _ => {
                let changed = table.by_entry.range((told + 1, MachineId::least())..).map(|(_, id)| id);
                let news = |id: &&MachineId| {
                    let Some(known) = table.machines.get(*id) else { return false };
                    let changed = match watched {
                        Watched::Starts => known.changed.max(known.started),
                        _ => known.changed,
                    };
                    // What was told to be dead is told no more; what came and went meanwhile was never there.
                    let is_told = known.over != 0 && known.over <= told;
                    let was_never = known.life == Life::Removed && known.declared > told;
                    changed > told && !is_told && !was_never && watched.covers(id)
                };
                let mut names: Vec<String> = changed.filter(news).map(ToString::to_string).collect();
                names.sort();
                names.dedup();
                (!names.is_empty()).then_some((names, table.position))
            }
        }
    }

    /// A minute has passed.
    pub(super) fn minute(&self) {
        self.table().minutes += 1;
        self.news.send_modify(|news| *news += 1);
    }

    /// Whether anybody has watched yet.
    pub(super) fn is_watched(&self) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes in all that is decided so far.
    ///
    /// # Errors
    /// If the journal cannot be read; what was taken in counts.
    pub(super) fn catch_up(&self, node: &Handle) -> Result<(), ReadError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = match *taken {
            Some(last) => last,
            None => node.look(|fleet| {
                self.begin(fleet);
                fleet.position
            })?,
        };
        *taken = Some(last);
        let head = node.head();
        if last == head {
            return Ok(());
        }
        let journal = node.journal();
        for entry in journal.read(last.next(), head, &Filter::all()) {
            let entry = entry?;
            if matters(entry.header.stream.kind()) {
                node.look(|fleet| self.take(&entry, fleet))?;
            }
            last = entry.header.position;
            *taken = Some(last);
            self.table().position = last.0;
        }
        Ok(())
    }

    /// Takes in the fleet as it is.
    fn begin(&self, fleet: &Fleet) {
        let mut table = self.table();
        for (name, folded) in fleet.machines.iter() {
            table.note(name, folded.state.life, 0);
        }
        table.position = fleet.position.0;
    }

    /// Takes in an entry, and how a machine is after it.
    fn take(&self, entry: &Entry, fleet: &Fleet) {
        let mut table = self.table();
        let at = entry.header.position.0;
        table.position = at;
        let stream = &entry.header.stream;
        if entry.header.meta.outcome != Outcome::Done {
            return;
        }
        if stream.kind() == machine::State::KIND {
            if let Some(state) = fleet.machines.get(stream.name()) {
                table.note(stream.name(), state.life, at);
            }
            if entry.events.iter().any(is_start) {
                table.started(stream.name(), at);
            }
        } else {
            table.model_config = at;
            table.host_ports = at;
        }
        drop(table);
        self.news.send_modify(|news| *news += 1);
    }
}

impl Watched {
    fn covers(&self, id: &MachineId) -> bool {
        match self {
            Self::Machines | Self::Starts => id.parent().is_none(),
            Self::Containers { of, of_type } => {
                id.parent().as_ref() == Some(of)
                    && of_type.as_deref().is_none_or(|kind| id.container_type() == Some(kind))
            }
            Self::ModelConfig | Self::ApiHostPorts | Self::ErrorRetry => false,
        }
    }
}

impl Table {
    fn note(&mut self, name: &str, life: Life, at: u64) {
        let Some(id) = MachineId::of_name(name) else { return };
        let is_over = matches!(life, Life::Dead | Life::Removed);
        let fresh = Known { life, declared: at, changed: at, started: 0, over: if is_over { at.max(1) } else { 0 } };
        match self.machines.get_mut(&id) {
            None => drop(self.machines.insert(id.clone(), fresh)),
            Some(known) if known.life == life => return,
            Some(known) => {
                self.by_entry.remove(&(known.changed.max(known.started), id.clone()));
                // Declared again, it is another one.
                let is_another = matches!(known.life, Life::Removed | Life::Undeclared);
                let over = if known.over != 0 { known.over } else { fresh.over };
                *known = if is_another { fresh } else { Known { life, changed: at, over, ..*known } };
            }
        }
        self.by_entry.insert((at, id));
    }

    fn started(&mut self, name: &str, at: u64) {
        let Some(id) = MachineId::of_name(name) else { return };
        if let Some(known) = self.machines.get_mut(&id) {
            self.by_entry.remove(&(known.changed.max(known.started), id.clone()));
            known.started = at;
            self.by_entry.insert((at, id));
        }
    }
}

/// Whether entries of this kind of stream can be news.
fn matters(kind: &str) -> bool {
    kind == machine::State::KIND || kind == Kind::JujuModel.as_str() || kind == Kind::Model.as_str()
}

/// Whether an agent has started: it says so, or has joined.
fn is_start(event: &Body) -> bool {
    match machine::Event::load(event) {
        Ok(machine::Event::AgentJoined { .. }) => true,
        Ok(machine::Event::Client(juju::Event::StatusSet { of: juju::StatusOf::Machine, said, .. })) => {
            said.status == "started"
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has become of machines, by entry; and what a watcher that was told up to an entry is told then.
    #[test]
    fn each_change_of_a_life_is_told_once_and_a_death_is_the_last() {
        use Life::{Alive, Dead, Dying, Removed};
        let changes = Changes::default();
        let happens = |name: &str, life: Life, at: u64| {
            let mut table = changes.table();
            table.note(name, life, at);
            table.position = at;
        };
        let told = |since: u64| changes.next(&Watched::Machines, since).map(|(names, _)| names);
        happens("0", Alive, 1);
        happens("0-lxd-0", Alive, 2);
        happens("web", Alive, 3);
        assert_eq!(changes.first(&Watched::Machines), (vec!["0".to_owned()], 3));
        assert_eq!(told(3), None);
        happens("0", Dying, 4);
        happens("0", Dead, 5);
        assert_eq!(told(3), Some(vec!["0".to_owned()]), "both at once");
        happens("0", Removed, 6);
        assert_eq!(told(5), None, "it was told to be dead");
        assert_eq!(told(4), Some(vec!["0".to_owned()]));
        happens("0", Alive, 7);
        assert_eq!(told(6), Some(vec!["0".to_owned()]), "another one of the name");
        happens("1", Alive, 8);
        happens("1", Removed, 9);
        assert_eq!(told(7), None, "it came and went");
        assert_eq!(told(8), Some(vec!["1".to_owned()]));
        let of = MachineId::of_name("0").expect("an id");
        let containers = |of_type: Option<&str>| {
            let watched = Watched::Containers { of: of.clone(), of_type: of_type.map(str::to_owned) };
            changes.first(&watched).0
        };
        assert_eq!(containers(None), ["0/lxd/0"]);
        assert_eq!(containers(Some("kvm")), [""; 0]);
    }
}
