//! What should happen to a replica set, and why.

use bailiwick_journal::Version;

use super::{
    Command, Endpoints, Event, Phase, Reason, Rejection, Report, Seat, Spec, State, enable_ha,
    publication::publication,
    rhythm::{Began, Ended, Retries},
};
use crate::{
    contract::{self, Decision},
    ports::replica_set::{Action, Observation, Outcome, Stamp, Step},
    vocab::{Fault, FaultCode, Life, Timestamp},
};

type Facts<'a> = contract::Facts<'a, State>;
type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Declare(spec) => declare(state, spec),
        Command::Publish(endpoints) => publish(state, endpoints),
        Command::EnableHa { servers } => enable_ha(state, *servers),
        Command::Remove => remove(state),
        Command::Protect { on } => protect(state, *on),
        Command::RetryNow => retry_now(state),
        Command::TakeStep { step, seen } => take_step(state, step, *seen, facts),
        Command::Wake { .. } => wake(state, facts),
        Command::Report(report) => match report {
            Report::Seen { round, observation } => report_seen(state, *round, observation),
            Report::NotBegun { round } => report_not_begun(state, *round, facts),
            Report::LookFailed { round, fault } => report_look_failed(state, *round, fault, facts),
            Report::Stepped { round, outcome } => report_stepped(state, *round, outcome, facts),
        },
    }
}

fn declare(state: &State, spec: &Spec) -> Verdict {
    valid(spec)?;
    let present = match (state.life, &state.spec) {
        (Life::Alive, Some(present)) => present,
        _ => return Ok(Decision::because(Reason::NewlyDeclared, [Event::Declared { spec: spec.clone() }])),
    };
    if present.engine != spec.engine {
        return Err(Rejection::Immutable { field: "spec.engine".into() });
    }
    let meant = state.meant_by(spec);
    if meant.servers < present.servers {
        if state.protected {
            return Err(Rejection::Protected);
        }
        enable_ha::servers(i64::from(meant.servers), voters(state))
            .map_err(|problem| Rejection::Servers { problem })?;
    }
    // A declaration that says the number that was asked for is recorded: from then on it is the declared one.
    if *present == meant && state.servers_declared == Some(spec.servers) {
        let stays = present.servers != spec.servers;
        return Ok(Decision::nothing(if stays { Reason::AskedNumberStays } else { Reason::AlreadyAsDeclared }));
    }
    Ok(Decision::because(Reason::SpecDiffers, [Event::SpecChanged { spec: meant }]))
}

/// How many voted when it was looked at last.
fn voters(state: &State) -> u32 {
    u32::try_from(state.voters()).unwrap_or(u32::MAX)
}

fn publish(state: &State, endpoints: &Endpoints) -> Verdict {
    alive(state)?;
    Ok(match publication(state.published.as_ref(), endpoints.clone()) {
        Some(endpoints) => Decision::because(Reason::EndpointsDiffer, [Event::Published { endpoints }]),
        None => Decision::nothing(Reason::EndpointsKnown),
    })
}

fn valid(spec: &Spec) -> Result<(), Rejection> {
    enable_ha::servers(i64::from(spec.servers.max(1)), 0).map_err(|problem| Rejection::Servers { problem })?;
    let invalid = |field: &str, problem: String| Rejection::Invalid { field: field.into(), problem };
    if spec.servers == 0 {
        return Err(invalid("spec.servers", "a set needs a server".into()));
    }
    let seats = u32::try_from(spec.seats.len()).unwrap_or(u32::MAX);
    if seats < spec.servers {
        return Err(Rejection::TooFewSeats { asked: i64::from(spec.servers), seats });
    }
    for (at, seat) in spec.seats.iter().enumerate() {
        if seat.addresses.is_empty() {
            return Err(invalid(&format!("spec.seats[{at}].addresses"), "a seat needs an address".into()));
        }
        if let Some(wrong) = seat.addresses.iter().find(|address| !is_address(&address.value)) {
            return Err(invalid(&format!("spec.seats[{at}].address"), format!("{:?} is not an address", wrong.value)));
        }
        let others = &spec.seats[..at];
        if others.iter().any(|other| other.machine == seat.machine) {
            return Err(invalid(&format!("spec.seats[{at}].machine"), format!("{} has a seat already", seat.machine)));
        }
        let at_peers: Vec<String> = seat.addresses.iter().map(|address| address.host_port(seat.peer_port)).collect();
        let is_taken = |host: &&String| {
            let theirs = |other: &Seat| other.addresses.iter().any(|it| it.host_port(other.peer_port) == **host);
            others.iter().any(theirs)
        };
        if let Some(taken) = at_peers.iter().find(is_taken) {
            return Err(invalid(&format!("spec.seats[{at}]"), format!("{taken} is another seat's address")));
        }
    }
    Ok(())
}

fn is_address(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|letter| letter.is_whitespace() || letter == '/')
}

fn alive(state: &State) -> Result<&Spec, Rejection> {
    match (state.life, &state.spec) {
        (Life::Alive, Some(spec)) => Ok(spec),
        _ => Err(Rejection::NotDeclared),
    }
}

fn enable_ha(state: &State, asked: i64) -> Verdict {
    let spec = alive(state)?;
    let servers = enable_ha::servers(asked, voters(state)).map_err(|problem| Rejection::Servers { problem })?;
    let servers = u32::try_from(servers).unwrap_or(u32::MAX);
    let seats = u32::try_from(spec.seats.len()).unwrap_or(u32::MAX);
    if seats < servers {
        return Err(Rejection::TooFewSeats { asked: i64::from(servers), seats });
    }
    if spec.servers == servers {
        return Ok(Decision::nothing(Reason::HaAlready));
    }
    Ok(Decision::because(Reason::HaAsked, [Event::ServersWanted { servers }]))
}

fn remove(state: &State) -> Verdict {
    match state.life {
        Life::Undeclared => Err(Rejection::NotDeclared),
        Life::Removed => Ok(Decision::nothing(Reason::AlreadyGone)),
        Life::Alive if state.protected => Err(Rejection::Protected),
        Life::Alive | Life::Dying | Life::Dead => Ok(Decision::because(Reason::RemovalAsked, [Event::Removed])),
    }
}

/// What comes of a wish that something is not to be removed, or may be again.
fn protect(state: &State, on: bool) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.protected == on => Ok(Decision::nothing(Reason::ProtectionKnown)),
        Life::Alive => Ok(Decision::because(Reason::ProtectionAsked, [Event::Protected { on }])),
    }
}

fn retry_now(state: &State) -> Verdict {
    alive(state)?;
    match state.phase {
        Phase::Waiting { .. } => Ok(Decision::because(Reason::OperatorRetries, [Event::LookBegun])),
        Phase::Idle | Phase::Looking | Phase::Settled | Phase::Stepping { .. } => {
            Ok(Decision::nothing(Reason::NothingToRetry))
        }
    }
}

fn take_step(state: &State, step: &Step, seen: Version, facts: &Facts<'_>) -> Verdict {
    alive(state)?;
    if state.phase != Phase::Settled {
        return Err(Rejection::Busy);
    }
    if state.seen_at != seen {
        return Err(Rejection::PlanOutdated);
    }
    let base = match (&step.action, &state.seen) {
        (Action::Initiate { .. }, Some(_)) => return Err(Rejection::AlreadyBegun),
        (Action::Initiate { .. }, None) => Stamp::default(),
        (_, Some(seen)) => seen.configuration.stamp,
        (_, None) => return Err(Rejection::PlanOutdated),
    };
    Ok(Decision::because(Reason::StepPlanned, [Event::StepBegun { step: step.clone(), base, at: facts.now }]))
}

fn wake(state: &State, facts: &Facts<'_>) -> Verdict {
    let Phase::Waiting { until, .. } = &state.phase else {
        return Ok(Decision::nothing(Reason::NothingWaits));
    };
    if facts.now < *until {
        return Ok(Decision::nothing(Reason::NotDueYet));
    }
    Ok(Decision::because(Reason::RetryDue, [Event::LookBegun]))
}

/// Whether a report is about the present phase, and that is a look, owed or by the way.
fn is_of_a_look(state: &State, round: Version) -> bool {
    state.life == Life::Alive && state.phase_at == round && matches!(state.phase, Phase::Looking | Phase::Settled)
}

fn report_seen(state: &State, round: Version, observation: &Observation) -> Verdict {
    if !is_of_a_look(state, round) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let is_same = state.seen.as_ref().is_some_and(|seen| seen.says_the_same_as(observation));
    match (is_same, state.phase == Phase::Looking) {
        (false, _) => Ok(Decision::because(Reason::SeenNew, [Event::Seen { observation: observation.clone() }])),
        (true, true) => Ok(Decision::because(Reason::SeenAgain, [Event::SeenSame])),
        (true, false) => Ok(Decision::nothing(Reason::NothingNew)),
    }
}

fn report_not_begun(state: &State, round: Version, facts: &Facts<'_>) -> Verdict {
    if !is_of_a_look(state, round) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    if state.seen.is_some() {
        // Beginning it again would make an empty set out of one whose data may be somewhere.
        let fault = Fault::new(FaultCode::DataLoss, "the set was initiated, but its server answers that it is not");
        return report_look_failed(state, round, &fault, facts);
    }
    if state.phase == Phase::Settled {
        return Ok(Decision::nothing(Reason::NothingNew));
    }
    Ok(Decision::because(Reason::NoSetYet, [Event::SeenNotBegun]))
}

fn report_look_failed(state: &State, round: Version, fault: &Fault, facts: &Facts<'_>) -> Verdict {
    if !is_of_a_look(state, round) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let until = later(state, state.look_retries, facts)?;
    Ok(Decision::because(Reason::LookWorthRetrying, [Event::LookFailed { until, fault: fault.clone() }]))
}

fn report_stepped(state: &State, round: Version, outcome: &Outcome, facts: &Facts<'_>) -> Verdict {
    let Phase::Stepping { step, .. } = &state.phase else {
        return Ok(Decision::nothing(Reason::StaleReport));
    };
    if state.phase_at != round || state.life != Life::Alive {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    let until = after_step(state, step, facts)?;
    Ok(match (outcome, &step.action) {
        (Outcome::Done, Action::StepDown { .. }) => {
            Decision::because(Reason::PrimaryGaveWay, [Event::SteppedDown { until }])
        }
        (Outcome::Done, _) => Decision::because(Reason::StepTaken, [Event::StepDone]),
        (Outcome::Refused(fault), _) => {
            Decision::because(Reason::StepWorthRetrying, [Event::StepRefused { until, fault: fault.clone() }])
        }
        (Outcome::Unknown(fault), _) => {
            Decision::because(Reason::OutcomeUnknown, [Event::StepUnknown { until, fault: fault.clone() }])
        }
    })
}

/// When it is looked again after a step that did not end well. A set that is being begun is tried more evenly at first.
fn after_step(state: &State, step: &Step, facts: &Facts<'_>) -> Result<Timestamp, Rejection> {
    let rhythm = alive(state)?.rhythm;
    let is_beginning = matches!(step.action, Action::Initiate { .. });
    let tried_ms = state.initiating_since.map_or(0, |since| facts.now.since(since));
    if is_beginning && tried_ms < rhythm.initiate_for_ms {
        return Ok(facts.now.after(rhythm.initiate_every_ms));
    }
    later(state, state.step_retries, facts)
}

fn later(state: &State, retries: Retries, facts: &Facts<'_>) -> Result<Timestamp, Rejection> {
    let seed = format!("{} {}", facts.journal, facts.stream);
    let (_, wait_ms) = alive(state)?.rhythm.after(retries, Began::ByTimer, Ended::Failed, &seed);
    Ok(facts.now.after(wait_ms))
}
