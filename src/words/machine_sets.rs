//! Machine sets and their supervisor in words.

use bailiwick_actors::{
    machine_set::{Change, Command, Event, Plan, Spec, State, pass},
    supervisor::machine_sets,
    vocab::Name,
};

use super::{
    Words, count,
    supervisors::{entities, ordered},
};

/// More names than this are counted, not listed.
const LISTED_MAX: usize = 3;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("be declared {}", declared(spec)),
            Command::Remove => "be removed, with its machines".into(),
            Command::Wake { due } => format!("go on with what was due at {due}"),
            Command::BeginPass { plan, .. } => format!("change: {}", planned(plan)),
            Command::ReportRemovals { told } => {
                let refused: Vec<&Name> = told.iter().filter(|(_, accepted)| !accepted).map(|(name, _)| name).collect();
                match refused[..] {
                    [] => format!("note that {} told to go", were(told.len())),
                    _ => format!("note that {} refused to go", names(&refused)),
                }
            }
            Command::ReportBatch { failed: 0 } => "note that its machines are declared".into(),
            Command::ReportBatch { failed } => format!("note that {failed} of its machines could not be declared"),
            Command::ReportEmpty => "note that its last machine is gone".into(),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("it was declared {}", declared(spec)),
            Event::SpecChanged { spec } => format!("it is now declared {}", declared(spec)),
            Event::RemovalBegan => "its removal began".into(),
            Event::Removed => "it was removed".into(),
            Event::Named { names: of } => format!("the next ones are {}", names(&of.iter().collect::<Vec<_>>())),
            Event::Pass(event) => passed(event),
            Event::Resting { until } => format!("something was refused, so nothing is tried before {until}"),
            Event::Rested => "it goes on".into(),
        }
    }
}

impl Words for machine_sets::State {
    fn asked(command: &machine_sets::Command) -> String {
        let machine_sets::Command::Look { about } = command;
        format!("look at {}", entities(about))
    }

    fn happened(event: &machine_sets::Event) -> String {
        let machine_sets::Event::Issued { order, .. } = event;
        ordered(order)
    }
}

fn declared(spec: &Spec) -> String {
    let machines = count(usize::try_from(spec.replicas).unwrap_or(usize::MAX), "machine");
    format!("with {machines} of provider {}", spec.template.provider)
}

fn were(told: usize) -> String {
    let machines = count(told, "machine");
    if told == 1 { format!("{machines} was") } else { format!("{machines} were") }
}

fn names(of: &[&Name]) -> String {
    if of.len() > LISTED_MAX {
        return count(of.len(), "machine");
    }
    let names: Vec<&str> = of.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

fn planned(plan: &Plan) -> String {
    let stale = (!plan.stale.is_empty()).then(|| format!("{} that failed go", count(plan.stale.len(), "machine")));
    let change = match &plan.change {
        Change::Nothing => None,
        Change::HeldByFreeze => Some("none are made while it is frozen".into()),
        Change::Create(more) => Some(format!("{} more are made", count(*more, "machine"))),
        Change::Remove(names) => Some(format!("{} too many go", count(names.len(), "machine"))),
    };
    let all: Vec<String> = stale.into_iter().chain(change).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", and ") }
}

fn passed(event: &pass::Event) -> String {
    match event {
        pass::Event::PassBegan(plan) => format!("it changes: {}", planned(plan)),
        pass::Event::RemovalAccepted { name } => format!("machine {name} goes"),
        pass::Event::RemovalFailed { name } => format!("machine {name} refused to go"),
        pass::Event::ChangeBegan(change) => match change {
            Change::Nothing => "no more has to change".into(),
            change => planned(&Plan { stale: Vec::new(), change: change.clone() }),
        },
        pass::Event::BatchMade { failed: 0 } => "machines were declared".into(),
        pass::Event::BatchMade { failed } => format!("{} could not be declared", count(*failed, "machine")),
        pass::Event::PassEnded { has_failed: false } => "it is done with that".into(),
        pass::Event::PassEnded { has_failed: true } => "it is done with that, and not all of it could be".into(),
    }
}
