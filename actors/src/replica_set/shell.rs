//! Replica set effects as engine calls.

use std::{fmt, time::Duration};

use bailiwick_journal::{StreamId, Version};
use uuid::Uuid;

use super::{Command, Effect, Phase, Report, Seat, Spec, State};
use crate::{
    ports::{
        Operation, ReplicaSetEngine,
        replica_set::{Action, Change, Contact, Outcome, Server, Stamp, Step},
    },
    shell::{self, AnyCommand, AnyWish, Asked, At, Call, Carried, Item, Kind, Providers, Source, Urgency, Wish, Work},
    vocab::{
        EffectId, Fault, FaultCode, Name, Timestamp,
        guard::{self, Guard},
    },
};

impl Asked for Command {
    type State = State;
}

impl Kind for State {
    fn work(&self, journal: Uuid, stream: &StreamId, effect: &Effect) -> Work {
        let round = match effect {
            Effect::WakeAt(due) => return Work::WakeAt(*due),
            Effect::Look { round } | Effect::Step { round } => *round,
        };
        let provider = self.spec.as_ref().map(|spec| spec.engine.clone());
        let contact = self.contact(stream);
        let wish = match &self.phase {
            Phase::Stepping { step, base } => {
                AnyWish::of(Asking(TakeStep { round, contact, step: step.clone(), base: *base }))
            }
            Phase::Idle | Phase::Looking | Phase::Settled | Phase::Waiting { .. } => {
                AnyWish::of(Asking(Look { round, contact }))
            }
        };
        let id = EffectId::of(journal, stream, round);
        // A step that failed is not tried again: what follows is planned anew.
        let (stream, machine, attempt) = (stream.clone(), None, 1);
        Work::Call(Box::new(Call { stream, provider, machine, id, attempt, wish }))
    }

    fn is_report(command: &Command) -> bool {
        matches!(command, Command::Report(_))
    }

    fn urgency(command: &Command) -> Urgency {
        match command {
            Command::Remove | Command::Report(_) => Urgency::Always,
            _ => Urgency::WhileLeaving,
        }
    }

    fn is_leaving(&self) -> bool {
        self.life.is_leaving()
    }

    fn wake(due: Timestamp) -> Option<Command> {
        Some(Command::Wake { due })
    }
}

impl State {
    /// Where its servers can be asked.
    pub fn contact(&self, stream: &StreamId) -> Contact {
        let server = |spec: &Spec, seat: &Seat| {
            let (space, one_host) = (spec.space.as_ref(), spec.one_host);
            let client = seat.client(space, one_host)?;
            Some(Server { machine: seat.machine.clone(), client, peer: seat.peer(space, one_host).ok() })
        };
        let seats = self.spec.iter().flat_map(|spec| spec.seats.iter().map(move |seat| (spec, seat)));
        let servers = seats.filter_map(|(spec, seat)| server(spec, seat)).collect();
        Contact { set: stream.name().parse().expect("names are checked"), servers }
    }
}

/// What an engine is asked.
trait Question: Clone + fmt::Debug + Send + 'static {
    const OPERATION: Operation;

    /// What came of it, as a command to the set.
    async fn ask(self, engine: &dyn ReplicaSetEngine, limit: Duration, perhaps_begun: bool) -> AnyCommand;

    /// What is reported if there is no such engine.
    fn refused(self, fault: Fault) -> AnyCommand;
}

/// How the set is.
#[derive(Clone, Debug)]
struct Look {
    /// The version of the event that asked for it.
    round: Version,
    contact: Contact,
}

/// A step that was planned on a configuration.
#[derive(Clone, Debug)]
struct TakeStep {
    /// The version of the event that asked for it.
    round: Version,
    contact: Contact,
    step: Step,
    base: Stamp,
}

/// A question to an engine.
#[derive(Clone, Debug)]
struct Asking<Q>(Q);

impl<Q: Question> Wish for Asking<Q> {
    fn operation(&self) -> Operation {
        Q::OPERATION
    }

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        Box::pin(ask_all(batch, at))
    }

    /// An engine cannot take back what it was asked; its answer is stale when it comes.
    fn cancel(_providers: &Providers, _source: &Source, _id: EffectId) {}
}

/// Calls to engines, one after the other (a batch of them has one): what is not answered in time is unknown.
async fn ask_all<Q: Question>(batch: Vec<Item<Asking<Q>>>, at: At<'_>) -> Vec<shell::Report> {
    let engine = at.source.provider.as_ref().and_then(|name| at.services.providers.replica_sets.get(name)).cloned();
    let limit = Duration::from_millis(at.services.policy().document.machines.call_timeout_ms);
    let mut reports = Vec::new();
    for item in batch {
        let Asking(question) = item.wish.clone();
        let command = match &engine {
            Some(engine) => question.ask(&**engine, limit, item.ask_first).await,
            None => {
                let name = at.source.provider.as_ref().map_or("none", Name::as_str);
                let text = format!("this node has no engine named {name}");
                question.refused(Fault::new(FaultCode::InvalidArgument, text))
            }
        };
        reports.push(item.report(command));
    }
    reports
}

fn late(limit: Duration) -> Fault {
    let text = format!("no answer within {} ms; the call may still take effect", limit.as_millis());
    Fault::new(FaultCode::DeadlineExceeded, text)
}

impl Question for Look {
    const OPERATION: Operation = Operation::LookAtReplicaSet;

    async fn ask(self, engine: &dyn ReplicaSetEngine, limit: Duration, _perhaps_begun: bool) -> AnyCommand {
        let round = self.round;
        let answer = tokio::time::timeout(limit, engine.observe(self.contact)).await;
        AnyCommand::from(Command::Report(match answer.unwrap_or_else(|_| Err(late(limit))) {
            Ok(observation) => Report::Seen { round, observation },
            Err(fault) if fault.code == FaultCode::Uninitialized => Report::NotBegun { round },
            Err(fault) => Report::LookFailed { round, fault: Fault::new(fault.code, fault.text) },
        }))
    }

    fn refused(self, fault: Fault) -> AnyCommand {
        AnyCommand::from(Command::Report(Report::LookFailed { round: self.round, fault }))
    }
}

impl Question for TakeStep {
    const OPERATION: Operation = Operation::StepReplicaSet;

    async fn ask(self, engine: &dyn ReplicaSetEngine, limit: Duration, perhaps_begun: bool) -> AnyCommand {
        let Self { round, contact, step, base } = self;
        let outcome = tokio::time::timeout(limit, take(engine, contact, step, base, perhaps_begun)).await;
        let outcome = match outcome.unwrap_or_else(|_| Outcome::Unknown(late(limit))) {
            Outcome::Done => Outcome::Done,
            Outcome::Refused(fault) => Outcome::Refused(Fault::new(fault.code, fault.text)),
            Outcome::Unknown(fault) => Outcome::Unknown(Fault::new(fault.code, fault.text)),
        };
        AnyCommand::from(Command::Report(Report::Stepped { round, outcome }))
    }

    fn refused(self, fault: Fault) -> AnyCommand {
        AnyCommand::from(Command::Report(Report::Stepped { round: self.round, outcome: Outcome::Refused(fault) }))
    }
}

/// Takes a step. One that may have been begun before is not taken again: what came of it is read back.
async fn take(
    engine: &dyn ReplicaSetEngine,
    contact: Contact,
    step: Step,
    base: Stamp,
    perhaps_begun: bool,
) -> Outcome {
    if perhaps_begun {
        let text = "the node ended while this step may have been on its way";
        return Outcome::Unknown(Fault::new(FaultCode::Unknown, text));
    }
    if step.action.rests_on_statuses() {
        // What the plan saw is older than this moment: somebody may have failed, or lead, since.
        let now = match engine.observe(contact.clone()).await {
            Ok(now) => now,
            Err(fault) => return Outcome::Refused(fault),
        };
        if !step.action.is_still_meant(&now.statuses) {
            let text = match step.action {
                Action::StepDown { primary, successor } => {
                    format!("member {primary} is no longer the only primary, or member {successor} cannot take over")
                }
                _ => "the member to be given a vote is no longer ready".to_owned(),
            };
            return Outcome::Refused(Fault::new(FaultCode::FailedPrecondition, text));
        }
    }
    match step.action {
        Action::Write { changes } if !guard::holds(Guard::PlannedOnWhatIsThere) => {
            overwrite(engine, contact, base, changes).await
        }
        Action::Write { changes } => engine.change(contact, base, changes).await,
        Action::Initiate { first } => engine.initiate(contact, first).await,
        Action::StepDown { primary, successor } => engine.step_down(contact, primary, successor).await,
    }
}

/// What a manager does that insists on its own view: if the configuration is another one, it is written on that.
async fn overwrite(engine: &dyn ReplicaSetEngine, contact: Contact, base: Stamp, changes: Vec<Change>) -> Outcome {
    let first = engine.change(contact.clone(), base, changes.clone()).await;
    match (&first, engine.observe(contact.clone()).await) {
        (Outcome::Refused(_), Ok(now)) => engine.change(contact, now.configuration.stamp, changes).await,
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::ports::{
        Answer,
        replica_set::{
            Configuration, EngineRules, Member, MemberId, MemberState, MemberStatus, Observation, StepReason,
        },
    };

    /// Counts what it is asked to do, and tells of these statuses.
    #[derive(Default)]
    struct Counting {
        writes: AtomicUsize,
        statuses: Mutex<Vec<MemberStatus>>,
    }

    impl Counting {
        fn write(&self) -> Answer<'_, Outcome> {
            self.writes.fetch_add(1, Ordering::SeqCst);
            Box::pin(async { Outcome::Done })
        }
    }

    impl ReplicaSetEngine for Counting {
        fn observe(&self, _: Contact) -> Answer<'_, Result<Observation, Fault>> {
            let statuses = self.statuses.lock().expect("nobody broke").clone();
            let configuration = Configuration::default();
            Box::pin(async { Ok(Observation { configuration, statuses, rules: EngineRules::mongodb() }) })
        }

        fn change(&self, _: Contact, _: Stamp, _: Vec<Change>) -> Answer<'_, Outcome> {
            self.write()
        }

        fn step_down(&self, _: Contact, _: MemberId, _: MemberId) -> Answer<'_, Outcome> {
            self.write()
        }

        fn initiate(&self, _: Contact, _: Member) -> Answer<'_, Outcome> {
            self.write()
        }
    }

    fn contact() -> Contact {
        Contact { set: "db".parse::<Name>().expect("a name"), servers: Vec::new() }
    }

    fn status(id: u64, state: MemberState) -> MemberStatus {
        MemberStatus { id: MemberId(id), healthy: true, state, lag_ms: None }
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
    }

    #[test]
    fn a_step_that_may_have_begun_is_not_taken_again() {
        let engine = Counting::default();
        let action = Action::Write { changes: vec![Change::Promote { member: MemberId(2) }] };
        let step = Step { action, because: StepReason::ReadyToVote };
        let again = run(take(&engine, contact(), step.clone(), Stamp::default(), true));
        assert!(matches!(again, Outcome::Unknown(_)), "{again:?}");
        assert_eq!(engine.writes.load(Ordering::SeqCst), 0);
        *engine.statuses.lock().expect("nobody broke") = vec![status(2, MemberState::Secondary)];
        assert_eq!(run(take(&engine, contact(), step, Stamp::default(), false)), Outcome::Done);
    }

    #[test]
    fn a_member_that_failed_since_the_last_look_gets_no_vote() {
        let engine = Counting::default();
        let action = Action::Write { changes: vec![Change::Promote { member: MemberId(2) }] };
        let step = Step { action, because: StepReason::ReadyToVote };
        for failed in [Vec::new(), vec![status(2, MemberState::Recovering)]] {
            *engine.statuses.lock().expect("nobody broke") = failed;
            let outcome = run(take(&engine, contact(), step.clone(), Stamp::default(), false));
            assert!(
                matches!(&outcome, Outcome::Refused(fault) if fault.text.contains("no longer ready")),
                "{outcome:?}"
            );
        }
        assert_eq!(engine.writes.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_step_down_is_not_sent_to_one_that_does_not_lead() {
        let engine = Counting::default();
        let action = Action::StepDown { primary: MemberId(1), successor: MemberId(2) };
        let step = || Step { action: action.clone(), because: StepReason::PrimaryIsToGo };
        *engine.statuses.lock().expect("nobody broke") =
            vec![status(1, MemberState::Secondary), status(2, MemberState::Primary)];
        let outcome = run(take(&engine, contact(), step(), Stamp::default(), false));
        assert!(matches!(outcome, Outcome::Refused(_)), "somebody else leads by now: {outcome:?}");
        assert_eq!(engine.writes.load(Ordering::SeqCst), 0);
        *engine.statuses.lock().expect("nobody broke") =
            vec![status(1, MemberState::Primary), status(2, MemberState::Secondary)];
        assert_eq!(run(take(&engine, contact(), step(), Stamp::default(), false)), Outcome::Done);
    }
}
