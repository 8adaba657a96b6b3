//! Every reason and rejection of a machine class, and what holds along every walk.

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use super::{Command, Event, Reason as R, Rejection, State};
use crate::{
    contract::given::{Case, after, case, hold, walk},
    policy::Document,
    vocab::{ClassContent, ClassFlaw, Life, Name, NodeCapacity, Timestamp},
};

fn stream() -> StreamId {
    "machine-class/small".parse().expect("a stream")
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn names(all: &[&str]) -> Vec<Name> {
    all.iter().map(|text| name(text)).collect()
}

fn content(provider_spec: &str) -> Box<ClassContent> {
    Box::new(ClassContent { provider_spec: provider_spec.into(), ..ClassContent::with_provider(name("cloud")) })
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { content: content("{}") }]
}

fn used(by: &[&str]) -> Vec<Event> {
    [declared(), vec![Event::Used { machines: names(by) }]].concat()
}

fn going() -> Vec<Event> {
    [used(&["web", "db"]), vec![Event::RemovalBegan]].concat()
}

fn gone() -> Vec<Event> {
    [declared(), vec![Event::Removed]].concat()
}

fn table() -> Vec<Case<State>> {
    let large = || content(&"x".repeat(ClassContent::BYTES_MAX));
    let half = Box::new(ClassContent { node_template: Some(NodeCapacity::default()), ..*content("{}") });
    let elsewhere = || Box::new(ClassContent::with_provider(name("local")));
    let takes = |machines: &[&str]| Command::Use { machines: names(machines) };
    let leaves = |machines: &[&str]| Command::Release { machines: names(machines) };
    let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    vec![
        case([], Command::Declare(content("{}")), Ok((R::NewlyDeclared, declared()))),
        case(gone(), Command::Declare(content("{}")), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(content("{}")), Ok((R::AlreadyAsDeclared, vec![]))),
        case(
            used(&["web"]),
            Command::Declare(content("[]")),
            Ok((R::ContentDiffers, vec![Event::Revised { content: content("[]") }])),
        ),
        case([], Command::Declare(large()), Err(Rejection::Flawed { flaw: ClassFlaw::TooLarge { bytes: 32_776 } })),
        case([], Command::Declare(half), Err(Rejection::Flawed { flaw: ClassFlaw::Incomplete })),
        case(
            declared(),
            Command::Declare(elsewhere()),
            Ok((R::ContentDiffers, vec![Event::Revised { content: elsewhere() }])),
        ),
        case(used(&["web"]), Command::Declare(elsewhere()), Err(Rejection::ProviderFixed)),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
        case(gone(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case(declared(), Command::Remove, Ok((R::RemovalAsked, vec![Event::Removed]))),
        case(used(&["web", "db"]), Command::Remove, Err(Rejection::InUse { machines: names(&["db", "web"]), more: 0 })),
        case(used(&many), Command::Remove, Err(Rejection::InUse { machines: names(&many[..8]), more: 2 })),
        case(used(&["web"]), Command::RemoveOnceUnused, Ok((R::RemovalWaits, vec![Event::RemovalBegan]))),
        case(declared(), Command::RemoveOnceUnused, Ok((R::RemovalAsked, vec![Event::Removed]))),
        case(going(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(going(), Command::Declare(content("{}")), Err(Rejection::Leaving { life: Life::Dying })),
        case(going(), takes(&["cache"]), Err(Rejection::Leaving { life: Life::Dying })),
        case(
            going(),
            leaves(&["web", "web"]),
            Ok((R::MachinesGone, vec![Event::Released { machines: names(&["web"]) }])),
        ),
        case(
            [going(), vec![Event::Released { machines: names(&["web"]) }]].concat(),
            leaves(&["db"]),
            Ok((R::LastMachineGone, vec![Event::Released { machines: names(&["db"]) }, Event::Removed])),
        ),
        case([], takes(&["web"]), Err(Rejection::NotDeclared)),
        case(gone(), takes(&["web"]), Err(Rejection::NotDeclared)),
        case(
            used(&["web"]),
            takes(&["web", "db"]),
            Ok((R::MachinesCome, vec![Event::Used { machines: names(&["db"]) }])),
        ),
        case(used(&["web"]), takes(&["web"]), Ok((R::InUseAlready, vec![]))),
        case(
            used(&["web"]),
            leaves(&["web", "db"]),
            Ok((R::MachinesGone, vec![Event::Released { machines: names(&["web"]) }])),
        ),
        case(declared(), leaves(&["web"]), Ok((R::NotInUse, vec![]))),
    ]
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    let rejections = ["not-declared", "in-use", "flawed", "provider-fixed", "leaving"];
    hold(&stream(), Timestamp(100_000), &Document::default(), table(), R::ALL, &rejections);
}

#[test]
fn a_refused_removal_names_the_machines_in_words() {
    let refused = |machines: &[&str], more| Rejection::InUse { machines: names(machines), more }.to_string();
    assert_eq!(refused(&["web"], 0), "machine web uses it; remove them first, or move them to another class");
    assert!(refused(&["db", "web"], 3).starts_with("machines db, web and 3 more use it; "));
}

#[test]
fn revisions_go_on_when_a_class_is_declared_again() {
    let again = [gone(), vec![Event::Declared { content: content("[]") }]].concat();
    let (state, _) = after::<State>(&again);
    let copy = state.copy(&name("small")).expect("it is there");
    assert_eq!((copy.revision, copy.content), (2, content("[]")));
    assert_eq!(after::<State>(&gone()).0.copy(&name("small")), None);
}

fn command(_: &State, _: Version, kind: u8, value: u8) -> Command {
    let machines = || (0..value % 4).map(|n| name(&format!("web-{}", n.wrapping_add(value / 4) % 5))).collect();
    match kind % 7 {
        0 => Command::Declare(content(if value.is_multiple_of(2) { "{}" } else { "[]" })),
        1 => Command::Declare(content(&"x".repeat(usize::from(value) * 256))),
        2 => Command::Remove,
        6 => Command::RemoveOnceUnused,
        3 | 4 => Command::Use { machines: machines() },
        _ => Command::Release { machines: machines() },
    }
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_class_promises(dice in vec((any::<u8>(), any::<u8>(), 0..100_000u32), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, state, _| {
            assert!(state.life.exists() || state.users.is_empty(), "no machine uses what is not there");
            assert!(state.life != Life::Dying || !state.users.is_empty(), "nothing waits for nobody");
            assert!(before.revision <= state.revision, "no revision is given twice");
            assert!(state.content.as_ref().is_none_or(|content| content.checked().is_ok()), "what is there has no flaw");
        });
    }
}
