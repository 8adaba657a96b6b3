//! The zones of new instances: who waits for one is told, one after the other, each choice knowing those before it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Event, Withholding,
    facts::Facts,
    rests::issued,
    seen::Seen,
    zones::{Choice, emptiest},
};
use crate::{
    machine::{self, ZoneRule},
    policy::NoZone,
    supervisor::Order,
    vocab::{Name, Zone},
};

/// The orders for those of these machines that wait for a zone; who cannot be anywhere goes among the withheld.
///
/// Before the zones of their provider were told once, they wait.
pub(super) fn placements(
    seen: &Seen<'_>,
    facts: &Facts<'_>,
    machines: &BTreeSet<&Name>,
    withheld: &mut BTreeMap<Name, Withholding>,
) -> Vec<Event> {
    let mut populations = Populations { facts, of: BTreeMap::new() };
    let mut events = Vec::new();
    for name in machines.iter().filter(|name| facts.view.tally.unsited.contains(**name)) {
        let Some(folded) = facts.view.machines.folded(name.as_str()) else { continue };
        let Some(spec) = &folded.state.spec else { continue };
        let (Some(listed), ZoneRule::Spread { allowed, group }) =
            (seen.base.zones.get(&spec.provider), folded.state.zone_rule())
        else {
            continue;
        };
        let Some(effect) = facts.view.own(facts.journal, name) else { continue };
        let group = Some(group).filter(|group| !group.is_empty());
        let population = populations.of(&spec.provider, group);
        // What was chosen for it before is not where it is.
        let before = facts.view.tally.counted_in(name);
        let failed = &folded.state.site.blamed;
        let may_be = listed.iter().filter(|zone| allowed.is_none_or(|allowed| allowed.contains(*zone)));
        let standing = may_be.map(|zone| {
            let all = population.get(zone).copied().unwrap_or(0);
            (zone, all.saturating_sub(usize::from(before == Some(zone))))
        });
        let choice = match (emptiest(standing, |zone| failed.contains_key(zone)), allowed) {
            (Ok(choice), _) => choice,
            // What only its subnets ask for excludes the other zones; where there are none, nothing is excluded.
            (Err(_), _) if listed.is_empty() && !is_constrained(&folded.state) => {
                Choice { zone: None, round_is_new: false }
            }
            (Err(_), _) if facts.policy.zones.when_none == NoZone::GiveUp => {
                events.extend(order(seen, facts, name, machine::Command::RefuseSite { effect }));
                continue;
            }
            (Err(_), _) => {
                withheld.insert((*name).clone(), Withholding::NoZone);
                continue;
            }
        };
        let command = machine::Command::Site { effect, zone: choice.zone.clone(), round_is_new: choice.round_is_new };
        let Some(issued) = order(seen, facts, name, command) else { continue };
        if let Some(zone) = choice.zone {
            *population.entry(zone).or_default() += 1;
        }
        events.push(issued);
    }
    events
}

/// The order, unless it was given already.
fn order(seen: &Seen<'_>, facts: &Facts<'_>, name: &Name, command: machine::Command) -> Option<Event> {
    let version = facts.view.machines.folded(name.as_str())?.version;
    let order = Order::Machine { machine: name.clone(), command };
    let is_new = facts.view.orders.is_news(&order, version) && !facts.view.orders.any_open(&order.target());
    is_new.then(|| issued(seen, facts, order))
}

/// Whether zones were asked for by name.
fn is_constrained(machine: &machine::State) -> bool {
    let own = machine.spec.as_ref().is_some_and(|spec| !spec.constraints.zones.is_empty());
    own || machine.parameters().is_some_and(|parameters| !parameters.constraints.zones.is_empty())
}

/// The populations that this decision has looked at, with its own choices.
struct Populations<'a, 'f> {
    facts: &'a Facts<'f>,
    of: BTreeMap<(Name, Option<String>), BTreeMap<Zone, usize>>,
}

impl Populations<'_, '_> {
    fn of(&mut self, provider: &Name, group: Option<String>) -> &mut BTreeMap<Zone, usize> {
        let tally = &self.facts.view.tally;
        let key = (provider.clone(), group);
        self.of.entry(key).or_insert_with_key(|(provider, group)| tally.population(provider, group.as_deref()))
    }
}
