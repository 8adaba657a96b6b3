//! A machine is given up only after its provider was asked about its instance.

use super::*;
use crate::{
    machine::Cause,
    ports::Lookup,
    supervisor::machines::{Question, answered, questions},
};

/// When the time of the machines here is over.
const OVER_S: u64 = 0;

/// One supervisor, and the machines that it looks at.
struct Asked {
    state: State,
    view: View,
    policy: Document,
}

impl Asked {
    /// One machine is well, and the time of these is over.
    fn new(ask_provider: AskReading, overdue: u64, cause: Cause) -> Self {
        let (mut view, mut policy) = (View::default(), Document::default());
        add(&mut view, 0, Some("a"), true);
        (1..=overdue).for_each(|number| add_overdue(&mut view, number, Some("a"), Some(cause)));
        policy.reconciliation.readings.ask_provider = ask_provider;
        Self { state: State::default(), view, policy }
    }

    /// What it decides so many seconds after the time was over.
    fn told(&mut self, at_s: u64, command: &Command) -> Vec<Event> {
        let (stream, next, now) = (own(), Version(1 + at_s), Timestamp(100 + at_s * 1_000));
        let (policy, view, journal) = (&self.policy, &self.view, JOURNAL);
        let facts = Facts { stream: &stream, next, now, policy, view, journal };
        let decision = self.state.decide(command, &facts).expect("it refuses nothing");
        decision.events.iter().for_each(|event| self.state.evolve(next, event));
        decision.events
    }

    /// Whom it asks about now.
    fn questions(&self) -> Vec<Question> {
        questions(&self.state, &self.view).remove(&name("local")).unwrap_or_default()
    }

    /// The provider has all that it is asked about.
    fn finds(&mut self, at_s: u64) -> Vec<Event> {
        let machines = self.questions();
        let as_of = Timestamp(100 + at_s * 1_000);
        self.told(at_s, &Command::ReportFound { provider: name("local"), as_of, machines })
    }
}

fn asking() -> Withholding {
    Withholding::Asking { provider: name("local") }
}

#[test]
fn nobody_is_given_up_before_its_provider_was_asked() {
    let mut asked = Asked::new(AskReading::First, 2, Cause::Silent);
    let events = asked.told(OVER_S, &look());
    let both = ["m-01", "m-02"].map(|name| (name.to_owned(), asking()));
    assert_eq!((given_up(&events), held_back(&events)), (vec![], both.to_vec()), "a question takes no room");
    assert_eq!(asked.questions().len(), 2);
    assert_eq!(asked.told(1, &look()), [], "it is said once");
    // What runs there is given up all the same, one at a time; what the order rests on is the answer, too.
    asked.finds(2);
    let events = asked.told(3, &look());
    assert_eq!((given_up(&events), held_back(&events).len()), (vec!["m-01".to_owned()], 1));
    assert_eq!(cites(&events), ["machine/m-00@4", "machine/m-01@5", "supervisor/machines@3"]);
    assert!(asked.questions().is_empty() && asked.state.questions.is_empty());
}

#[test]
fn an_answer_that_is_older_than_the_time_was_long_is_asked_for_again() {
    let mut asked = Asked::new(AskReading::First, 1, Cause::Silent);
    asked.told(OVER_S, &look());
    asked.finds(1);
    let timeout_s = asked.policy.reconciliation.health_timeout_ms / 1_000;
    let fresh = asked.state.clone();
    assert_eq!(given_up(&asked.told(1 + timeout_s, &look())), ["m-01"]);
    asked.state = fresh;
    assert_eq!(asked.told(2 + timeout_s, &look()), [], "it is still asked");
    asked.finds(3 + timeout_s);
    assert_eq!(given_up(&asked.told(4 + timeout_s, &look())), ["m-01"]);
}

#[test]
fn an_instance_that_the_provider_does_not_have_is_lost_at_once() {
    let mut asked = Asked::new(AskReading::First, 1, Cause::Silent);
    asked.told(OVER_S, &look());
    let (changes, found) = answered(&asked.state, &asked.questions(), vec![Ok(Lookup::Absent)]);
    assert_eq!(found, []);
    let events = asked.told(1, &observe(1_100, changes));
    let lost = |event: &&Event| match event {
        Event::Issued { order: Order::Machine { command: machine::Command::Report(report), .. }, .. } => {
            matches!(report, machine::Report::Lost { .. })
        }
        _ => false,
    };
    assert_eq!((events.iter().filter(lost).count(), given_up(&events)), (1, vec![]));
    assert!(asked.state.questions.is_empty(), "{:?}", asked.state.questions);
}

#[test]
fn what_runs_there_and_is_only_silent_stays_where_the_policy_says_so() {
    let held = |cause| {
        let mut asked = Asked::new(AskReading::Decides, 1, cause);
        asked.told(OVER_S, &look());
        asked.finds(1);
        held_back(&asked.told(2, &look()))
    };
    let runs = Withholding::RunsThere { provider: name("local") };
    assert_eq!(held(Cause::Silent), [("m-01".to_owned(), runs)]);
    assert_eq!((held(Cause::Unhealthy), held(Cause::NeverJoined)), (vec![], vec![]));
}

#[test]
fn an_answer_for_who_has_recovered_is_not_kept() {
    let mut asked = Asked::new(AskReading::First, 1, Cause::Silent);
    asked.told(OVER_S, &look());
    let found = Command::ReportFound { provider: name("local"), as_of: Timestamp(2_000), machines: asked.questions() };
    let well = machine::Event::BecameWell { at: Timestamp(70) }.store().expect("small");
    let stream: StreamId = "machine/m-01".parse().expect("a stream");
    asked.view.apply(&entry(9, stream, 6, Outcome::Done, Uuid::nil(), vec![well])).expect("readable");
    assert_eq!(asked.told(1, &look()), [Event::Released { machine: name("m-01") }]);
    assert_eq!((asked.told(2, &found), asked.state.found.len()), (vec![], 0));
}

#[test]
fn what_cannot_be_told_is_neither_there_nor_gone_unless_it_can_never_be() {
    let mut asked = Asked::new(AskReading::First, 1, Cause::Silent);
    asked.told(OVER_S, &look());
    let answer = |answer| answered(&asked.state, &asked.questions(), vec![answer]);
    let fault = |code| Err(Fault::new(code, "no"));
    assert_eq!(answer(Ok(Lookup::Unknown)), (vec![], vec![]));
    assert_eq!(answer(fault(FaultCode::Unavailable)), (vec![], vec![]));
    assert_eq!(answer(fault(FaultCode::Unimplemented)).1.len(), 1);
    let (_, effect) = asked.questions().remove(0);
    let stopped = MachineInstance { effect, machine: name("m-01"), ..instance(InstanceStatus::Stopped) };
    let (changes, found) = answer(Ok(Lookup::Present(stopped.clone().into())));
    assert_eq!((changes, found), (vec![Change::Appeared { instance: stopped }], vec![]));
}
