//! Replica sets in words.

use bailiwick_actors::{
    contract::Code,
    ports::replica_set::{Action, Change, Member, Observation, Outcome, Step},
    replica_set::{Command, Endpoint, Endpoints, Event, Report, Spec, State},
};

use super::{Words, count};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => declared(spec),
            Command::Publish(endpoints) => format!("say where {} are", count(endpoints.servers.len(), "server")),
            Command::EnableHa { servers: 0 } => "survive the loss of a server".into(),
            Command::EnableHa { servers } => format!("have {servers} voting servers"),
            Command::Remove => "not be looked after any more".into(),
            Command::RetryNow => "look again at once".into(),
            Command::TakeStep { step, .. } => step_in_words(step),
            Command::Wake { due } => format!("go on with what was due at {due}"),
            Command::Report(report) => format!("note that {}", reported(report)),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec: Spec { engine, .. } } => {
                format!("it was declared with engine {engine}")
            }
            Event::Published { endpoints } => published(endpoints),
            Event::SpecChanged { .. } => "it is declared otherwise now".into(),
            Event::ServersWanted { servers } => format!("{} shall vote", count(*servers as usize, "server")),
            Event::LookBegun => "it is looked at again".into(),
            Event::Seen { observation } => observed(observation),
            Event::SeenSame => "it is as it was".into(),
            Event::SeenNotBegun => "there is no set yet".into(),
            Event::LookFailed { until, fault } => format!("it could not be looked at ({fault}), next try at {until}"),
            Event::StepBegun { step, .. } => {
                format!("a step is on its way: {}, because {}", step_in_words(step), step.because)
            }
            Event::StepDone => "the step was taken".into(),
            Event::SteppedDown { .. } => "the primary gives way".into(),
            Event::StepRefused { until, fault } => {
                format!("the step was refused ({fault}), looked at again at {until}")
            }
            Event::StepUnknown { until, fault } => {
                format!("nobody knows whether the step was taken ({fault}), read back at {until}")
            }
            Event::Removed => "it is not looked after any more".into(),
        }
    }
}

fn declared(spec: &Spec) -> String {
    let (servers, seats) = (count(spec.servers as usize, "server"), count(spec.seats.len(), "seat"));
    format!("be declared with {servers} of {seats} from engine {}", spec.engine)
}

fn published(endpoints: &Endpoints) -> String {
    let at = |(machine, endpoint): (&_, &Endpoint)| {
        let addresses: Vec<&str> = endpoint.addresses.iter().map(String::as_str).collect();
        format!("{machine} at {}", addresses.join(" and "))
    };
    let servers: Vec<String> = endpoints.servers.iter().map(at).collect();
    format!("its servers are to be found: {}", servers.join(", "))
}

fn reported(report: &Report) -> String {
    match report {
        Report::Seen { observation, .. } => observed(observation),
        Report::NotBegun { .. } => "there is no set yet".into(),
        Report::LookFailed { fault, .. } => format!("it could not be looked at ({fault})"),
        Report::Stepped { outcome: Outcome::Done, .. } => "the step was taken".into(),
        Report::Stepped { outcome: Outcome::Refused(fault), .. } => format!("the step was refused ({fault})"),
        Report::Stepped { outcome: Outcome::Unknown(fault), .. } => {
            format!("nobody knows whether the step was taken ({fault})")
        }
    }
}

fn observed(observation: &Observation) -> String {
    let configuration = &observation.configuration;
    let voters = configuration.members.iter().filter(|member| member.is_voter()).count();
    let ready = observation.statuses.iter().filter(|status| status.is_ready()).count();
    let stamp = configuration.stamp;
    let committed = if configuration.committed { "" } else { ", not committed yet" };
    format!(
        "it has {}, {voters} of them voting, {ready} ready (term {}, version {}{committed})",
        count(configuration.members.len(), "member"),
        stamp.term,
        stamp.version
    )
}

/// A step, in the infinitive: "give member 3 a vote".
pub fn step_in_words(step: &Step) -> String {
    match &step.action {
        Action::StepDown { primary, successor } => format!("have primary {primary} give way to {successor}"),
        Action::Initiate { first } => format!("begin with the member on {}", machine(first)),
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
        Change::Join { member } => format!("let {} join at {} without a vote", machine(member), member.address),
        Change::Move { member, address } => format!("have member {member} reached at {address}"),
        Change::Promote { member } => format!("give member {member} a vote"),
        Change::Demote { member } => format!("take the vote of member {member}"),
        Change::Level { member } => format!("put vote and priority of member {member} right"),
        Change::Remove { member } => format!("remove member {member}"),
    }
}

fn machine(member: &Member) -> &str {
    member.machine_tag().unwrap_or("nobody")
}
