//! While a provider cannot be reached nothing is concluded about its machines, and afterwards it is concluded anew.

use super::*;
use crate::machine::Cause;

fn local() -> Name {
    name("local")
}

fn failed(code: FaultCode) -> Command {
    Command::ReportListFailed { provider: local(), fault: Fault::new(code, "no") }
}

/// What it answers so many seconds after the first failure, and what it knows then.
fn told(state: &mut State, view: &View, command: &Command, at_s: u64) -> Decision<State> {
    let (stream, policy, journal) = (own(), unasked(), JOURNAL);
    let (next, now) = (Version(1 + at_s), Timestamp(1_000_000 + at_s * 1_000));
    let facts = Facts { stream: &stream, next, now, policy: &policy, view, journal };
    let decision = state.decide(command, &facts).expect("it refuses nothing");
    for event in &decision.events {
        state.evolve(next, event);
    }
    decision
}

fn out() -> State {
    let mut state = State::default();
    told(&mut state, &View::default(), &failed(FaultCode::Unavailable), 0);
    told(&mut state, &View::default(), &failed(FaultCode::Unavailable), 31);
    state
}

#[test]
fn a_provider_is_out_when_it_could_not_be_reached_for_long_enough() {
    let (mut state, view) = (State::default(), View::default());
    let mut reasons = |command: &Command, at_s| told(&mut state, &view, command, at_s).reason;
    assert_eq!(reasons(&failed(FaultCode::Unavailable), 0), Reason::ProviderSilent);
    assert_eq!(reasons(&failed(FaultCode::Unavailable), 20), Reason::NothingNew);
    assert_eq!(
        reasons(&failed(FaultCode::DeadlineExceeded), 25),
        Reason::ProviderSilent,
        "that is told, and no answer"
    );
    assert_eq!(reasons(&failed(FaultCode::DeadlineExceeded), 30), Reason::NothingNew, "as long as it may be");
    assert_eq!(reasons(&failed(FaultCode::DeadlineExceeded), 31), Reason::ProviderOut);
    assert_eq!(reasons(&failed(FaultCode::DeadlineExceeded), 99), Reason::NothingNew, "it is known");
    assert_eq!(reasons(&Command::ReportListRecovered { provider: local() }, 100), Reason::ProviderBack);
    assert_eq!((state.out.len(), state.back.get(&local())), (0, Some(&Timestamp(1_100_000))));
}

#[test]
fn an_answer_in_between_starts_the_time_over() {
    let (mut state, view) = (State::default(), View::default());
    for other in [Command::ReportListRecovered { provider: local() }, failed(FaultCode::PermissionDenied)] {
        told(&mut state, &view, &failed(FaultCode::Unavailable), 0);
        told(&mut state, &view, &other, 20);
        told(&mut state, &view, &failed(FaultCode::Unavailable), 25);
        told(&mut state, &view, &failed(FaultCode::Unavailable), 50);
        assert_eq!(state.out.len(), 0);
        told(&mut state, &view, &Command::ReportListRecovered { provider: local() }, 51);
    }
}

#[test]
fn who_is_asked_rarely_is_asked_again_soon_until_it_is_out() {
    let seldom = |poll_ms| {
        let machines = crate::policy::Machines { poll_ms, ..Default::default() };
        Document { machines, ..Document::default() }
    };
    let mut state = State::default();
    assert_eq!(state.asks_again_ms(&local(), &seldom(60_000)), Some(6_000));
    assert_eq!(state.asks_again_ms(&local(), &seldom(5_000)), None, "it is asked more often anyway");
    state.out.insert(local(), Timestamp(0));
    assert_eq!(state.asks_again_ms(&local(), &seldom(60_000)), None);
}

#[test]
fn nobody_is_replaced_while_its_provider_is_out() {
    let held = Withholding::ProviderOut { provider: local() };
    let (state, view) = (out(), fleet(2, 1));
    let decision = answer(&state, &view, &look());
    assert_eq!((given_up(&decision.events), held_back(&decision.events)), (vec![], vec![("m-02".to_owned(), held)]));
    // What was seen gone before that is not replaced either.
    let stream: StreamId = "machine/m-00".parse().unwrap();
    let gone = Change::Vanished { effect: EffectId::of(JOURNAL, &stream, Version(2)), machine: name("m-00") };
    let events = answer(&state, &view, &observe(80, vec![gone])).events;
    assert_eq!(held_back(&events).len(), 2, "{events:?}");
    // The machines of other providers are.
    let mut other = out();
    other.out = [(name("other"), Timestamp(0))].into();
    assert_eq!(given_up(&answer(&other, &fleet(2, 1), &look()).events), ["m-02"]);
}

#[test]
fn who_came_under_suspicion_before_it_was_back_is_judged_anew() {
    let (mut state, view) = (out(), fleet(2, 2));
    told(&mut state, &view, &Command::ReportListRecovered { provider: local() }, 100);
    assert_eq!(view.doubted(&local()), [name("m-02"), name("m-03")]);
    let decision = told(&mut state, &view, &look(), 101);
    let anew = |event: &Event| match event {
        Event::Issued { order: Order::Machine { machine, command: machine::Command::JudgeAnew { .. } }, .. } => {
            Some(machine.to_string())
        }
        _ => None,
    };
    assert_eq!(decision.events.iter().filter_map(anew).collect::<Vec<_>>(), ["m-02", "m-03"]);
    assert_eq!(given_up(&decision.events), [""; 0]);
    assert_eq!(
        cites(&decision.events),
        ["machine/m-02@5", "supervisor/machines@101", "machine/m-03@5", "supervisor/machines@101"]
    );
    // Whose time is over after that is given up like everybody.
    state.back.insert(local(), Timestamp(61));
    assert_eq!(given_up(&told(&mut state, &view, &look(), 102).events), ["m-02"]);
}

/// Two in each of two zones, and one in none: too few for one zone to be held. The time of all of them is over.
fn fleet_of(cause: Cause) -> View {
    let mut view = View::default();
    for (number, zone) in [(0, Some("a")), (1, Some("a")), (10, Some("b")), (11, Some("b")), (12, None)] {
        add_overdue(&mut view, number, zone, Some(cause));
    }
    view
}

#[test]
fn nobody_is_replaced_while_the_whole_fleet_is_silent() {
    let mut view = fleet_of(Cause::Silent);
    let decision = answer(&State::default(), &view, &look());
    assert_eq!(given_up(&decision.events), [""; 0]);
    let held = held_back(&decision.events);
    assert!(held.len() == 5 && held.iter().all(|(_, why)| *why == Withholding::AllSilent), "{held:?}");
    // Machines that have all never joined tell of themselves, not of the node.
    let never = fleet_of(Cause::NeverJoined);
    assert_eq!(given_up(&answer(&State::default(), &never, &look()).events).len(), 1);
    // One that is well anywhere shows that the node can hear; the others get another look's time.
    let state = State { withheld: held.into_iter().map(|(machine, why)| (name(&machine), why)).collect(), ..out() };
    let state = State { out: BTreeMap::new(), ..state };
    add(&mut view, 13, Some("c"), true);
    let events = answer(&state, &view, &look()).events;
    let reprieved = |event: &&Event| {
        matches!(event, Event::Issued { order: Order::Machine { command: machine::Command::Reprieve { .. }, .. }, .. })
    };
    assert_eq!((events.iter().filter(reprieved).count(), given_up(&events).len()), (5, 0));
}
