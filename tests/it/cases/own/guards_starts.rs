//! What keeps an instance from being started with what is not meant for it, or from being taken for what it is not; and a
//! document from what must not become of it.

use bailiwick::actors::{
    document::{Content, ImageMetadata, Kind, Model, Space, Subnet},
    machine::{Base, Command, NodeFacts, Report},
    policy::Document,
    ports::MachineInstance,
    supervisor::Order,
    testing::{Answer, name},
    vocab::SpaceWish,
};
use bailiwick_journal::Outcome;

use super::{
    super::lab::{Lab, Making, making, stranger},
    lab,
};

fn base(channel: &str) -> Base {
    Base { os: "ubuntu".to_owned(), channel: channel.to_owned() }
}

/// There is an image of this base, called as its channel.
fn declare_image(lab: &mut Lab, channel: &str) {
    let image = ImageMetadata {
        base: base(channel),
        arch: "amd64".to_owned(),
        region: None,
        stream: "released".to_owned(),
        image: format!("image-{channel}"),
        priority: 1,
        root_storage: None,
        virtualisation: None,
    };
    lab.desk.declare_document(&format!("ubuntu-{}", channel.replace('.', "-")), Content::ImageMetadata(image));
}

/// Declares a machine on this base.
fn declare_on(lab: &mut Lab, channel: &str) {
    lab.declare("1", |spec| spec.base = Some(base(channel)));
}

/// The same instance, as if another control plane had started it.
pub(super) fn unmet_of(instance: MachineInstance) -> MachineInstance {
    let facts = [(MachineInstance::NONCE.to_owned(), "supervisor/machines:somebody-elses".to_owned())].into();
    MachineInstance { facts, ..instance }
}

#[test]
fn what_was_put_together_for_another_declaration_is_not_taken() {
    // Given a machine for whose start everything was put together
    let mut lab = lab();
    for channel in ["24.04", "26.04"] {
        declare_image(&mut lab, channel);
    }
    declare_on(&mut lab, "24.04");
    assert!(lab.desk.look(), "that is ordered");
    // When it is declared on another base before the order arrives
    declare_on(&mut lab, "26.04");
    assert!(lab.desk.carry_out(), "the order was under way");
    // Then nothing is made with it
    assert!(!lab.owes_a_create("1"));
    lab.desk.settle();
    let images = lab.state("1").parameters().map(|started| started.images.clone()).unwrap_or_default();
    let images: Vec<&str> = images.iter().map(|image| image.image.as_str()).collect();
    assert_eq!(images, ["image-26.04"]);
    assert!(lab.state("1").running_effect().is_some());
}

#[test]
fn the_same_refusal_of_a_start_is_not_said_again() {
    // Given a machine that was told that there is no image for it
    let mut lab = lab();
    declare_on(&mut lab, "24.04");
    lab.desk.look();
    let order = lab.desk.machines_view().orders.open_to(&Lab::stream("1")).next().cloned().expect("it is refused");
    let Order::Machine { command, .. } = order else { panic!("to a machine: {order:?}") };
    lab.desk.settle();
    let before = lab.state("1");
    assert_eq!(making(&before), Making::Error);
    // When it is told that again a minute later
    lab.desk.now = lab.desk.now.after(60_000);
    let entry = lab.desk.machine("1", command);
    // Then it is no news, and it is still known since when it waits
    assert_eq!(entry.header.events, 0);
    assert_eq!(lab.state("1"), before);
}

#[test]
fn a_document_that_is_used_stays() {
    // Given a space that a subnet is in
    let mut lab = lab();
    lab.desk.declare_document("inside", Content::Space(Space::default()));
    let subnet = Subnet { cidr: "10.0.1.0/24".to_owned(), zones: [].into(), space: name("inside"), provider_id: None };
    lab.desk.declare_document("one", Content::Subnet(subnet));
    lab.declare("1", |spec| spec.constraints.spaces = [SpaceWish { is_excluded: false, space: name("inside") }].into());
    // When it is removed
    let entry = lab.desk.remove_document(Kind::Space, "inside");
    // Then it stays, and a machine that is to reach it is started with that subnet
    assert_eq!(entry.header.meta.outcome, Outcome::Refused);
    lab.desk.settle();
    let subnets = lab.state("1").parameters().map(|started| started.subnets.clone()).unwrap_or_default();
    assert!(subnets.get(&name("inside")).is_some_and(|subnets| subnets.contains_key(&name("one"))), "{subnets:?}");
    // And when nobody uses it, it goes
    lab.desk.remove_document(Kind::Subnet, "one");
    assert_eq!(lab.desk.remove_document(Kind::Space, "inside").header.meta.outcome, Outcome::Done);
}

#[test]
fn what_another_control_plane_has_started_is_not_taken_for_a_machines_own() {
    // Given a provider that finds an instance under the id that a machine asks for, which tells another nonce
    let mut lab = lab();
    lab.declare("1", |_| ());
    let effect = lab.effect("1").expect("it is to be made");
    let there = unmet_of(MachineInstance { effect, ..stranger("1", "i-1") });
    lab.creates("1", [Answer::Instance(Box::new(there.clone()))]);
    // When the machine is made
    lab.desk.settle();
    // Then it has none, and that is told
    assert_eq!(making(&lab.state("1")), Making::Error);
    assert_eq!(lab.state("1").running_effect(), None);
    assert_eq!(lab.desk.provider.instances.get(&effect), Some(&there), "it stays as it is");
}

#[test]
fn what_another_control_plane_has_started_is_not_taken_over() {
    // Given a machine whose operator let go of its instance
    let mut lab = lab();
    lab.declare("1", |_| ());
    lab.desk.settle();
    lab.desk.machine("1", Command::Disown);
    // When it is to take one over that tells another nonce
    let instance = unmet_of(stranger("1", "i-other"));
    let entry = lab.desk.machine("1", Command::Adopt { provider: name("desk"), instance });
    // Then that is refused, and it has none
    assert_eq!(entry.header.meta.outcome, Outcome::Refused);
    assert_eq!(lab.state("1").running_effect(), None);
    // One that tells no nonce may be taken over.
    let adopt = Command::Adopt { provider: name("desk"), instance: stranger("1", "i-other") };
    assert_eq!(lab.desk.machine("1", adopt).header.meta.outcome, Outcome::Done);
}

#[test]
fn a_private_key_is_never_journaled_as_a_certificate() {
    // Given a certificate that was copied out of a file together with its key
    let mut lab = lab();
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEsecret\n-----END PRIVATE KEY-----\n";
    let model = |text: String| Content::Model(Model { ca_certificate: Some(text), ..Model::default() });
    // When the model is declared with both
    let entry = lab.desk.declare_document(Model::NAME, model(format!("{certificate}{key}")));
    // Then that is refused, and nothing that is started is told the key
    assert_eq!(entry.header.meta.outcome, Outcome::Refused);
    let told = lab.desk.machines_view().documents.model().map(|model| model.says.ca_certificate.clone());
    assert_eq!(told, None);
    lab.desk.declare_document(Model::NAME, model(certificate.to_owned()));
    let told = lab.desk.machines_view().documents.model().and_then(|model| model.says.ca_certificate.clone());
    assert_eq!(told.as_deref(), Some(certificate));
    // And it stands nowhere in the journal, not even with its refusal
    assert!(!lab.has_in_journal("MIIEsecret"));
}

#[test]
fn only_the_agent_of_the_instance_that_runs_joins() {
    // Given a machine whose instance was lost and replaced
    let mut lab = Lab::new(Document::default());
    lab.declare("1", |_| ());
    lab.desk.settle();
    let earlier = lab.state("1").running_effect().expect("it runs");
    lab.desk.lose("1");
    lab.desk.settle();
    let before = lab.state("1");
    assert!(before.running_effect().is_some_and(|effect| effect != earlier));
    // When the agent of the earlier one comes with its token
    let joined = Report::Joined { effect: earlier, token: "earlier".to_owned(), node: Box::new(NodeFacts::default()) };
    lab.desk.machine("1", Command::Report(joined));
    // Then nobody has joined, and the present one's time to do so runs on
    assert_eq!(lab.state("1"), before);
    lab.desk.report_joined("1", "present", NodeFacts::default());
    assert_eq!(lab.state("1").joined.map(|joined| joined.token).as_deref(), Some("present"));
}
