//! What each order to a machine rests on.

use bailiwick_journal::Cite;

use super::{Event, View, Withholding, facts::Facts, seen::Seen};
use crate::{
    contract::Decider,
    document,
    machine::{self, Command, Report},
    supervisor::{Order, cites::Cites},
    vocab::{Cited, Fact, Name},
};

/// An order with what it rests on.
pub(super) fn issued(seen: &Seen<'_>, facts: &Facts<'_>, order: Order) -> Event {
    Event::Issued { cites: rests_on(seen, facts, &order), order }
}

/// The events that an order followed from.
fn rests_on(seen: &Seen<'_>, facts: &Facts<'_>, order: &Order) -> Vec<Cite> {
    let Order::Machine { machine, command } = order else { return Vec::new() };
    let (view, name) = (facts.view, machine.as_str());
    let own = |at| Cites::default().event(super::State::KIND, View::NAME, at);
    let machines = &view.machines;
    let parent = || view.parent_of(machine).map_or("", Name::as_str);
    match command {
        Command::Report(Report::Lost { effect }) if seen.is_gone(*effect) => {
            own(seen.seen_at(*effect)).fold(machines, name, &[Fact::Effect])
        }
        // What was made in an instance is lost with it.
        Command::Report(Report::Lost { .. }) => {
            Cites::default().fold(machines, parent(), &[Fact::Effect]).fold(machines, name, &[Fact::Effect])
        }
        Command::GiveUp { .. } | Command::KeepFailed { .. } => {
            let cites = Cites::default().fold(machines, name, &[Fact::Health]);
            // It waited for room among those that are being replaced.
            let cites = match (seen.base.withheld.get(machine), machines.get(name)) {
                (Some(Withholding::BudgetSpent), Some(state)) => cites.cite(view.made_room(state).cloned()),
                _ => cites,
            };
            let found = seen.base.found.get(machine).map(|found| found.noted);
            let cites = cites.event(super::State::KIND, View::NAME, found);
            witness(seen, facts, machine, cites)
        }
        Command::JudgeAnew { .. } => {
            let provider = machines.get(name).and_then(|state| state.spec.as_ref()).map(|spec| &spec.provider);
            let back = provider.and_then(|provider| seen.base.noted.back.get(provider)).copied();
            own(back).fold(machines, name, &[Fact::Health])
        }
        Command::Reprieve { .. } => {
            let withheld = own(seen.base.noted.withheld.get(machine).copied());
            witness(seen, facts, machine, withheld.fold(machines, name, &[Fact::Health]))
        }
        // What was refused for good may end because its application says something else, or is gone.
        Command::AllowEviction { workloads, .. } => {
            let stranded = machines.get(name).into_iter().flat_map(machine::State::stranded);
            let freed = stranded.filter(|turn| workloads.contains(&turn.plan.workload));
            let cites = Cites::default().fold(machines, name, &[Fact::Drain]);
            freed.filter_map(machine::Turn::stranded_by).fold(cites, |cites, name| application(view, name, cites))
        }
        Command::RefuseEviction { budget, .. } => {
            application(view, &budget.application, Cites::default().fold(machines, name, &[Fact::Drain]))
        }
        Command::Site { .. } | Command::RefuseSite { .. } => {
            let provider = machines.get(name).and_then(|state| state.spec.as_ref()).map(|spec| &spec.provider);
            let listed = provider.and_then(|provider| seen.base.noted.zones.get(provider)).copied();
            own(listed).fold(machines, name, &[Fact::Effect])
        }
        // That it does not run cannot be cited, only that there is one.
        Command::RefuseStart { asked, why: machine::Unstartable::HostNotThere { .. }, .. } => {
            Cites::default().event(machine::State::KIND, name, Some(*asked)).fold(machines, parent(), &[Fact::Life])
        }
        Command::Prepare { asked, cited, .. } | Command::RefuseStart { asked, cited, .. } => {
            let asked = Cites::default().event(machine::State::KIND, name, Some(*asked));
            documents(view, asked, cited).fold(machines, parent(), &[Fact::Effect])
        }
        Command::ReserveContainer { container } => {
            let asked = machines.get(container.as_str()).and_then(machine::State::start_asked);
            Cites::default().event(machine::State::KIND, container.as_str(), asked)
        }
        Command::ReleaseContainer { container } => {
            Cites::default().cite(view.leaving.get(&(machine.clone(), container.clone())).cloned().flatten())
        }
        // Machines that stand in one go with it.
        Command::RemoveWith(_) => Cites::default().fold(machines, parent(), &[Fact::Life]),
        Command::RemoveStray { instance, .. } | Command::RemoveReturned { instance, .. } => {
            own(seen.seen_at(instance.effect))
        }
        _ => Cites::default(),
    }
    .list()
}

/// The only machine of the same zone that is well: but for it the whole zone would be silent, and nobody given up. Where
/// several are well, it is none of them.
fn witness(seen: &Seen<'_>, facts: &Facts<'_>, machine: &Name, cites: Cites) -> Cites {
    let machines = &facts.view.machines;
    let zone = machines.get(machine.as_str()).and_then(|state| match &state.instance {
        machine::Instance::Running { instance, .. } => instance.zone(),
        _ => None,
    });
    let Some(standing) = zone.and_then(|zone| facts.view.tally.standing(&zone)) else { return cites };
    let least = usize::try_from(facts.policy.reconciliation.throttle.zone_silent_min).unwrap_or(usize::MAX);
    let runs = |name: &&Name| match machines.get(name.as_str()).map(|state| &state.instance) {
        Some(machine::Instance::Running { instance, .. }) => !seen.is_gone(instance.effect),
        _ => false,
    };
    let mut well = standing.well.iter().filter(runs);
    match (well.next(), well.next()) {
        (Some(only), None) if least != 0 && least <= standing.others.len() + 1 => {
            cites.fold(machines, only.as_str(), &[Fact::Health])
        }
        _ => cites,
    }
}

/// What an application says of its budget, or that it is gone.
fn application(view: &View, name: &Name, cites: Cites) -> Cites {
    let Some(folded) = view.documents.folded(document::Kind::Application, name.as_str()) else { return cites };
    let fact = if folded.state.life.exists() { Fact::Spec } else { Fact::Life };
    cites.cite(folded.cite("application", name.as_str(), fact))
}

/// The documents that a start follows from, each at the revision in force.
fn documents(view: &View, mut cites: Cites, cited: &[Cited]) -> Cites {
    for Cited { document, .. } in cited {
        let Some(kind) = document::Kind::of(document.kind()) else { continue };
        let folded = view.documents.folded(kind, document.name());
        cites = cites.cite(folded.and_then(|folded| folded.cite(document.kind(), document.name(), Fact::Spec)));
    }
    cites
}
