//! Where the product works: its supervisor, its entities, and what is written of them.

mod calls;
mod past;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick::actors::{
    contract::{Decider, Entity, Fold, Folded, Known, NoView, PolicyInForce, Stored, StoredFacts, View as _, Written},
    filesystem, filesystem_attachment, machine,
    policy::Document,
    ports::Turn,
    shell::{Call, Kind, Work},
    supervisor::{
        Order, Orders,
        storage::{self, Linked, StorageStatus, Told, View},
    },
    vocab::{Name, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::{Body, Entry, Outcome, Position, StreamId, Version};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    given::{self, Given, Store},
    provider::Provider,
    story::{Expect, seconds},
};

/// The first moment of a timeline, in milliseconds; what was before it was in an earlier session.
const BEGIN: u64 = 1_000_000;

/// The journal that all of it is in.
const JOURNAL: Uuid = Uuid::from_u128(1);

type Entities<D> = BTreeMap<StreamId, Entity<D>>;

/// Our statuses that a case calls otherwise.
type Words = &'static [(StorageStatus, StorageStatus)];

/// After a report that something was made: `attaching` is said there whether or not anybody is to have it.
const MADE: Words = &[(StorageStatus::Detached, StorageStatus::Attaching)];

/// After a report about an attachment.
const LINKED: Words = &[];

/// All that is written, and the supervisor's view of it.
struct Book {
    view: View,
    position: Position,
    now: Timestamp,
    policy: Arc<PolicyInForce>,
    /// What has changed since the supervisor looked last.
    changed: BTreeSet<StreamId>,
}

pub(super) struct Desk {
    store: Store,
    scope: String,
    provider: Provider,
    book: Book,
    supervisor: Entity<storage::State>,
    machines: Entities<machine::State>,
    volumes: Entities<volume::State>,
    volume_attachments: Entities<volume_attachment::State>,
    filesystems: Entities<filesystem::State>,
    filesystem_attachments: Entities<filesystem_attachment::State>,
    told: Expect,
}

impl Book {
    fn entry(&mut self, stream: &StreamId, at: Timestamp, id: Uuid, outcome: Outcome, events: Vec<Body>) -> Entry {
        self.position = self.position.next();
        let (position, stream, first) = (self.position, stream.clone(), Version::default());
        let written = Written { position, stream, first, time_ms: at.0, command_id: id, outcome };
        written.with(StoredFacts { journal: JOURNAL }.store().expect("small"), events)
    }

    /// Writes what happened to an entity.
    fn write<D: Decider>(
        &mut self,
        entity: &mut Entity<D>,
        at: Timestamp,
        id: Uuid,
        outcome: Outcome,
        events: &[D::Event],
    ) -> Result<(), String> {
        let bodies = events.iter().map(Stored::store).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let mut entry = self.entry(entity.stream(), at, id, outcome, bodies);
        entry.header.first_version = entity.version().next();
        entity.take_in(&entry).map_err(|error| error.to_string())?;
        self.view.apply(&entry).map_err(|error| error.to_string())
    }

    fn known<'v, V>(&self, view: &'v V) -> Known<'v, V> {
        Known { now: self.now, policy: self.policy.clone(), view, view_at: None, journal: JOURNAL }
    }

    /// Asks an entity, and writes what it decides.
    fn ask<D: Decider<View = NoView>>(
        &mut self,
        entities: &mut Entities<D>,
        stream: &StreamId,
        command: &D::Command,
        id: Uuid,
    ) -> Result<Vec<D::Event>, String> {
        let entity = entities.entry(stream.clone()).or_insert_with(|| Entity::new(stream.clone()));
        let (outcome, events) = match entity.decide(command, &self.known(&NoView)) {
            Ok(decision) if decision.events.is_empty() => (Outcome::Nothing, Vec::new()),
            Ok(decision) => (Outcome::Done, decision.events),
            Err(_) => (Outcome::Refused, Vec::new()),
        };
        if !events.is_empty() {
            self.changed.insert(stream.clone());
        }
        let now = self.now;
        self.write(entity, now, id, outcome, &events)?;
        Ok(events)
    }
}

impl Desk {
    pub(super) fn new(given: Given) -> Result<Self, String> {
        let store = Store::new(&given);
        // The original believes the first answer of a permanent class.
        let mut document = Document::default();
        document.retries.permanent_max = 1;
        document.storage.mount_dir = given.storage_dir;
        let policy = PolicyInForce { reference: None, document };
        let book = Book {
            view: View::default(),
            position: Position::ZERO,
            now: Timestamp(BEGIN),
            policy: Arc::new(policy),
            changed: BTreeSet::new(),
        };
        let supervisor = StreamId::new("supervisor", View::NAME).map_err(|error| error.to_string())?;
        let mut desk = Self {
            store,
            scope: given.scope,
            provider: Provider::new(given.script),
            book,
            supervisor: Entity::new(supervisor),
            machines: BTreeMap::new(),
            volumes: BTreeMap::new(),
            volume_attachments: BTreeMap::new(),
            filesystems: BTreeMap::new(),
            filesystem_attachments: BTreeMap::new(),
            told: Expect::default(),
        };
        desk.supervise(&storage::Command::Begin)?;
        desk.machines_as_stored()?;
        Ok(desk)
    }

    pub(super) fn go_to(&mut self, ms: u64) {
        self.book.now = Timestamp(BEGIN + ms);
    }

    fn at(&self) -> Value {
        seconds(self.book.now.since(Timestamp(BEGIN)))
    }

    pub(super) fn set(&mut self, changes: BTreeMap<String, Value>) -> Result<(), String> {
        self.store.set(changes)?;
        // Of instances the supervisor learns when it asks for them.
        self.machines_as_stored()
    }

    /// Wakes the supervisor.
    pub(super) fn notify(&mut self, kind: &str, what: &Value) -> Result<(), String> {
        let about: Vec<String> = match what {
            Value::String(tag) => vec![tag.clone()],
            Value::Array(tags) => tags.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
            Value::Bool(true) => Vec::new(),
            _ => return Err(format!("the runner does not know what {what} is to wake")),
        };
        let mut streams = Vec::new();
        for key in &about {
            streams.push(match kind {
                "machine" => stream::<machine::State>(given::name(key)?.as_str())?,
                "volumes" => self.volume_as_stored(key)?,
                "volume_attachments" => self.volume_attachment_as_stored(key)?,
                "filesystems" => self.filesystem_as_stored(key)?,
                "filesystem_attachments" => self.filesystem_attachment_as_stored(key)?,
                _ => return Err(format!("the runner does not know the notice {kind:?}")),
            });
        }
        let devices = self.devices_as_stored()?;
        if kind == "block_devices" {
            for change in &devices {
                streams.push(stream::<volume::State>(change.volume().as_str())?);
            }
        }
        if !devices.is_empty() {
            self.supervise(&storage::Command::Observe { changes: devices })?;
        }
        self.look(streams)
    }

    /// The supervisor looks, its orders are carried out, and so on until nothing follows any more.
    fn look(&mut self, about: Vec<StreamId>) -> Result<(), String> {
        self.supervise(&storage::Command::Look { about })?;
        while !self.book.changed.is_empty() {
            let about = std::mem::take(&mut self.book.changed).into_iter().collect();
            self.supervise(&storage::Command::Look { about })?;
        }
        Ok(())
    }

    fn supervise(&mut self, command: &storage::Command) -> Result<(), String> {
        let Ok(decision) = self.supervisor.decide(command, &self.book.known(&self.book.view));
        let first = self.supervisor.version();
        let now = self.book.now;
        let outcome = if decision.events.is_empty() { Outcome::Nothing } else { Outcome::Done };
        self.book.write(&mut self.supervisor, now, Uuid::nil(), outcome, &decision.events)?;
        let own = self.supervisor.stream().clone();
        for (event, index) in decision.events.into_iter().zip(1..) {
            if let storage::Event::Issued { order, .. } = event {
                self.carry_out(order, Orders::command_id(&own, first.plus(index)))?;
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, order: Order, id: Uuid) -> Result<(), String> {
        let target = order.target();
        match order {
            Order::Machine { .. } => Err("machines are told nothing here".to_owned()),
            Order::ReplicaSet { .. }
            | Order::Member { .. }
            | Order::MachineSet { .. }
            | Order::MachineDeployment { .. }
            | Order::MachineClass { .. } => Err("there are no sets here".to_owned()),
            Order::Volume { command, .. } => self.ask_volume(&target, &command, id),
            Order::VolumeAttachment { command, .. } => self.ask_volume_attachment(&target, &command, id),
            Order::Filesystem { command, .. } => self.ask_filesystem(&target, &command, id),
            Order::FilesystemAttachment { command, .. } => self.ask_filesystem_attachment(&target, &command, id),
        }
    }

    fn ask_volume(&mut self, stream: &StreamId, command: &volume::Command, id: Uuid) -> Result<(), String> {
        use volume::Event;
        let events = self.book.ask(&mut self.volumes, stream, command, id)?;
        let tag = tag(stream);
        if !events.is_empty() && matches!(command, volume::Command::Report(_)) {
            self.volume_told(&tag, stream.name(), MADE);
        }
        if let Some(volume) = events.iter().find_map(|event| match event {
            Event::Created { made: volume } => Some(volume),
            _ => None,
        }) {
            let facts = self.volumes[stream].state().own.facts.clone();
            let info = json!({
                "volume_id": volume.volume_id.0,
                "hardware_id": facts.as_ref().and_then(|facts| facts.hardware_id.clone()),
                "size": volume.size.0,
                "persistent": facts.is_some_and(|facts| facts.persistent),
            });
            self.record("volume", &tag, info)?;
        }
        self.gone("volumes", &tag, events.contains(&Event::Removed));
        Ok(())
    }

    fn ask_volume_attachment(
        &mut self,
        stream: &StreamId,
        command: &volume_attachment::Command,
        id: Uuid,
    ) -> Result<(), String> {
        use volume_attachment::Event;
        let events = self.book.ask(&mut self.volume_attachments, stream, command, id)?;
        let key = tag(stream);
        if !events.is_empty() && matches!(command, volume_attachment::Command::Report(_)) {
            let (tag, name) = (key.split_once(':'), stream.name().split_once(':'));
            if name.is_some_and(|(_, name)| self.book.view.volumes.get(name).is_none()) {
                self.volume_as_stored(tag.map_or("", |(_, tag)| tag))?;
            }
            self.volume_told(tag.map_or("", |(_, tag)| tag), name.map_or("", |(_, name)| name), LINKED);
        }
        if let Some(info) = events.iter().find_map(|event| match event {
            Event::Attached { info } | Event::TakenOver { info, .. } => Some(info),
            _ => None,
        }) {
            self.record("volume_attachment", &key, json!({"device_name": info.path, "read_only": info.read_only}))?;
        }
        self.gone("volume_attachments", &key, events.contains(&Event::Removed));
        Ok(())
    }

    fn ask_filesystem(&mut self, stream: &StreamId, command: &filesystem::Command, id: Uuid) -> Result<(), String> {
        use filesystem::Event;
        let events = self.book.ask(&mut self.filesystems, stream, command, id)?;
        let tag = tag(stream);
        if !events.is_empty() && matches!(command, filesystem::Command::Report(_)) {
            self.filesystem_told(&tag, stream.name(), MADE);
        }
        if let Some(made) = events.iter().find_map(|event| match event {
            Event::Created { made: filesystem } => Some(filesystem),
            _ => None,
        }) {
            self.record("filesystem", &tag, json!({"filesystem_id": made.filesystem_id.0, "size": made.size.0}))?;
        }
        self.gone("filesystems", &tag, events.contains(&Event::Removed));
        Ok(())
    }

    fn ask_filesystem_attachment(
        &mut self,
        stream: &StreamId,
        command: &filesystem_attachment::Command,
        id: Uuid,
    ) -> Result<(), String> {
        use filesystem_attachment::Event;
        let events = self.book.ask(&mut self.filesystem_attachments, stream, command, id)?;
        let key = tag(stream);
        if !events.is_empty() && matches!(command, filesystem_attachment::Command::Report(_)) {
            let (tag, name) = (key.split_once(':'), stream.name().split_once(':'));
            self.filesystem_told(tag.map_or("", |(_, tag)| tag), name.map_or("", |(_, name)| name), LINKED);
        }
        if let Some(info) = events.iter().find_map(|event| match event {
            Event::Attached { info } => Some(info),
            _ => None,
        }) {
            let info = json!({"mount_point": info.mount_point, "read_only": info.read_only});
            self.record("filesystem_attachment", &key, info)?;
        }
        self.gone("filesystem_attachments", &key, events.contains(&Event::Removed));
        Ok(())
    }

    /// After the report of a call: how the volume is.
    fn volume_told(&mut self, tag: &str, name: &str, words: Words) {
        let Some(volume) = self.book.view.volumes.get(name).filter(|volume| volume.life.exists()) else { return };
        let of = attachments_of(&self.book.view.attachments, name);
        let links: Vec<Linked<'_>> =
            of.iter().map(|(machine, of)| Linked::of_volume(volume, machine, of, None)).collect();
        let told = in_their_words(&storage::status_of(volume, &links), words);
        self.told.statuses.push(json!([self.at(), tag, told.0, told.1]));
    }

    /// After the report of a call: how the filesystem is.
    fn filesystem_told(&mut self, tag: &str, name: &str, words: Words) {
        let Some(filesystem) = self.book.view.filesystems.get(name).filter(|it| it.life.exists()) else { return };
        let of = attachments_of(&self.book.view.filesystem_attachments, name);
        let links: Vec<Linked<'_>> = of.iter().map(|(_, of)| Linked::of_filesystem(of)).collect();
        let told = in_their_words(&storage::status_of(filesystem, &links), words);
        self.told.statuses.push(json!([self.at(), tag, told.0, told.1]));
    }

    fn record(&mut self, what: &str, id: &str, info: Value) -> Result<(), String> {
        let mut record = json!({"at": self.at(), "what": what, "id": id, "info": info});
        if what == "volume"
            && let super::provider::Outcome::Failed(fault) = self.provider.next("set_volume_info", id)?
        {
            record["rejected"] = fault.text.into();
        }
        self.told.recorded.push(record);
        Ok(())
    }

    fn gone(&mut self, kind: &str, id: &str, is_gone: bool) {
        if is_gone {
            self.told.removed.push(json!([self.at(), id]));
            self.store.remove(kind, id);
        }
    }

    /// What is due and ready goes out, turn by turn, until nothing is ready.
    pub(super) fn work(&mut self) -> Result<(), String> {
        loop {
            for (stream, due) in self.waiting() {
                if due <= self.book.now {
                    self.wake(&stream, due)?;
                }
            }
            let mut turn = Turn::default();
            for call in self.owed() {
                turn.add(call.wish.operation(), call.provider.clone(), call.stream.clone(), call);
            }
            if turn.is_empty() {
                return Ok(());
            }
            for batch in turn.take_some(|_, _, ready| ready) {
                self.perform(batch)?;
            }
        }
    }

    fn wake(&mut self, stream: &StreamId, due: Timestamp) -> Result<(), String> {
        let id = Uuid::nil();
        match stream.kind() {
            volume::State::KIND => self.ask_volume(stream, &volume::Command::Wake { due }, id),
            volume_attachment::State::KIND => {
                self.ask_volume_attachment(stream, &volume_attachment::Command::Wake { due }, id)
            }
            filesystem::State::KIND => self.ask_filesystem(stream, &filesystem::Command::Wake { due }, id),
            _ => self.ask_filesystem_attachment(stream, &filesystem_attachment::Command::Wake { due }, id),
        }
    }

    fn work_of_all(&self) -> Vec<(StreamId, Work)> {
        let mut all = Vec::new();
        work_of(&self.volumes, &mut all);
        work_of(&self.volume_attachments, &mut all);
        work_of(&self.filesystems, &mut all);
        work_of(&self.filesystem_attachments, &mut all);
        all
    }

    fn owed(&self) -> Vec<Call> {
        let call = |(_, work)| match work {
            Work::Call(call) => Some(*call),
            Work::WakeAt(_) => None,
        };
        self.work_of_all().into_iter().filter_map(call).collect()
    }

    fn waiting(&self) -> Vec<(StreamId, Timestamp)> {
        let due = |(stream, work)| match work {
            Work::Call(_) => None,
            Work::WakeAt(due) => Some((stream, due)),
        };
        self.work_of_all().into_iter().filter_map(due).collect()
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.waiting().into_iter().map(|(_, due)| due.since(Timestamp(BEGIN))).min()
    }

    /// What happened, and what waits.
    pub(super) fn tell(mut self) -> Expect {
        for (stream, due) in self.waiting() {
            self.told.scheduled_at_end.insert(tag(&stream), seconds(due.since(Timestamp(BEGIN))));
        }
        self.told
    }
}

fn work_of<D: Kind>(entities: &Entities<D>, all: &mut Vec<(StreamId, Work)>) {
    for (stream, entity) in entities {
        let effects = entity.state().pending(&NoView);
        all.extend(effects.iter().map(|effect| (stream.clone(), entity.state().work(JOURNAL, stream, effect))));
    }
}

fn stream<D: Decider>(name: &str) -> Result<StreamId, String> {
    StreamId::new(D::KIND, name).map_err(|error| error.to_string())
}

/// What a case calls an entity.
fn tag(stream: &StreamId) -> String {
    match (stream.kind(), stream.name().split_once(':')) {
        (volume_attachment::State::KIND, Some((machine, volume))) => format!("machine-{machine}:volume-{volume}"),
        (_, Some((machine, filesystem))) => format!("machine-{machine}:filesystem-{filesystem}"),
        (kind, None) => format!("{kind}-{}", stream.name()),
    }
}

/// The attachments that a volume or filesystem has, by machine.
fn attachments_of<'f, D: Decider>(all: &'f Fold<D>, name: &str) -> Vec<(Name, &'f D)> {
    let of = |(key, folded): (&str, &'f Folded<D>)| {
        let (machine, other) = key.split_once(':')?;
        (other == name).then(|| Some((machine.parse().ok()?, &folded.state)))?
    };
    all.iter().filter_map(of).collect()
}

fn in_their_words(told: &Told<'_>, words: Words) -> (String, String) {
    let word = words.iter().find(|(ours, _)| *ours == told.status).map_or(told.status, |(_, theirs)| *theirs);
    // What it ended in last, if it did not go well.
    let ended = told.effort.and_then(|effort| effort.fault().or(effort.alike.as_ref().map(|(fault, _)| fault)));
    (word.to_string(), ended.map(|fault| fault.text.clone()).unwrap_or_default())
}
