//! What the storage supervisor orders, told with everybody's journal entries at one desk.

use std::collections::BTreeMap;

use bailiwick_journal::{Body, Entry, EntryKind, Header, Meta, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use super::{Command, Event, Reason, State, View};
use crate::{
    contract::{Decider, Decision, Facts, Stored, View as _},
    machine,
    policy::Document,
    ports::{AttachmentInfo, InstanceStatus, MachineInstance, ProvisionedVolume},
    supervisor::{Order, Orders},
    vocab::{EffectId, InstanceId, Name, SizeMib, Timestamp},
    volume, volume_attachment,
};

/// A view with what was written into it.
#[derive(Default)]
struct Seen {
    view: View,
    position: Position,
    versions: BTreeMap<StreamId, Version>,
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

fn effect(text: &str, at: u64) -> EffectId {
    EffectId::of(&stream(text), Version(at))
}

impl Seen {
    fn then(mut self, stream_text: &str, events: Vec<Body>) -> Self {
        self.write(stream_text, Uuid::nil(), Outcome::Done, events);
        self
    }

    fn write(&mut self, stream_text: &str, command_id: Uuid, outcome: Outcome, events: Vec<Body>) {
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome,
            code: String::new(),
            time_ms: 0,
            command_id,
            command_hash: [0; 16],
            cause: None,
            principal: String::new(),
            policy: None,
            view: None,
        };
        self.position = self.position.next();
        let version = self.versions.entry(stream(stream_text)).or_default();
        let header = Header {
            position: self.position,
            stream: stream(stream_text),
            first_version: version.next(),
            events: u32::try_from(events.len()).expect("few"),
            meta,
        };
        *version = header.last_version();
        let (command, facts, verdict) = (Body::default(), Body::default(), Body::default());
        self.view.apply(&Entry { header, command, facts, verdict, events }).expect("readable");
    }

    fn look(&self, about: &str) -> Vec<Order> {
        let own = stream("supervisor/storage");
        let policy = Document::default();
        let (now, journal) = (Timestamp(9), Uuid::nil());
        let facts = Facts { stream: &own, next: Version(1), now, policy: &policy, view: &self.view, journal };
        let decision = State.decide(&Command::Look { about: vec![stream(about)] }, &facts).expect("it refuses nothing");
        let Decision { reason, events } = decision;
        assert_eq!(reason == Reason::NothingFollows, events.is_empty());
        events.into_iter().map(|Event::Issued { order }| order).collect()
    }
}

fn stored<T: Stored>(events: impl IntoIterator<Item = T>) -> Vec<Body> {
    events.into_iter().map(|event| event.store().expect("small")).collect()
}

fn machine_declared() -> Vec<Body> {
    let spec = machine::Spec { provider: name("local"), workloads: Vec::new(), labels: BTreeMap::new() };
    stored([
        machine::Event::Declared { spec },
        machine::Event::CreateRequested { at: Timestamp(1) },
        machine::Event::AttachmentReserved { volume: name("data") },
    ])
}

fn machine_runs() -> Vec<Body> {
    let instance = MachineInstance {
        effect: effect("machine/web", 2),
        instance: InstanceId("i-1".into()),
        machine: name("web"),
        facts: BTreeMap::new(),
        status: InstanceStatus::Running,
    };
    stored([machine::Event::Created { instance, at: Timestamp(2) }])
}

fn volume_declared() -> Vec<Body> {
    stored([
        volume::Event::Declared { spec: volume::Spec { provider: name("local"), size: SizeMib(64) } },
        volume::Event::CreateRequested { at: Timestamp(1) },
        volume::Event::AttachmentReserved { machine: name("web") },
    ])
}

fn volume_made() -> Vec<Body> {
    let (effect, volume_id) = (effect("volume/data", 2), InstanceId("v-1".into()));
    stored([volume::Event::Created { volume: ProvisionedVolume { effect, volume_id, size: SizeMib(64) } }])
}

fn attachment_declared() -> Vec<Body> {
    let spec = volume_attachment::Spec { machine: name("web"), volume: name("data"), read_only: false };
    stored([volume_attachment::Event::Declared { spec }])
}

fn declared() -> Seen {
    Seen::default()
        .then("machine/web", machine_declared())
        .then("volume/data", volume_declared())
        .then("volume-attachment/web:data", attachment_declared())
}

fn target() -> volume_attachment::Target {
    volume_attachment::Target {
        provider: name("local"),
        machine_effect: effect("machine/web", 2),
        instance: InstanceId("i-1".into()),
        volume_effect: effect("volume/data", 2),
        volume_id: InstanceId("v-1".into()),
    }
}

fn attached() -> Seen {
    let info = AttachmentInfo { path: "/vol".into(), read_only: false };
    declared().then("machine/web", machine_runs()).then("volume/data", volume_made()).then(
        "volume-attachment/web:data",
        stored([
            volume_attachment::Event::AttachRequested { target: target(), at: Timestamp(3) },
            volume_attachment::Event::Attached { info },
        ]),
    )
}

fn order(command: volume_attachment::Command) -> Order {
    Order::VolumeAttachment { machine: name("web"), volume: name("data"), command }
}

#[test]
fn an_attachment_is_ordered_once_machine_and_volume_are_ready_whoever_was_last() {
    let nothing: [Order; 0] = [];
    assert_eq!(declared().look("volume-attachment/web:data"), nothing);
    assert_eq!(declared().then("machine/web", machine_runs()).look("machine/web"), nothing);
    assert_eq!(declared().then("volume/data", volume_made()).look("volume/data"), nothing);
    let both = declared().then("machine/web", machine_runs()).then("volume/data", volume_made());
    for about in ["machine/web", "volume/data", "volume-attachment/web:data"] {
        assert_eq!(both.look(about), [order(volume_attachment::Command::Attach { target: target() })], "{about}");
    }
}

#[test]
fn an_open_order_is_not_repeated_and_one_in_vain_not_before_its_target_has_changed() {
    let mut seen = declared().then("machine/web", machine_runs()).then("volume/data", volume_made());
    let issued = order(volume_attachment::Command::Attach { target: target() });
    seen = seen.then("supervisor/storage", stored([Event::Issued { order: issued.clone() }]));
    assert_eq!(seen.look("machine/web"), []);
    let id = Orders::command_id(&stream("supervisor/storage"), Version(1));
    seen.write("volume-attachment/web:data", id, Outcome::Refused, Vec::new());
    assert_eq!(seen.view.orders.open().count(), 0);
    assert_eq!(seen.look("machine/web"), []);
    let changed = stored([volume_attachment::Event::AttemptBegun]);
    assert_eq!(seen.then("volume-attachment/web:data", changed).look("machine/web"), [issued]);
}

#[test]
fn an_attachment_lets_go_of_an_instance_that_goes() {
    let seen = attached().then("machine/web", stored([machine::Event::InstanceLost { at: Timestamp(4) }]));
    let machine_effect = effect("machine/web", 2);
    assert_eq!(seen.look("machine/web"), [order(volume_attachment::Command::Detach { machine_effect })]);
    assert_eq!(attached().look("machine/web"), []);
}

#[test]
fn an_attachment_is_removed_when_either_side_is_leaving() {
    let machine = attached().then("machine/web", stored([machine::Event::RemovalBegan]));
    assert_eq!(machine.look("machine/web"), [order(volume_attachment::Command::Remove)]);
    let volume = attached().then("volume/data", stored([volume::Event::RemovalBegan]));
    assert_eq!(volume.look("volume/data"), [order(volume_attachment::Command::Remove)]);
}

#[test]
fn both_sides_are_told_that_an_attachment_is_gone_and_then_it_is_forgotten() {
    let gone = stored([volume_attachment::Event::RemovalBegan, volume_attachment::Event::Removed]);
    let mut seen = attached().then("volume-attachment/web:data", gone);
    let to_machine =
        Order::Machine { machine: name("web"), command: machine::Command::ReleaseAttachment { volume: name("data") } };
    let to_volume =
        Order::Volume { volume: name("data"), command: volume::Command::ReleaseAttachment { machine: name("web") } };
    assert_eq!(seen.look("volume-attachment/web:data"), [to_machine, to_volume.clone()]);
    seen = seen.then("machine/web", stored([machine::Event::AttachmentReleased { volume: name("data") }]));
    assert_eq!(seen.look("volume-attachment/web:data"), [to_volume]);
    seen = seen.then("volume/data", stored([volume::Event::AttachmentReleased { machine: name("web") }]));
    assert_eq!(seen.look("volume-attachment/web:data"), []);
    assert_eq!(seen.view.attachments.iter().count(), 0, "nobody holds it any more");
}
