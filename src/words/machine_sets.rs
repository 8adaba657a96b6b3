//! Machine sets and their supervisor in words.

use bailiwick_actors::{
    machine_set::{Change, Command, Event, Frozen, Plan, Spec, State, pass},
    supervisor::machine_sets,
    vocab::Name,
};

use super::{
    Words, count, protection, protection_asked,
    supervisors::{entities, ordered},
    until_in_words,
};

/// More names than this are counted, not listed.
const LISTED_MAX: usize = 3;

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("declare {}", declared(spec)),
            Command::Remove => "remove with its machines".into(),
            Command::RemoveOwned => "remove with its deployment".into(),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::BeginPass { plan, .. } => format!("begin a pass: {}", planned(plan)),
            Command::ReportRemovals { told } => {
                let refused: Vec<&Name> = told.iter().filter(|(_, accepted)| !accepted).map(|(name, _)| name).collect();
                match refused[..] {
                    [] => format!("{} accepted removal", count(told.len(), "machine")),
                    _ => format!("{} refused removal", names(&refused)),
                }
            }
            Command::ReportBatch { failed: 0 } => "its machines were declared".into(),
            Command::ReportBatch { failed } => format!("declaring {} failed", count(*failed as usize, "machine")),
            Command::ReportEmpty => "its last machine is gone".into(),
            Command::ReportMachines { machines, .. } => format!("it has {}", machines_in_words(*machines)),
            Command::Thaw => "thaw".into(),
            Command::Hold { reason, until } => format!("hold{}: {reason}", until_in_words(*until)),
            Command::Unhold => "unhold".into(),
            Command::Protect { on } => protection_asked(*on).into(),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("declared {}", declared(spec)),
            Event::SpecChanged { spec } => format!("declaration changed: {}", declared(spec)),
            Event::RemovalBegan => "removal started".into(),
            Event::Removed => "removed".into(),
            Event::Protected { on } => protection(*on).into(),
            Event::Named { names: of } => format!("next names: {}", names(&of.iter().collect::<Vec<_>>())),
            Event::Pass(event) => passed(event),
            Event::Resting { until } => format!("creating or removing a machine was refused; next attempt at {until}"),
            Event::Rested => "resumed".into(),
            Event::Frozen { machines, bound, at } => frozen(&Frozen { machines: *machines, bound: *bound, since: *at }),
            Event::Held { reason, until, .. } => format!("held{}: {reason}", until_in_words(*until)),
            Event::HoldEnded => "hold ended".into(),
            Event::Thawed { spares: 0 } => "thawed".into(),
            Event::Thawed { spares } => {
                format!("thawed; {} do not count towards its limit", machines_in_words(*spares))
            }
        }
    }
}

impl Words for machine_sets::State {
    fn asked(command: &machine_sets::Command) -> String {
        let machine_sets::Command::Look { about } = command;
        format!("re-evaluate {}", entities(about))
    }

    fn happened(event: &machine_sets::Event) -> String {
        let machine_sets::Event::Issued { order, .. } = event;
        ordered(order)
    }
}

/// That a set is frozen: "frozen with 8 machines, its limit is 8".
pub fn frozen(frozen: &Frozen) -> String {
    format!("frozen with {}; its limit is {}", machines_in_words(frozen.machines), frozen.bound)
}

fn declared(spec: &Spec) -> String {
    format!("with {} of provider {}", machines_in_words(spec.replicas), spec.template.provider)
}

/// "3 machines".
fn machines_in_words(number: u32) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "machine")
}

fn names(of: &[&Name]) -> String {
    if of.len() > LISTED_MAX {
        return count(of.len(), "machine");
    }
    let names: Vec<&str> = of.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

fn planned(plan: &Plan) -> String {
    let stale = (!plan.stale.is_empty()).then(|| format!("replace {} that failed", count(plan.stale.len(), "machine")));
    let change = match &plan.change {
        Change::Nothing => None,
        Change::HeldByFreeze => Some("create none while frozen".into()),
        Change::Create(more) => Some(format!("create {}", count(*more, "machine"))),
        Change::Remove(names) => Some(format!("remove {}", count(names.len(), "machine"))),
    };
    let all: Vec<String> = stale.into_iter().chain(change).collect();
    if all.is_empty() { "no change".into() } else { all.join(" and ") }
}

fn passed(event: &pass::Event) -> String {
    match event {
        pass::Event::PassBegan(plan) => format!("pass began: {}", planned(plan)),
        pass::Event::RemovalAccepted { name } => format!("machine {name} accepted removal"),
        pass::Event::RemovalFailed { name } => format!("machine {name} refused removal"),
        pass::Event::ChangeBegan(Change::Nothing) => "no further change".into(),
        pass::Event::ChangeBegan(Change::HeldByFreeze) => "creating no machine while frozen".into(),
        pass::Event::ChangeBegan(Change::Create(more)) => format!("creating {}", count(*more, "machine")),
        pass::Event::ChangeBegan(Change::Remove(names)) => format!("removing {}", count(names.len(), "machine")),
        pass::Event::BatchMade { failed: 0 } => "its machines were declared".into(),
        pass::Event::BatchMade { failed } => format!("declaring {} failed", count(*failed, "machine")),
        pass::Event::PassEnded { has_failed: false } => "pass ended".into(),
        pass::Event::PassEnded { has_failed: true } => "pass ended with failures".into(),
    }
}
