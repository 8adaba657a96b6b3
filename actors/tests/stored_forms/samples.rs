//! At least one example of every variant of every stored form.

mod clients;
pub(super) mod documents;
mod earlier;
pub(super) mod machine_classes;
pub(super) mod machine_deployments;
pub(super) mod machines;
pub(super) mod members;
pub(super) mod providers;
pub(super) mod replica_sets;
pub(super) mod storage;
pub(super) mod supervisors;

use bailiwick_actors::{
    contract::{Decider, Recorded, StoredFacts},
    policy,
    ports::{Condition, Healthy, InstanceStatus, MachineInstance},
    storage_rules,
    vocab::{Day, EffectId, Fault, FaultCode, HarvestMode, InstanceId, Name, Timestamp, Window, Windows},
};
use uuid::Uuid;

use crate::{Forms, form, forms};

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn effect(number: u128) -> EffectId {
    EffectId(Uuid::from_u128(number))
}

fn fault(code: FaultCode) -> Fault {
    Fault::new(code, "no")
}

const AT: Timestamp = Timestamp(1_767_225_600_000);

fn instance(status: InstanceStatus) -> MachineInstance {
    MachineInstance {
        effect: effect(1),
        instance: InstanceId("i-1".into()),
        machine: name("web"),
        facts: [("pid".to_owned(), "7".to_owned())].into(),
        status,
    }
}

fn conditions() -> Vec<Condition> {
    [Healthy::Yes, Healthy::No, Healthy::Unknown]
        .map(|healthy| Condition { kind: "DiskPressure".into(), healthy, text: "fine".into() })
        .to_vec()
}

/// Reasons and rejections stand in a verdict, and are pinned in it.
fn verdicts<D: Decider>(reasons: &[D::Reason], rejections: Vec<D::Rejection>) -> Forms {
    let decided = reasons.iter().enumerate();
    let mut all: Forms = decided
        .map(|(number, reason)| form(format!("reason.{number}"), &Recorded::<D>::Decided(reason.clone())))
        .collect();
    let refused = rejections.into_iter().enumerate();
    all.extend(
        refused.map(|(number, rejection)| form(format!("rejection.{number}"), &Recorded::<D>::Refused(rejection))),
    );
    all
}

pub(super) fn policy() -> Forms {
    use policy::{Command, Document, Event, Reason, Rejection, WhenLost};
    // Every setting has another value, so that none can change its place unnoticed.
    let machines = policy::Machines {
        attempts_max: 1,
        retry_first_ms: 2,
        retry_max_ms: 3,
        call_timeout_ms: 4,
        poll_ms: 5,
        node_stale_ms: 6,
        restart_grace_ms: 7,
        when_lost: WhenLost::Keep,
    };
    let storage = policy::Storage {
        attempts_max: 8,
        retry_first_ms: 9,
        retry_max_ms: 10,
        call_timeout_ms: 11,
        mount_dir: Some("/storage".into()),
    };
    let harvest = policy::Harvest { mode: HarvestMode::Unknown, sightings_min: 12, grace_ms: 13 };
    let reconciliation = policy::Reconciliation {
        retry_short_ms: 14,
        retry_medium_ms: 15,
        retry_long_ms: 16,
        creation_timeout_ms: 17,
        health_timeout_ms: 18,
        health_recheck_ms: 19,
        node_conditions: vec!["DiskPressure".into()],
        ..policy::Reconciliation::gardener_0_49()
    };
    let retries = policy::Retries {
        by: policy::RetryBy::FaultCode,
        permanent_max: 1,
        judged: policy::Judged::First,
        give_up_by: policy::GiveUpBy::Age,
        again_ms: 24,
    };
    let zones = policy::Zones {
        blame: policy::ZoneBlame::Any,
        next: policy::NextZone::AfterWait,
        last_round: policy::LastRound::One,
        when_none: policy::NoZone::GiveUp,
    };
    let replica_sets = policy::ReplicaSets { rules: policy::PeerRules::Juju29 };
    let window = Window { days: [Day::Wed].into(), from_minute: 25, for_ms: 26 };
    let rollouts = policy::Rollouts { windows: Windows(vec![window]) };
    let document = Document { machines, storage, harvest, reconciliation, retries, zones, replica_sets, rollouts };
    let mut all = vec![form("document".into(), &document), form("document.default".into(), &Document::default())];
    let revise = Command::Revise(Box::new(document.clone()));
    let pool: storage_rules::PoolName = "fast".parse().expect("a pool's name");
    let attributes = [("volume-type".to_owned(), "ssd".to_owned())].into();
    let settings = storage_rules::PoolSettings { provider: storage_rules::ProviderType::Ebs, attributes };
    let create = Command::CreatePool { name: pool.clone(), settings: settings.clone() };
    let remove = Command::RemovePool { name: pool.clone() };
    let kind = storage_rules::StorageKind::Filesystem;
    let set_default = Command::SetDefaultPool { kind, pool: Some(pool.clone()) };
    all.extend(forms("command", [create, remove, set_default, revise]));
    let revised = Event::Revised { document: Box::new(document) };
    let created = Event::PoolCreated { name: pool.clone(), settings };
    let removed = Event::PoolRemoved { name: pool.clone() };
    let default_set = Event::DefaultPoolSet { kind, pool: Some(pool.clone()) };
    all.extend(forms("event", [created, removed, default_set, revised]));
    let rejections = vec![
        Rejection::TooSmall { setting: "harvest.sightingsMin".into(), least: 1 },
        Rejection::TooShort { setting: "machines.poll".into(), least_ms: 100 },
        Rejection::Reversed { setting: "machines.retryMax".into(), other: "machines.retryFirst".into() },
        Rejection::PoolExists { name: pool.clone() },
        Rejection::NoSuchPool { name: pool.clone() },
        Rejection::BadPool { problem: "no".into() },
        Rejection::PoolIsDefault { name: pool },
        Rejection::BadWindows { problem: "window 0 names no day".into() },
        Rejection::NotUsed,
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<policy::State>(Reason::ALL, rejections));
    all
}

pub(super) fn facts() -> Forms {
    vec![form("facts".into(), &StoredFacts { journal: Uuid::from_u128(7) })]
}
