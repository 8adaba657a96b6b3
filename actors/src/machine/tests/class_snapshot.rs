//! What a machine is made from: the copy of its class, taken once and kept.

use std::sync::Arc;

use bailiwick_journal::Version;

use super::{NOW, State, effect, name, running, spec, stream};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case},
    },
    machine::{ClassSnapshot, Command, Effect, Event, Reason as R, Rejection, Report, Spec},
    policy::Document,
    vocab::{ClassContent, ClassCopy, Name, Timestamp},
};

fn of_class(class: &str) -> Arc<Spec> {
    Arc::new(Spec { class: Some(name(class)), ..(*spec("local")).clone() })
}

fn copy(class: &str, provider: &str) -> Box<ClassCopy> {
    let content = Box::new(ClassContent::with_provider(name(provider)));
    Box::new(ClassCopy { class: name(class), revision: 1, content })
}

fn awaited() -> Vec<Event> {
    vec![Event::Declared { spec: of_class("small") }, Event::CreateRequested { at: Timestamp(1) }]
}

fn taken() -> Vec<Event> {
    then(awaited(), [Event::ClassTaken { copy: copy("small", "local") }])
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn take(class: &str, provider: &str) -> Command {
    Command::TakeClass { effect: effect(2), copy: copy(class, provider) }
}

fn used(past: &[Event]) -> Option<Name> {
    after::<State>(past).0.uses_class().cloned()
}

pub(super) fn table() -> Vec<Case<State>> {
    let other_effect = Command::TakeClass { effect: effect(9), copy: copy("small", "local") };
    let event = Event::ClassTaken { copy: copy("small", "local") };
    let refused = Rejection::ClassOfOtherProvider { class: name("small"), provider: name("cloud") };
    vec![
        case(awaited(), take("small", "local"), Ok((R::ClassTaken, vec![event]))),
        case(awaited(), take("large", "local"), Ok((R::ClassNotAwaited, vec![]))),
        case(awaited(), other_effect, Ok((R::ClassNotAwaited, vec![]))),
        case(awaited(), take("small", "cloud"), Err(refused)),
        case(taken(), take("small", "local"), Ok((R::ClassNotAwaited, vec![]))),
        case(running(), take("small", "local"), Ok((R::ClassNotAwaited, vec![]))),
    ]
}

#[test]
fn nothing_is_made_before_the_copy_is_there() {
    let owed = |events: &[Event]| after::<State>(events).0.pending(&NoView);
    assert_eq!(owed(&awaited()), [].into());
    assert_eq!(owed(&taken()), [Effect::Create { intent: Version(2), attempt: 1 }].into());
}

#[test]
fn the_copy_outlives_its_instance_and_goes_when_another_class_makes_the_next_one() {
    let gone = [Event::InstanceLost { at: NOW }, Event::DeleteRequested { at: NOW }, Event::Deleted];
    let again = || [Event::CreateRequested { at: NOW }];
    let made = then(taken(), [Event::Created { instance: super::instance(2), at: NOW }]);
    let lost = then(made.clone(), gone.clone());
    let remade = then(lost.clone(), again());
    assert_eq!(after::<State>(&remade).0.class(), Some(&*copy("small", "local")));
    let revised = then(made.clone(), [Event::SpecChanged { spec: of_class("large") }]);
    assert_eq!(used(&revised), Some(name("small")), "it is what it was made from, whatever is declared since");
    let remade = then(then(revised, gone.clone()), again());
    assert_eq!(after::<State>(&remade).0.class_snapshot, ClassSnapshot::Awaited { class: name("large") });
    let classless = then(then(then(made, [Event::SpecChanged { spec: spec("local") }]), gone), again());
    assert_eq!((after::<State>(&classless).0.class_snapshot, used(&classless)), (ClassSnapshot::Open, None));
}

#[test]
fn who_waits_for_a_class_waits_for_the_one_that_is_declared_now() {
    let corrected = then(awaited(), [Event::SpecChanged { spec: of_class("large") }]);
    assert_eq!(after::<State>(&corrected).0.awaits_class(), Some(&name("large")));
    let freed = then(awaited(), [Event::SpecChanged { spec: spec("local") }]);
    let (state, _) = after::<State>(&freed);
    assert_eq!(state.awaits_class(), None);
    assert!(!state.pending(&NoView).is_empty());
}

#[test]
fn a_machine_of_an_earlier_release_runs_without_a_copy_and_uses_no_class() {
    let made = then(awaited(), [Event::Created { instance: super::instance(2), at: NOW }]);
    assert_eq!(used(&made), None);
    let again = answer(&stream(), &after::<State>(&made), &take("small", "local"), NOW, &Document::default());
    assert_eq!(again.expect("an answer").reason, R::ClassNotAwaited);
}

#[test]
fn whoever_is_gone_uses_nothing_and_its_removal_asks_for_no_class() {
    let past = then(taken(), [Event::Created { instance: super::instance(2), at: NOW }]);
    let decision = answer(&stream(), &after::<State>(&past), &Command::Remove, NOW, &Document::default());
    let going = then(past, decision.expect("an answer").events);
    let owed = after::<State>(&going).0.pending(&NoView);
    assert!(matches!(owed.first(), Some(Effect::Delete { .. })), "{owed:?}");
    let report = Command::Report(Report::Deleted { attempt: 1 });
    let decision = answer(&stream(), &after::<State>(&going), &report, NOW, &Document::default());
    assert_eq!(used(&then(going, decision.expect("an answer").events)), None);
}
