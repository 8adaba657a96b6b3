//! Which machines are not to go while a set counts on them.
//!
//! A machine is engaged before a step puts a member on it or gives that member a vote, and disengaged when the committed
//! configuration says that the set does without it: so no machine goes under a voter, whenever its removal is asked for.

use std::collections::BTreeSet;

use super::{
    View,
    members::{counted_on, counted_on_by},
};
use crate::{
    contract::Folded,
    machine,
    ports::replica_set::Step,
    replica_set::{Phase, State as ReplicaSet},
    supervisor::Order,
    vocab::{
        Life, Name,
        guard::{self, Guard},
    },
};

/// What the machines of a set have to hear before `next` is taken, and whether it has to wait for that.
pub(super) struct Engagements {
    pub orders: Vec<Order>,
    /// A machine that the step needs is not engaged yet.
    pub awaited: bool,
}

pub(super) fn engagements(view: &View, set: &Name, folded: &Folded<ReplicaSet>, next: Option<&Step>) -> Engagements {
    let state = &folded.state;
    let needed: BTreeSet<Name> = next.map(|step| counted_on_by(step, state)).unwrap_or_default();
    let under_way = match &state.phase {
        Phase::Stepping { step, .. } | Phase::Waiting { step: Some(step), .. } => counted_on_by(step, state),
        Phase::Idle | Phase::Looking | Phase::Settled | Phase::Waiting { step: None, .. } => BTreeSet::new(),
    };
    let wanted: BTreeSet<Name> = counted_on(view, set, state).into_iter().chain(needed.iter().cloned()).collect();
    let engaged = |machine: &Name| view.machines.get(machine.as_str()).is_some_and(|it| it.engaged.contains(set));
    let mut orders: Vec<Order> = Vec::new();
    let mut say = |machine: &Name, command: machine::Command| {
        let Some(known) = view.machines.folded(machine.as_str()) else { return };
        let order = Order::Machine { machine: machine.clone(), command };
        if view.orders.is_news(&order, known.version) {
            orders.push(order);
        }
    };
    for machine in wanted.iter().filter(|machine| !engaged(machine)) {
        say(machine, machine::Command::Engage { set: set.clone() });
    }
    // What a set is about to do is not known while it reads what there is.
    let is_known = state.life != Life::Alive || state.phase != Phase::Looking;
    let let_go =
        |machine: &&Name| is_known && engaged(machine) && !wanted.contains(*machine) && !under_way.contains(*machine);
    for machine in view.machines_of(set).iter().filter(let_go) {
        say(machine, machine::Command::Disengage { set: set.clone() });
    }
    if !guard::holds(Guard::MachinesWaitForTheirSets) {
        return Engagements { awaited: false, orders: Vec::new() };
    }
    Engagements { awaited: needed.iter().any(|machine| !engaged(machine)), orders }
}
