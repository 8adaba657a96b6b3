//! Stored forms of documents.

use bailiwick_actors::{
    document::{
        Account, AgentBinary, Application, Command, Content, Event, ImageMetadata, Juju, Kind, Model, Reason,
        Rejection, Role, Space, Subnet, Token, Users,
    },
    machine::{Base, Constraints},
    vocab::{SizeMib, Timestamp, Zone},
};

use super::{name, verdicts};
use crate::{Forms, forms};

fn base() -> Base {
    Base { os: "ubuntu".into(), channel: "22.04/stable".into() }
}

/// An account of each role, with something in every field.
fn accounts() -> impl Iterator<Item = Content> {
    let token = |id: &str, expires| Token { id: id.into(), hash: [0x0f; 32], expires };
    Role::ALL.into_iter().map(move |role| {
        let tokens = vec![token("1f2e3d4c", Some(Timestamp(1_798_761_600_000))), token("2f2e3d4c", None)];
        Content::Account(Account { role, kinds: ["machine".to_owned()].into(), tokens, users: [1000].into() })
    })
}

/// One of each kind, with something in every field.
fn contents() -> Vec<Content> {
    let text = |text: &str| Some(text.to_owned());
    let constraints = Constraints {
        arch: text("arm64"),
        cores: Some(2),
        memory: Some(SizeMib(1024)),
        root_disk: Some(SizeMib(2048)),
        instance_type: text("small"),
        zones: [Zone("a".into())].into(),
        spaces: ["inner", "^outer"].map(|wish| wish.parse().expect("a wish")).into(),
    };
    let application = Application {
        machines: [name("web")].into(),
        bindings: [("db".to_owned(), name("inner"))].into(),
        constraints,
        min_available: Some(2),
    };
    let model = Model {
        base: Some(base()),
        image_stream: text("daily"),
        region: text("north"),
        agent_version: text("1.2.3"),
        api_addresses: vec!["10.0.0.1:17070".into()],
        tags: [("cost".to_owned(), "7".to_owned())].into(),
        ca_certificate: text("-----BEGIN CERTIFICATE-----"),
        image_signing_key: text("key"),
        skips_certificate_check: true,
    };
    let mut contents = vec![
        Content::Space(Space { provider_id: text("vpc-1") }),
        Content::Subnet(Subnet {
            cidr: "10.0.1.0/24".into(),
            zones: [Zone("a".into()), Zone("b".into())].into(),
            space: name("inner"),
            provider_id: text("subnet-1"),
        }),
        Content::ImageMetadata(ImageMetadata {
            base: base(),
            arch: "amd64".into(),
            region: text("north"),
            stream: "released".into(),
            image: "ami-1".into(),
            priority: 7,
            root_storage: text("ssd"),
            virtualisation: text("hvm"),
        }),
        Content::AgentBinary(AgentBinary {
            version: "1.2.3".into(),
            base: base(),
            arch: "amd64".into(),
            sha256: "0f".repeat(32),
            location: "https://binaries.example/agent".into(),
        }),
        Content::Application(application),
        Content::Model(model),
    ];
    contents.extend(accounts());
    let juju = || Juju { json: r#"{"name":"lab"}"#.into() };
    contents.extend([Content::JujuModel(juju()), Content::JujuApplication(juju()), Content::JujuMachine(juju())]);
    contents
}

pub(crate) fn document() -> Forms {
    let users = || Users { named: vec!["subnet/a".parse().expect("a stream")], others: 3 };
    let mut commands: Vec<Command> = contents().into_iter().map(|of| Command::Declare(Box::new(of))).collect();
    commands.extend(Kind::ALL.map(|kind| Command::Remove { kind, used_by: users() }));
    let mut all = forms("command", commands);
    let mut events: Vec<Event> = contents().into_iter().map(|of| Event::Declared { content: Box::new(of) }).collect();
    events.push(Event::Revised { content: Box::new(contents().remove(0)) });
    events.push(Event::Removed);
    all.extend(forms("event", events));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::InUse { users: users() },
        Rejection::TooLarge { most: 9 },
        Rejection::BadContent { problem: "no".into() },
        Rejection::OtherKind { kind: Kind::Subnet },
    ];
    all.extend(verdicts::<bailiwick_actors::document::State>(Reason::ALL, rejections));
    all
}
