//! Stored forms of replica sets.

use bailiwick_actors::{
    ports::replica_set::{
        Action, Change, Configuration, EngineRules, Member, MemberId, MemberState, MemberStatus, Observation, Outcome,
        Priority, Stamp, Step, StepReason,
    },
    replica_set,
    vocab::{Address, FaultCode, Life, Scope},
};
use bailiwick_journal::Version;

use super::{AT, fault, name, verdicts};
use crate::{Forms, forms};

fn member(id: u64) -> Member {
    Member {
        id: MemberId(id),
        address: "10.0.0.1:7".into(),
        tags: [("rack".to_owned(), "r1".to_owned())].into(),
        votes: Some(0),
        priority: Priority::new(0.5),
        other: [("hidden".to_owned(), "true".to_owned())].into(),
    }
}

/// Every state of a member, so that none can change its place unnoticed.
fn observation() -> Observation {
    use MemberState as S;
    let states = [
        S::Startup,
        S::Primary,
        S::Secondary,
        S::Recovering,
        S::Startup2,
        S::Unknown,
        S::Arbiter,
        S::Down,
        S::Rollback,
        S::Removed,
    ];
    let status = |(id, state)| MemberStatus { id: MemberId(id), healthy: true, state, lag_ms: Some(5) };
    let rules = EngineRules {
        can_demote: true,
        learners_max: Some(1),
        voting_changes_per_step: 2,
        other_changes_per_step: Some(3),
        voters_max: 4,
        members_max: 5,
        member_id_max: 6,
        joins_need_every_voter: true,
    };
    let stamp = Stamp { term: 7, version: 8 };
    let configuration = Configuration { stamp, committed: true, members: vec![member(1)] };
    Observation { configuration, statuses: (0..).zip(states).map(status).collect(), rules }
}

fn replica_set_spec() -> replica_set::Spec {
    let address =
        |(value, scope): (&str, Scope)| Address { value: value.into(), scope, space: Some("ha".into()), port: Some(9) };
    // Every scope, so that none can change its place unnoticed.
    let addresses = [
        ("10.0.0.1", Scope::Unknown),
        ("10.0.0.2", Scope::Public),
        ("10.0.0.3", Scope::LocalCloud),
        ("10.0.0.4", Scope::LocalFan),
        ("127.0.0.1", Scope::LocalMachine),
        ("fe80::1", Scope::LinkLocal),
    ];
    let addresses = addresses.into_iter().map(address).collect();
    let seat = replica_set::Seat { machine: name("web"), addresses, peer_port: 7, client_port: 8 };
    let (engine, seats, rhythm) = (name("etcd"), vec![seat], rhythm());
    replica_set::Spec { engine, servers: 1, seats, one_host: true, rhythm, space: Some(name("ha")) }
}

fn rhythm() -> replica_set::Rhythm {
    replica_set::Rhythm { poll_ms: 1, retry_first_ms: 2, retry_max_ms: 3, initiate_every_ms: 4, initiate_for_ms: 5 }
}

fn endpoints() -> replica_set::Endpoints {
    let endpoint =
        replica_set::Endpoint { addresses: ["10.0.0.1:8".to_owned()].into(), internal: Some("10.0.0.1:7".into()) };
    replica_set::Endpoints { servers: [(name("web"), endpoint)].into() }
}

/// A step with every change, and one for every other action and every reason.
pub(super) fn steps() -> Vec<Step> {
    use StepReason as R;
    let id = MemberId(3);
    let changes = vec![
        Change::Join { member: member(2) },
        Change::Move { member: id, address: "b:2".into() },
        Change::Promote { member: id },
        Change::Demote { member: id },
        Change::Level { member: id },
        Change::Remove { member: id },
    ];
    let actions = [
        Action::Write { changes },
        Action::StepDown { primary: id, successor: MemberId(4) },
        Action::Initiate { first: member(1) },
    ];
    let reasons = R::ALL.iter().map(|because| Step { action: actions[1].clone(), because: *because });
    let actions = actions.iter().map(|action| Step { action: action.clone(), because: R::ReadyToVote });
    actions.chain(reasons).collect()
}

pub(crate) fn replica_set() -> Forms {
    use replica_set::{Command, Event, Reason, Rejection, Report, enable_ha::EnableHaError};
    let round = Version(9);
    let outcomes = [
        Outcome::Done,
        Outcome::Refused(fault(FaultCode::FailedPrecondition)),
        Outcome::Unknown(fault(FaultCode::Aborted)),
    ];
    let reports = [
        Report::Seen { round, observation: observation() },
        Report::NotBegun { round },
        Report::LookFailed { round, fault: fault(FaultCode::Unavailable) },
    ];
    let mut commands = vec![
        Command::Declare(replica_set_spec()),
        Command::Publish(endpoints()),
        Command::Protect { on: true },
        Command::EnableHa { servers: 3 },
        Command::Remove,
        Command::RetryNow,
        Command::Wake { due: AT },
    ];
    commands.extend(steps().into_iter().map(|step| Command::TakeStep { step, seen: round }));
    commands.extend(reports.map(Command::Report));
    commands.extend(outcomes.map(|outcome| Command::Report(Report::Stepped { round, outcome })));
    let mut all = forms("command", commands);
    let step = steps().remove(0);
    all.extend(forms(
        "event",
        [
            Event::Declared { spec: replica_set_spec() },
            Event::SpecChanged { spec: replica_set_spec() },
            Event::Published { endpoints: endpoints() },
            Event::Protected { on: true },
            Event::ServersWanted { servers: 3 },
            Event::LookBegun,
            Event::Seen { observation: observation() },
            Event::SeenSame,
            Event::SeenNotBegun,
            Event::LookFailed { until: AT, fault: fault(FaultCode::Unavailable) },
            Event::StepBegun { step, base: Stamp { term: 1, version: 2 }, at: AT },
            Event::StepDone,
            Event::SteppedDown { until: AT },
            Event::StepRefused { until: AT, fault: fault(FaultCode::FailedPrecondition) },
            Event::StepUnknown { until: AT, fault: fault(FaultCode::Unknown) },
            Event::Removed,
        ],
    ));
    let problems = [
        EnableHaError::Negative { asked: -1 },
        EnableHaError::Even { asked: 2 },
        EnableHaError::TooMany { asked: 9, max: 7 },
        EnableHaError::FewerThanVoters { asked: 3, voters: 5 },
    ];
    let mut rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.engine".into() },
        Rejection::Invalid { field: "spec.seats[0]".into(), problem: "no".into() },
        Rejection::TooFewSeats { asked: 3, seats: 1 },
        Rejection::Busy,
        Rejection::PlanOutdated,
        Rejection::AlreadyBegun,
    ];
    rejections.extend(problems.map(|problem| Rejection::Servers { problem }));
    rejections.push(Rejection::Protected);
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<replica_set::State>(Reason::ALL, rejections));
    all
}
