//! Why an entity is not in a wanted state: the first thing that is missing, what helps, and when it is checked next.

use bailiwick_actors::{
    machine::{self, Aside, Health, Instance, Node, is_overdue},
    policy::WhenLost,
    supervisor::machines::Withholding,
    vocab::{Effort, FaultClass, Life, Name, Outlook, Timestamp},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fleet, blockers, budgets, clients,
    effort::next_look,
    kinds::{goals, kind},
    machine_detail::lacks_components,
    providers,
    unmet::Unmet,
};
use crate::words::{caused, until, withheld, withholding};

/// All states that can be asked about.
pub const WANTED: [&str; 8] =
    ["ready", "running", "replaced", "attached", "mounted", "voting", "at-its-number", "removed"];

/// Whether there is an answer for an entity of this kind.
pub fn can_be_asked(kind: &str, wanted: &str) -> bool {
    goals(kind).contains(&wanted)
}

/// What this kind can be asked about, in words; or which kinds can be asked.
pub fn askable(kind: &str) -> String {
    match goals(kind) {
        [] => "ask about a machine, storage, a set, a replica set or a member".to_owned(),
        goals => format!("for a {kind}, ask about {}", goals.join(", ")),
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNot {
    pub entity: String,
    pub wanted: String,
    /// Whether it is in that state already.
    pub holds: bool,
    /// The first thing that is missing.
    pub unmet: Option<Unmet>,
}

/// What is missing until an entity is ready, or gone if it is being removed. None if nothing is, or if its kind cannot be
/// asked about.
pub fn missing(fleet: &Fleet, entity: &StreamId) -> Option<Unmet> {
    let wanted = if fleet.life(entity) == Some(Life::Alive) { "ready" } else { "removed" };
    why_not(fleet, entity, wanted)?.unmet
}

/// Why an entity is not in that state; none if it never existed, or there is no answer for its kind.
pub fn why_not(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<WhyNot> {
    if !can_be_asked(entity.kind(), wanted) {
        return None;
    }
    let unmet = (kind(entity.kind())?.missing)(fleet, entity, wanted)?;
    let is_kept = wanted == "removed" && fleet.is_protected(entity);
    let unmet = if is_kept { Some(protected(entity)) } else { unmet };
    let unmet = unmet.map(|unmet| match (providers::wait(fleet, entity), budgets::wait(fleet, entity)) {
        (Some(wait), _) => wait.unmet(),
        (None, Some(wait)) => wait.unmet(),
        (None, None) => unmet,
    });
    let unmet = unmet
        .map(|unmet| Unmet { next_look_in_ms: unmet.next_look_ms.map(|at| Timestamp(at).since(fleet.time)), ..unmet });
    Some(WhyNot { entity: entity.to_string(), wanted: wanted.to_owned(), holds: unmet.is_none(), unmet })
}

/// What a machine lacks; none at all if nothing was ever heard of it.
#[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
pub(super) fn machine_missing(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<Option<Unmet>> {
    let state = fleet.machines.get(entity.name())?;
    Some(match wanted {
        "removed" => removed(fleet, entity, state),
        "replaced" => replaced(fleet, entity, state),
        _ => running(fleet, entity, state),
    })
}

/// What is missing for a removal that nobody requested, and why.
pub(super) const A_REQUEST: &str = "a removal request";
pub(super) const NO_REQUEST: &str = "no removal was requested";
/// What is missing for a removal that is under way.
pub(super) const THE_END: &str = "completion of its removal";

/// What is missing for the removal of what is protected.
fn protected(entity: &StreamId) -> Unmet {
    let by = format!("`bailiwick unprotect {entity}`, then `bailiwick delete {entity}`");
    Unmet::new("the end of its protection", "it is protected from deletion", by)
}

/// What is missing for the removal of what is held: a request alone would be refused.
fn held(entity: &StreamId, hold: &machine::Hold) -> Unmet {
    let because = format!("it is held ({}), and {NO_REQUEST}", hold.reason);
    let by = format!(
        "`bailiwick unhold {entity}`, then `bailiwick delete {entity}`; or `bailiwick delete {entity} --force`, which \
         does not wait for its workloads"
    );
    Unmet::new("the end of its hold", because, by).looked_at(hold.until)
}

/// It failed, and would be replaced if it were not protected.
fn kept(entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let because = match &state.instance {
        Instance::Lost { since, .. } => format!("its instance has been gone since {since}"),
        _ => "it did not become healthy in time".to_owned(),
    };
    let because = format!("{because}, and it is protected: the node deletes nothing of it");
    let command = format!("bailiwick unprotect {entity}");
    let satisfied_by = format!("`{command}`; it is then replaced");
    let unmet = Unmet { satisfied_by, ..Unmet::of_operator("the end of its protection", because, command) };
    state.is_kept_by_protection().then_some(unmet)
}

/// What is missing if it is not declared, or is being removed.
pub(super) fn declared(life: Life) -> Option<Unmet> {
    match life {
        Life::Alive => None,
        Life::Undeclared | Life::Removed => {
            let by = "`bailiwick apply` its manifest";
            let unmet = Unmet::new("a declaration", format!("it is {life}"), by);
            Some(Unmet { command: Some(APPLY.to_owned()), ..unmet })
        }
        Life::Dying | Life::Dead => {
            let by = "wait until it is removed, then `bailiwick apply` its manifest again";
            Some(Unmet::new("a declaration", format!("it is being removed ({life})"), by))
        }
    }
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
        let because = format!("it is held ({}), which holds back {}", hold.reason, would.join(" and "));
        let command = format!("bailiwick unhold {entity}");
        return Some(Unmet::of_operator("the end of its hold", because, command).looked_at(hold.until));
    }
    if let Some(aside) = state.aside {
        return Some(out_of_service(fleet, entity, aside));
    }
    if let Some(unmet) = kept(entity, state) {
        return Some(unmet);
    }
    let provider = state.spec.as_ref().map(|spec| &spec.provider);
    let silence = provider.and_then(|name| Some((name, fleet.seen.failing.get(name)?)));
    let is_running = matches!(state.instance, Instance::Running { .. });
    if let (Some((name, fault)), false) = (silence, is_running) {
        let because = format!("provider {name} does not answer: {fault}");
        let by = format!("an answer from provider {name}, which the node keeps polling");
        return Some(Unmet::new("an answer from its provider", because, by).looked_at(next));
    }
    if let Some(class) = state.awaits_class() {
        return Some(of_class(fleet, class));
    }
    if let Some((why, since)) = state.unstartable() {
        let because = format!("{why} (since {since})");
        let unmet = Unmet::new("something it needs to start", because, why.remedy());
        return Some(Unmet { blocked_by: why.host().map(|host| format!("machine/{host}")), ..unmet });
    }
    if let Some(awaited) = clients::awaited(state) {
        return Some(awaited.unmet());
    }
    if state.awaits_site() {
        return Some(site(fleet, entity, state));
    }
    instance(fleet, entity, state)
        .map(|unmet| unmet.looked_at(next))
        .or_else(|| node(entity, state).map(|unmet| unmet.looked_at(next)))
}

/// It failed, and its set has another machine in its place.
fn out_of_service(fleet: &Fleet, entity: &StreamId, aside: Aside) -> Unmet {
    if aside.is_over {
        let because = "it failed and is no longer kept for diagnosis; its set removes it";
        return Unmet::new("a machine in service", because, "nothing to do: its set has replaced it");
    }
    let because = format!("it is out of service, and kept for diagnosis {}", until(fleet.time, aside.until));
    let unmet = Unmet::new("the end of its time for diagnosis", because, format!("`bailiwick unkeep {entity}`"));
    unmet.looked_at(Some(aside.until))
}

/// The command line for what only another manifest brings about.
pub(super) const APPLY: &str = "bailiwick apply FILE";

/// It waits for what its class says.
fn of_class(fleet: &Fleet, class: &Name) -> Unmet {
    let precondition = "a usable class";
    let known = fleet.machine_classes.get(class.as_str()).filter(|state| state.life.exists());
    let Some(content) = known.and_then(|state| state.content.as_ref()) else {
        let by = "`bailiwick apply` the class, or a machine with another class";
        let unmet = Unmet::new(precondition, format!("machine class {class} does not exist"), by);
        return Unmet { command: Some(APPLY.to_owned()), ..unmet };
    };
    let because = format!("it waits to use class {class}, which is for provider {}", content.provider);
    Unmet::new(
        precondition,
        because,
        "the next check of supervisor/machine-sets; machine and class need the same provider",
    )
}

/// It waits for a zone: until its provider has told which there are, or there is one that it may be in.
fn site(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Unmet {
    let precondition = "a zone for its instance";
    let is_withheld = entity.name().parse().is_ok_and(|name: Name| fleet.seen.withheld.contains_key(&name));
    if is_withheld {
        if let Some((volume, zone)) = state.volume_zones.iter().next() {
            let because = format!("its volume {volume} is in zone {zone}, which the machine does not allow");
            let command = format!("bailiwick detach volume/{volume} {}", entity.name());
            let by = format!("allow zone {zone} in its spec, or `{command}`");
            return Unmet { command: Some(command), ..Unmet::new(precondition, because, by) };
        }
        let by = "`bailiwick apply` it with a zone that its provider lists; the node asks for the list with every poll";
        let unmet = Unmet::new(precondition, withholding(&Withholding::NoZone), by);
        return Unmet { command: Some(APPLY.to_owned()), ..unmet };
    }
    let last = state.site.blamed.iter().next_back();
    let because = match last {
        Some((zone, fault)) => format!("creating it in zone {zone} failed: {fault}"),
        None => "the zones of its provider are not known yet, or one is being chosen".to_owned(),
    };
    Unmet::new(precondition, because, "supervisor/machines chooses one after the next list from its provider")
}

fn instance(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let again = || format!("`bailiwick retry {entity}`");
    match &state.instance {
        Instance::Running { .. } => None,
        Instance::None => {
            let by = format!("`bailiwick adopt {entity}`, or {} to create a new one", again());
            Some(Unmet::new("an instance", "its instance was disowned", by))
        }
        Instance::Creating(effort) => Some(effort_unmet("an instance", "creating it", effort, again())),
        Instance::Deleting { effort, .. } => {
            let what = "the deletion of its last instance";
            Some(effort_unmet(what, "deleting it", effort, again()))
        }
        Instance::Lost { since, .. } => {
            let because = format!("its instance has been gone since {since}, and the policy does not replace it");
            let is_final = fleet.policy().machines.when_lost == WhenLost::Keep;
            let command = is_final.then(|| format!("bailiwick retry {entity}"));
            Some(Unmet { command, ..Unmet::new("an instance", because, again()) })
        }
    }
}

pub(super) fn effort_unmet(precondition: &'static str, doing: &str, effort: &Effort, again: String) -> Unmet {
    match &effort.outlook {
        Outlook::Trying => {
            let because = format!("{doing} is under way (attempt {}, since {})", effort.attempt, effort.since);
            Unmet::new(precondition, because, "the provider's answer, or the time limit of the call")
        }
        Outlook::Waiting { fault, .. } => {
            let because = format!("{doing} failed: {fault}");
            Unmet::new(precondition, because, format!("attempt {}, or {again} to retry now", effort.attempt))
        }
        Outlook::GivenUp { fault, again: by_itself } => {
            let because = format!("the node gave up {doing} after attempt {}: {fault}", effort.attempt);
            let by = match by_itself {
                Some(_) => format!("a new series of attempts, by itself, or {again} to retry now"),
                None if fault.code.class() == FaultClass::Permanent => {
                    format!("correct what the provider refuses, then {again}")
                }
                None => format!("{again} starts a new series of attempts"),
            };
            Unmet::new(precondition, because, by)
        }
    }
}

fn node(entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let (is_overdue, replace) = (is_overdue(state), format!("`bailiwick retry {entity}` to replace its instance now"));
    match &state.node {
        Node::Silent => {
            let by = or("its first health report", is_overdue.then_some(replace));
            Some(Unmet::new("a health report", "no health report has come yet", by))
        }
        Node::Stale { last_seen, .. } => {
            let because = format!("the last health report came at {last_seen}");
            let by = or("its next health report", is_overdue.then_some(replace));
            Some(Unmet::new("a health report", because, by))
        }
        Node::Reporting { conditions, .. } => {
            let remove = format!("`bailiwick delete {entity}` to remove the machine");
            let command = Some(if is_overdue { replace } else { remove });
            let Some(bad) = conditions.values().find(|condition| !condition.healthy.is_yes()) else {
                return judged(state, command);
            };
            let because = format!("{}: {}", bad.kind, bad.text);
            Some(Unmet::new("healthy conditions", because, or("a report that all are healthy", command)))
        }
    }
}

/// What a machine lacks whose reports name nothing that is wrong.
fn judged(state: &machine::State, command: Option<String>) -> Option<Unmet> {
    if state.lacks_components() {
        let by = or("the removal of that taint from its node or from the machine's spec", command);
        return Some(Unmet::new("its node's critical components", lacks_components(), by));
    }
    let is_well = matches!(state.health, Health::Well { .. });
    let by = or("a report with conditions that are healthy", command);
    (!is_well).then(|| Unmet::new("a health report", "its last report was not enough to judge it healthy", by))
}

/// What helps by itself, or else what an operator can do.
fn or(by_itself: &str, command: Option<String>) -> String {
    command.map_or_else(|| by_itself.to_owned(), |command| format!("{by_itself}, or {command}"))
}

fn replaced(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let next = next_look(state);
    if state.life != Life::Alive {
        return Some(Unmet::new(
            "a machine that is not being removed",
            format!("it is {}", state.life),
            "nothing to do: it is being removed",
        ));
    }
    let Instance::Running { .. } = state.instance else {
        // What has no running instance is asked about as running.
        return running(fleet, entity, state);
    };
    if let Some(unmet) = kept(entity, state) {
        return Some(unmet);
    }
    if let Some(hold) = &state.hold {
        let because = format!("it is held ({}): nothing is replaced until the hold ends", hold.reason);
        let by = format!("`bailiwick unhold {entity}`");
        return Some(Unmet::new("the end of its hold", because, by).looked_at(hold.until));
    }
    if let Some(aside) = state.aside {
        return Some(out_of_service(fleet, entity, aside));
    }
    let name = entity.name().parse().ok();
    if let Some(why) = name.and_then(|name: Name| fleet.seen.withheld.get(&name)) {
        let by = match why {
            Withholding::ZoneSilent { .. } => {
                format!("a machine in that zone that becomes healthy, or `bailiwick retry {entity}`")
            }
            Withholding::AllSilent => {
                format!("a machine that becomes healthy, in any zone, or `bailiwick retry {entity}`")
            }
            Withholding::ProviderOut { provider } => {
                format!(
                    "an answer from provider {provider}, which the node keeps polling, or `bailiwick retry {entity}`"
                )
            }
            Withholding::Asking { provider } => {
                format!("the answer of provider {provider}, or `bailiwick retry {entity}`")
            }
            Withholding::RunsThere { .. } => {
                format!("its next health report, the loss of its instance, or `bailiwick retry {entity}`")
            }
            Withholding::NoZone => "a zone of its provider that its spec allows".to_owned(),
            Withholding::BudgetSpent => {
                format!("the end of another replacement, or `bailiwick retry {entity}`")
            }
        };
        return Some(Unmet::new("room for its replacement", withholding(why), by).looked_at(next));
    }
    let because = match &state.health {
        Health::Unjudged | Health::Well { .. } => match state.bad_conditions().next() {
            Some(bad) => format!("{} ({}) is not one of its nodeConditions", bad.kind, bad.text),
            None => "it is healthy".to_owned(),
        },
        Health::Joining { until: at, .. } => format!("it has {} to become healthy", until(fleet.time, *at)),
        Health::Suspect { cause, until: at, .. } => {
            format!("{}; it has {} to recover", caused(*cause), until(fleet.time, *at))
        }
        Health::Overdue { since, .. } => {
            format!("its time ran out at {since}; supervisor/machines decides whether to replace it")
        }
    };
    let by = match &state.health {
        Health::Unjudged | Health::Well { .. } if state.bad_conditions().next().is_some() => {
            "to have it replaced when this condition fails, add the condition to nodeConditions of the machine, its class or the policy"
        }
        Health::Unjudged | Health::Well { .. } => "nothing to do: it is replaced once it fails",
        Health::Joining { .. } => {
            "nothing to do: it is replaced if it is not healthy by then, or if its instance is lost"
        }
        Health::Suspect { .. } => {
            "nothing to do: it is replaced if it has not recovered by then, or if its instance is lost"
        }
        Health::Overdue { .. } => "the next check of supervisor/machines",
    };
    Some(Unmet::new("a reason to replace it", because, by).looked_at(next))
}

fn removed(fleet: &Fleet, entity: &StreamId, state: &machine::State) -> Option<Unmet> {
    let next = next_look(state);
    match state.life {
        Life::Removed | Life::Undeclared => return None,
        Life::Alive => {
            return Some(match &state.hold {
                Some(hold) => held(entity, hold),
                None => Unmet::new(A_REQUEST, NO_REQUEST, format!("`bailiwick delete {entity}`")),
            });
        }
        Life::Dying | Life::Dead => (),
    }
    if let Some(awaited) = clients::awaited(state) {
        let unmet = awaited.unmet();
        let by = format!("{}; or `bailiwick delete {entity} --force`, which does not wait", unmet.satisfied_by);
        return Some(Unmet { satisfied_by: by, ..unmet });
    }
    let by = format!("it completes by itself; `bailiwick delete {entity} --force` does not wait");
    let first = blockers(fleet, entity).into_iter().next();
    let because = first.map_or_else(
        || "its removal is under way".to_owned(),
        |blocker| format!("it waits for {}: {}", blocker.by, blocker.why),
    );
    Some(Unmet::new(THE_END, because, by).looked_at(next))
}
