//! Who owns which sets, and what an order of a deployment, or to one, followed from.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::Cite;

use super::View;
use crate::{
    contract::{Decider, Folded},
    machine_deployment::{Command, OwnedSet, State},
    machine_set,
    supervisor::cites::Cites,
    vocab::{Fact, Life, Name, Timestamp},
};

/// Who owns which sets, as the journal says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owners {
    /// The sets that exist, by the deployment that they belong to.
    owned: BTreeMap<Name, BTreeSet<Name>>,
    /// The sets that exist and belong to nobody.
    pub(super) nobodys: BTreeSet<Name>,
    /// Since when each set exists.
    since: BTreeMap<Name, Timestamp>,
    /// The deployments that take sets by their labels.
    pub(super) selecting: BTreeSet<Name>,
    /// The deployments that are not complete, or go.
    pub(super) busy: BTreeSet<Name>,
    /// The event with which the last set of a deployment went.
    left: BTreeMap<Name, Cite>,
    /// The last event that changed how the machines of a set are counted.
    moved: BTreeMap<Name, Cite>,
}

impl Owners {
    pub(super) fn sets_of(&self, deployment: &Name) -> impl Iterator<Item = &Name> {
        self.owned.get(deployment).into_iter().flatten()
    }

    pub(super) fn since(&self, set: &Name) -> Timestamp {
        self.since.get(set).copied().unwrap_or_default()
    }

    /// A machine of a set counts otherwise than before.
    pub(super) fn moved(&mut self, set: &Name, by: Option<Cite>) {
        self.moved.extend(by.map(|by| (set.clone(), by)));
    }

    /// A set has changed.
    pub(super) fn saw_set(&mut self, name: &Name, folded: &Folded<machine_set::State>) {
        let owner = folded.state.spec.as_ref().and_then(|spec| spec.deployment.clone());
        if folded.state.life.exists() {
            self.since.entry(name.clone()).or_insert(folded.changed);
            match owner {
                Some(owner) => {
                    self.nobodys.remove(name);
                    self.owned.entry(owner).or_default().insert(name.clone());
                }
                None => drop(self.nobodys.insert(name.clone())),
            }
            return;
        }
        self.since.remove(name);
        self.nobodys.remove(name);
        self.moved.remove(name);
        let Some(owner) = owner else { return };
        if let Some(owned) = self.owned.get_mut(&owner) {
            owned.remove(name);
            if owned.is_empty() {
                self.owned.remove(&owner);
            }
        }
        self.left.extend(folded.cite(machine_set::State::KIND, name.as_str(), Fact::Life).map(|cite| (owner, cite)));
    }

    /// A deployment has changed.
    pub(super) fn saw_deployment(&mut self, name: &Name, state: &State) {
        let keep = |set: &mut BTreeSet<Name>, is_in: bool| match is_in {
            true => drop(set.insert(name.clone())),
            false => drop(set.remove(name)),
        };
        let selects = state.spec.as_ref().is_some_and(|spec| !spec.selector.is_empty());
        keep(&mut self.selecting, state.life == Life::Alive && selects);
        keep(&mut self.busy, state.life.exists() && !state.is_complete());
        if !state.life.exists() {
            self.left.remove(name);
        }
    }
}

/// The events that an order to a deployment followed from.
pub(super) fn rests_on(view: &View, deployment: &Name, command: &Command, cites: Cites) -> Cites {
    let own = |cites: Cites, facts: &[Fact]| cites.fold(&view.deployments, deployment.as_str(), facts);
    match command {
        Command::Adopt { set, .. } => cites.fold(&view.sets, set.as_str(), &[Fact::Spec]),
        Command::Forget { set } => own(cites.fold(&view.sets, set.as_str(), &[Fact::Life]), &[Fact::Request]),
        Command::ReportEmpty => own(cites, &[Fact::Life]).cite(view.owners.left.get(deployment).cloned()),
        Command::Observe { counts, again, .. } => {
            let Some(state) = view.deployments.get(deployment.as_str()) else { return cites };
            // Only what is otherwise than in its last pass: the rest it knows already.
            let differ =
                state.sets.values().filter(|set| counts.get(&set.name).copied().unwrap_or_default() != set.counts);
            let moved = |cites: Cites, set: &OwnedSet| {
                let failed = counts.get(&set.name).is_some_and(|counts| counts.failure != set.counts.failure);
                let cites = cites.cite(view.owners.moved.get(&set.name).cloned());
                if failed { cites.fold(&view.sets, set.name.as_str(), &[Fact::Pass]) } else { cites }
            };
            // It is told so when all its sets have the sizes that were decided for them.
            let kept = state.sets.values().filter(|set| !set.leaves);
            let cites = kept.fold(cites, |cites, set| cites.fold(&view.sets, set.name.as_str(), &[Fact::Spec]));
            let is_otherwise = differ.clone().next().is_some() || state.again != *again;
            let cites = differ.fold(cites, moved);
            if !state.wants_a_pass() && !is_otherwise {
                // Nothing but other windows can have brought it.
                return own(cites, &[Fact::Pass]).cite(view.revised.clone());
            }
            match (state.told.observed < state.generation, is_otherwise) {
                (true, _) => own(cites, &[Fact::Spec]),
                (false, true) => cites,
                (false, false) => own(cites, &[Fact::Step]),
            }
        }
        _ => cites,
    }
}

/// The events that an order of a deployment to a set followed from.
pub(super) fn set_rests_on(view: &View, set: &Name, command: &machine_set::Command, cites: Cites) -> Cites {
    let owner = match command {
        machine_set::Command::Declare(spec) => spec.deployment.as_ref(),
        _ => view.owner_of(set),
    };
    let Some(owner) = owner else { return cites };
    let Some(state) = view.deployments.get(owner.as_str()) else { return cites };
    if state.life != Life::Alive {
        return cites.fold(&view.deployments, owner.as_str(), &[Fact::Life]);
    }
    if state.sets.contains_key(set) {
        return cites.fold(&view.deployments, owner.as_str(), &[Fact::Request]);
    }
    cites.fold(&view.deployments, owner.as_str(), &[Fact::Spec]).fold(&view.sets, set.as_str(), &[Fact::Spec])
}
