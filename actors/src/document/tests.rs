//! Every reason and rejection of a document, and that all kinds have the one frame.

use bailiwick_journal::StreamId;

use super::{
    Account, AgentBinary, Command, Content, Event, Kind, Model, Reason as R, Rejection, Role, Space, State, Subnet,
    Token, Users,
};
use crate::{
    contract::{
        Stored,
        given::{Case, JOURNAL, after, case, hold},
    },
    machine::Base,
    policy::Document,
    vocab::{Name, Timestamp},
};

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn stream(text: &str) -> StreamId {
    text.parse().expect("a stream")
}

fn space(provider_id: Option<&str>) -> Box<Content> {
    Box::new(Content::Space(Space { provider_id: provider_id.map(Into::into) }))
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { content: space(None) }]
}

fn removed() -> Vec<Event> {
    [declared(), vec![Event::Removed]].concat()
}

fn remove(used_by: Users) -> Command {
    Command::Remove { kind: Kind::Space, used_by }
}

fn subnet(cidr: &str) -> Content {
    Content::Subnet(Subnet { cidr: cidr.into(), zones: [].into(), space: name("inner"), provider_id: None })
}

/// With tokens of these ids, for these kinds.
fn account(tokens: &[&str], kinds: &[&str]) -> Account {
    let token = |id: &&str| Token { id: (*id).into(), hash: [7; 32], expires: None };
    Account {
        role: Role::Operate,
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        tokens: tokens.iter().map(token).collect(),
        users: [].into(),
    }
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    let (first, second) = (|| space(None), || space(Some("vpc-1")));
    let used = || Users::of([stream("subnet/a")]);
    let large = || space(Some(&"x".repeat(super::CONTENT_BYTES_MAX)));
    let cases: Vec<Case<State>> = vec![
        case([], Command::Declare(first()), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(first()), Ok((R::AlreadyAsDeclared, vec![]))),
        case(declared(), Command::Declare(second()), Ok((R::Differs, vec![Event::Revised { content: second() }]))),
        case(removed(), Command::Declare(first()), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(large()), Err(Rejection::TooLarge { most: 32 * 1024 })),
        case([], Command::Declare(Box::new(subnet("10.0.0.0/8"))), Err(Rejection::OtherKind { kind: Kind::Subnet })),
        case([], remove(Users::default()), Err(Rejection::NotDeclared)),
        case(removed(), remove(used()), Ok((R::AlreadyGone, vec![]))),
        case(declared(), remove(used()), Err(Rejection::InUse { users: used() })),
        case(declared(), remove(Users::default()), Ok((R::RemovalAsked, vec![Event::Removed]))),
    ];
    let rejections = ["not-declared", "in-use", "too-large", "other-kind"];
    hold::<State>(&stream("space/inner"), Timestamp(1), &Document::default(), cases, R::ALL, &rejections);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let binary = |sha256: &str, location: &str| {
        let base = Base { os: "ubuntu".into(), channel: "22.04/stable".into() };
        let (sha256, location) = (sha256.into(), location.into());
        Content::AgentBinary(AgentBinary { version: "1.0".into(), base, arch: "amd64".into(), sha256, location })
    };
    let certified = |text: &str| Content::Model(Model { ca_certificate: Some(text.into()), ..Model::default() });
    let signed = |text: &str| Content::Model(Model { image_signing_key: Some(text.into()), ..Model::default() });
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    let sum = "0f".repeat(32);
    let table = [
        (subnet("10.0.1.0/24"), true),
        (subnet("10.0.1.7/24"), false),
        (binary(&sum, "https://binaries.example/agent"), true),
        (binary("0F", "https://binaries.example/agent"), false),
        (binary(&sum, "agent.tgz"), false),
        (binary(&sum, "https://me:secret@binaries.example/agent"), false),
        (certified(certificate), true),
        (certified("/etc/ca.pem"), false),
        (certified(&format!("{certificate}-----BEGIN EC PRIVATE KEY-----\n")), false),
        (signed("-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQ\n"), true),
        (signed("-----BEGIN PGP PRIVATE KEY BLOCK-----\nmQ\n"), false),
        (signed("\u{1b}[2J"), false),
    ];
    for (content, is_good) in table {
        assert_eq!(super::check::check(&content).is_ok(), is_good, "{content:?}");
    }
}

#[test]
fn what_is_refused_for_a_secret_is_stored_without_it_and_refused_for_the_same() {
    let model = |text: String| Content::Model(Model { ca_certificate: Some(text), ..Model::default() });
    let binary = |location: &str| {
        let base = Base { os: "ubuntu".into(), channel: "22.04/stable".into() };
        let (sha256, location) = ("0f".repeat(32), location.into());
        Content::AgentBinary(AgentBinary { version: "1.0".into(), base, arch: "amd64".into(), sha256, location })
    };
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    for content in [
        model(format!("{certificate}-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n")),
        model(format!("SECRET\n-----END PRIVATE KEY-----\n{}", "x".repeat(super::CONTENT_BYTES_MAX))),
        binary("https://me:SECRET@binaries.example/agent"),
        binary("https://SECRET@me@binaries.example/agent"),
        binary("https://s:SECRET@binaries.example/s:SECRE/agent@1"),
        binary("me:SECRET@binaries.example"),
        Content::Account(account(&["1f2e3d4c", "2f2e3d4c.SECRET"], &[])),
    ] {
        let stored = Command::Declare(Box::new(content.clone())).store().expect("it fits");
        assert!(!String::from_utf8_lossy(&stored.bytes).contains("SECRET"), "{content:?}");
        let Command::Declare(again) = Command::load(&stored).expect("it can be read") else {
            panic!("the same command")
        };
        let refused = super::check::check(&content).expect_err("it is refused");
        assert_eq!(super::check::check(&again), Err(refused));
    }
    let good = Command::Declare(Box::new(model(certificate.into())));
    assert_eq!(Command::load(&good.store().expect("it fits")).expect("it can be read"), good);
}

#[test]
fn revisions_count_over_removals_and_the_digest_follows_the_content() {
    let (first, _) = after::<State>(&declared());
    let (again, _) = after::<State>(&[removed(), declared()].concat());
    assert_eq!((first.revision, again.revision), (1, 2));
    assert_eq!(first.digest, again.digest);
    assert_ne!(first.uid(JOURNAL, &stream("space/inner")), again.uid(JOURNAL, &stream("space/inner")));
    assert_eq!(after::<State>(&removed()).0.in_force(), None);
}

#[test]
fn users_are_named_up_to_a_number_and_then_counted() {
    let all = (0..20).map(|number| stream(&format!("subnet/s-{number:02}")));
    let users = Users::of(all);
    assert_eq!((users.named.len(), users.others), (8, 12));
    assert!(users.to_string().ends_with("subnet/s-07 and 12 more"));
}

#[test]
fn an_account_has_few_tokens_with_ids_of_their_own_and_names_kinds() {
    let refused = |account: Account| match super::check::check(&Content::Account(account)) {
        Err(Rejection::BadContent { problem }) => Some(problem),
        other => other.map(|()| None).unwrap_or_else(|other| panic!("{other:?}")),
    };
    // given accounts that are good, the revoked one among them
    for good in [account(&[], &[]), account(&["1f2e3d4c", "00000000"], &["machine", "volume-attachment"])] {
        assert_eq!(refused(good.clone()), None, "{good:?}");
    }
    // when tokens have no id, or the same one
    let no_id = Some("the id of a token is not 8 hexadecimal digits in lower case".to_owned());
    for id in ["", "1f2e3d4", "1F2E3D4C", "1f2e3d4c5", "1f2e3d4g", "1f2e3dé"] {
        assert_eq!(refused(account(&[id], &[])), no_id, "{id}");
    }
    assert_eq!(refused(account(&["1f2e3d4c", "1f2e3d4c"], &[])), Some("two of its tokens have one id".into()));
    // or a kind is none
    for kind in ["", "Machine", "machine/web", "two words", &"k".repeat(64)] {
        assert_eq!(refused(account(&[], &[kind])), Some("it names a kind that is none".into()), "{kind}");
    }
    // or there are too many
    let texts = |count: u32, of: fn(u32) -> String| (0..count).map(of).collect::<Vec<_>>();
    let ids = |count| texts(count, |number| format!("{number:08x}"));
    let kinds = |count| texts(count, |number| format!("kind-{number}"));
    for (count, kinds_count, users, problem) in [
        (16, 64, 64, None),
        (17, 0, 0, Some("it has more than 16 tokens")),
        (0, 65, 0, Some("it has more than 64 kinds")),
        (0, 0, 65, Some("it has more than 64 users")),
    ] {
        let tokens = ids(count).into_iter().map(|id| Token { id, hash: [7; 32], expires: None }).collect();
        let kinds = kinds(kinds_count).into_iter().collect();
        // then it is refused for that
        let account = Account { role: Role::View, kinds, tokens, users: (0..users).collect() };
        assert_eq!(refused(account), problem.map(str::to_owned));
    }
}

#[test]
fn a_role_may_do_what_those_before_it_may() {
    assert!(Role::View < Role::Operate && Role::Operate < Role::Admin);
    assert_eq!(Role::ALL.map(|role| Role::of(role.as_str())), Role::ALL.map(Some));
    assert_eq!((Role::of("Admin"), Role::of("")), (None, None));
}
