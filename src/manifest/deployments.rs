//! Machine deployments against one another: a set that two of them select would have two owners.

use std::collections::BTreeMap;

use bailiwick_actors::{machine::Spec as Template, machine_deployment::Spec, vocab::Name};

use super::{
    problem::{Code, Place, Problem, Problems},
    read::{Known, Read, add},
    source::Source,
    wish::Wish,
};

/// Refuses a deployment whose selector matches what another one selects.
pub(super) fn check(documents: &[Read], known: Option<&Known>, sources: &[Source], problems: &mut Problems) {
    let mut all: BTreeMap<&Name, (&Spec, Option<&Place>)> =
        known.into_iter().flat_map(|known| &known.deployments).map(|(name, spec)| (name, (spec, None))).collect();
    let mut sets: BTreeMap<&Name, &Template> =
        known.into_iter().flat_map(|known| &known.free_sets).map(|(name, spec)| (name, &**spec)).collect();
    for Read { document, .. } in documents {
        match &document.wish {
            Wish::MachineDeployment { name, spec } => drop(all.insert(name, (spec, Some(&document.place)))),
            Wish::MachineSet { name, spec } => drop(sets.insert(name, &spec.template)),
            _ => (),
        }
    }
    for (name, (spec, place)) in &all {
        let Some(place) = place else { continue };
        // Of two that are declared here, the first one stands.
        let others = all.iter().filter(|(other, (_, place))| *other != name && (place.is_none() || other < &name));
        for (other, (theirs, _)) in others {
            let Some(what) = shared(spec, theirs, &sets) else { continue };
            let message = format!("its selector and that of machine-deployment/{other} both match {what}");
            let problem = Problem::new((*place).clone(), "spec.selector", Code::Conflict, message);
            add(problem.next("select by a label that only one of them has"), sources, problems);
        }
    }
}

/// What both select.
fn shared(one: &Spec, other: &Spec, sets: &BTreeMap<&Name, &Template>) -> Option<String> {
    if one.selector.is_empty() || other.selector.is_empty() {
        return None;
    }
    if let Some((set, _)) = sets.iter().find(|(_, template)| one.selects(template) && other.selects(template)) {
        return Some(format!("machine-set/{set}"));
    }
    (one.selects(&other.template) || other.selects(&one.template)).then(|| "the same machine sets".to_owned())
}
