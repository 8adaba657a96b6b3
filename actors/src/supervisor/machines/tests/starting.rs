//! With what machines are started, who waits for what, and what becomes of machines that stand in other ones.

use std::sync::Arc;

use super::*;
use crate::{
    document::{self, AgentBinary, Application, Content, ImageMetadata, Model, Space, Subnet},
    machine::{Base, Constraints, InstanceConfig, Placement, Spec, StartHost, StartParameters, Unstartable},
    supervisor::machines::starting::{Asked, start_parameters},
    vocab::Cited,
};

fn zones(names: &[&str]) -> BTreeSet<Zone> {
    names.iter().map(|name| Zone((*name).into())).collect()
}

fn put<E: Stored>(view: &mut View, position: u64, stream: &str, first: u64, events: &[E]) {
    let bodies = events.iter().map(|event| event.store().expect("small")).collect();
    let stream = stream.parse().expect("a stream");
    view.apply(&entry(position, stream, first, Outcome::Done, Uuid::nil(), bodies)).expect("readable");
}

fn base() -> Base {
    Base { os: "ubuntu".into(), channel: "22.04/stable".into() }
}

fn subnet(space: &str, in_zones: &[&str]) -> Content {
    let cidr = "10.0.0.0/24".into();
    Content::Subnet(Subnet { cidr, zones: zones(in_zones), space: name(space), provider_id: None })
}

fn image(image: &str, priority: u32) -> ImageMetadata {
    ImageMetadata {
        base: base(),
        arch: "amd64".into(),
        region: None,
        stream: "released".into(),
        image: image.into(),
        priority,
        root_storage: None,
        virtualisation: None,
    }
}

fn binary(version: &str, location: &str) -> Content {
    let (sha256, location) = ("0f".repeat(32), location.into());
    Content::AgentBinary(AgentBinary { version: version.into(), base: base(), arch: "amd64".into(), sha256, location })
}

/// These documents, each in its first revision.
fn view_of(documents: &[(&str, Content)]) -> View {
    let mut view = View::default();
    for (position, (stream, content)) in (1..).zip(documents) {
        let declared = document::Event::Declared { content: Box::new(content.clone()) };
        put(&mut view, position, stream, 1, &[declared]);
    }
    view
}

fn network() -> Vec<(&'static str, Content)> {
    vec![
        ("space/inner", Content::Space(Space::default())),
        ("space/outer", Content::Space(Space::default())),
        ("space/empty", Content::Space(Space::default())),
        ("space/anywhere", Content::Space(Space::default())),
        ("subnet/inner-a", subnet("inner", &["a"])),
        ("subnet/inner-b", subnet("inner", &["b"])),
        ("subnet/outer-b", subnet("outer", &["b", "c"])),
        ("subnet/any", subnet("anywhere", &[])),
    ]
}

/// What follows for machine `web` with these units.
fn asked(
    spec: &Spec,
    units: &[&str],
    documents: &[(&str, Content)],
) -> (Result<StartParameters, Unstartable>, Vec<Cited>) {
    let (machine, units) = (name("web"), units.iter().map(|unit| name(unit)).collect());
    let volumes = [name("data")].into();
    let asked = Asked { machine: &machine, spec, units: &units, volumes: &volumes, host: None };
    start_parameters(&asked, &view_of(documents).documents)
}

fn plain() -> Spec {
    Spec::with_provider(name("local"))
}

fn reaching(wishes: &[&str], in_zones: &[&str]) -> Spec {
    let spaces = wishes.iter().map(|wish| wish.parse().expect("a wish")).collect();
    let constraints = Constraints { spaces, zones: zones(in_zones), ..Constraints::default() };
    Spec { constraints, ..plain() }
}

fn cited(cited: &[Cited]) -> Vec<&str> {
    cited.iter().map(|cited| cited.document.as_str()).collect()
}

#[test]
fn spaces_come_to_subnets_and_the_zones_that_reach_all_of_them() {
    let no_common =
        |spaces: &[&str]| Err(Unstartable::NoCommonZone { spaces: spaces.iter().map(|space| name(space)).collect() });
    let table: Vec<(Spec, Result<&[&str], Unstartable>)> = vec![
        (reaching(&["inner"], &[]), Ok(&["a", "b"])),
        (reaching(&["inner", "outer"], &[]), Ok(&["b"])),
        (reaching(&["inner", "^outer"], &[]), Ok(&["a", "b"])),
        (reaching(&["^outer"], &[]), Ok(&[])),
        (reaching(&["anywhere"], &[]), Ok(&[])),
        (reaching(&["anywhere"], &["a"]), Ok(&["a"])),
        (reaching(&["inner", "anywhere"], &["a", "c"]), Ok(&["a"])),
        (reaching(&["outer"], &["a"]), no_common(&["outer"])),
        (Spec { zone: Some(Zone("b".into())), ..reaching(&["inner"], &[]) }, Ok(&["a", "b"])),
        (Spec { zone: Some(Zone("c".into())), ..reaching(&["inner"], &[]) }, no_common(&["inner"])),
        (
            Spec {
                placement: Some(Placement { key: "zone".into(), value: "c".into() }),
                ..reaching(&["inner", "outer"], &[])
            },
            no_common(&["inner", "outer"]),
        ),
        (reaching(&["nowhere"], &[]), Err(Unstartable::NoSpace { space: name("nowhere") })),
        (reaching(&["^nowhere"], &[]), Err(Unstartable::NoSpace { space: name("nowhere") })),
        (reaching(&["empty"], &[]), Err(Unstartable::EmptySpace { space: name("empty") })),
        (reaching(&["inner", "^inner"], &[]), Err(Unstartable::SpaceExcluded { space: name("inner") })),
    ];
    for (spec, expected) in table {
        let (found, _) = asked(&spec, &[], &network());
        let found = found.map(|parameters| parameters.zones);
        assert_eq!(found, expected.map(zones), "{:?} {:?}", spec.constraints, spec.zone);
    }
}

#[test]
fn what_was_looked_at_is_cited_once_and_in_its_revision() {
    let (parameters, looked_at) = asked(&reaching(&["inner"], &[]), &[], &network());
    assert_eq!(cited(&looked_at), ["space/inner", "subnet/inner-a", "subnet/inner-b"]);
    assert!(looked_at.iter().all(|cited| cited.revision == 1));
    let subnets = &parameters.unwrap().subnets[&name("inner")];
    let both = [(name("inner-a"), zones(&["a"])), (name("inner-b"), zones(&["b"]))];
    assert_eq!(*subnets, BTreeMap::from(both));
    // A refusal says what it was made with, too.
    let (refused, looked_at) = asked(&reaching(&["inner", "nowhere"], &[]), &[], &network());
    assert!(refused.is_err());
    assert_eq!(cited(&looked_at), ["space/inner"]);
}

#[test]
fn the_image_with_the_highest_priority_comes_first() {
    let on_base = Spec { base: Some(base()), ..plain() };
    let of = |image| Content::ImageMetadata(image);
    let other_base = Base { os: "centos".into(), channel: "9/stable".into() };
    let north = |image| ImageMetadata { region: Some("north".into()), ..image };
    let documents = [
        ("image-metadata/a", of(image("low", 1))),
        ("image-metadata/b", of(image("high", 9))),
        ("image-metadata/c", of(image("as-high", 9))),
        ("image-metadata/d", of(ImageMetadata { arch: "arm64".into(), ..image("arm", 20) })),
        ("image-metadata/e", of(ImageMetadata { base: other_base, ..image("other", 20) })),
        ("image-metadata/f", of(ImageMetadata { stream: "daily".into(), ..image("daily", 20) })),
        ("image-metadata/g", of(north(image("north", 10)))),
    ];
    let images = |spec: &Spec, model: Option<Model>| {
        let model = model.map(|model| ("model/default", Content::Model(model)));
        let all: Vec<_> = documents.iter().cloned().chain(model).collect();
        let (parameters, _) = asked(spec, &[], &all);
        parameters.map(|parameters| parameters.images.into_iter().map(|image| image.image).collect::<Vec<_>>())
    };
    let in_region = |region: &str| Some(Model { region: Some(region.into()), ..Model::default() });
    let daily = Some(Model { image_stream: Some("daily".into()), ..Model::default() });
    let arm = Constraints { arch: Some("arm64".into()), ..Constraints::default() };
    assert_eq!(images(&on_base, None).unwrap(), ["north", "high", "as-high", "low"]);
    assert_eq!(images(&on_base, in_region("south")).unwrap(), ["high", "as-high", "low"]);
    assert_eq!(images(&on_base, daily).unwrap(), ["daily"]);
    assert_eq!(images(&Spec { constraints: arm, ..on_base.clone() }, None).unwrap(), ["arm"]);
    let none = Spec { base: Some(Base { os: "debian".into(), channel: "12/stable".into() }), ..plain() };
    assert!(matches!(images(&none, None), Err(Unstartable::NoImage { arch, .. }) if arch == "amd64"));
    // Without a base of its own it has the model's.
    let model = Some(Model { base: Some(base()), ..Model::default() });
    assert_eq!(images(&plain(), model).unwrap().len(), 4);
    assert_eq!(images(&plain(), None).unwrap().len(), 0);
}

#[test]
fn the_agent_is_of_exactly_the_version_that_the_model_names() {
    let spec = Spec { base: Some(base()), ..plain() };
    let model = |version: &str| Content::Model(Model { agent_version: Some(version.into()), ..Model::default() });
    let documents = |version: &str| {
        vec![
            ("image-metadata/a", Content::ImageMetadata(image("ami", 1))),
            ("agent-binary/old", binary("1.0", "https://binaries.example/1.0")),
            ("agent-binary/new", binary("2.0", "https://binaries.example/2.0")),
            ("model/default", model(version)),
        ]
    };
    let (parameters, looked_at) = asked(&spec, &[], &documents("2.0"));
    assert_eq!(parameters.unwrap().agent.unwrap().location, "https://binaries.example/2.0");
    assert_eq!(cited(&looked_at), ["agent-binary/new", "image-metadata/a", "model/default"]);
    let (refused, _) = asked(&spec, &[], &documents("3.0"));
    let missing = Unstartable::NoAgentBinary { version: "3.0".into(), base: base(), arch: "amd64".into() };
    assert_eq!(refused, Err(missing));
}

#[test]
fn an_application_adds_its_constraints_its_bindings_and_its_other_machines() {
    let wanted = Constraints { arch: Some("arm64".into()), cores: Some(8), ..Constraints::default() };
    let application = Application {
        machines: [name("web"), name("web-2")].into(),
        bindings: [("db".to_owned(), name("inner"))].into(),
        constraints: wanted,
        ..Application::default()
    };
    let tags = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
    let model = Model { tags: tags("cost", "7"), api_addresses: vec!["10.0.0.1:1".into()], ..Model::default() };
    let more = [("application/shop", Content::Application(application)), ("model/default", Content::Model(model))];
    let documents: Vec<_> = network().into_iter().chain(more).collect();
    let own = Constraints { cores: Some(2), ..Constraints::default() };
    let spec = Spec { constraints: own, tags: tags("cost", "9"), ..plain() };
    let (parameters, looked_at) = asked(&spec, &["gone", "shop"], &documents);
    let parameters = parameters.unwrap();
    assert_eq!(parameters.constraints.arch.as_deref(), Some("arm64"));
    assert_eq!(parameters.constraints.cores, Some(2), "its own word counts");
    assert_eq!(parameters.bindings, BTreeMap::from([("shop:db".to_owned(), name("inner"))]));
    assert_eq!(parameters.zones, zones(&["a", "b"]), "what an endpoint is bound to has to be reached");
    assert_eq!(parameters.group, BTreeSet::from([name("web-2")]));
    assert_eq!(parameters.spread, Some(name("shop")));
    assert_eq!(parameters.tags, tags("cost", "9"));
    assert_eq!(parameters.api_addresses, ["10.0.0.1:1"]);
    assert_eq!(parameters.volumes, BTreeSet::from([name("data")]));
    let all = ["application/shop", "model/default", "space/inner", "subnet/inner-a", "subnet/inner-b"];
    assert_eq!(cited(&looked_at), all);
}

// What the supervisor makes of it.

fn declare(view: &mut View, position: u64, machine: &str, spec: Spec) {
    let spec = Arc::new(spec);
    let events = [machine::Event::Declared { spec }, machine::Event::CreateRequested { at: Timestamp(1) }];
    put(view, position, &format!("machine/{machine}"), 1, &events);
}

fn effect_of(machine: &str, at: u64) -> EffectId {
    EffectId::of(JOURNAL, &format!("machine/{machine}").parse().expect("a stream"), Version(at))
}

/// Its instance runs, and its agent reports.
fn run(view: &mut View, position: u64, machine: &str, first: u64, intent: u64) {
    let instance = MachineInstance {
        effect: effect_of(machine, intent),
        instance: InstanceId(format!("i-{machine}")),
        machine: name(machine),
        facts: [("zone".to_owned(), "a".to_owned())].into(),
        status: InstanceStatus::Running,
    };
    let at = Timestamp(2);
    let events = [machine::Event::Created { instance, at }, machine::Event::NodeReported { conditions: vec![], at }];
    put(view, position, &format!("machine/{machine}"), first, &events);
}

fn look(view: &View, machines: &[&str]) -> Vec<(String, machine::Command)> {
    let machines = machines.iter().map(|machine| name(machine)).collect();
    let events = answer(&State::default(), view, &Command::Look { machines }).events;
    let order = |event: Event| match event {
        Event::Issued { order: Order::Machine { machine, command }, .. } => Some((machine.to_string(), command)),
        _ => None,
    };
    events.into_iter().filter_map(order).collect()
}

fn refusal(view: &View, machine: &str) -> Unstartable {
    match &look(view, &[machine])[..] {
        [(told, machine::Command::RefuseStart { why, .. })] if told == machine => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_missing_parks_one_machine_and_a_document_wakes_who_waits() {
    let mut view = view_of(&network());
    declare(&mut view, 20, "web", reaching(&["later"], &[]));
    declare(&mut view, 21, "good", reaching(&["inner"], &[]));
    declare(&mut view, 22, "plain", plain());
    let orders = look(&view, &["good", "plain", "web"]);
    let told: Vec<&str> = orders.iter().map(|(machine, _)| machine.as_str()).collect();
    assert_eq!(told, ["good", "web"]);
    assert!(matches!(orders[0].1, machine::Command::Prepare { .. }));
    let no_space = Unstartable::NoSpace { space: name("later") };
    assert_eq!(refusal(&view, "web"), no_space);
    let refused = machine::Event::StartRefused { why: no_space, cited: Vec::new(), at: Timestamp(3) };
    put(&mut view, 23, "machine/web", 3, &[refused]);
    assert_eq!(look(&view, &["web"]), [], "the same is not said again");
    let prepared =
        machine::Event::StartPrepared { parameters: Box::default(), config: None, cited: Vec::new(), at: Timestamp(3) };
    put(&mut view, 24, "machine/good", 3, &[prepared]);
    // Whatever document arrives: those that wait are looked at, and nobody else.
    let space = "space/later".parse().unwrap();
    assert_eq!(view.woken_by(&space), ["machine/web".parse::<StreamId>().unwrap()]);
    let declared = |content| document::Event::Declared { content: Box::new(content) };
    put(&mut view, 25, "space/later", 1, &[declared(Content::Space(Space::default()))]);
    assert_eq!(refusal(&view, "web"), Unstartable::EmptySpace { space: name("later") });
    put(&mut view, 26, "subnet/later", 1, &[declared(subnet("later", &[]))]);
    let orders = look(&view, &["web"]);
    let [(_, machine::Command::Prepare { asked, cited, .. })] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!((*asked, cited.len()), (Version(2), 2));
}

#[test]
fn machines_have_nothing_to_do_with_accounts_nor_with_what_clients_are_told() {
    // given a machine that waits for whatever document arrives
    let mut view = view_of(&network());
    declare(&mut view, 20, "web", reaching(&["later"], &[]));
    assert_eq!(view.woken_by(&"space/other".parse().unwrap()), ["machine/web".parse::<StreamId>().unwrap()]);
    // when something happens to an account
    let account: StreamId = "account/ada".parse().unwrap();
    // then nobody looks at the machine, and the supervisor hears of none
    assert_eq!(view.woken_by(&account), []);
    let wanted = document::Kind::ALL.into_iter().filter(|kind| !View::wants(kind.as_str()));
    let others = [
        document::Kind::Account,
        document::Kind::JujuModel,
        document::Kind::JujuApplication,
        document::Kind::JujuMachine,
    ];
    assert_eq!(wanted.collect::<Vec<_>>(), others);
}

#[test]
fn what_the_model_says_of_the_control_plane_is_told_with_a_start() {
    let order = |model: Model| {
        let mut view = view_of(&network());
        declare(&mut view, 20, "good", reaching(&["inner"], &[]));
        let declared = document::Event::Declared { content: Box::new(Content::Model(model)) };
        put(&mut view, 21, "model/default", 1, &[declared]);
        look(&view, &["good"]).remove(0).1
    };
    let plain = Model { region: Some("north".into()), ..Model::default() };
    assert!(matches!(order(plain.clone()), machine::Command::Prepare { config: None, .. }), "nothing is said of that");
    let certificate = "-----BEGIN CERTIFICATE-----\n";
    let more = Model { ca_certificate: Some(certificate.into()), image_signing_key: Some("key".into()), ..plain };
    let machine::Command::Prepare { config: Some(config), .. } = order(more) else { panic!("it is told") };
    let expected = InstanceConfig {
        ca_certificate: Some(certificate.into()),
        image_stream: "released".into(),
        image_signing_key: Some("key".into()),
        skips_certificate_check: false,
    };
    assert_eq!(*config, expected);
    let unchecked = Model { skips_certificate_check: true, image_stream: Some("daily".into()), ..Model::default() };
    let machine::Command::Prepare { config: Some(config), .. } = order(unchecked) else { panic!("it is told") };
    assert_eq!((config.skips_certificate_check, config.image_stream.as_str()), (true, "daily"));
}

fn container() -> Spec {
    Spec { parent: Some(name("host")), ..plain() }
}

/// A host that runs and keeps room for a container, and that container, which waits.
fn hosted() -> View {
    let mut view = View::default();
    declare(&mut view, 1, "host", plain());
    declare(&mut view, 2, "host-lxd-0", container());
    let reserved = machine::Event::ContainerReserved { container: name("host-lxd-0") };
    put(&mut view, 3, "machine/host", 3, &[reserved]);
    view
}

fn prepared_in(host: StartHost) -> machine::Event {
    let parameters = Box::new(StartParameters { host: Some(host), ..StartParameters::default() });
    machine::Event::StartPrepared { parameters, config: None, cited: Vec::new(), at: Timestamp(3) }
}

#[test]
fn a_container_waits_for_its_host_which_keeps_room_for_it_first() {
    let mut view = View::default();
    declare(&mut view, 1, "host-lxd-0", container());
    assert_eq!(refusal(&view, "host-lxd-0"), Unstartable::NoHost { host: name("host") });
    declare(&mut view, 2, "host", plain());
    let host: StreamId = "machine/host".parse().unwrap();
    assert_eq!(view.woken_by(&host), ["machine/host-lxd-0".parse::<StreamId>().unwrap()]);
    let reserve = machine::Command::ReserveContainer { container: name("host-lxd-0") };
    assert_eq!(look(&view, &["host-lxd-0"]), [("host".to_owned(), reserve)]);
    let mut view = hosted();
    assert_eq!(refusal(&view, "host-lxd-0"), Unstartable::HostNotThere { host: name("host") });
    run(&mut view, 4, "host", 4, 2);
    let orders = look(&view, &["host-lxd-0"]);
    let [(_, machine::Command::Prepare { parameters, .. })] = &orders[..] else { panic!("{orders:?}") };
    let host = StartHost {
        machine: name("host"),
        effect: effect_of("host", 2),
        instance: InstanceId("i-host".into()),
        zone: Some(Zone("a".into())),
    };
    assert_eq!(parameters.host, Some(host));
}

/// As hosted, and both run.
fn both_run() -> View {
    let mut view = hosted();
    run(&mut view, 4, "host", 4, 2);
    let instance = InstanceId("i-host".into());
    let host = StartHost { machine: name("host"), effect: effect_of("host", 2), instance, zone: None };
    put(&mut view, 5, "machine/host-lxd-0", 3, &[prepared_in(host)]);
    run(&mut view, 6, "host-lxd-0", 4, 2);
    view
}

#[test]
fn a_container_is_lost_with_the_instance_that_it_was_made_in() {
    let mut view = both_run();
    assert_eq!(look(&view, &["host", "host-lxd-0"]), []);
    let lost = [machine::Event::InstanceLost { at: Timestamp(9) }];
    put(&mut view, 7, "machine/host", 6, &lost);
    let report = machine::Command::Report(machine::Report::Lost { effect: effect_of("host-lxd-0", 2) });
    // Told once, whichever of the two was looked at.
    assert_eq!(look(&view, &["host", "host-lxd-0"]), [("host-lxd-0".to_owned(), report)]);
}

#[test]
fn a_container_stays_when_an_operator_keeps_the_instance_of_its_host() {
    let mut view = both_run();
    let why = machine::Leaving::OperatorKeeps;
    let left = machine::Event::InstanceLeft { effect: effect_of("host", 2), why };
    put(&mut view, 7, "machine/host", 6, &[left]);
    assert_eq!(look(&view, &["host", "host-lxd-0"]), []);
}

#[test]
fn a_host_that_goes_has_its_containers_go_first_and_lets_go_of_them() {
    let mut view = both_run();
    put(&mut view, 7, "machine/host", 6, &[machine::Event::RemovalBegan { at: Timestamp(8) }]);
    let leaves = machine::Removal { why: machine::RemovalReason::HostDeleted, ..Default::default() };
    let remove = ("host-lxd-0".to_owned(), machine::Command::RemoveWith(leaves));
    assert_eq!(look(&view, &["host"]), [remove]);
    put(
        &mut view,
        8,
        "machine/host-lxd-0",
        6,
        &[machine::Event::RemovalBegan { at: Timestamp(8) }, machine::Event::Died],
    );
    assert_eq!(look(&view, &["host"]), [], "it goes already");
    put(&mut view, 9, "machine/host-lxd-0", 8, &[machine::Event::Removed]);
    let release = machine::Command::ReleaseContainer { container: name("host-lxd-0") };
    assert_eq!(look(&view, &["host-lxd-0"]), [("host".to_owned(), release)]);
    let released = machine::Event::ContainerReleased { container: name("host-lxd-0") };
    put(&mut view, 10, "machine/host", 7, &[released]);
    assert_eq!(look(&view, &["host"]), []);
    assert!(view.leaving.is_empty() && view.children.is_empty());
}
