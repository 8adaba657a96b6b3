//! What follows from what is seen.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{
    Change, Command, Event, Reason, Sighting, State,
    facts::Facts,
    harvest::{Outlook, outlook},
    remedy::remedies,
    rests::issued,
    seen::Seen,
};
use crate::{
    contract::{self, Decision},
    machine,
    supervisor::Order,
    vocab::{Fault, Name},
};

type Verdict = contract::Verdict<State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Observe { provider, as_of, changes } => {
            if changes.is_empty() {
                return Ok(Decision::nothing(Reason::NothingNew));
            }
            if state.is_too_old(provider, *as_of) {
                return Ok(Decision::nothing(Reason::ListTooOld));
            }
            let observed = Event::Observed { provider: provider.clone(), as_of: *as_of, changes: changes.clone() };
            let seen = Seen::with(state, facts.next, &observed, changes);
            let mut orders = remedies(&seen, facts, &concerned(&seen, changes));
            orders.extend(strays(&seen, facts, changes));
            Ok(Decision::because(Reason::WorldDiffers, std::iter::once(observed).chain(orders)))
        }
        Command::ReportListFailed { provider, fault } => Ok(list_failed(state, provider, fault, facts)),
        Command::ReportListRecovered { provider } => {
            if !state.failing.contains_key(provider) {
                return Ok(Decision::nothing(Reason::NothingNew));
            }
            Ok(Decision::because(
                Reason::ProviderBack,
                [Event::ListRecovered { provider: provider.clone(), at: facts.now }],
            ))
        }
        Command::Look { machines } => {
            let events = remedies(&Seen::already(state), facts, &machines.iter().cloned().collect());
            if events.is_empty() {
                return Ok(Decision::nothing(Reason::NothingFollows));
            }
            let some_follow = events.iter().any(|event| matches!(event, Event::Issued { .. }));
            let reason = if some_follow { Reason::OrdersFollow } else { Reason::ReplacementsHeld };
            Ok(Decision::because(reason, events))
        }
        Command::ObserveZones { provider, zones } => {
            if state.zones.get(provider) == Some(zones) {
                return Ok(Decision::nothing(Reason::NothingNew));
            }
            let listed = Event::ZonesListed { provider: provider.clone(), zones: zones.clone() };
            // Who waits for a zone is looked at next, when this is known: the decision stays small.
            Ok(Decision::because(Reason::ZonesDiffer, [listed]))
        }
        Command::ReportFound { provider, as_of, machines } => {
            // Who has recovered meanwhile has no need of the answer.
            let waiting = machines.iter().filter(|(machine, _)| state.withheld.contains_key(machine));
            let (provider, as_of, machines) = (provider.clone(), *as_of, waiting.cloned().collect::<Vec<_>>());
            if machines.is_empty() {
                return Ok(Decision::nothing(Reason::NothingNew));
            }
            // As with zones: they are looked at next.
            Ok(Decision::because(Reason::InstancesFound, [Event::Found { provider, as_of, machines }]))
        }
    }
}

/// A provider could not be asked: that is new, or it has been so for so long that it counts as out.
fn list_failed(state: &State, provider: &Name, fault: &Fault, facts: &Facts<'_>) -> Decision<State> {
    let (now, rules) = (facts.now, &facts.policy.reconciliation.outage);
    if !state.learns_from(provider, fault.code, now, rules) {
        return Decision::nothing(Reason::NothingNew);
    }
    let is_known = state.failing.get(provider).is_some_and(|known| known.code == fault.code);
    let failed = Event::ListFailed { provider: provider.clone(), fault: fault.clone(), at: now };
    let since = state.unreachable.get(provider).filter(|_| state.is_over(provider, fault.code, now, rules));
    let began = since.map(|since| Event::OutageBegan { provider: provider.clone(), since: *since, at: now });
    let reason = if began.is_some() { Reason::ProviderOut } else { Reason::ProviderSilent };
    Decision::because(reason, (!is_known).then_some(failed).into_iter().chain(began))
}

fn concerned(seen: &Seen<'_>, changes: &[Change]) -> BTreeSet<Name> {
    let machine = |change: &Change| match change {
        Change::Appeared { instance } => Some(instance.machine.clone()),
        Change::Vanished { machine, .. } => Some(machine.clone()),
        Change::StatusChanged { effect, .. }
        | Change::Forgotten { effect }
        | Change::Unclaimed { effect }
        | Change::Returned { effect }
        | Change::Claimed { effect } => seen.sighting(*effect).map(|sighting| sighting.machine.clone()),
    };
    changes.iter().filter_map(machine).collect()
}

/// The machines whose names they bear are told to remove the instances that nobody knows, or that should be gone, where it
/// is time.
fn strays(seen: &Seen<'_>, facts: &Facts<'_>, changes: &[Change]) -> Vec<Event> {
    let mut orders = Vec::new();
    for change in changes {
        let (Change::Unclaimed { effect } | Change::Returned { effect }) = change else { continue };
        let Some(Sighting { provider, machine, instance: Some(instance), unclaimed: Some(unclaimed), .. }) =
            seen.sighting(*effect)
        else {
            continue;
        };
        // The view may know more than the list that was compared with it.
        let is_due = outlook(unclaimed, &facts.policy.harvest) == Outlook::Due;
        if !is_due || facts.view.is_claimed(facts.journal, machine, *effect) {
            continue;
        }
        let (provider, instance) = (provider.clone(), instance.clone());
        let command = match change {
            Change::Returned { .. } => machine::Command::RemoveReturned { provider, instance },
            _ => machine::Command::RemoveStray { provider, instance },
        };
        let order = Order::Machine { machine: machine.clone(), command };
        let version = facts.view.machines.folded(machine.as_str()).map_or(Version::ZERO, |folded| folded.version);
        if facts.view.orders.is_news(&order, version) {
            orders.push(issued(seen, facts, order));
        }
    }
    orders
}
