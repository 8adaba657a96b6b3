//! Every reason and rejection of a machine set, and what holds along every walk.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_journal::{StreamId, Version};
use proptest::{collection::vec, prelude::*};

use crate::{
    contract::given::{Case, case, hold, walk},
    machine,
    machine_set::{Change, Command, Event, Plan, Reason as R, Rejection, Spec, State, pass},
    policy::Document,
    storage_rules::{ClaimForm, FromPool, StorageClaim},
    vocab::{Life, Name, SizeMib, Timestamp},
};

const NOW: Timestamp = Timestamp(100_000);

fn stream() -> StreamId {
    "machine-set/web".parse().expect("a stream")
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn spec(replicas: u32) -> Spec {
    let template = Arc::new(machine::Spec::with_provider(name("local")));
    Spec { replicas, template, priorities: BTreeMap::new(), deployment: None }
}

/// One whose machines ask for two volumes as `data` and for a filesystem, and whose one workload uses this.
fn using(volume: &str) -> Spec {
    let claim = |called: &str, count, form| StorageClaim {
        name: name(called),
        count,
        size: SizeMib(64),
        provider: name("local"),
        pool: FromPool { name: "local".parse().expect("a pool's name"), attributes: Default::default() },
        form,
        read_only: false,
        is_persistent: true,
    };
    let files = ClaimForm::OnVolume { path: None, is_inside: false };
    let storage = vec![claim("data", 2, ClaimForm::Volume), claim("files", 1, files)];
    let workload =
        machine::Workload { volumes: [name(volume)].into(), ..machine::Workload::new(name("db"), vec!["db".into()]) };
    let template = machine::Spec { storage, workloads: vec![workload], ..machine::Spec::with_provider(name("local")) };
    Spec { template: Arc::new(template), ..spec(1) }
}

#[test]
fn the_volumes_of_a_workload_are_those_of_its_own_machine() {
    let spec = using("data");
    let used = |machine: &str| {
        let member = spec.member(&name("web"), &name(machine));
        member.workloads[0].volumes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(used("web-1"), ["web-1-data-0", "web-1-data-1"]);
    assert_eq!(used("web-2"), ["web-2-data-0", "web-2-data-1"]);
}

fn declared() -> Vec<Event> {
    vec![Event::Declared { spec: spec(1) }]
}

fn owned() -> Vec<Event> {
    vec![Event::Declared { spec: Spec { deployment: Some(name("shop")), ..spec(1) } }]
}

fn protected() -> Vec<Event> {
    [declared(), vec![Event::Protected { on: true }]].concat()
}

fn going() -> Vec<Event> {
    [declared(), vec![Event::RemovalBegan]].concat()
}

fn gone() -> Vec<Event> {
    [going(), vec![Event::Removed]].concat()
}

fn creation(count: usize) -> Plan {
    Plan { stale: Vec::new(), change: Change::Create(count) }
}

fn removal(of: &str) -> Plan {
    Plan { stale: Vec::new(), change: Change::Remove(vec![of.into()]) }
}

fn named(names: &[&str]) -> Event {
    Event::Named { names: names.iter().map(|text| name(text)).collect() }
}

fn began(plan: Plan) -> Vec<Event> {
    let change = plan.change.clone();
    vec![Event::Pass(pass::Event::PassBegan(plan)), Event::Pass(pass::Event::ChangeBegan(change))]
}

fn creating() -> Vec<Event> {
    [declared(), vec![named(&["web-1"])], began(creation(1))].concat()
}

fn removing() -> Vec<Event> {
    [declared(), began(removal("web-1"))].concat()
}

/// As [`removing`], after so many passes in which something was refused.
fn removing_after_rests(count: usize) -> Vec<Event> {
    let rest = || [Event::Resting { until: NOW }, Event::Rested];
    let rests = std::iter::repeat_with(rest).take(count).flatten();
    declared().into_iter().chain(rests).chain(began(removal("web-1"))).collect()
}

fn resting() -> Vec<Event> {
    [declared(), vec![Event::Resting { until: NOW }]].concat()
}

fn frozen_with(machines: u32) -> Event {
    Event::Frozen { machines, bound: 4, at: NOW }
}

fn frozen() -> Vec<Event> {
    [declared(), vec![frozen_with(4)]].concat()
}

fn thawed() -> Vec<Event> {
    [frozen(), vec![Event::Thawed { spares: 4 }]].concat()
}

fn held(reason: &str, until: Option<Timestamp>) -> Event {
    Event::Held { reason: reason.into(), until, at: NOW }
}

fn on_hold() -> Vec<Event> {
    [declared(), vec![held("audit", Some(NOW))]].concat()
}

/// A set of one machine is frozen with four of them, and thaws with three.
fn freezing() -> Vec<Case<State>> {
    let number = |machines| Command::ReportMachines { machines, room: None };
    let roomy = |machines| Command::ReportMachines { machines, room: Some(6) };
    let ended = Event::Pass(pass::Event::PassEnded { has_failed: false });
    vec![
        case(declared(), number(3), Ok((R::NumberTolerable, vec![]))),
        case(declared(), number(4), Ok((R::Overshot, vec![frozen_with(4)]))),
        case(creating(), number(5), Ok((R::Overshot, vec![frozen_with(5), ended]))),
        case(removing(), number(5), Ok((R::Overshot, vec![frozen_with(5)]))),
        case(going(), number(9), Ok((R::NumberTolerable, vec![]))),
        // What a deployment gives it room for counts, and not twice its number.
        case(declared(), roomy(7), Ok((R::NumberTolerable, vec![]))),
        case(declared(), roomy(8), Ok((R::Overshot, vec![Event::Frozen { machines: 8, bound: 8, at: NOW }]))),
        case(frozen(), number(4), Ok((R::NumberTolerable, vec![]))),
        case(frozen(), number(3), Ok((R::FewEnough, vec![Event::Thawed { spares: 0 }]))),
        case(
            frozen(),
            Command::BeginPass { plan: creation(1), names: vec![name("web-1")] },
            Ok((R::HeldByFreeze, vec![])),
        ),
        case(frozen(), Command::Thaw, Ok((R::OperatorThaws, vec![Event::Thawed { spares: 4 }]))),
        case(declared(), Command::Thaw, Ok((R::NotFrozen, vec![]))),
        case([], Command::Thaw, Err(Rejection::NotDeclared)),
        // Those that were there when the operator looked do not count until there are few again.
        case(thawed(), number(7), Ok((R::NumberTolerable, vec![]))),
        case(thawed(), number(8), Ok((R::Overshot, vec![Event::Frozen { machines: 8, bound: 8, at: NOW }]))),
        case(thawed(), number(3), Ok((R::FewEnough, vec![Event::Thawed { spares: 0 }]))),
    ]
}

fn holding() -> Vec<Case<State>> {
    let hold = |until| Command::Hold { reason: "audit".into(), until };
    let ended = Event::Pass(pass::Event::PassEnded { has_failed: false });
    let (begin, remove) = (
        Command::BeginPass { plan: creation(1), names: vec![name("web-1")] },
        Command::BeginPass { plan: removal("web-1"), names: Vec::new() },
    );
    vec![
        case(declared(), hold(None), Ok((R::OperatorHolds, vec![held("audit", None)]))),
        case(creating(), hold(None), Ok((R::OperatorHolds, vec![held("audit", None), ended.clone()]))),
        case(removing(), hold(None), Ok((R::OperatorHolds, vec![held("audit", None), ended]))),
        case(on_hold(), hold(Some(NOW.after(1))), Ok((R::OperatorHolds, vec![held("audit", Some(NOW.after(1)))]))),
        case([declared(), vec![held("audit", None)]].concat(), hold(None), Ok((R::HeldAlready, vec![]))),
        case(declared(), hold(Some(NOW)), Err(Rejection::HoldOver)),
        case(declared(), Command::Hold { reason: "".into(), until: None }, Err(Rejection::BadHold)),
        case([], hold(None), Err(Rejection::NotDeclared)),
        case(going(), hold(None), Err(Rejection::Leaving { life: Life::Dying })),
        case(on_hold(), begin, Ok((R::OnHold, vec![]))),
        case(on_hold(), remove, Ok((R::OnHold, vec![]))),
        case(on_hold(), Command::Remove, Err(Rejection::Held { reason: "audit".into() })),
        case(on_hold(), Command::Wake { due: NOW }, Ok((R::HoldOver, vec![Event::HoldEnded]))),
        case(on_hold(), Command::Unhold, Ok((R::OperatorReleases, vec![Event::HoldEnded]))),
        case(declared(), Command::Unhold, Ok((R::NotHeld, vec![]))),
    ]
}

fn table() -> Vec<Case<State>> {
    let begin =
        |plan: Plan, names: &[&str]| Command::BeginPass { plan, names: names.iter().map(|text| name(text)).collect() };
    let nothing = || Plan { stale: Vec::new(), change: Change::Nothing };
    let wake = || Command::Wake { due: NOW };
    let ended = |has_failed| Event::Pass(pass::Event::PassEnded { has_failed });
    let made = |failed| Event::Pass(pass::Event::BatchMade { failed });
    let rest_of = |ms| Event::Resting { until: NOW.after(ms) };
    let rest = || rest_of(Document::default().reconciliation.retry_short_ms);
    let refused = Event::Pass(pass::Event::RemovalFailed { name: "web-1".into() });
    let inside = Arc::new(machine::Spec { set: Some(name("x")), ..machine::Spec::with_provider(name("local")) });
    vec![
        case([], Command::Declare(spec(1)), Ok((R::NewlyDeclared, declared()))),
        case(gone(), Command::Declare(spec(1)), Ok((R::NewlyDeclared, declared()))),
        case(declared(), Command::Declare(spec(1)), Ok((R::AlreadyAsDeclared, vec![]))),
        case(declared(), Command::Declare(spec(2)), Ok((R::SpecDiffers, vec![Event::SpecChanged { spec: spec(2) }]))),
        case(going(), Command::Declare(spec(1)), Err(Rejection::Leaving { life: Life::Dying })),
        case([], Command::Declare(spec(100_001)), Err(Rejection::TooMany { most: 100_000 })),
        case([], Command::Declare(Spec { template: inside, ..spec(1) }), Err(Rejection::BadTemplate)),
        case([], Command::Declare(using("logs")), Err(Rejection::BadTemplate)),
        case([], Command::Declare(using("files")), Err(Rejection::BadTemplate)),
        case(owned(), Command::Declare(spec(1)), Err(Rejection::Owned { deployment: name("shop") })),
        case(declared(), Command::Protect { on: true }, Ok((R::ProtectionAsked, vec![Event::Protected { on: true }]))),
        case(declared(), Command::Protect { on: false }, Ok((R::ProtectionKnown, vec![]))),
        case(owned(), Command::Protect { on: true }, Err(Rejection::Owned { deployment: name("shop") })),
        case(protected(), Command::Remove, Err(Rejection::Protected)),
        case(protected(), Command::Declare(spec(0)), Err(Rejection::Protected)),
        case(protected(), Command::Declare(spec(2)), Ok((R::SpecDiffers, vec![Event::SpecChanged { spec: spec(2) }]))),
        case([], Command::Remove, Err(Rejection::NotDeclared)),
        // What a deployment owns goes with it, and not by hand.
        case(owned(), Command::Remove, Err(Rejection::Owned { deployment: name("shop") })),
        case(owned(), Command::RemoveOwned, Ok((R::RemovalAsked, vec![Event::RemovalBegan]))),
        case(declared(), Command::Remove, Ok((R::RemovalAsked, vec![Event::RemovalBegan]))),
        case(going(), Command::Remove, Ok((R::AlreadyGoing, vec![]))),
        case(gone(), Command::Remove, Ok((R::AlreadyGone, vec![]))),
        case(
            declared(),
            begin(creation(1), &["web-1"]),
            Ok((R::PassPlanned, [vec![named(&["web-1"])], began(creation(1))].concat())),
        ),
        case(declared(), begin(nothing(), &[]), Ok((R::NothingToDo, vec![]))),
        case(declared(), begin(creation(2), &["web-1"]), Ok((R::NothingToDo, vec![]))),
        case(creating(), begin(creation(1), &["web-2"]), Ok((R::PassUnderWay, vec![]))),
        case(resting(), begin(creation(1), &["web-2"]), Ok((R::PassUnderWay, vec![]))),
        case(creating(), Command::ReportBatch { failed: 0 }, Ok((R::BatchMade, vec![made(0), ended(false)]))),
        case(creating(), Command::ReportBatch { failed: 1 }, Ok((R::BatchMade, vec![made(1), ended(true), rest()]))),
        case(declared(), Command::ReportBatch { failed: 0 }, Ok((R::StaleReport, vec![]))),
        case(
            removing(),
            Command::ReportRemovals { told: vec![(name("web-1"), false)] },
            Ok((R::MachinesTold, vec![refused.clone(), ended(true), rest()])),
        ),
        case(
            removing_after_rests(1),
            Command::ReportRemovals { told: vec![(name("web-1"), false)] },
            Ok((R::MachinesTold, vec![refused.clone(), ended(true), rest_of(30_000)])),
        ),
        case(
            removing_after_rests(9),
            Command::ReportRemovals { told: vec![(name("web-1"), false)] },
            Ok((R::MachinesTold, vec![refused, ended(true), rest_of(180_000)])),
        ),
        case(going(), Command::ReportEmpty, Ok((R::Empty, vec![Event::Removed]))),
        case(declared(), Command::ReportEmpty, Ok((R::NotEmptyYet, vec![]))),
        case(resting(), wake(), Ok((R::RestOver, vec![Event::Rested]))),
        case([declared(), vec![Event::Resting { until: NOW.after(1) }]].concat(), wake(), Ok((R::NotDueYet, vec![]))),
        case(declared(), wake(), Ok((R::NothingWaits, vec![]))),
    ]
}

#[test]
fn every_reason_and_rejection_has_its_case() {
    let rejections =
        ["not-declared", "leaving", "too-many", "bad-template", "owned", "bad-hold", "hold-over", "held", "protected"];
    let all = table().into_iter().chain(freezing()).chain(holding()).collect();
    hold(&stream(), NOW, &Document::default(), all, R::ALL, &rejections);
}

/// A command that makes sense in this state, or nearly.
fn command(state: &State, _: Version, kind: u8, value: u8) -> Command {
    let names = |count: u64| (1..=count).map(|n| name(&format!("web-{}", state.named + n))).collect();
    let count = u64::from(value % 5);
    let goes = state.to_go().into_iter().map(|text| (name(&text), !value.is_multiple_of(3)));
    match kind % 13 {
        0 => Command::Declare(spec(u32::from(value))),
        1 if value.is_multiple_of(4) => Command::Remove,
        1 | 2 => Command::BeginPass { plan: creation(usize::from(value % 5)), names: names(count) },
        3 => Command::BeginPass { plan: removal("web-1"), names: Vec::new() },
        4 => Command::ReportRemovals { told: goes.collect() },
        5 | 6 => Command::ReportBatch { failed: u32::from(value.is_multiple_of(3)) },
        7 => Command::ReportEmpty,
        8 => Command::ReportMachines { machines: u32::from(value), room: None },
        9 => Command::Thaw,
        10 => Command::Hold { reason: "walk".into(), until: None },
        11 => Command::Unhold,
        _ => Command::Wake { due: Timestamp(0) },
    }
}

proptest! {
    #[test]
    fn no_walk_leaves_what_a_set_promises(dice in vec((any::<u8>(), any::<u8>(), 0..100_000u32), 0..60)) {
        walk::<State>(&stream(), &Document::default(), &dice, command, |before, state, _| {
            assert!(state.batch().len() <= state.names.len(), "every machine of a batch has a name");
            assert!(state.is_at_rest() || !state.names.is_empty() || !state.to_go().is_empty() || !state.life.exists());
            assert!(before.named <= state.named, "no name is given twice");
        });
    }
}
