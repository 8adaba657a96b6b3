//! How everything is: what there is, what is in trouble, and what is still missing.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Folded,
    document::Kind,
    machine::{self},
    vocab::{Life, Timestamp, sort_by_key},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    ClockStep, Fleet, HostTrouble,
    alike::{Group, Trouble, groups},
    budgets,
    filesystem_rows::{filesystem_attachments, filesystems},
    harvest::still_listed,
    kinds::{added_rows, kind},
    machine_classes::machine_classes,
    machine_deployments::{MachineDeploymentRow, machine_deployments},
    machine_detail::machine_detail,
    machine_sets::{MachineSetRow, machine_sets},
    providers,
    replica_sets::{ReplicaSetRow, replica_sets},
    rows::{MachineRow, attachments, machines, stray_try, volumes},
};
use crate::words::count;

/// The summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub position: u64,
    pub time_ms: u64,
    /// That the node's time is not the clock's; none if it is, or of the past.
    pub clock: Option<ClockStep>,
    /// What is wrong with the node itself; nothing of the past.
    pub node: Vec<HostTrouble>,
    /// Entities that exist.
    pub total: usize,
    /// Those of them that are as they should be.
    pub ready: usize,
    /// By kind and status.
    pub counts: Vec<Count>,
    /// What needs somebody's eye, by kind and name.
    pub trouble: Vec<Trouble>,
    /// The same, with what is alike told once.
    pub groups: Vec<Group>,
    /// What is not as declared yet and comes along.
    pub progress: Vec<Trouble>,
    /// The same, with what is alike told once.
    pub progress_groups: Vec<Group>,
}

/// How many entities of a kind have a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    pub kind: &'static str,
    pub status: &'static str,
    pub count: usize,
}

/// Something that is declared and not so yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    pub entity: String,
    pub status: &'static str,
    pub why: String,
}

struct Look {
    kind: &'static str,
    name: String,
    status: &'static str,
    ready: bool,
    leaving: bool,
    detail: Option<String>,
    next_try_ms: Option<u64>,
    /// When the next call to its provider goes out, if it waits for the budget of that.
    next_call: Option<Timestamp>,
    held_back: bool,
    changed_ms: u64,
}

impl Look {
    fn entity(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }

    fn stream(&self) -> Option<StreamId> {
        StreamId::new(self.kind, &self.name).ok()
    }

    /// What is missing, or goes on.
    fn why(&self) -> String {
        match (&self.detail, self.leaving) {
            (Some(detail), _) => detail.clone(),
            (None, true) => "it is being removed".into(),
            (None, false) => "it is not ready yet".into(),
        }
    }

    /// Given up, gone, silent or unwell, waiting after a fault, or not as declared while nothing goes on.
    fn is_trouble(&self) -> bool {
        matches!(self.status, "failed" | "lost" | "stale" | "unhealthy" | "held" | "kept" | "disowned")
            || self.next_try_ms.is_some()
            || self.held_back
    }
}

fn looks(fleet: &Fleet) -> Vec<Look> {
    let mut looks = Vec::new();
    let leaving = |life: &str| life != Life::Alive.to_string();
    macro_rules! look {
        ($kind:literal, $rows:expr, $held_back:expr) => {
            looks.extend($rows.into_iter().map(|row| Look {
                held_back: $held_back(&row),
                kind: $kind,
                name: row.name,
                status: row.status,
                ready: row.ready,
                leaving: leaving(&row.life),
                detail: row.detail,
                next_try_ms: row.next_try_ms,
                next_call: None,
                changed_ms: row.changed_ms,
            }));
        };
    }
    // A hold is easily forgotten, so it is told even while nothing was held back.
    let waits = |row: &MachineRow| row.status == "waiting";
    look!("machine", machines(fleet), |row: &MachineRow| row.held.is_some() || row.withheld.is_some() || waits(row));
    look!("volume", volumes(fleet), |_: &_| false);
    look!("volume-attachment", attachments(fleet), |_: &_| false);
    look!("filesystem", filesystems(fleet), |_: &_| false);
    look!("filesystem-attachment", filesystem_attachments(fleet), |_: &_| false);
    look!("machine-set", machine_sets(fleet), |row: &MachineSetRow| row.held.is_some() || row.frozen.is_some());
    let late = |row: &MachineDeploymentRow| row.status == "stuck";
    look!("machine-deployment", machine_deployments(fleet), late);
    look!("machine-class", machine_classes(fleet), |_: &_| false);
    look!("replica-set", replica_sets(fleet), |row: &ReplicaSetRow| !row.ready
        && row.progress.is_none()
        && row.as_of_ms.is_some());
    for (kind, rows) in added_rows(fleet) {
        looks.extend(rows.into_iter().map(|row| Look {
            held_back: false,
            kind,
            name: row.name,
            status: row.status,
            ready: row.ready,
            leaving: leaving(&row.life),
            detail: row.detail,
            next_try_ms: row.next_try_ms,
            next_call: None,
            changed_ms: row.changed_ms,
        }));
    }
    for look in &mut looks {
        let Some(stream) = look.stream() else { continue };
        if let Some(wait) = providers::wait(fleet, &stream) {
            (look.detail, look.next_call) = (Some(wait.text()), wait.until);
        } else if let Some(wait) = budgets::wait(fleet, &stream) {
            (look.detail, look.next_call) = (Some(wait.text()), Some(wait.next_at));
        }
    }
    looks
}

/// The summary of a fleet.
pub fn status(fleet: &Fleet) -> Status {
    let looks = looks(fleet);
    let mut counts: BTreeMap<(&'static str, &'static str), usize> = BTreeMap::new();
    for look in &looks {
        *counts.entry((look.kind, look.status)).or_default() += 1;
    }
    let told = |look: &Look| Trouble {
        entity: look.entity(),
        status: look.status,
        why: look.why(),
        since_ms: since(fleet, look).0,
        next_try_ms: look.next_call.map(|at| at.0).or(look.next_try_ms),
    };
    let trouble = looks.iter().filter(|look| look.is_trouble()).map(told);
    let trouble: Vec<Trouble> = trouble
        .chain(left_behind(fleet))
        .chain(returned(fleet))
        .chain(outages(fleet))
        .chain(providers::held(fleet))
        .chain(unknown(fleet))
        .collect();
    let on_its_way = |look: &&Look| !look.is_trouble() && (look.leaving || !look.ready);
    let progress: Vec<Trouble> = looks.iter().filter(on_its_way).map(told).collect();
    Status {
        groups: groups(&trouble),
        progress_groups: groups(&progress),
        progress,
        position: fleet.position.0,
        time_ms: fleet.time.0,
        clock: None,
        node: Vec::new(),
        total: looks.len(),
        ready: looks.iter().filter(|look| look.ready).count(),
        trouble,
        counts: counts.into_iter().map(|((kind, status), count)| Count { kind, status, count }).collect(),
    }
}

/// Providers that do not answer: nothing is replaced there.
fn outages(fleet: &Fleet) -> impl Iterator<Item = Trouble> {
    fleet.seen.out.iter().map(|(provider, since)| {
        let fault = fleet.seen.failing.get(provider).map(|fault| format!(" ({fault})")).unwrap_or_default();
        Trouble {
            entity: format!("provider/{provider}"),
            status: "out",
            why: format!("it does not answer{fault}: none of its machines is replaced until it does"),
            since_ms: since.0,
            next_try_ms: None,
        }
    })
}

/// Kinds that this program does not know: nothing is done about their entities.
fn unknown(fleet: &Fleet) -> impl Iterator<Item = Trouble> {
    fleet.unknown.iter().map(|(kind, unknown)| Trouble {
        entity: format!("kind/{kind}"),
        status: "unknown",
        why: format!(
            "the journal has {} of this kind, which this program does not know and leaves alone; run the program that registers it",
            count(unknown.names.len(), "object")
        ),
        since_ms: unknown.since.0,
        next_try_ms: None,
    })
}

/// Instances whose deletion was confirmed and that are listed all the same.
fn returned(fleet: &Fleet) -> impl Iterator<Item = Trouble> {
    still_listed(fleet).map(|(unknown, since)| {
        let instance = unknown.instance.map_or_else(|| "an instance".to_owned(), |name| format!("instance {name}"));
        Trouble {
            entity: format!("machine/{}", unknown.machine),
            status: "left-behind",
            why: format!("its provider said that {instance} is deleted, and still lists it; {}", unknown.why),
            since_ms: since.0,
            next_try_ms: unknown.not_before_ms,
        }
    })
}

/// Machines that are gone, and of which an instance that should be is not: deleting it has failed so far.
fn left_behind(fleet: &Fleet) -> impl Iterator<Item = Trouble> {
    let gone = fleet.machines.iter().filter(|(_, folded)| !folded.state.life.exists());
    gone.filter_map(|(name, Folded { state, .. })| {
        let is_failing = |stray: &machine::Stray| stray.effort.fault().is_some();
        state.strays.values().any(is_failing).then(|| Trouble {
            entity: format!("machine/{name}"),
            status: "left-behind",
            why: machine_detail(state, fleet.time).unwrap_or_else(|| "one of its instances still exists".to_owned()),
            since_ms: state.strays.values().map(|stray| stray.effort.since.0).min().unwrap_or_default(),
            next_try_ms: stray_try(state).map(|until| until.0),
        })
    })
}

/// Since when an entity is as it is: since the present work on it began, its agent was heard last, or it was read first
/// like this; else since it changed last.
fn since(fleet: &Fleet, look: &Look) -> Timestamp {
    let stream = StreamId::new(look.kind, &look.name).ok();
    let since = stream.and_then(|stream| (kind(look.kind)?.since)(fleet, &stream));
    since.unwrap_or(Timestamp(look.changed_ms))
}

/// What is missing until everything is as declared: machines run and their agents report that all is well, volumes are
/// there, attachments are attached, and what was to go is gone. Empty when the fleet has converged.
pub fn pending(fleet: &Fleet) -> Vec<Pending> {
    // What is kept for somebody to look at is out of service: nobody waits for it.
    let is_open = |look: &Look| look.status != "kept" && (look.leaving || !look.ready);
    let open = looks(fleet).into_iter().filter(is_open);
    open.map(|look| Pending { entity: look.entity(), status: look.status, why: look.why() }).collect()
}

/// The same by the clock, where recorded times are ahead of it.
pub fn pending_by_clock(fleet: &Fleet) -> Vec<Pending> {
    let by_clock = |open: Pending| Pending { why: fleet.calendar.told(&open.why, fleet.time), ..open };
    pending(fleet).into_iter().map(by_clock).collect()
}

/// How one entity is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub entity: String,
    pub status: &'static str,
    /// Whether it is as declared.
    pub ready: bool,
}

/// How each entity is that is declared and not gone, documents and policies left out.
pub fn standings(fleet: &Fleet) -> impl Iterator<Item = Standing> {
    looks(fleet).into_iter().map(|look| Standing { entity: look.entity(), status: look.status, ready: look.ready })
}

/// The entities that are declared and not gone, policies and accounts left out: attachments first, because they go first.
pub fn declared(fleet: &Fleet) -> Vec<StreamId> {
    let of_kind = |kind: Kind| fleet.documents.existing(kind).map(move |(name, _)| StreamId::new(kind.as_str(), name));
    // Who removes everything can still ask whether it is gone.
    let documents = Kind::ALL.into_iter().filter(|kind| !kind.is_access()).flat_map(of_kind).flatten();
    let mut streams: Vec<StreamId> = looks(fleet)
        .iter()
        .map(|look| StreamId::new(look.kind, &look.name).expect("the name of a stream of the journal"))
        .chain(documents)
        .collect();
    sort_by_key(&mut streams, |stream| (!stream.kind().ends_with("-attachment"), stream.clone()));
    streams
}

/// The entities that may have been meant by a name that nobody has, best first.
pub fn near_matches(fleet: &Fleet, entity: &StreamId) -> Vec<String> {
    let policies = fleet.policies.iter().filter_map(|(name, _)| StreamId::new("policy", name).ok());
    let accounts = fleet.documents.accounts().filter_map(|it| StreamId::new(Kind::Account.as_str(), it.name).ok());
    let all: Vec<StreamId> = declared(fleet).into_iter().chain(policies).chain(accounts).collect();
    crate::words::near(all.iter(), entity.as_str()).iter().map(ToString::to_string).collect()
}
