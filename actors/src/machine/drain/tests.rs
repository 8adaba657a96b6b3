//! What the executed cases do not reach.

use super::{
    Answer, Budget, Command, Effect, Event, How, Outcome, Plan, Pod, PodFault, PodOwner, Report, State, decide,
};
use crate::{policy::Reconciliation, vocab::Timestamp};

const BEGIN: Timestamp = Timestamp(1_000_000);

fn pod(name: &str, volumes: &[&str]) -> Pod {
    let volumes = volumes.iter().map(|volume| (*volume).to_owned()).collect();
    Pod { name: name.to_owned(), priority: 0, owner: PodOwner::Other, grace_ms: 10_000, volumes }
}

/// A drain that has seen some commands at some times, and what it did at each.
struct Seen {
    state: State,
    events: Vec<Event>,
}

impl Seen {
    fn begun(plan: Plan, pods: &[Pod]) -> Self {
        let begin = Command::Begin { plan: Box::new(plan), needs_cordon: true };
        let mut seen = Self { state: State::default(), events: Vec::new() };
        seen.at(0, begin).at(0, Command::Report(Report::Cordoned));
        seen.at(0, Command::Report(Report::Pods(pods.to_vec())));
        seen
    }

    fn at(&mut self, after_ms: u64, command: Command) -> &mut Self {
        self.events = decide(&self.state, &command, BEGIN.after(after_ms));
        self.events.iter().for_each(|event| self.state.evolve(event));
        self
    }

    fn told(&mut self, after_ms: u64, pod: &str, how: How, answer: Answer) -> &mut Self {
        self.at(after_ms, Command::Report(Report::Told { pod: pod.to_owned(), how, answer }))
    }
}

fn plan() -> Plan {
    Plan::new(&Reconciliation::default(), BEGIN)
}

fn tell(pod: &str, how: How, attempt: u32) -> Effect {
    Effect::Tell { pod: pod.to_owned(), how, attempt, is_forced: false }
}

#[test]
fn pods_are_listed_after_the_node_takes_no_new_ones() {
    let mut drain = Seen { state: State::default(), events: Vec::new() };
    drain.at(0, Command::Begin { plan: Box::new(plan()), needs_cordon: true });
    assert_eq!(drain.state.pending(), [Effect::Cordon].into());
    drain.at(0, Command::Report(Report::Cordoned));
    assert_eq!(drain.state.pending(), [Effect::List].into());
    drain.at(0, Command::Report(Report::ListFailed));
    assert_eq!(drain.state.outcome(), Some(&Outcome::NotListed));
}

#[test]
fn a_pod_with_a_volume_waits_for_the_one_before() {
    let mut drain = Seen::begun(plan(), &[pod("a", &["v1"]), pod("b", &["v2"]), pod("c", &[])]);
    assert_eq!(drain.state.pending(), [tell("a", How::Evict, 1), tell("c", How::Evict, 1)].into());
    drain.told(0, "c", How::Evict, Answer::Gone).told(0, "a", How::Evict, Answer::Accepted);
    assert_eq!(drain.state.pending(), [Effect::WakeAt(BEGIN.after(130_000))].into());
    drain.at(1_000, Command::Report(Report::VolumeLeft { volume: "v1".to_owned() }));
    assert_eq!(drain.state.pending(), [Effect::WakeAt(BEGIN.after(91_000))].into());
    drain.at(2_000, Command::Report(Report::VolumeArrived { volume: "v1".to_owned() }));
    assert_eq!(drain.state.pending(), [tell("b", How::Evict, 1)].into());
}

#[test]
fn the_highest_priority_has_the_first_turn() {
    let high = Pod { priority: 9, ..pod("high", &["v1"]) };
    let drain = Seen::begun(plan(), &[pod("low", &["v2"]), high, pod("last", &["v3"])]);
    assert_eq!(drain.state.pending(), [tell("high", How::Evict, 1)].into());
}

#[test]
fn when_time_is_up_those_that_are_left_are_named() {
    let plan = Plan { timeout_ms: 20_000, ..plan() };
    let mut drain = Seen::begun(plan, &[pod("a", &["v1"]), pod("b", &["v2"]), pod("c", &["v3"])]);
    drain.told(0, "a", How::Evict, Answer::Accepted).at(20_000, Command::Wake);
    let left = vec!["b".to_owned(), "c".to_owned()];
    assert_eq!(drain.state.outcome(), Some(&Outcome::TimedOut { left }));
}

#[test]
fn a_vanished_node_holds_nothing_any_more() {
    let mut drain = Seen::begun(plan(), &[pod("a", &["v1"]), pod("b", &["v2"])]);
    drain.told(0, "a", How::Evict, Answer::Accepted).at(5_000, Command::Report(Report::NodeGone));
    assert_eq!(drain.state.outcome(), Some(&Outcome::Done));
}

#[test]
fn a_budget_that_can_never_allow_is_not_waited_for() {
    let budget = Budget { pods_expected: 2, pods_healthy: 2, evictions_allowed: 0, generation: 3, generation_seen: 3 };
    let stale = Budget { generation_seen: 2, ..budget };
    let mut drain = Seen::begun(plan(), &[pod("a", &[])]);
    drain.told(0, "a", How::Evict, Answer::Refused(Some(stale)));
    assert_eq!(drain.state.pending(), [Effect::WakeAt(BEGIN.after(20_000))].into(), "the numbers are not about it");
    drain.at(20_000, Command::Wake).told(20_000, "a", How::Evict, Answer::Refused(Some(budget)));
    let fault = PodFault::Misconfigured { pod: "a".to_owned() };
    assert_eq!(drain.state.outcome(), Some(&Outcome::Failed(vec![fault])));
}

#[test]
fn a_late_or_doubled_report_changes_nothing() {
    let mut drain = Seen::begun(plan(), &[pod("a", &[])]);
    drain.told(0, "a", How::Evict, Answer::Accepted);
    for (pod, how) in [("a", How::Evict), ("a", How::Delete), ("b", How::Evict)] {
        drain.told(1, pod, how, Answer::Failed);
        assert_eq!(drain.events, [], "{pod} {how:?}");
    }
    drain.at(2, Command::Report(Report::PodGone { pod: "a".to_owned() }));
    assert_eq!(drain.state.outcome(), Some(&Outcome::Done));
    for command in [Command::Wake, Command::Report(Report::NodeGone), Command::Report(Report::Cordoned)] {
        drain.at(3, command);
        assert_eq!(drain.events, []);
    }
}

/// Whatever is refused, however the world answers: every drain ends, and every pod that shall leave reports at most once.
#[test]
fn every_drain_ends_whatever_the_world_answers() {
    let answers = [Answer::Accepted, Answer::Gone, Answer::Refused(None), Answer::Failed];
    for seed in 0..256_usize {
        let pods = [pod("a", &["v1"]), pod("b", &["v2"]), pod("c", &[]), pod("d", &[])];
        let plan = Plan { evictions_max: 2, timeout_ms: 300_000, ..plan() };
        let mut drain = Seen::begun(plan, &pods);
        let (mut now, mut asked) = (0, 0);
        while drain.state.outcome().is_none() {
            assert!(asked < 1000, "seed {seed} hangs in {:?}", drain.state);
            asked += 1;
            let pending = drain.state.pending();
            let call = pending.iter().find_map(|effect| match effect {
                Effect::Tell { pod, how, .. } => Some((pod.clone(), *how)),
                _ => None,
            });
            if let Some((pod, how)) = call {
                let answer = answers[(seed >> (2 * (asked % 4))) % 4];
                drain.told(now, &pod, how, answer);
                continue;
            }
            let due = pending.iter().find_map(|effect| match effect {
                Effect::WakeAt(at) => Some(at.since(BEGIN)),
                _ => None,
            });
            now = due.unwrap_or_else(|| panic!("seed {seed}: nothing is owed in {:?}", drain.state)).max(now);
            drain.at(now, Command::Wake);
        }
    }
}
