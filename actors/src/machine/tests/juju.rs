//! What clients of Juju's Provisioner facade may do with a machine, and what becomes of it.

use std::sync::Arc;

use super::{NOW, State, effect, instance, name, spec};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, case},
    },
    machine::{
        Command, Event, Hold, Instance, Job, Leaving, Reason as R, Rejection, Removal, Report, Skipped, Spec,
        juju::{self, Dependents, Hardware, NewInstance, Provisioned, Refusal, Said, StatusOf},
    },
    ports::{CreatedAttachment, CreatedStorage, CreatedVolume, Device, Origin},
    vocab::{InstanceId, Life, SizeMib, Timestamp},
};

fn external() -> Vec<Event> {
    vec![Event::Declared { spec: spec("external") }, Event::CreateRequested { at: Timestamp(1) }]
}

fn controller() -> Vec<Event> {
    let jobs = [Job::ManageModel].into();
    let spec = Arc::new(Spec { jobs, ..(*spec("external")).clone() });
    vec![Event::Declared { spec }, Event::CreateRequested { at: Timestamp(1) }]
}

fn new(id: &str, nonce: Option<u8>) -> NewInstance {
    NewInstance {
        instance: InstanceId(id.into()),
        nonce: nonce.map(|byte| [byte; 32]),
        display_name: "one".into(),
        hardware: Hardware::default(),
        profiles: Vec::new(),
        devices: Vec::new(),
    }
}

fn set_instance(id: &str, nonce: Option<u8>) -> Command {
    Command::Client(juju::Command::SetInstance(Box::new(new(id, nonce))))
}

fn storage() -> Box<CreatedStorage> {
    let volume =
        CreatedVolume { id: InstanceId("v-1".into()), size: SizeMib(64), hardware_id: None, persistent: false };
    let attachment = CreatedAttachment { device_name: "sdb".into(), ..CreatedAttachment::default() };
    Box::new(CreatedStorage { volumes: [(name("0"), volume)].into(), attachments: [(name("0"), attachment)].into() })
}

fn with_storage(id: &str) -> Command {
    client(juju::Command::SetInstanceAndStorage { instance: Box::new(new(id, Some(7))), storage: storage() })
}

fn let_go() -> Event {
    Event::InstanceLeft { effect: effect(2), why: Leaving::OperatorKeeps }
}

fn told_storage() -> Event {
    Event::Client(juju::Event::StorageCreated { storage: storage() })
}

fn told_instance() -> Event {
    let NewInstance { instance, display_name, hardware, .. } = new("i-1", None);
    Event::Client(juju::Event::Provisioned(Box::new(Provisioned { instance, nonce: [7; 32], display_name, hardware })))
}

fn provisioned() -> Vec<Event> {
    then(external(), [told_instance(), Event::Created { instance: instance(2), at: NOW }])
}

fn ended() -> Vec<Event> {
    let going = [Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }];
    then(provisioned(), going)
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn status(of: StatusOf, status: &str, info: &str) -> (Command, Event) {
    let said = Said { status: status.into(), info: info.into(), data: String::new() };
    let event = juju::Event::StatusSet { of, said: said.clone(), at: NOW };
    (Command::Client(juju::Command::SetStatus { of, said }), Event::Client(event))
}

fn ensure_dead(dependents: Dependents) -> Command {
    Command::Client(juju::Command::EnsureDead { dependents })
}

fn client(command: juju::Command) -> Command {
    Command::Client(command)
}

fn told(event: juju::Event) -> Result<(R, Vec<Event>), Rejection> {
    Ok((R::ClientTold, vec![Event::Client(event)]))
}

fn refused(why: Refusal) -> Result<(R, Vec<Event>), Rejection> {
    Err(Rejection::Client(why))
}

fn known() -> Result<(R, Vec<Event>), Rejection> {
    Ok((R::ClientToldBefore, vec![]))
}

pub(super) fn table() -> Vec<Case<State>> {
    [instances(), ends(), statuses(), records(), made_by_its_provider()].into_iter().flatten().collect()
}

fn instances() -> Vec<Case<State>> {
    let held = Event::Held { reason: "wait".into(), until: None, at: NOW };
    vec![
        // Once, by a client alone, for a machine that is to stay.
        case(
            external(),
            set_instance("i-1", Some(7)),
            Ok((R::ClientProvisioned, vec![told_instance(), Event::Created { instance: instance(2), at: NOW }])),
        ),
        // With its volumes, or not at all.
        case(
            external(),
            with_storage("i-1"),
            Ok((
                R::ClientProvisioned,
                vec![told_instance(), Event::Created { instance: instance(2), at: NOW }, told_storage()],
            )),
        ),
        case(provisioned(), with_storage("i-1"), refused(Refusal::AlreadyProvisioned)),
        // What came with an earlier instance, which an operator let go of, did not come with this one.
        case(
            then(provisioned(), [told_storage(), let_go()]),
            set_instance("i-1", Some(7)),
            Ok((
                R::ClientProvisioned,
                vec![
                    Event::CreateRequested { at: NOW },
                    told_instance(),
                    Event::Created { instance: instance(7), at: NOW },
                    Event::Client(juju::Event::StorageCreated { storage: Box::default() }),
                ],
            )),
        ),
        case(external(), set_instance("", Some(7)), refused(Refusal::NoInstanceId)),
        case(external(), set_instance("i-1", None), refused(Refusal::NoInstanceId)),
        case(provisioned(), set_instance("i-1", Some(7)), refused(Refusal::AlreadyProvisioned)),
        case(ended(), set_instance("i-2", Some(7)), refused(Refusal::NotAlive)),
        case(super::declared(), set_instance("i-1", Some(7)), refused(Refusal::NodeProvisions)),
        case([], set_instance("i-1", Some(7)), Err(Rejection::NotDeclared)),
        // A hold is about what happens by itself.
        case(
            then(external(), [held]),
            set_instance("i-1", Some(7)),
            Ok((R::ClientProvisioned, vec![told_instance(), Event::Created { instance: instance(2), at: NOW }])),
        ),
    ]
}

fn ends() -> Vec<Case<State>> {
    let nothing = Dependents::default;
    let ends = || vec![Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }];
    let units = || vec!["mysql/0".to_owned()];
    let held = Event::Held { reason: "wait".into(), until: None, at: NOW };
    vec![
        case(provisioned(), ensure_dead(nothing()), Ok((R::ClientEnded, ends()))),
        case(external(), ensure_dead(nothing()), Ok((R::ClientEnded, ends()))),
        case(ended(), ensure_dead(nothing()), Ok((R::AlreadyGoing, vec![]))),
        case(super::running(), ensure_dead(nothing()), refused(Refusal::NodeProvisions)),
        case(controller(), ensure_dead(nothing()), refused(Refusal::Controller { voting: false })),
        case(
            then(controller(), [Event::Engaged { set: name("db") }]),
            ensure_dead(nothing()),
            refused(Refusal::Controller { voting: true }),
        ),
        case(
            provisioned(),
            ensure_dead(Dependents { units: units(), containers: units(), storage: units() }),
            refused(Refusal::HasUnits { units: units() }),
        ),
        case(
            provisioned(),
            ensure_dead(Dependents { containers: units(), storage: units(), ..nothing() }),
            refused(Refusal::HostsContainers { containers: units() }),
        ),
        case(
            provisioned(),
            ensure_dead(Dependents { storage: units(), ..nothing() }),
            refused(Refusal::HasStorage { storage: units() }),
        ),
        case(then(provisioned(), [held]), ensure_dead(nothing()), Err(Rejection::Held { reason: "wait".into() })),
        case(then(provisioned(), [Event::Protected { on: true }]), ensure_dead(nothing()), Err(Rejection::Protected)),
        // An operator's removal waits for the client, too.
        case(provisioned(), Command::Remove, Ok((R::RemovalAsked, ends()))),
        case(external(), Command::Remove, Ok((R::RemovalAsked, ends()))),
        case(ended(), client(juju::Command::Remove), Ok((R::ClientRemoved, vec![Event::Deleted, Event::Removed]))),
        case(provisioned(), client(juju::Command::Remove), refused(Refusal::StillAlive)),
        case(
            then(provisioned(), [Event::Engaged { set: name("db") }, Event::RemovalBegan { at: NOW }]),
            client(juju::Command::Remove),
            refused(Refusal::NotDead),
        ),
        case(super::dead(), client(juju::Command::Remove), refused(Refusal::NodeProvisions)),
        // An operator need not wait for a client that never comes.
        case(
            ended(),
            Command::RemoveWith(Removal { force: true, ..Removal::default() }),
            Ok((
                R::RemovalForced,
                vec![
                    Event::Skipped { what: Skipped::DeletionOf { effect: effect(2) } },
                    Event::InstanceLeft { effect: effect(2), why: Leaving::Forced },
                    Event::Removed,
                ],
            )),
        ),
        case(ended(), client(juju::Command::MarkForRemoval), told(juju::Event::MarkedForRemoval)),
        case(
            then(ended(), [Event::Client(juju::Event::MarkedForRemoval)]),
            client(juju::Command::MarkForRemoval),
            known(),
        ),
        case(provisioned(), client(juju::Command::MarkForRemoval), refused(Refusal::NotDead)),
    ]
}

fn statuses() -> Vec<Case<State>> {
    let (started, is_started) = status(StatusOf::Machine, "started", "");
    let (down, _) = status(StatusOf::Machine, "down", "");
    let (busy, _) = status(StatusOf::Machine, "busy", "x");
    let (error, _) = status(StatusOf::Machine, "error", "");
    let (running, is_running) = status(StatusOf::Instance, "running", "");
    let (failed, is_failed) = status(StatusOf::Instance, "provisioning error", "no room");
    let (_, is_error) = status(StatusOf::Machine, "error", "no room");
    let (silent, _) = status(StatusOf::Instance, "provisioning error", "");
    let (applied, is_applied) = status(StatusOf::Modification, "applied", "");
    vec![
        case(external(), started.clone(), Ok((R::ClientTold, vec![is_started.clone()]))),
        case(then(external(), [is_started]), started, known()),
        case(external(), down, refused(Refusal::StatusReserved { status: "down".into() })),
        case(external(), busy, refused(Refusal::StatusUnknown { status: "busy".into() })),
        case(external(), error, refused(Refusal::ErrorWithoutInfo)),
        case(external(), running, Ok((R::ClientTold, vec![is_running]))),
        // What fails of its instance is the machine's as well, and is all said or not at all.
        case(external(), failed, Ok((R::ClientTold, vec![is_failed, is_error]))),
        case(external(), silent, refused(Refusal::ErrorWithoutInfo)),
        case(external(), applied, Ok((R::ClientTold, vec![is_applied]))),
    ]
}

fn records() -> Vec<Case<State>> {
    let password = || juju::Command::SetPassword { salt: [1; 16], hash: [2; 32] };
    let is_set = || juju::Event::PasswordSet { salt: [1; 16], hash: [2; 32] };
    let profiles = || juju::Command::SetProfiles { profiles: vec!["default".into()] };
    let types = || juju::Command::SetContainerTypes { types: vec!["lxd".into()] };
    let device = || Device { name: "eth0".into(), ..Device::default() };
    let devices = |devices: Vec<Device>| juju::Command::ObserveDevices { devices };
    vec![
        case(external(), client(password()), told(is_set())),
        case(then(external(), [Event::Client(is_set())]), client(password()), known()),
        case(super::running(), client(password()), told(is_set())),
        case(external(), client(profiles()), refused(Refusal::NotProvisioned)),
        case(provisioned(), client(profiles()), told(juju::Event::ProfilesSet { profiles: vec!["default".into()] })),
        case(external(), client(types()), told(juju::Event::ContainerTypesSet { types: vec!["lxd".into()] })),
        case(ended(), client(types()), refused(Refusal::Dead)),
        case(external(), client(devices(vec![device()])), told(juju::Event::DevicesSet { devices: vec![device()] })),
        case(external(), client(devices(vec![])), known()),
        case(external(), client(juju::Command::ReleaseAddresses), known()),
    ]
}

/// Its provider made the instance that it waits for, and tells what came with it.
fn came_with(network: Vec<Device>, storage: Box<CreatedStorage>) -> Command {
    Command::Report(Report::CreatedWith { attempt: 1, instance: instance(2), network, storage })
}

fn made_by_its_provider() -> Vec<Case<State>> {
    let device = || Device { name: "eth0".into(), origin: Origin::Provider, ..Device::default() };
    let devices = |devices| Event::Client(juju::Event::DevicesSet { devices });
    let nothing = || Event::Client(juju::Event::StorageCreated { storage: Box::default() });
    let made = || vec![Event::Created { instance: instance(2), at: NOW }, super::joining()];
    let alone = || Command::Report(Report::Created { attempt: 1, instance: instance(2) });
    vec![
        case(
            super::declared(),
            came_with(vec![device()], storage()),
            Ok((R::InstanceMade, then(made(), [devices(vec![device()]), told_storage()]))),
        ),
        // An earlier instance had another network, and other volumes.
        case(
            then(super::declared(), [devices(vec![Device { name: "eth1".into(), ..device() }]), told_storage()]),
            came_with(vec![device()], Box::default()),
            Ok((R::InstanceMade, then(made(), [devices(vec![device()]), nothing()]))),
        ),
        case(then(super::declared(), [told_storage()]), alone(), Ok((R::InstanceMade, then(made(), [nothing()])))),
        case(super::running(), came_with(vec![device()], storage()), Ok((R::StaleReport, vec![]))),
    ]
}

#[test]
fn nothing_is_asked_of_anybody_for_what_a_client_makes_and_ends() {
    for past in [external(), provisioned(), ended()] {
        let (state, _) = after::<State>(&past);
        assert!(state.pending(&NoView).is_empty(), "{:?}", state.instance);
    }
}

#[test]
fn it_is_ready_once_its_agent_says_that_it_started() {
    let (state, _) = after::<State>(&provisioned());
    assert_eq!((state.status(), state.is_ready()), ("starting", false));
    let (_, is_started) = status(StatusOf::Machine, "started", "");
    let (state, _) = after::<State>(&then(provisioned(), [is_started]));
    assert_eq!((state.status(), state.is_ready()), ("ready", true));
    assert_eq!(after::<State>(&external()).0.status(), "waiting");
}

#[test]
fn what_was_told_is_forgotten_with_the_machine() {
    let password = Event::Client(juju::Event::PasswordSet { salt: [1; 16], hash: [2; 32] });
    let gone = then(ended(), [password, Event::Deleted, Event::Removed]);
    let (state, _) = after::<State>(&then(gone, [Event::Declared { spec: spec("external") }]));
    assert_eq!((state.life, state.record().password), (Life::Alive, None));
    assert_eq!(state.instance, Instance::None);
    assert_eq!(state.hold, None::<Hold>);
}
