//! What the storage supervisor orders, told with everybody's journal entries at one desk.

mod claims;
mod devices;
mod external;
mod many;
mod ordered_drain;
mod returned;
mod sessions;
mod zones;

use std::collections::BTreeMap;

use bailiwick_journal::{Body, Cite, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use super::{Command, DeviceChange, Event, Reason, State, View};
use crate::{
    contract::{
        Decider, Decision, Facts, Stored, View as _, Written,
        given::{JOURNAL, facts},
    },
    filesystem, filesystem_attachment, machine,
    policy::Document,
    ports::{
        AttachmentInfo, Backing, BlockDevice, FilesystemAttachmentInfo, InstanceStatus, MachineInstance,
        ProvisionedFilesystem, ProvisionedVolume,
    },
    supervisor::{Order, Orders},
    vocab::{EffectId, InstanceId, Life, Name, SizeMib, Timestamp},
    volume::{self, Leftovers},
    volume_attachment,
};

/// A view with what was written into it.
#[derive(Default)]
struct Seen {
    view: View,
    position: Position,
    versions: BTreeMap<StreamId, Version>,
    events: BTreeMap<StreamId, Vec<Body>>,
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

fn effect(text: &str, at: u64) -> EffectId {
    EffectId::of(JOURNAL, &stream(text), Version(at))
}

impl Seen {
    fn then(mut self, stream_text: &str, events: Vec<Body>) -> Self {
        self.write(stream_text, Uuid::nil(), Outcome::Done, events);
        self
    }

    fn write(&mut self, stream_text: &str, command_id: Uuid, outcome: Outcome, events: Vec<Body>) {
        self.position = self.position.next();
        let (position, stream) = (self.position, stream(stream_text));
        self.events.entry(stream.clone()).or_default().extend(events.iter().cloned());
        let first = self.versions.entry(stream.clone()).or_default().next();
        let written = Written { position, first, command_id, outcome, ..Written::first(stream.clone()) };
        let entry = written.with(facts(), events);
        self.versions.insert(stream, entry.header.last_version());
        self.view.apply(&entry).expect("readable");
    }

    fn look(&self, about: &str) -> Vec<Order> {
        let own = stream("supervisor/storage");
        let policy = Document::default();
        let (now, journal) = (Timestamp(9), JOURNAL);
        let facts = Facts { stream: &own, next: Version(1), now, policy: &policy, view: &self.view, journal };
        let decision = State.decide(&Command::Look { about: vec![stream(about)] }, &facts).expect("it refuses nothing");
        let Decision { reason, events } = decision;
        assert_eq!(reason == Reason::NothingFollows, events.is_empty());
        let order = |event| match event {
            Event::Issued { order, .. } => order,
            other => panic!("{other:?} is no order"),
        };
        events.into_iter().map(order).collect()
    }
}

fn stored<T: Stored>(events: impl IntoIterator<Item = T>) -> Vec<Body> {
    events.into_iter().map(|event| event.store().expect("small")).collect()
}

fn machine_declared() -> Vec<Body> {
    let spec = machine::Spec::with_provider(name("local"));
    stored([
        machine::Event::Declared { spec: spec.into() },
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
        volume::Event::CreateRequested { base: volume::Where::Anywhere, at: Timestamp(1) },
        volume::Event::AttachmentReserved { machine: name("web") },
    ])
}

fn volume_made() -> Vec<Body> {
    let (effect, volume_id) = (effect("volume/data", 2), InstanceId("v-1".into()));
    stored([volume::Event::Created { made: ProvisionedVolume { effect, volume_id, size: SizeMib(64) } }])
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
        assert_eq!(
            both.look(about),
            [order(volume_attachment::Command::Attach { target: Box::new(target()) })],
            "{about}"
        );
    }
}

#[test]
fn an_open_order_is_not_repeated_and_one_in_vain_not_before_its_target_has_changed() {
    let mut seen = declared().then("machine/web", machine_runs()).then("volume/data", volume_made());
    let issued = order(volume_attachment::Command::Attach { target: Box::new(target()) });
    seen = seen.then("supervisor/storage", stored([Event::Issued { order: issued.clone(), cites: Vec::new() }]));
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
    let machine = attached().then("machine/web", stored([machine::Event::RemovalBegan { at: Timestamp(8) }]));
    assert_eq!(machine.look("machine/web"), [order(volume_attachment::Command::Remove)]);
    let volume = attached().then("volume/data", stored([volume::Event::RemovalBegan]));
    assert_eq!(volume.look("volume/data"), [order(volume_attachment::Command::Remove)]);
}

#[test]
fn an_attachment_hears_of_a_machine_that_was_gone_before_anybody_looked() {
    let gone = [machine::Event::RemovalBegan { at: Timestamp(8) }, machine::Event::Died, machine::Event::Removed];
    let seen = files_mounted(files_made(files_declared(attached()))).then("machine/web", stored(gone));
    let unmount = Order::FilesystemAttachment {
        machine: name("web"),
        filesystem: name("files"),
        command: filesystem_attachment::Command::Remove,
    };
    assert!(seen.look("machine/web").contains(&unmount), "{:?}", seen.look("machine/web"));
    let unmounted = [filesystem_attachment::Event::RemovalBegan, filesystem_attachment::Event::Removed];
    let seen = seen.then("filesystem-attachment/web:files", stored(unmounted));
    let orders = seen.look("filesystem-attachment/web:files");
    assert!(orders.contains(&order(volume_attachment::Command::Remove)), "{orders:?}");
    let detached = [volume_attachment::Event::RemovalBegan, volume_attachment::Event::Removed];
    let seen = seen.then("volume-attachment/web:data", stored(detached));
    let to_volume =
        Order::Volume { volume: name("data"), command: volume::Command::ReleaseAttachment { machine: name("web") } };
    assert_eq!(seen.look("volume-attachment/web:data"), [to_volume], "whoever is gone is told nothing");
    assert_eq!(seen.view.machines.iter().count(), 0, "nobody waits for it any more");
}

#[test]
fn attachments_wait_while_the_workloads_of_their_machine_end() {
    let seen = files_mounted(files_made(files_declared(attached())));
    let ending = [
        machine::Event::RemovalBegan { at: Timestamp(8) },
        machine::Event::DrainBegan { until: Timestamp(99), at: Timestamp(8), turns: Vec::new() },
    ];
    let seen = seen.then("machine/web", stored(ending));
    assert_eq!(seen.look("machine/web"), []);
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

fn made_on(device: &str, over: impl IntoIterator<Item = Cite>) -> filesystem::Base {
    filesystem::Base { backing: Some(backing(device)), over: over.into_iter().collect() }
}

fn create_on(device: &str, over: impl IntoIterator<Item = Cite>) -> filesystem::Command {
    filesystem::Command::Own(filesystem::OwnCommand::Create(made_on(device, over)))
}

fn backing(device: &str) -> Backing {
    let device = BlockDevice { name: device.into(), size: SizeMib(64), hardware_id: None };
    Backing { volume: name("data"), volume_effect: effect("volume/data", 2), device }
}

fn seen_as(device: &str) -> Vec<Body> {
    let change = DeviceChange::Seen { machine: name("web"), backing: backing(device) };
    stored([Event::Observed { changes: vec![change] }])
}

/// The filesystem `files` on the volume `data`, to be mounted on `web`.
fn files_declared(seen: Seen) -> Seen {
    let spec = filesystem::Spec {
        provider: name("local"),
        size: SizeMib(64),
        backing: Some(name("data")),
        machine: Some(name("web")),
    };
    let mount =
        filesystem_attachment::Spec { machine: name("web"), filesystem: name("files"), path: None, read_only: false };
    let reserved = volume::Event::Own(volume::OwnEvent::FilesystemReserved { filesystem: name("files") });
    seen.then("volume/data", stored([reserved]))
        .then(
            "filesystem/files",
            stored([
                filesystem::Event::Declared { spec },
                filesystem::Event::AttachmentReserved { machine: name("web") },
            ]),
        )
        .then("filesystem-attachment/web:files", stored([filesystem_attachment::Event::Declared { spec: mount }]))
}

fn files_made(seen: Seen) -> Seen {
    let (effect, filesystem_id) = (effect("filesystem/files", 3), InstanceId("sdb".into()));
    let filesystem = ProvisionedFilesystem { effect, filesystem_id, size: SizeMib(64) };
    let request = filesystem::Event::CreateRequested { base: made_on("sdb", []), at: Timestamp(5) };
    seen.then("filesystem/files", stored([request, filesystem::Event::Created { made: filesystem }]))
}

fn files_mounted(seen: Seen) -> Seen {
    let target = filesystem_attachment::Target {
        provider: name("managed"),
        machine_effect: effect("machine/web", 2),
        instance: InstanceId("i-1".into()),
        filesystem_effect: effect("filesystem/files", 3),
        filesystem_id: InstanceId("sdb".into()),
        backing: Some(backing("sdb")),
        path: None,
    };
    let info = FilesystemAttachmentInfo { mount_point: "/srv/files".into(), read_only: false };
    seen.then(
        "filesystem-attachment/web:files",
        stored([
            filesystem_attachment::Event::AttachRequested { target, at: Timestamp(6) },
            filesystem_attachment::Event::Attached { info },
        ]),
    )
}

#[test]
fn a_volume_that_is_there_for_a_filesystem_is_attached_only_where_that_is_mounted() {
    let owned =
        |seen: Seen, owner: &str| seen.then("volume/data", stored([volume::Event::OwnedBy { owner: stream(owner) }]));
    let unmounted = |seen: Seen| {
        let gone = [filesystem_attachment::Event::RemovalBegan, filesystem_attachment::Event::Removed];
        seen.then("filesystem-attachment/web:files", stored(gone))
    };
    let ours = || owned(files_declared(attached()), "filesystem/files");
    let detach = order(volume_attachment::Command::Remove);
    assert!(!ours().look("volume-attachment/web:data").contains(&detach), "it is to be mounted");
    for about in ["filesystem-attachment/web:files", "volume-attachment/web:data"] {
        assert!(unmounted(ours()).look(about).contains(&detach), "{about}");
    }
    let of_machine = owned(files_declared(attached()), "machine/web");
    assert!(
        !unmounted(of_machine).look("volume-attachment/web:data").contains(&detach),
        "it is there for more than that"
    );
}

#[test]
fn a_filesystem_on_a_volume_waits_for_exactly_its_device() {
    let seen = files_declared(attached());
    assert_eq!(seen.look("filesystem/files"), []);
    let seen = seen.then("supervisor/storage", seen_as("sdb"));
    let create = create_on("sdb", []);
    let create = Order::Filesystem { filesystem: name("files"), command: create };
    for about in ["filesystem/files", "volume/data"] {
        assert_eq!(seen.look(about), std::slice::from_ref(&create), "{about}");
    }
}

#[test]
fn a_filesystem_is_mounted_once_it_is_made_and_its_device_seen() {
    let made = files_made(files_declared(attached()));
    assert_eq!(made.look("filesystem/files"), [], "no device is seen");
    let seen = made.then("supervisor/storage", seen_as("sdc"));
    let orders = seen.look("volume/data");
    let [Order::FilesystemAttachment { command: filesystem_attachment::Command::Attach { target }, .. }] = &orders[..]
    else {
        panic!("{orders:?}");
    };
    assert_eq!(target.backing, Some(backing("sdc")), "what is seen now counts, not what it was made on");
    assert_eq!(target.provider, name("managed"));
}

#[test]
fn a_volume_is_not_detached_before_what_is_mounted_from_it() {
    let seen = files_mounted(files_made(files_declared(attached())).then("supervisor/storage", seen_as("sdb")));
    let seen = seen.then("machine/web", stored([machine::Event::RemovalBegan { at: Timestamp(8) }]));
    let unmount = Order::FilesystemAttachment {
        machine: name("web"),
        filesystem: name("files"),
        command: filesystem_attachment::Command::Remove,
    };
    let orders = seen.look("machine/web");
    assert!(orders.iter().all(|order| *order == unmount) && !orders.is_empty(), "{orders:?}");
    let unmounted = stored([
        filesystem_attachment::Event::RemovalBegan,
        filesystem_attachment::Event::DetachRequested { at: Timestamp(8) },
        filesystem_attachment::Event::Detached,
        filesystem_attachment::Event::Removed,
    ]);
    let orders = seen.then("filesystem-attachment/web:files", unmounted).look("filesystem-attachment/web:files");
    assert!(orders.contains(&order(volume_attachment::Command::Remove)), "{orders:?}");
}

#[test]
fn a_volume_is_told_that_its_filesystem_is_gone_and_then_that_is_forgotten() {
    let gone = stored([
        filesystem::Event::AttachmentReleased { machine: name("web") },
        filesystem::Event::RemovalBegan,
        filesystem::Event::Died,
        filesystem::Event::Removed,
    ]);
    let unmounted = stored([filesystem_attachment::Event::RemovalBegan, filesystem_attachment::Event::Removed]);
    let seen = files_made(files_declared(attached()))
        .then("filesystem-attachment/web:files", unmounted)
        .then("filesystem/files", gone);
    let of = [Cite::new(stream("filesystem/files"), Version(3))].into();
    let leaves = Leftovers { of, instead: true };
    let command = volume::Command::Own(volume::OwnCommand::ReleaseFilesystem {
        filesystem: name("files"),
        leaves: leaves.clone(),
    });
    assert_eq!(seen.look("filesystem/files"), [Order::Volume { volume: name("data"), command }]);
    let of = leaves.of.clone();
    let told = stored([volume::Event::Own(volume::OwnEvent::FilesystemReleased { filesystem: name("files"), leaves })]);
    let seen = seen.then("volume/data", told);
    assert_eq!(seen.look("volume/data"), []);
    assert_eq!(seen.view.filesystems.iter().count(), 0);
    assert_eq!(seen.view.filesystem_attachments.iter().count(), 0);
    // Another one is made there over what the first one left.
    let spec = filesystem::Spec {
        provider: name("local"),
        size: SizeMib(64),
        backing: Some(name("data")),
        machine: Some(name("web")),
    };
    let reserved = volume::Event::Own(volume::OwnEvent::FilesystemReserved { filesystem: name("more") });
    let seen = seen
        .then("volume/data", stored([reserved]))
        .then("filesystem/more", stored([filesystem::Event::Declared { spec }]))
        .then("supervisor/storage", seen_as("sdc"));
    let create = create_on("sdc", of);
    assert_eq!(seen.look("filesystem/more"), [Order::Filesystem { filesystem: name("more"), command: create }]);
}

#[test]
fn what_earlier_sessions_attached_is_made_sure_of_once() {
    let seen = attached().then("supervisor/storage", stored([Event::SessionBegan]));
    let again = order(volume_attachment::Command::Reattach);
    assert_eq!(seen.look("volume/data"), [again]);
    let info = AttachmentInfo { path: "/vol".into(), read_only: false };
    let done = stored([
        volume_attachment::Event::ReattachRequested { at: Timestamp(8) },
        volume_attachment::Event::Attached { info },
    ]);
    assert_eq!(seen.then("volume-attachment/web:data", done).look("volume/data"), []);
}

#[test]
fn an_order_to_a_mount_in_its_first_form_is_read_as_the_order_that_it_was() {
    use crate::attachment::Command::{Reattach, RemoveForced, Retry};
    let order = |command| Order::FilesystemAttachment { machine: name("web"), filesystem: name("files"), command };
    let issued = |command| Event::Issued { order: order(command), cites: Vec::new() };
    // Two variants, and two names with their lengths, stand before it.
    let command_at = 4 + 4 + 8 + "web".len() + 8 + "files".len();
    for (command, then) in [(Retry, 2), (Reattach, 7), (RemoveForced, 8)] {
        let event = issued(command);
        let mut body = Body { schema: 1, ..event.store().expect("small") };
        body.bytes[command_at] = then;
        assert_eq!(Event::load(&body).expect("lifted"), event);
    }
    let other = Event::Issued {
        order: Order::Volume { volume: name("data"), command: volume::Command::Remove },
        cites: vec![],
    };
    for event in [other, Event::SessionBegan] {
        let body = Body { schema: 1, ..event.store().expect("small") };
        assert_eq!(Event::load(&body).expect("as it is"), event);
    }
    Event::load(&Body { schema: 1, bytes: vec![0, 0, 0, 0, 5, 0, 0, 0, 255] }).expect_err("cut off");
}
