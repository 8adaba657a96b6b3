//! Policies by name: the choices of the systems that our behaviour comes from, without their defects.
//!
//! A manifest takes one over with `spec.like`, and what it says beside that is laid over it; a rehearsal reads the same
//! manifest. So a node can be put under what another system did, and a journal can be decided again under it.

use super::{
    AskReading, Document, GiveUpBy, Harvest, Judged, LastRound, Machines, NextZone, NoZone, PeerRules, Readings,
    Reconciliation, ReplicaSets, Retries, RetryBy, WhenLost, ZoneBlame, Zones,
};
use crate::vocab::HarvestMode;

/// A policy's name, and what it says.
type Named = (&'static str, fn() -> Document);

/// All policies that have a name.
const NAMED: [Named; 6] = [
    ("default", Document::default),
    ("juju-2016", juju_2016),
    ("juju-2019", || replica_sets_by(PeerRules::Juju2019)),
    ("juju-2.9", || replica_sets_by(PeerRules::Juju29)),
    ("juju-3.x", || replica_sets_by(PeerRules::Juju3)),
    ("gardener-0.49", gardener_0_49),
];

impl Document {
    /// The policy of this name.
    pub fn named(name: &str) -> Option<Self> {
        let (_, document) = NAMED.iter().find(|(known, _)| *known == name)?;
        Some(document())
    }

    /// The names there are.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }
}

/// Juju's provisioner of April 2016: one try and three retries at a fixed distance, the first failure decides whether there
/// are any, its watch for transient errors looks every minute (which those are says the fault here, and an operator there), and an instance that nobody knows goes at first sight where the mode says so. One that has gone is not replaced.
/// Its zones are those of the provisioner since 2.3, which had none before.
fn juju_2016() -> Document {
    let delay_ms = 10_000;
    let machines = Machines {
        attempts_max: 4,
        retry_first_ms: delay_ms,
        retry_max_ms: delay_ms,
        when_lost: WhenLost::Keep,
        ..Machines::default()
    };
    let harvest = Harvest { mode: HarvestMode::Destroyed, sightings_min: 1, grace_ms: 0 };
    let retries = Retries { judged: Judged::First, again_ms: 60_000, ..Retries::default() };
    let zones = Zones {
        blame: ZoneBlame::Any,
        next: NextZone::AfterWait,
        last_round: LastRound::One,
        when_none: NoZone::GiveUp,
    };
    let readings = Readings { ask_provider: AskReading::Never, ..Readings::default() };
    let reconciliation = Reconciliation { readings, ..Reconciliation::default() };
    Document { machines, harvest, retries, zones, reconciliation, ..Document::default() }
}

/// Juju of a later time, as far as replica sets go. How often its provisioner tries is what we took for our own default.
fn replica_sets_by(rules: PeerRules) -> Document {
    Document { replica_sets: ReplicaSets { rules }, ..Document::default() }
}

/// Gardener's machine controller 0.49: what follows a failure depends on its code, nothing is given up for its code or for
/// the number of attempts, but for the time that it has taken; a machine that is given up is its set's to replace, and is not tried
/// again. An instance that nobody knows goes when it is found; whose own instance is not found is told by its node.
fn gardener_0_49() -> Document {
    Document {
        machines: Machines { attempts_max: 0, poll_ms: 600_000, when_lost: WhenLost::Ignore, ..Machines::default() },
        harvest: Harvest { mode: HarvestMode::All, sightings_min: 1, grace_ms: 0 },
        reconciliation: Reconciliation::gardener_0_49(),
        retries: Retries {
            by: RetryBy::FaultCode,
            permanent_max: 0,
            judged: Judged::Each,
            give_up_by: GiveUpBy::Age,
            again_ms: 0,
        },
        ..Document::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::given::{after, answer},
        policy,
        vocab::Timestamp,
    };

    #[test]
    fn every_named_policy_can_be_put_in_force() {
        let stream = "policy/default".parse().expect("a stream");
        for name in Document::names() {
            let document = Document::named(name).expect("it is in the table");
            let revise = policy::Command::Revise(Box::new(document));
            let verdict = answer(&stream, &after::<policy::State>(&[]), &revise, Timestamp(1), &Document::default());
            assert!(verdict.is_ok(), "{name}: {verdict:?}");
        }
        assert_eq!(Document::named("default"), Some(Document::default()));
    }

    #[test]
    fn no_two_of_them_are_alike_and_what_has_no_name_is_none() {
        let documents: Vec<Document> = Document::names().filter_map(Document::named).collect();
        for (place, document) in documents.iter().enumerate() {
            assert!(documents[..place].iter().all(|other| other != document), "{:?}", NAMED[place].0);
        }
        assert_eq!(Document::named("Default"), None);
        assert_eq!(Document::named(""), None);
    }
}
