//! Why something is not so: the first thing that is missing for it, what would bring it, and when it is looked at next.

use bailiwick_actors::{
    contract::{Decider, NoView},
    filesystem, filesystem_attachment,
    machine::{self, Effect, Health, Instance, Node},
    machine_class, machine_set, member, replica_set,
    supervisor::machines::Withholding,
    vocab::{Effort, Life, Name, Outlook, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;
use serde::Serialize;

use super::{
    Fleet, blockers,
    why_not_sets::{of_machine_set, of_member, of_other, of_replica_set},
    why_not_storage::{storage_ready, storage_removed},
};
use crate::words::{caused, until, withheld, withholding};

/// Everything that somebody can be asked not to be.
pub const WANTED: [&str; 8] =
    ["ready", "running", "replaced", "attached", "mounted", "voting", "at-its-number", "removed"];

/// What an entity of this kind can be asked about.
pub fn goals(kind: &str) -> &'static [&'static str] {
    match kind {
        machine::State::KIND => &["ready", "running", "replaced", "removed"],
        volume::State::KIND | volume_attachment::State::KIND => &["ready", "attached", "removed"],
        filesystem::State::KIND | filesystem_attachment::State::KIND => &["ready", "mounted", "removed"],
        machine_set::State::KIND | replica_set::State::KIND => &["ready", "at-its-number", "removed"],
        member::State::KIND => &["ready", "voting", "removed"],
        machine_class::State::KIND => &["ready", "removed"],
        _ => &[],
    }
}

/// Whether somebody can say why an entity of this kind is not so.
pub fn can_be_asked(kind: &str, wanted: &str) -> bool {
    goals(kind).contains(&wanted)
}

/// What this kind can be asked about, in words; or which kinds can be asked.
pub fn askable(kind: &str) -> String {
    match goals(kind) {
        [] => "ask about machines, storage, sets, replica sets and their members".to_owned(),
        goals => format!("a {kind} can be asked about being {}", goals.join(", ")),
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyNot {
    pub entity: String,
    pub wanted: String,
    /// Whether it is so already.
    pub holds: bool,
    /// The first thing that is missing.
    pub unmet: Option<Unmet>,
}

/// Something that is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unmet {
    /// What would have to be so.
    pub precondition: &'static str,
    /// Why it is not.
    pub because: String,
    /// What would make it so.
    pub satisfied_by: String,
    /// When it is looked at next by itself; none if only somebody's word or report can bring it.
    pub next_look: Option<String>,
    pub next_look_ms: Option<u64>,
    /// How long until then; 0 if it is due.
    pub next_look_in_ms: Option<u64>,
    /// Whom it waits for, if it is another entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
}

impl Unmet {
    pub(super) fn new(precondition: &'static str, because: impl Into<String>, satisfied_by: impl Into<String>) -> Self {
        let (because, satisfied_by) = (because.into(), satisfied_by.into());
        Self { precondition, because, satisfied_by, ..Self::default() }
    }

    pub(super) fn looked_at(self, at: Option<Timestamp>) -> Self {
        Self { next_look: at.map(|at| at.to_string()), next_look_ms: at.map(|at| at.0), ..self }
    }
}

/// Why an entity is not so; none if nothing was ever heard of it, or nobody can say for its kind.
pub fn why_not(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<WhyNot> {
    if !can_be_asked(entity.kind(), wanted) {
        return None;
    }
    let name = entity.name();
    let unmet = match entity.kind() {
        machine::State::KIND => {
            let state = fleet.machines.get(name)?;
            match wanted {
                "removed" => removed(fleet, entity, state),
                "replaced" => replaced(fleet, entity, state),
                _ => running(fleet, entity, state),
            }
        }
        machine_set::State::KIND => of_machine_set(fleet, name, wanted)?,
        replica_set::State::KIND => of_replica_set(fleet, name, wanted)?,
        member::State::KIND => of_member(fleet, name, wanted)?,
        machine_class::State::KIND => class(fleet, entity, wanted)?,
        _ if wanted == "removed" => storage_removed(fleet, entity)?,
        _ => storage_ready(fleet, entity, wanted)?,
    };
    let unmet = unmet
        .map(|unmet| Unmet { next_look_in_ms: unmet.next_look_ms.map(|at| Timestamp(at).since(fleet.time)), ..unmet });
    Some(WhyNot { entity: entity.to_string(), wanted: wanted.to_owned(), holds: unmet.is_none(), unmet })
}

/// What is missing if it is not even declared, or is on its way out.
pub(super) fn declared(life: Life) -> Option<Unmet> {
    match life {
        Life::Alive => None,
        Life::Undeclared | Life::Removed => {
            let by = "declare it with `bailiwick apply`";
            Some(Unmet::new("it is declared", format!("it is {life}"), by))
        }
        Life::Dying | Life::Dead => {
            let by = "wait until it is removed, then declare it anew with `bailiwick apply`";
            Some(Unmet::new("it is to stay", format!("its removal was asked for: it is {life}"), by))
        }
    }
}

#[allow(clippy::option_option, reason = "not known is something else than so")]
fn class(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<Option<Unmet>> {
    let state = fleet.machine_classes.get(entity.name())?;
    Some(match (wanted, state.life) {
        ("removed", Life::Undeclared | Life::Removed) => None,
        ("removed", Life::Alive) => {
            let by = format!("`bailiwick remove {entity}`");
            Some(Unmet::new("its removal is asked for", "nobody asked for it", by))
        }
        ("removed", _) => Some(match state.users.iter().next() {
            Some(user) => of_other(fleet, &format!("machine/{user}"), "removed", "no machine uses it"),
            None => Unmet::new("nothing blocks its removal", "it is on its way", "that ends by itself"),
        }),
        (_, life) => declared(life),
    })
}

/// When a machine is looked at next by itself.
pub(super) fn next_look(state: &machine::State) -> Option<Timestamp> {
    let due = |effect| match effect {
        Effect::WakeAt(due) => Some(due),
        _ => None,
    };
    state.pending(&NoView).into_iter().filter_map(due).min()
}

fn running(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let next = next_look(state);
    if let Some(unmet) = declared(state.life) {
        return Some(unmet);
    }
    if state.is_ready() {
        return None;
    }
    if let Some(hold) = state.hold.as_ref().filter(|hold| !hold.withheld.is_empty()) {
        let would: Vec<&str> = hold.withheld.iter().map(|step| withheld(*step)).collect();
        let because = format!("it is held ({}), or {}", hold.reason, would.join(" and "));
        let by = format!("`bailiwick unhold {entity}`");
        return Some(Unmet::new("nobody holds it", because, by).looked_at(hold.until));
    }
    let provider = state.spec.as_ref().map(|spec| &spec.provider);
    let silence = provider.and_then(|name| Some((name, fleet.seen.failing.get(name)?)));
    let is_running = matches!(state.instance, Instance::Running { .. });
    if let (Some((name, fault)), false) = (silence, is_running) {
        let because = format!("provider {name} could not be asked: {fault}");
        let by = format!("provider {name} answers again; it is asked all the time");
        return Some(Unmet::new("its provider answers", because, by).looked_at(next));
    }
    if let Some(class) = state.awaits_class() {
        return Some(of_class(fleet, class));
    }
    if let Some((why, since)) = state.unstartable() {
        let because = format!("{why}, since {since}");
        return Some(Unmet::new("everything that its start needs is there", because, why.remedy()));
    }
    if state.awaits_site() {
        return Some(site(fleet, entity, state));
    }
    instance(entity, state)
        .map(|unmet| unmet.looked_at(next))
        .or_else(|| node(state).map(|unmet| unmet.looked_at(next)))
}

/// It waits for what its class says.
fn of_class(fleet: &Fleet, class: &Name) -> Unmet {
    let precondition = "its class says what is made";
    let known = fleet.machine_classes.get(class.as_str()).filter(|state| state.life.exists());
    let Some(content) = known.and_then(|state| state.content.as_ref()) else {
        let by = "declare the class, or have the machine made from another one, with `bailiwick apply`";
        return Unmet::new(precondition, format!("there is no machine class {class}"), by);
    };
    let because = format!("it takes what class {class} says, which is for provider {}", content.provider);
    Unmet::new(precondition, because, "the machine sets supervisor's next look; machine and class have one provider")
}

/// It waits for a zone: until its provider has told which there are, or there is one that it may be in.
fn site(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Unmet {
    let precondition = "the zone of its instance is chosen";
    let is_withheld = entity.name().parse().is_ok_and(|name: Name| fleet.seen.withheld.contains_key(&name));
    if is_withheld {
        if let Some((volume, zone)) = state.volume_zones.iter().next() {
            let because = format!("its volume {volume} is in zone {zone}, and it may not be there");
            let by = format!("let it be in zone {zone}, or `bailiwick detach volume/{volume} {}`", entity.name());
            return Unmet::new(precondition, because, by);
        }
        let by = "a zone of its provider that it may be in; they are asked for with every list";
        return Unmet::new(precondition, withholding(&Withholding::NoZone), by);
    }
    let last = state.site.blamed.iter().next_back();
    let because = match last {
        Some((zone, fault)) => format!("it could not be made in zone {zone}: {fault}"),
        None => "the zones of its provider are not known yet, or one is being chosen".to_owned(),
    };
    Unmet::new(precondition, because, "the machines supervisor's choice, after the next list of its provider")
}

fn instance(entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let again = || format!("`bailiwick retry-provisioning {entity}`");
    match &state.instance {
        Instance::Running { .. } => None,
        Instance::None => {
            let by = format!("`bailiwick adopt {entity}`, or {}, which makes another one", again());
            Some(Unmet::new("it has an instance", "it was told to let go of its instance", by))
        }
        Instance::Creating(effort) => Some(effort_unmet("its instance is made", "making it", effort, again())),
        Instance::Deleting { effort, .. } => {
            let what = "the remains of its last instance are gone";
            Some(effort_unmet(what, "deleting them", effort, again()))
        }
        Instance::Lost { since, .. } => {
            let because = format!("its instance is gone since {since}, and the policy leaves it so");
            Some(Unmet::new("it has an instance", because, again()))
        }
    }
}

pub(super) fn effort_unmet(precondition: &'static str, doing: &str, effort: &Effort, again: String) -> Unmet {
    match &effort.outlook {
        Outlook::Trying => {
            let because = format!("{doing} is under way, attempt {} since {}", effort.attempt, effort.since);
            Unmet::new(precondition, because, "the provider's answer, or the end of its time")
        }
        Outlook::Waiting { fault, .. } => {
            let because = format!("{doing} failed: {fault}");
            Unmet::new(precondition, because, format!("attempt {}, or at once with {again}", effort.attempt))
        }
        Outlook::GivenUp { fault } => {
            let because = format!("{doing} was given up after attempt {}: {fault}", effort.attempt);
            Unmet::new(precondition, because, format!("{again}, which begins a new series of attempts"))
        }
    }
}

fn node(state: &machine::State) -> Option<Unmet> {
    match &state.node {
        Node::Silent => {
            Some(Unmet::new("its agent reports", "its agent has not reported yet", "the agent's first report"))
        }
        Node::Stale { last_seen, .. } => {
            let because = format!("its agent is silent since {last_seen}");
            Some(Unmet::new("its agent reports", because, "the agent's next report"))
        }
        Node::Reporting { conditions, .. } => {
            let bad = conditions.values().find(|condition| !condition.healthy)?;
            let because = format!("{}: {}", bad.kind, bad.text);
            Some(Unmet::new("all its conditions are good", because, "a report of its agent that says otherwise"))
        }
    }
}

fn replaced(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let next = next_look(state);
    if state.life != Life::Alive {
        return Some(Unmet::new("it is declared and stays", format!("it is {}", state.life), "nothing: it goes"));
    }
    let Instance::Running { .. } = state.instance else {
        // What is on its way is asked about as running.
        return running(fleet, entity, state);
    };
    let name = entity.name().parse().ok();
    if let Some(why) = name.and_then(|name: Name| fleet.seen.withheld.get(&name)) {
        let by = match why {
            Withholding::ZoneSilent { .. } => {
                format!("a machine there that is well again, or `bailiwick retry {entity}`")
            }
            Withholding::NoZone => "a zone of its provider that it may be in".to_owned(),
            Withholding::BudgetSpent => {
                format!("the end of a replacement that is under way, or `bailiwick retry {entity}`")
            }
        };
        return Some(Unmet::new("nothing withholds its replacement", withholding(why), by).looked_at(next));
    }
    let because = match &state.health {
        Health::Unjudged | Health::Well { .. } => "it is well".to_owned(),
        Health::Joining { until: at, .. } => format!("it may take {} to become well", until(fleet.time, *at)),
        Health::Suspect { cause, until: at, .. } => {
            format!("{}, and it may take {}", caused(*cause), until(fleet.time, *at))
        }
        Health::Overdue { since, .. } => format!("its time is over since {since}; the machines supervisor decides"),
    };
    let by = "the end of that time, or the loss of its instance";
    Some(Unmet::new("it has failed", because, by).looked_at(next))
}

fn removed(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let next = next_look(state);
    match state.life {
        Life::Removed | Life::Undeclared => return None,
        Life::Alive => {
            let because = match &state.hold {
                Some(hold) => format!("nobody asked for it; and it is held: {}", hold.reason),
                None => "nobody asked for it".to_owned(),
            };
            return Some(Unmet::new("its removal is asked for", because, format!("`bailiwick remove {entity}`")));
        }
        Life::Dying | Life::Dead => (),
    }
    let by = format!("that ends by itself; `bailiwick remove {entity} --force` does not wait for it");
    let first = blockers(fleet, entity).into_iter().next();
    let because =
        first.map_or_else(|| "it is on its way".to_owned(), |blocker| format!("{}: {}", blocker.by, blocker.why));
    Some(Unmet::new("nothing blocks its removal", because, by).looked_at(next))
}
