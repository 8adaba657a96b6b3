//! The whole control plane done by hand: decide, record, take in, look, order, perform; one thread, no mailboxes.
//!
//! It writes journals such as the shell writes, in an order that only the test chooses.

mod documents;
mod listing;
mod performing;
mod provider;
mod seats;
mod shelves;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use bailiwick_journal::{Cite, Entry, Journal, Position, StreamId};
use uuid::Uuid;

pub use self::provider::{Answer, Asked, Call, Provider};
use self::{
    seats::{Seat, Seats},
    shelves::{Shelved, Shelves},
};
use crate::{
    contract::{Decider, Known, NoView, PolicyInForce},
    filesystem, machine, machine_class, machine_deployment, machine_set, policy,
    ports::Condition,
    replica_set,
    storage_rules::StorageConfig,
    supervisor::{Issued, Order, machine_sets, machines, storage},
    vocab::{ClassContent, EffectId, Fault, Name, SizeMib, Timestamp, derived_uuid},
    volume, volume_attachment,
};

/// Everything that a node knows, in one hand.
#[derive(Debug)]
pub struct Desk {
    journal: Arc<dyn Journal>,
    /// The time of the next decision.
    pub now: Timestamp,
    /// What goes wrong: the next effects of a stream fail with these, one after the other.
    pub faults: BTreeMap<StreamId, VecDeque<Fault>>,
    /// The provider of everything at this desk: it is called `desk`, and does what any other name asks as well.
    pub provider: Provider,
    policy: Arc<PolicyInForce>,
    asked: u64,
    shelves: Shelves,
    seats: Seats,
}

/// As many rounds are enough for whatever comes to an end.
const ROUNDS_MAX: u32 = 10_000;

/// Where a command comes from.
struct From {
    id: Uuid,
    principal: String,
    cause: Option<Position>,
    cites: Vec<Cite>,
}

/// A machine's, volume's or policy's name.
///
/// # Panics
/// If the text is none.
pub fn name(text: &str) -> Name {
    text.parse().expect("a valid name")
}

impl Desk {
    /// A desk with an empty journal (a note of its opening may be in it).
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        let policy = Arc::new(PolicyInForce { reference: None, document: policy::Document::default() });
        Self {
            now: Timestamp(journal.head().time_ms),
            journal,
            faults: BTreeMap::new(),
            provider: Provider::default(),
            policy,
            asked: 0,
            shelves: Shelves::default(),
            seats: Seats::new(),
        }
    }

    /// Puts a policy in force.
    pub fn revise(&mut self, document: policy::Document) -> Arc<Entry> {
        let (stream, from) = (policy_stream(), self.operator());
        let entry = self.ask::<policy::State>(&stream, policy::Command::Revise(Box::new(document)), from);
        let entity = &self.shelves.policies[&stream];
        self.policy = Arc::new(entity.state().in_force(&stream));
        entry
    }

    /// An operator asks the policy for something else than other settings.
    pub fn ask_policy(&mut self, command: policy::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<policy::State>(&policy_stream(), command, from)
    }

    /// The pools that storage comes from, beside those that everybody has.
    pub fn pools(&self) -> StorageConfig {
        self.shelves.policies.get(&policy_stream()).map(|policy| policy.state().pools.clone()).unwrap_or_default()
    }

    /// An operator asks a machine.
    pub fn machine(&mut self, machine: &str, command: machine::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<machine::State>(&stream::<machine::State>(machine), command, from)
    }

    /// An operator asks a volume.
    pub fn volume(&mut self, volume: &str, command: volume::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<volume::State>(&stream::<volume::State>(volume), command, from)
    }

    /// An operator asks an attachment, by `machine:volume`.
    pub fn attachment(&mut self, attachment: &str, command: volume_attachment::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<volume_attachment::State>(&stream::<volume_attachment::State>(attachment), command, from)
    }

    /// An operator asks a machine set.
    pub fn machine_set(&mut self, set: &str, command: machine_set::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<machine_set::State>(&stream::<machine_set::State>(set), command, from)
    }

    /// An operator asks a machine deployment.
    pub fn machine_deployment(&mut self, deployment: &str, command: machine_deployment::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<machine_deployment::State>(&stream::<machine_deployment::State>(deployment), command, from)
    }

    /// Declares what machines may be made from.
    pub fn declare_class(&mut self, class: &str, content: ClassContent) -> Arc<Entry> {
        let (from, declare) = (self.operator(), machine_class::Command::Declare(Box::new(content)));
        self.ask::<machine_class::State>(&stream::<machine_class::State>(class), declare, from)
    }

    /// An operator asks a class.
    pub fn class(&mut self, class: &str, command: machine_class::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<machine_class::State>(&stream::<machine_class::State>(class), command, from)
    }

    /// An operator asks for something about a provider.
    pub fn ask_provider(&mut self, provider: &str, command: crate::provider::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<crate::provider::State>(&stream::<crate::provider::State>(provider), command, from)
    }

    /// An operator asks a filesystem.
    pub fn filesystem(&mut self, filesystem: &str, command: filesystem::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<filesystem::State>(&stream::<filesystem::State>(filesystem), command, from)
    }

    /// An operator asks a replica set.
    pub fn replica_set(&mut self, set: &str, command: replica_set::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask::<replica_set::State>(&stream::<replica_set::State>(set), command, from)
    }

    /// Declares a machine with a provider called `desk`.
    pub fn declare_machine(&mut self, machine: &str) -> Arc<Entry> {
        let spec = machine::Spec::with_provider(name("desk"));
        self.machine(machine, machine::Command::Declare(Arc::new(spec)))
    }

    /// Declares a volume of 64 MiB.
    pub fn declare_volume(&mut self, volume: &str) -> Arc<Entry> {
        self.volume(volume, volume::Command::declare(volume::Spec { provider: name("desk"), size: SizeMib(64) }))
    }

    /// Declares an attachment, and has both sides make room for it.
    pub fn attach(&mut self, machine: &str, volume: &str) -> Arc<Entry> {
        let spec = volume_attachment::Spec { machine: name(machine), volume: name(volume), read_only: false };
        self.machine(machine, machine::Command::ReserveAttachment { volume: name(volume) });
        self.volume(volume, volume::Command::ReserveAttachment { machine: name(machine) });
        self.attachment(&spec.stream_name(), volume_attachment::Command::Declare(spec))
    }

    /// An agent reports one condition.
    pub fn report_node(&mut self, machine: &str, healthy: bool) -> Option<Arc<Entry>> {
        let condition = Condition { kind: "DiskPressure".into(), healthy: healthy.into(), text: "as it is".into() };
        self.report_conditions(machine, vec![condition])
    }

    /// An agent reports these conditions; none if the machine has no instance.
    pub fn report_conditions(&mut self, machine: &str, conditions: Vec<Condition>) -> Option<Arc<Entry>> {
        self.agent_says(machine, |effect| machine::Report::Node { effect, conditions })
    }

    /// An agent joins with a token of this id, or says something else of itself than before.
    pub fn report_joined(&mut self, machine: &str, token: &str, node: machine::NodeFacts) -> Option<Arc<Entry>> {
        let (token, node) = (token.to_owned(), Box::new(node));
        self.agent_says(machine, |effect| machine::Report::Joined { effect, token, node })
    }

    /// What the agent of a machine's instance says.
    pub fn agent_says(
        &mut self,
        machine: &str,
        report: impl FnOnce(EffectId) -> machine::Report,
    ) -> Option<Arc<Entry>> {
        let effect = self.machine_state(machine)?.running_effect()?;
        let stream = stream::<machine::State>(machine);
        let from = self.from(format!("agent:{stream}"), None);
        Some(self.ask::<machine::State>(&stream, machine::Command::Report(report(effect)), from))
    }

    /// Nothing was heard of a machine's agent since then.
    pub fn report_silent(&mut self, machine: &str, last_seen: Timestamp) -> Option<Arc<Entry>> {
        let effect = self.machine_state(machine)?.running_effect()?;
        let from = self.from("supervisor/machines".into(), None);
        let report = machine::Report::NodeSilent { effect, last_seen };
        Some(self.ask::<machine::State>(&stream::<machine::State>(machine), machine::Command::Report(report), from))
    }

    /// What is true of a machine now; none if nobody has ever asked it for something.
    pub fn machine_state(&self, machine: &str) -> Option<&machine::State> {
        Some(self.shelves.machines.get(&stream::<machine::State>(machine))?.state())
    }

    /// What is true of a volume now.
    pub fn volume_state(&self, volume: &str) -> Option<&volume::State> {
        Some(self.shelves.volumes.get(&stream::<volume::State>(volume))?.state())
    }

    /// What is true of a machine set now.
    pub fn machine_set_state(&self, set: &str) -> Option<&machine_set::State> {
        Some(self.shelves.sets.get(&stream::<machine_set::State>(set))?.state())
    }

    /// What is true of a machine deployment now.
    pub fn machine_deployment_state(&self, deployment: &str) -> Option<&machine_deployment::State> {
        Some(self.shelves.deployments.get(&stream::<machine_deployment::State>(deployment))?.state())
    }

    /// What is true of a filesystem now.
    pub fn filesystem_state(&self, filesystem: &str) -> Option<&filesystem::State> {
        Some(self.shelves.filesystems.get(&stream::<filesystem::State>(filesystem))?.state())
    }

    /// What is true of a replica set now.
    pub fn replica_set_state(&self, set: &str) -> Option<&replica_set::State> {
        Some(self.shelves.replica_sets.get(&stream::<replica_set::State>(set))?.state())
    }

    /// What is true of a machine class now.
    pub fn machine_class_state(&self, class: &str) -> Option<&machine_class::State> {
        Some(self.shelves.classes.get(&stream::<machine_class::State>(class))?.state())
    }

    /// What the machines supervisor has seen.
    pub fn machines_seen(&self) -> &machines::State {
        self.seats.machines.entity.state()
    }

    /// What the machines supervisor looks at.
    pub fn machines_view(&self) -> &machines::View {
        &self.seats.machines.view
    }

    /// The policy in force.
    pub fn policy(&self) -> &policy::Document {
        &self.policy.document
    }

    /// The journal that all of it is in.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Supervisors look, orders are carried out, effects are performed, until nothing follows any more.
    ///
    /// # Panics
    /// If that does not come to an end.
    pub fn settle(&mut self) {
        let mut rounds = 0;
        while self.look() | self.ask_about() | self.carry_out() | self.perform() {
            rounds += 1;
            assert!(rounds < ROUNDS_MAX, "it goes on for ever");
        }
    }

    /// The supervisors look at what has changed. Whether they decided anything.
    pub fn look(&mut self) -> bool {
        let machines = changed_machines(&mut self.seats.machines);
        let look = machines::Command::Look { machines: machines.clone() };
        let first = !machines.is_empty() && self.supervise(|seats| &mut seats.machines, look).is_some();
        let about = std::mem::take(&mut self.seats.storage.changed);
        let about: Vec<StreamId> = about.into_iter().filter(|stream| stream.kind() != policy::State::KIND).collect();
        let look = storage::Command::Look { about: about.clone() };
        let second = !about.is_empty() && self.supervise(|seats| &mut seats.storage, look).is_some();
        let about: Vec<StreamId> = std::mem::take(&mut self.seats.sets.changed).into_iter().collect();
        let look = machine_sets::Command::Look { about: about.clone() };
        first | second | (!about.is_empty() && self.supervise(|seats| &mut seats.sets, look).is_some())
    }

    /// The orders of the supervisors reach their targets. Whether there were any.
    pub fn carry_out(&mut self) -> bool {
        let orders = self.seats.open();
        let any = !orders.is_empty();
        for (id, Issued { order, by, cites, .. }, principal) in orders {
            let from = From { id, principal, cause: Some(by), cites };
            let stream = order.target();
            match order {
                Order::Machine { command, .. } => self.ask::<machine::State>(&stream, command, from),
                Order::Volume { command, .. } => self.ask::<volume::State>(&stream, command, from),
                Order::VolumeAttachment { command, .. } => self.ask::<volume_attachment::State>(&stream, command, from),
                Order::MachineSet { command, .. } => self.ask::<machine_set::State>(&stream, command, from),
                Order::MachineDeployment { command, .. } => {
                    self.ask::<machine_deployment::State>(&stream, command, from)
                }
                Order::MachineClass { command, .. } => self.ask::<machine_class::State>(&stream, command, from),
                Order::Filesystem { command, .. } => self.ask::<filesystem::State>(&stream, command, from),
                Order::FilesystemAttachment { .. } => unreachable!("nobody mounts filesystems at this desk"),
                Order::ReplicaSet { .. } | Order::Member { .. } => {
                    unreachable!("this desk has no supervisor of replica sets")
                }
            };
        }
        any
    }

    /// Goes on to the next due time and wakes what waits for it. Whether anybody waits.
    pub fn wake_next(&mut self) -> bool {
        let Some((due, stream)) = self.due().into_iter().next() else {
            return false;
        };
        self.now = self.now.max(due);
        self.wake(&stream, due);
        true
    }

    /// Tells an entity that something is due.
    pub fn wake(&mut self, stream: &StreamId, due: Timestamp) -> Arc<Entry> {
        let from = self.from("schedule".into(), None);
        match stream.kind() {
            machine::State::KIND => self.ask::<machine::State>(stream, machine::Command::Wake { due }, from),
            volume::State::KIND => self.ask::<volume::State>(stream, volume::Command::Wake { due }, from),
            machine_set::State::KIND => {
                self.ask::<machine_set::State>(stream, machine_set::Command::Wake { due }, from)
            }
            machine_deployment::State::KIND => {
                self.ask::<machine_deployment::State>(stream, machine_deployment::Command::Wake { due }, from)
            }
            _ => self.ask::<volume_attachment::State>(stream, volume_attachment::Command::Wake { due }, from),
        }
    }

    fn operator(&mut self) -> From {
        self.from("operator".into(), None)
    }

    fn from(&mut self, principal: String, cause: Option<Position>) -> From {
        self.asked += 1;
        self.now = self.now.after(1);
        From { id: derived_uuid(&format!("desk {}", self.asked)), principal, cause, cites: Vec::new() }
    }

    fn ask<D: Shelved>(&mut self, stream: &StreamId, command: D::Command, from: From) -> Arc<Entry> {
        let (now, policy, journal) = (self.now, self.policy.clone(), self.journal.id());
        let known = Known { now, policy, view: &NoView, view_at: None, journal };
        let entry = self.shelves.step::<D>(&*self.journal, stream, command, from, &known);
        self.seen(entry)
    }

    fn supervise<S: Decider>(
        &mut self,
        seat: impl FnOnce(&mut Seats) -> &mut Seat<S>,
        command: S::Command,
    ) -> Option<Arc<Entry>> {
        let entry = seat(&mut self.seats).decide(&*self.journal, command, self.now, self.policy.clone())?;
        Some(self.seen(entry))
    }

    fn seen(&mut self, entry: Arc<Entry>) -> Arc<Entry> {
        self.seats.see(&entry);
        entry
    }
}

/// The machines that have changed, and those that something else which has changed concerns.
fn changed_machines(seat: &mut Seat<machines::State>) -> Vec<Name> {
    let changed = std::mem::take(&mut seat.changed);
    let woken: BTreeSet<StreamId> = changed.iter().flat_map(|stream| seat.view.woken_by(stream)).collect();
    let machines = changed.union(&woken).filter(|stream| stream.kind() == machine::State::KIND);
    machines.filter_map(|stream| stream.name().parse().ok()).collect()
}

fn policy_stream() -> StreamId {
    stream::<policy::State>(policy::default_name().as_str())
}

fn stream<D: Decider>(name: &str) -> StreamId {
    StreamId::new(D::KIND, name).expect("a valid name")
}
