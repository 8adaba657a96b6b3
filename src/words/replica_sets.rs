//! Replica sets in words.

use bailiwick_actors::{
    contract::Code,
    ports::replica_set::{Action, Change, Member, MemberId, MemberState, Observation, Outcome, Step},
    replica_set::{Command, Endpoint, Endpoints, Event, Report, Spec, State},
};

use super::{Words, count, protection, protection_asked};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => declared(spec),
            Command::Publish(endpoints) => {
                format!("publish the addresses of {}", count(endpoints.servers.len(), "server"))
            }
            Command::EnableHa { servers: 0 } => "enable high availability".into(),
            Command::EnableHa { servers } => format!("set the number of voters to {servers}"),
            Command::Remove => "stop managing it".into(),
            Command::Protect { on } => protection_asked(*on).into(),
            Command::RetryNow => "retry now".into(),
            Command::TakeStep { step, .. } => step_in_words(step),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Report(report) => reported(report),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec: Spec { engine, .. } } => {
                format!("declared with engine {engine}")
            }
            Event::Published { endpoints } => published(endpoints),
            Event::SpecChanged { .. } => "declaration changed".into(),
            Event::ServersWanted { servers } => format!("number of voters set to {servers}"),
            Event::LookBegun => "reading its state".into(),
            Event::Seen { observation } => observed(observation),
            Event::SeenSame => "state unchanged".into(),
            Event::SeenNotBegun => "engine reported: not initiated yet".into(),
            Event::LookFailed { until, fault } => {
                format!("reading its state failed ({fault}); next attempt at {until}")
            }
            Event::StepBegun { step, .. } => {
                format!("started a step: {}, because {}", step_in_words(step), step.because)
            }
            Event::StepDone => "step done".into(),
            Event::SteppedDown { .. } => "primary is stepping down".into(),
            Event::StepRefused { until, fault } => {
                format!("engine refused the step ({fault}); next attempt at {until}")
            }
            Event::StepUnknown { until, fault } => {
                format!("outcome of the step is unknown ({fault}); next read at {until}")
            }
            Event::Removed => "no longer managed".into(),
            Event::Protected { on } => protection(*on).into(),
        }
    }
}

fn declared(spec: &Spec) -> String {
    let (servers, seats) = (count(spec.servers as usize, "server"), count(spec.seats.len(), "seat"));
    format!("declare {servers} on {seats}, engine {}", spec.engine)
}

fn published(endpoints: &Endpoints) -> String {
    let at = |(machine, endpoint): (&_, &Endpoint)| {
        let addresses: Vec<&str> = endpoint.addresses.iter().map(String::as_str).collect();
        format!("{machine} at {}", addresses.join(" and "))
    };
    let servers: Vec<String> = endpoints.servers.iter().map(at).collect();
    format!("published server addresses: {}", servers.join(", "))
}

fn reported(report: &Report) -> String {
    match report {
        Report::Seen { observation, .. } => observed(observation),
        Report::NotBegun { .. } => "engine reported: not initiated yet".into(),
        Report::LookFailed { fault, .. } => format!("reading its state failed: {fault}"),
        Report::Stepped { outcome: Outcome::Done, .. } => "engine reported: step done".into(),
        Report::Stepped { outcome: Outcome::Refused(fault), .. } => format!("engine refused the step: {fault}"),
        Report::Stepped { outcome: Outcome::Unknown(fault), .. } => {
            format!("outcome of the step is unknown: {fault}")
        }
    }
}

fn observed(observation: &Observation) -> String {
    let configuration = &observation.configuration;
    let voters = configuration.members.iter().filter(|member| member.is_voter()).count();
    let ready = observation.statuses.iter().filter(|status| status.is_ready()).count();
    let stamp = configuration.stamp;
    let committed = if configuration.committed { "" } else { ", not yet committed" };
    let told = |id: MemberId| {
        let member = configuration.members.iter().find(|member| member.id == id);
        member.and_then(Member::machine_tag).map_or_else(|| id.to_string(), |machine| format!("{id} ({machine})"))
    };
    let statuses = || observation.statuses.iter();
    let leads = statuses().find(|status| status.healthy && status.state == MemberState::Primary);
    let primary = leads.map_or_else(|| "no primary".to_owned(), |status| format!("primary {}", told(status.id)));
    let ill: Vec<String> = statuses().filter(|status| !status.healthy).map(|status| told(status.id)).collect();
    let ill = if ill.is_empty() { String::new() } else { format!(", not healthy: {}", ill.join(", ")) };
    format!(
        "engine reported: {}, {voters} voting, {ready} ready, {primary}{ill} (term {}, version {}{committed})",
        count(configuration.members.len(), "member"),
        stamp.term,
        stamp.version
    )
}

/// A step, in the infinitive: "give member 3 a vote".
pub fn step_in_words(step: &Step) -> String {
    match &step.action {
        Action::StepDown { primary, successor } => {
            format!("have primary {primary} step down in favour of member {successor}")
        }
        Action::Initiate { first } => format!("initiate the set on {}", machine(first)),
        Action::Write { changes } => {
            let changes: Vec<String> = changes.iter().map(change_in_words).collect();
            changes.join(" and ")
        }
    }
}

/// The reason of a step: its code and words.
pub fn reason_in_words(step: &Step) -> (&'static str, String) {
    (step.because.code(), step.because.to_string())
}

fn change_in_words(change: &Change) -> String {
    match change {
        Change::Join { member } => format!("add {} at {} as a learner", machine(member), member.address),
        Change::Move { member, address } => format!("move member {member} to {address}"),
        Change::Promote { member } => format!("promote member {member} to voter"),
        Change::Demote { member } => format!("demote member {member}"),
        Change::Level { member } => format!("correct votes and priority of member {member}"),
        Change::Remove { member } => format!("remove member {member}"),
    }
}

fn machine(member: &Member) -> &str {
    member.machine_tag().unwrap_or("an unknown machine")
}
