//! The whole control plane done by hand: decide, record, take in, look, order, perform; one thread, no mailboxes.
//!
//! It writes journals such as the shell writes, in an order that only the test chooses.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use bailiwick_journal::{Cite, Draft, Entry, Journal, Outcome, Position, StreamId, append_blocking, digest};
use uuid::Uuid;

use crate::{
    contract::{Decider, Entity, Known, NoView, PolicyInForce, Request, Stored, View},
    machine, policy,
    ports::{AttachmentInfo, Condition, InstanceStatus, MachineInstance, ProvisionedVolume},
    supervisor::{Issued, Order, Orders, decision_id, machines, storage},
    vocab::{EffectId, Fault, InstanceId, Name, SizeMib, Timestamp, derived_uuid},
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
    policy: Arc<PolicyInForce>,
    asked: u64,
    machines: BTreeMap<StreamId, Entity<machine::State>>,
    volumes: BTreeMap<StreamId, Entity<volume::State>>,
    attachments: BTreeMap<StreamId, Entity<volume_attachment::State>>,
    policies: BTreeMap<StreamId, Entity<policy::State>>,
    machines_supervisor: Seat<machines::State>,
    storage_supervisor: Seat<storage::State>,
}

/// A supervisor with its view.
#[derive(Debug)]
struct Seat<S: Decider> {
    entity: Entity<S>,
    view: S::View,
    at: Position,
    changed: BTreeSet<StreamId>,
}

impl<S: Decider> Seat<S> {
    fn new(name: &str) -> Self {
        let stream = StreamId::new("supervisor", name).expect("a valid name");
        Self { entity: Entity::new(stream), view: S::View::default(), at: Position::ZERO, changed: BTreeSet::new() }
    }

    fn see(&mut self, entry: &Entry) {
        let stream = &entry.header.stream;
        if S::View::wants(stream.kind()) {
            self.view.apply(entry).expect("what was stored can be read");
            if stream.kind() != "supervisor" && entry.header.events > 0 {
                self.changed.insert(stream.clone());
            }
        }
        self.at = entry.header.position;
    }
}

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
            policy,
            asked: 0,
            machines: BTreeMap::new(),
            volumes: BTreeMap::new(),
            attachments: BTreeMap::new(),
            policies: BTreeMap::new(),
            machines_supervisor: Seat::new(machines::View::NAME),
            storage_supervisor: Seat::new(storage::View::NAME),
        }
    }

    /// Puts a policy in force.
    pub fn revise(&mut self, document: policy::Document) -> Arc<Entry> {
        let stream = StreamId::new(policy::State::KIND, policy::default_name().as_str()).expect("a valid name");
        let from = self.operator();
        let entry = self.ask_policy(&stream, policy::Command::Revise(Box::new(document)), from);
        let entity = &self.policies[&stream];
        self.policy = Arc::new(entity.state().in_force(&stream));
        entry
    }

    /// An operator asks a machine.
    pub fn machine(&mut self, machine: &str, command: machine::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask_machine(&stream::<machine::State>(machine), command, from)
    }

    /// An operator asks a volume.
    pub fn volume(&mut self, volume: &str, command: volume::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask_volume(&stream::<volume::State>(volume), command, from)
    }

    /// An operator asks an attachment, by `machine:volume`.
    pub fn attachment(&mut self, attachment: &str, command: volume_attachment::Command) -> Arc<Entry> {
        let from = self.operator();
        self.ask_attachment(&stream::<volume_attachment::State>(attachment), command, from)
    }

    /// Declares a machine with a provider called `desk`.
    pub fn declare_machine(&mut self, machine: &str) -> Arc<Entry> {
        let spec = machine::Spec::with_provider(name("desk"));
        self.machine(machine, machine::Command::Declare(Arc::new(spec)))
    }

    /// Declares a volume of 64 MiB.
    pub fn declare_volume(&mut self, volume: &str) -> Arc<Entry> {
        self.volume(volume, volume::Command::Declare(volume::Spec { provider: name("desk"), size: SizeMib(64) }))
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
        let stream = stream::<machine::State>(machine);
        let effect = self.machines.get(&stream)?.state().running_effect()?;
        let conditions = vec![Condition { kind: "DiskPressure".into(), healthy: healthy.into(), text: "as it is".into() }];
        let report = machine::Report::Node { effect, conditions };
        let from = self.from(format!("agent:{stream}"), None);
        Some(self.ask_machine(&stream, machine::Command::Report(report), from))
    }

    /// A provider's list lacks, or has, what the machines supervisor did not know.
    pub fn observe(&mut self, changes: Vec<machines::Change>) -> Option<Arc<Entry>> {
        let observe = machines::Command::Observe { provider: name("desk"), as_of: self.now, changes };
        self.supervise_machines(observe)
    }

    /// A complete list does not have a machine's instance any more.
    pub fn lose(&mut self, machine: &str) -> Option<Arc<Entry>> {
        let stream = stream::<machine::State>(machine);
        let effect = self.machines.get(&stream)?.state().running_effect()?;
        self.observe(vec![machines::Change::Vanished { effect, machine: name(machine) }])
    }

    /// Supervisors look, orders are carried out, effects are performed, until nothing follows any more.
    pub fn settle(&mut self) {
        while self.look() | self.carry_out() | self.perform() {}
    }

    /// The supervisors look at what has changed. Whether they decided anything.
    pub fn look(&mut self) -> bool {
        let about = std::mem::take(&mut self.machines_supervisor.changed);
        let machines: Vec<Name> = about.iter().filter_map(|stream| stream.name().parse().ok()).collect();
        let first = !machines.is_empty() && self.supervise_machines(machines::Command::Look { machines }).is_some();
        let about = std::mem::take(&mut self.storage_supervisor.changed);
        let about: Vec<StreamId> = about.into_iter().filter(|stream| stream.kind() != policy::State::KIND).collect();
        first | (!about.is_empty() && self.supervise_storage(storage::Command::Look { about }).is_some())
    }

    /// The orders of the supervisors reach their targets. Whether there were any.
    pub fn carry_out(&mut self) -> bool {
        let mut orders = open(&self.machines_supervisor.view.orders, self.machines_supervisor.entity.stream());
        orders.extend(open(&self.storage_supervisor.view.orders, self.storage_supervisor.entity.stream()));
        let any = !orders.is_empty();
        for (id, Issued { order, by, cites, .. }, principal) in orders {
            let from = From { id, principal, cause: Some(by), cites };
            let stream = order.target();
            match order {
                Order::Machine { command, .. } => self.ask_machine(&stream, command, from),
                Order::Volume { command, .. } => self.ask_volume(&stream, command, from),
                Order::VolumeAttachment { command, .. } => self.ask_attachment(&stream, command, from),
                Order::Filesystem { .. } | Order::FilesystemAttachment { .. } => {
                    unreachable!("nobody declares filesystems at this desk")
                }
                // It has no supervisors of sets.
                Order::ReplicaSet { .. }
                | Order::Member { .. }
                | Order::MachineSet { .. }
                | Order::MachineClass { .. } => continue,
            };
        }
        any
    }

    /// What is owed is done, or fails as `faults` say. Whether anything was owed.
    pub fn perform(&mut self) -> bool {
        let mut machines = Vec::new();
        for (stream, entity) in &self.machines {
            for effect in entity.state().pending(&NoView) {
                machines.push((stream.clone(), entity.position(), effect));
            }
        }
        let mut volumes = Vec::new();
        for (stream, entity) in &self.volumes {
            for effect in entity.state().pending(&NoView) {
                let size = entity.state().spec.as_ref().map(|spec| spec.size).unwrap_or_default();
                volumes.push((stream.clone(), entity.position(), size, effect));
            }
        }
        let mut attachments = Vec::new();
        for (stream, entity) in &self.attachments {
            for effect in entity.state().pending(&NoView) {
                attachments.push((stream.clone(), entity.position(), effect));
            }
        }
        let mut any = false;
        for (stream, cause, effect) in machines {
            let fault = self.fault(&stream);
            let report = match (effect, fault) {
                (machine::Effect::WakeAt(_), _) => continue,
                (machine::Effect::Create { attempt, .. }, Some(fault)) => {
                    machine::Report::CreateFailed { attempt, fault }
                }
                (machine::Effect::Create { intent, attempt }, None) => machine::Report::Created {
                    attempt,
                    instance: instance(&stream, EffectId::of(self.journal.id(), &stream, intent)),
                },
                (machine::Effect::Delete { attempt, .. }, Some(fault)) => {
                    machine::Report::DeleteFailed { attempt, fault }
                }
                (machine::Effect::Delete { attempt, .. }, None) => machine::Report::Deleted { attempt },
                (machine::Effect::DeleteStray { effect, attempt }, Some(fault)) => {
                    machine::Report::StrayDeleteFailed { effect, attempt, fault }
                }
                (machine::Effect::DeleteStray { effect, attempt }, None) => {
                    machine::Report::StrayDeleted { effect, attempt }
                }
            };
            let from = self.from("provider".into(), Some(cause));
            self.ask_machine(&stream, machine::Command::Report(report), from);
            any = true;
        }
        for (stream, cause, size, effect) in volumes {
            let fault = self.fault(&stream);
            let report = match (effect, fault) {
                (volume::Effect::WakeAt(_), _) => continue,
                (volume::Effect::Create { attempt, .. }, Some(fault)) => {
                    volume::Report::CreateFailed { attempt, fault }
                }
                (volume::Effect::Create { intent, attempt }, None) => {
                    let effect = EffectId::of(self.journal.id(), &stream, intent);
                    let volume_id = InstanceId(format!("v-{}", stream.name()));
                    volume::Report::Created { attempt, volume: ProvisionedVolume { effect, volume_id, size } }
                }
                (volume::Effect::Destroy { attempt, .. } | volume::Effect::Release { attempt, .. }, Some(fault)) => {
                    volume::Report::DestroyFailed { attempt, fault }
                }
                (volume::Effect::Destroy { attempt, .. } | volume::Effect::Release { attempt, .. }, None) => {
                    volume::Report::Destroyed { attempt }
                }
            };
            let from = self.from("provider".into(), Some(cause));
            self.ask_volume(&stream, volume::Command::Report(report), from);
            any = true;
        }
        for (stream, cause, effect) in attachments {
            use volume_attachment::{Command, Effect, Report};
            let fault = self.fault(&stream);
            let report = match (effect, fault) {
                (Effect::WakeAt(_), _) => continue,
                (Effect::Attach { attempt, .. }, Some(fault)) => Report::AttachFailed { attempt, fault },
                (Effect::Attach { attempt, .. }, None) => {
                    Report::Attached { attempt, info: AttachmentInfo { path: "/vol".into(), read_only: false } }
                }
                (Effect::Detach { attempt, .. }, Some(fault)) => Report::DetachFailed { attempt, fault },
                (Effect::Detach { attempt, .. }, None) => Report::Detached { attempt },
            };
            let from = self.from("provider".into(), Some(cause));
            self.ask_attachment(&stream, Command::Report(report), from);
            any = true;
        }
        any
    }

    /// Goes on to the next due time and wakes whoever waits for it. Whether anybody waits.
    pub fn wake_next(&mut self) -> bool {
        let mut due: BTreeSet<(Timestamp, StreamId)> = BTreeSet::new();
        for (stream, entity) in &self.machines {
            due.extend(entity.state().pending(&NoView).into_iter().filter_map(|effect| match effect {
                machine::Effect::WakeAt(due) => Some((due, stream.clone())),
                machine::Effect::Create { .. }
                | machine::Effect::Delete { .. }
                | machine::Effect::DeleteStray { .. } => None,
            }));
        }
        for (stream, entity) in &self.volumes {
            due.extend(entity.state().pending(&NoView).into_iter().filter_map(|effect| match effect {
                volume::Effect::WakeAt(due) => Some((due, stream.clone())),
                volume::Effect::Create { .. } | volume::Effect::Destroy { .. } | volume::Effect::Release { .. } => None,
            }));
        }
        for (stream, entity) in &self.attachments {
            due.extend(entity.state().pending(&NoView).into_iter().filter_map(|effect| match effect {
                volume_attachment::Effect::WakeAt(due) => Some((due, stream.clone())),
                volume_attachment::Effect::Attach { .. } | volume_attachment::Effect::Detach { .. } => None,
            }));
        }
        let Some((due, stream)) = due.first().cloned() else {
            return false;
        };
        self.now = self.now.max(due);
        let from = self.from("schedule".into(), None);
        match stream.kind() {
            machine::State::KIND => self.ask_machine(&stream, machine::Command::Wake { due }, from),
            volume::State::KIND => self.ask_volume(&stream, volume::Command::Wake { due }, from),
            _ => self.ask_attachment(&stream, volume_attachment::Command::Wake { due }, from),
        };
        true
    }

    fn fault(&mut self, stream: &StreamId) -> Option<Fault> {
        self.faults.get_mut(stream).and_then(VecDeque::pop_front)
    }

    fn operator(&mut self) -> From {
        self.from("operator".into(), None)
    }

    fn from(&mut self, principal: String, cause: Option<Position>) -> From {
        self.asked += 1;
        self.now = self.now.after(1);
        From { id: derived_uuid(&format!("desk {}", self.asked)), principal, cause, cites: Vec::new() }
    }

    fn ask_machine(&mut self, stream: &StreamId, command: machine::Command, from: From) -> Arc<Entry> {
        let known = self.known();
        let entry = step(&*self.journal, &mut self.machines, stream, request(command, from), &known);
        self.seen(entry)
    }

    fn ask_volume(&mut self, stream: &StreamId, command: volume::Command, from: From) -> Arc<Entry> {
        let known = self.known();
        let entry = step(&*self.journal, &mut self.volumes, stream, request(command, from), &known);
        self.seen(entry)
    }

    fn ask_attachment(&mut self, stream: &StreamId, command: volume_attachment::Command, from: From) -> Arc<Entry> {
        let known = self.known();
        let entry = step(&*self.journal, &mut self.attachments, stream, request(command, from), &known);
        self.seen(entry)
    }

    fn ask_policy(&mut self, stream: &StreamId, command: policy::Command, from: From) -> Arc<Entry> {
        let known = self.known();
        let entry = step(&*self.journal, &mut self.policies, stream, request(command, from), &known);
        self.seen(entry)
    }

    fn supervise_machines(&mut self, command: machines::Command) -> Option<Arc<Entry>> {
        let known = self.known_to(&self.machines_supervisor);
        let draft = own_decision(&self.machines_supervisor, command, &known)?;
        let entry = append(&*self.journal, draft);
        self.machines_supervisor.entity.take_in(&entry).expect("what was stored can be read");
        Some(self.seen(entry))
    }

    fn supervise_storage(&mut self, command: storage::Command) -> Option<Arc<Entry>> {
        let known = self.known_to(&self.storage_supervisor);
        let draft = own_decision(&self.storage_supervisor, command, &known)?;
        let entry = append(&*self.journal, draft);
        self.storage_supervisor.entity.take_in(&entry).expect("what was stored can be read");
        Some(self.seen(entry))
    }

    fn known(&self) -> Known<'static, NoView> {
        let journal = self.journal.id();
        Known { now: self.now, policy: self.policy.clone(), view: &NoView, view_at: None, journal }
    }

    fn known_to<'a, S: Decider>(&self, seat: &'a Seat<S>) -> Known<'a, S::View> {
        let journal = self.journal.id();
        Known { now: self.now, policy: self.policy.clone(), view: &seat.view, view_at: Some(seat.at), journal }
    }

    fn seen(&mut self, entry: Arc<Entry>) -> Arc<Entry> {
        self.machines_supervisor.see(&entry);
        self.storage_supervisor.see(&entry);
        entry
    }
}

fn request<D: Decider>(command: D::Command, from: From) -> Request<D> {
    Request { command, id: from.id, principal: from.principal, cause: from.cause, cites: from.cites }
}

fn step<D: Decider<View = NoView>>(
    journal: &dyn Journal,
    entities: &mut BTreeMap<StreamId, Entity<D>>,
    stream: &StreamId,
    request: Request<D>,
    known: &Known<'_, NoView>,
) -> Arc<Entry> {
    let entity = entities.entry(stream.clone()).or_insert_with(|| Entity::new(stream.clone()));
    let verdict = entity.decide(&request.command, known);
    let entry = append(journal, entity.draft(&request, known, &verdict).expect("a small decision"));
    entity.take_in(&entry).expect("what was stored can be read");
    entry
}

/// What a supervisor decides by itself; none if nothing follows.
fn own_decision<S: Decider>(seat: &Seat<S>, command: S::Command, known: &Known<'_, S::View>) -> Option<Draft> {
    let entity = &seat.entity;
    let verdict = entity.decide(&command, known);
    let hash = digest(&command.store().expect("a small command").bytes);
    let id = decision_id(entity.stream(), seat.at, entity.position(), hash);
    let request = Request { command, id, principal: entity.stream().to_string(), cause: None, cites: Vec::new() };
    let draft = entity.draft(&request, known, &verdict).expect("a small decision");
    (draft.meta.outcome != Outcome::Nothing).then_some(draft)
}

fn append(journal: &dyn Journal, draft: Draft) -> Arc<Entry> {
    let appended = append_blocking(journal, vec![draft]).expect("the journal takes it");
    appended.entries()[0].clone()
}

fn open(orders: &Orders, supervisor: &StreamId) -> Vec<(Uuid, Issued, String)> {
    let mut last = None;
    let next = || {
        let (place, issued) = orders.after(last)?;
        last = Some(place);
        Some((place.1, issued.clone(), supervisor.to_string()))
    };
    std::iter::from_fn(next).collect()
}

fn instance(stream: &StreamId, effect: EffectId) -> MachineInstance {
    MachineInstance {
        effect,
        instance: InstanceId(format!("i-{}", stream.name())),
        machine: name(stream.name()),
        facts: BTreeMap::new(),
        status: InstanceStatus::Running,
    }
}

fn stream<D: Decider>(name: &str) -> StreamId {
    StreamId::new(D::KIND, name).expect("a valid name")
}
