//! What follows from what it is told.

use std::collections::BTreeSet;

use super::{
    AfterLostRecord, Blame, Command, Effect, Event, Phase, Policy, Problem, RetryOn, StartFault, State, Trouble,
};
use crate::vocab::{InstanceId, Life, Timestamp, Zone};

/// What happens on a command; nothing, if it is an answer to a question that nobody asked (any more).
pub fn decide(state: &State, command: &Command, policy: &Policy, now: Timestamp) -> Vec<Event> {
    let mut then = Then { state: state.clone(), events: Vec::new(), policy, now };
    match (command, &state.phase) {
        (Command::SeeLife(life), _) if *life == state.life => (),
        (Command::SeeLife(life), _) => then.see_life(*life),
        (Command::KeepInstance(keep), _) if *keep == state.keep_instance => (),
        // Too late: whether it stays has been decided.
        (Command::KeepInstance(_), Phase::Stopping { .. } | Phase::Removing | Phase::Complete) => (),
        (Command::KeepInstance(keep), _) => then.happen(Event::KeepInstanceSet { keep: *keep }),
        (Command::Adopt(instance), Phase::Pending { .. }) if state.instance.is_none() => {
            then.happen(Event::Adopted { instance: instance.clone() });
            then.go_on();
        }
        (Command::GrantZone { zone, round_is_new }, Phase::RequestingZone) => then.grant(zone.clone(), *round_is_new),
        (Command::RefuseZone, Phase::RequestingZone) => then.fail(Problem::NoSuitableZone),
        (Command::ReportUnprepared { text }, Phase::RequestingZone) => {
            then.fail(Problem::Unprepared { text: text.clone() });
        }
        (Command::ReportStarted { instance }, Phase::Provisioning { .. }) => {
            then.enter(Phase::Registering { instance: instance.clone() });
        }
        (Command::ReportStartFailed(fault), Phase::Provisioning { zone }) => then.start_failed(fault, zone.is_some()),
        (Command::ReportRecorded, Phase::Registering { instance }) => {
            then.happen(Event::Registered { instance: instance.clone() });
            then.enter(Phase::Running);
            then.go_on();
        }
        (Command::ReportRecordFailed { text }, Phase::Registering { instance }) => {
            then.happen(Event::Failed { problem: Problem::RecordFailed { text: text.clone() }, may_pass: true });
            then.enter(Phase::RollingBack { instance: instance.clone() });
        }
        (Command::ReportStopped { instance }, phase) => then.stopped(instance, phase),
        (Command::ReportStopFailed { instance, .. }, Phase::RollingBack { instance: started })
            if instance == started =>
        {
            then.happen(Event::OrphanLeft { instance: instance.clone() });
            then.rolled_back();
        }
        (Command::ReportRemoved, Phase::Removing) => then.enter(Phase::Complete),
        (Command::Wake, Phase::Pending { until: Some(until) }) if *until <= now => then.go_on(),
        (Command::Retry, Phase::Pending { until: Some(_) }) => then.go_on(),
        (Command::Retry, Phase::Error) if state.life == Life::Alive => {
            then.happen(Event::BeganAnew { at: now });
            then.go_on();
        }
        _ => (),
    }
    then.events
}

/// How an event changes it.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::LifeSeen { life } => state.life = *life,
        Event::KeepInstanceSet { keep } => state.keep_instance = *keep,
        Event::Adopted { instance } | Event::Registered { instance } => state.instance = Some(instance.clone()),
        Event::Failed { problem, may_pass } => {
            let first_may_pass = state.trouble.as_ref().map_or(*may_pass, |trouble| trouble.first_may_pass);
            state.trouble = Some(Trouble { problem: problem.clone(), first_may_pass });
        }
        Event::RetryUsed => state.retries_used += 1,
        Event::Entered { phase } => state.phase = phase.clone(),
        Event::InstanceGone => state.instance = None,
        Event::OrphanLeft { instance } => {
            state.orphans.insert(instance.clone());
        }
        Event::OrphanGone { instance } => {
            state.orphans.remove(instance);
        }
        Event::BeganAnew { .. } => {
            (state.phase, state.retries_used, state.trouble) = (Phase::default(), 0, None);
        }
    }
}

/// What it is owed.
pub fn pending(state: &State) -> BTreeSet<Effect> {
    let mut owed: BTreeSet<Effect> =
        state.orphans.iter().map(|instance| Effect::Stop { instance: instance.clone() }).collect();
    owed.extend(match &state.phase {
        Phase::Pending { until } => until.map(Effect::WakeAt),
        Phase::RequestingZone => Some(Effect::RequestZone),
        Phase::Provisioning { zone } => Some(Effect::Start { zone: zone.clone() }),
        Phase::Registering { instance } => Some(Effect::Record { instance: instance.clone() }),
        Phase::RollingBack { instance } | Phase::Stopping { instance } => {
            Some(Effect::Stop { instance: instance.clone() })
        }
        Phase::Removing => Some(Effect::Remove),
        Phase::Running | Phase::Complete | Phase::Error => None,
    });
    owed
}

/// What follows, one event after the other.
struct Then<'a> {
    state: State,
    events: Vec<Event>,
    policy: &'a Policy,
    now: Timestamp,
}

impl Then<'_> {
    fn happen(&mut self, event: Event) {
        evolve(&mut self.state, &event);
        self.events.push(event);
    }

    fn enter(&mut self, phase: Phase) {
        self.happen(Event::Entered { phase });
    }

    fn see_life(&mut self, life: Life) {
        self.happen(Event::LifeSeen { life });
        match &self.state.phase {
            // A retry that waits goes on waiting, unless there is nothing to wait for any more.
            Phase::Pending { until: Some(_) } if life == Life::Alive => (),
            Phase::Pending { .. } | Phase::Running => self.go_on(),
            Phase::RequestingZone if life == Life::Dying => self.enter(Phase::default()),
            Phase::RequestingZone if self.state.is_going() => self.enter(Phase::Removing),
            Phase::Error if self.state.is_going() => {
                self.happen(Event::BeganAnew { at: self.now });
                self.go_on();
            }
            // A call is under way: what has changed counts when it has been answered.
            _ => (),
        }
    }

    /// What comes next where nothing is under way.
    fn go_on(&mut self) {
        let State { life, phase, instance, .. } = &self.state;
        match (phase, life, instance.clone()) {
            (Phase::Pending { .. }, Life::Alive | Life::Dying, Some(_)) => self.enter(Phase::Running),
            (Phase::Pending { .. }, Life::Alive, None) => self.enter(Phase::RequestingZone),
            (Phase::Pending { .. }, Life::Dead | Life::Removed, None) => self.enter(Phase::Removing),
            (Phase::Pending { .. }, Life::Dead | Life::Removed, Some(_)) => {
                self.enter(Phase::Running);
                self.go_on();
            }
            (Phase::Pending { until: Some(_) }, Life::Dying | Life::Undeclared, None) => self.enter(Phase::default()),
            (Phase::Running, Life::Dead | Life::Removed, Some(instance)) if !self.state.keep_instance => {
                self.enter(Phase::Stopping { instance });
            }
            (Phase::Running, Life::Dead | Life::Removed, _) => self.enter(Phase::Removing),
            _ => (),
        }
    }

    fn grant(&mut self, zone: Option<Zone>, round_is_new: bool) {
        if round_is_new {
            self.happen(Event::RetryUsed);
        }
        self.enter(Phase::Provisioning { zone });
    }

    fn start_failed(&mut self, fault: &StartFault, in_a_zone: bool) {
        let problem = Problem::StartFailed { text: fault.text.clone() };
        self.happen(Event::Failed { problem, may_pass: fault.may_pass });
        if self.state.life != Life::Alive {
            // Nobody wants it any more, so the failure is of no interest.
            self.enter(Phase::default());
            return self.go_on();
        }
        // In another zone it may work at once; that costs no retry until all zones have been tried.
        let blames_zone = in_a_zone && fault.blame == Blame::Zone;
        self.retry_or_fail(fault.may_pass, if blames_zone { Cost::Nothing } else { Cost::Retry });
    }

    fn retry_or_fail(&mut self, may_pass: bool, cost: Cost) {
        let is_worth_it = match self.policy.retry_on {
            RetryOn::Every => true,
            RetryOn::Transient => may_pass,
            RetryOn::FirstFailure => self.state.trouble.as_ref().is_none_or(|trouble| trouble.first_may_pass),
        };
        if !is_worth_it || self.state.retries_used >= self.policy.retries_max {
            return self.enter(Phase::Error);
        }
        if cost == Cost::Retry {
            self.happen(Event::RetryUsed);
        }
        self.enter(Phase::Pending { until: Some(self.now.after(self.policy.retry_delay_ms)) });
    }

    /// No attempt will help.
    fn fail(&mut self, problem: Problem) {
        self.happen(Event::Failed { problem, may_pass: false });
        self.enter(Phase::Error);
    }

    fn stopped(&mut self, instance: &InstanceId, phase: &Phase) {
        match phase {
            Phase::Stopping { instance: own } if own == instance => {
                self.happen(Event::InstanceGone);
                self.enter(Phase::Removing);
            }
            Phase::RollingBack { instance: started } if started == instance => self.rolled_back(),
            _ if self.state.orphans.contains(instance) => {
                self.happen(Event::OrphanGone { instance: instance.clone() });
            }
            _ => (),
        }
    }

    /// What was started has gone, or is an orphan that goes on its own.
    fn rolled_back(&mut self) {
        match self.policy.after_lost_record {
            _ if self.state.life != Life::Alive => {
                self.enter(Phase::default());
                self.go_on();
            }
            AfterLostRecord::Fail => self.enter(Phase::Error),
            AfterLostRecord::Retry => self.retry_or_fail(true, Cost::Retry),
        }
    }
}

/// What another attempt costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    Nothing,
    Retry,
}
