//! Why a volume, a filesystem or an attachment is not ready, or not removed: what blocks it, since when, and what helps.

use bailiwick_actors::{
    contract::Decider,
    filesystem, filesystem_attachment, machine,
    shell::Kind,
    vocab::{Effort, Life, Name, Outlook, StorageRemoval, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{
    Blocker, Fleet, blockers, clients,
    rows::{lost, lost_beneath},
    unmet::Unmet,
    why_not::{A_REQUEST, NO_REQUEST, THE_END, declared, effort_unmet, why_not},
    why_not_sets::unmet_of,
};
use crate::words::due;

/// What is missing until it is made, attached, mounted or gone, the inner none if nothing is; none at all if nothing was ever
/// heard of it.
#[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
pub(super) fn storage_missing(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<Option<Unmet>> {
    if wanted == "removed" { storage_removed(fleet, entity) } else { storage_ready(fleet, entity, wanted) }
}

/// What is missing until it is made, attached or mounted, the inner none if it is; none at all if nothing was ever heard of
/// it.
#[allow(clippy::option_option, reason = "unknown differs from nothing missing")]
pub(super) fn storage_ready(fleet: &Fleet, entity: &StreamId, wanted: &str) -> Option<Option<Unmet>> {
    let name = entity.name();
    Some(match entity.kind() {
        volume::State::KIND => {
            let state = fleet.volumes.get(name)?;
            let made = volume_made(fleet, entity, state);
            made.or_else(|| (wanted == "attached").then(|| volume_attached(fleet, entity, state)).flatten())
        }
        filesystem::State::KIND => {
            let state = fleet.filesystems.get(name)?;
            let made = filesystem_made(fleet, entity, state);
            made.or_else(|| (wanted == "mounted").then(|| filesystem_mounted(fleet, entity, state)).flatten())
        }
        volume_attachment::State::KIND => attached(fleet, entity, fleet.attachments.get(name)?),
        filesystem_attachment::State::KIND => mounted(fleet, entity, fleet.filesystem_attachments.get(name)?),
        _ => return None,
    })
}

const MADE: &str = "its storage";

const NOT_BEGUN: &str = "it has not started yet";
const NEXT_CHECK: &str = "the next check of supervisor/storage";

fn again(entity: &StreamId) -> String {
    format!("`bailiwick retry {entity}`")
}

fn volume_made(fleet: &Fleet, entity: &StreamId, state: &volume::State) -> Option<Unmet> {
    if let Some(unmet) = declared(state.life) {
        return Some(unmet);
    }
    match &state.storage {
        volume::Storage::Provisioned { .. } => lost(fleet, entity, state).map(|because| {
            let again = format!("`bailiwick destroy {entity}`, then `bailiwick apply` its manifest again");
            let is_listed_elsewhere = state.is_taken_over(fleet.journal, entity);
            let by = if is_listed_elsewhere { again } else { format!("its provider listing it again, or {again}") };
            Unmet::new(MADE, because, by)
        }),
        volume::Storage::None => Some(match &state.own.wanted_on {
            Some(machine) => clients::left_out(fleet, machine.as_str(), entity.name(), MADE)
                .unwrap_or_else(|| unmet_of(fleet, &format!("machine/{machine}"), "running", "its machine")),
            None => Unmet::new(MADE, NOT_BEGUN, NEXT_CHECK),
        }),
        volume::Storage::Creating { effort, .. } | volume::Storage::Destroying { effort, .. } => {
            Some(effort_unmet(MADE, "creating it", effort, again(entity)).looked_at(effort.wakes_at(None)))
        }
    }
}

fn volume_attached(fleet: &Fleet, entity: &StreamId, state: &volume::State) -> Option<Unmet> {
    let precondition = "its attachment";
    let Some(machine) = state.attached_to.first() else {
        let by = format!("`bailiwick attach {entity} MACHINE`");
        return Some(Unmet::new("an attachment", "no attachment of it is declared", by));
    };
    let attachment = StreamId::new(volume_attachment::State::KIND, &format!("{machine}:{}", entity.name())).ok()?;
    let is_attached = fleet.attachments.get(attachment.name()).is_some_and(volume_attachment::State::is_ready);
    (!is_attached).then(|| unmet_of(fleet, attachment.as_str(), "attached", precondition))
}

fn filesystem_made(fleet: &Fleet, entity: &StreamId, state: &filesystem::State) -> Option<Unmet> {
    if let Some(unmet) = declared(state.life) {
        return Some(unmet);
    }
    let volume_at = |volume: &Name| fleet.volumes.get(volume.as_str()).and_then(|volume| volume.attached_to.first());
    match &state.storage {
        filesystem::Storage::Provisioned { .. } => None,
        filesystem::Storage::None => Some(match (state.backing(), state.machine()) {
            (Some(volume), _) => {
                let there = volume_at(volume);
                let wanted = if there.is_some() { "attached" } else { "ready" };
                let volume = format!("volume/{volume}");
                match state.machine() {
                    Some(_) => of_other_or(fleet, &volume, wanted, "its volume"),
                    None => side(fleet, &volume, wanted, "its volume").unwrap_or_else(|| unmounted(entity, there)),
                }
            }
            (None, Some(machine)) => of_other_or(fleet, &format!("machine/{machine}"), "running", "its machine"),
            (None, None) => unmounted(entity, None),
        }),
        // It was attached when the last attempt failed, and is not any more: no attempt helps before it is again.
        filesystem::Storage::Creating { effort, .. } if state.awaits_mount() && effort.outlook != Outlook::Trying => {
            let there = state.backing().and_then(volume_at);
            Some(unmounted(entity, there).looked_at(effort.wakes_at(None)))
        }
        filesystem::Storage::Creating { effort, .. } | filesystem::Storage::Destroying { effort, .. } => {
            Some(effort_unmet(MADE, "creating it", effort, again(entity)).looked_at(effort.wakes_at(None)))
        }
    }
}

fn filesystem_mounted(fleet: &Fleet, entity: &StreamId, state: &filesystem::State) -> Option<Unmet> {
    let Some(machine) = state.attached_to.first() else {
        let by = format!("`bailiwick attach {entity} MACHINE`");
        return Some(Unmet::new("a mount", "no attachment of it is declared", by));
    };
    let attachment = StreamId::new(filesystem_attachment::State::KIND, &format!("{machine}:{}", entity.name())).ok()?;
    let is_mounted = fleet.filesystem_attachments.get(attachment.name());
    let is_mounted = is_mounted.is_some_and(filesystem_attachment::State::is_ready);
    (!is_mounted).then(|| unmet_of(fleet, attachment.as_str(), "mounted", "its mount"))
}

fn attached(fleet: &Fleet, entity: &StreamId, state: &volume_attachment::State) -> Option<Unmet> {
    use volume_attachment::Link;
    if let Some(unmet) = declared(state.life) {
        return Some(unmet);
    }
    let (machine, volume) = entity.name().split_once(':')?;
    let precondition = "the attachment";
    match &state.link {
        Link::Attached { .. } => lost_beneath(fleet, entity.name())
            .map(|_| unmet_of(fleet, &format!("volume/{volume}"), "ready", "its volume")),
        Link::Attaching { .. } if fleet.volumes.get(volume).is_some_and(|state| state.own.lost.is_some()) => {
            Some(unmet_of(fleet, &format!("volume/{volume}"), "ready", "its volume"))
        }
        Link::Attaching { effort, .. } | Link::Detaching { effort, .. } => {
            Some(effort_unmet(precondition, "attaching it", effort, again(entity)).looked_at(effort.wakes_at(None)))
        }
        Link::Waiting => Some(
            clients::left_out(fleet, machine, volume, precondition)
                .or_else(|| side(fleet, &format!("machine/{machine}"), "running", "its machine"))
                .or_else(|| side(fleet, &format!("volume/{volume}"), "ready", "its volume"))
                .unwrap_or_else(|| Unmet::new(precondition, NOT_BEGUN, NEXT_CHECK)),
        ),
    }
}

fn mounted(fleet: &Fleet, entity: &StreamId, state: &filesystem_attachment::State) -> Option<Unmet> {
    use filesystem_attachment::Link;
    if let Some(unmet) = declared(state.life) {
        return Some(unmet);
    }
    let (machine, filesystem) = entity.name().split_once(':')?;
    let precondition = "the mount";
    match &state.link {
        Link::Attached { .. } => None,
        Link::Attaching { effort, .. } | Link::Detaching { effort, .. } => {
            Some(effort_unmet(precondition, "mounting it", effort, again(entity)).looked_at(effort.wakes_at(None)))
        }
        Link::Waiting => Some(
            side(fleet, &format!("machine/{machine}"), "running", "its machine")
                .or_else(|| side(fleet, &format!("filesystem/{filesystem}"), "ready", "its filesystem"))
                .unwrap_or_else(|| Unmet::new(precondition, NOT_BEGUN, NEXT_CHECK)),
        ),
    }
}

/// Where nobody mounts it, nobody makes it.
fn unmounted(entity: &StreamId, volume_at: Option<&Name>) -> Unmet {
    let machine = volume_at.map_or("MACHINE", Name::as_str);
    Unmet::new(MADE, "it is attached to no machine", format!("`bailiwick attach {entity} {machine}`"))
}

/// What another entity lacks, if it lacks anything.
fn side(fleet: &Fleet, other: &str, wanted: &str, precondition: &'static str) -> Option<Unmet> {
    let holds = other.parse::<StreamId>().ok().and_then(|stream| why_not(fleet, &stream, wanted));
    let is_missing = holds.is_none_or(|answer| !answer.holds);
    is_missing.then(|| unmet_of(fleet, other, wanted, precondition))
}

/// The same; if it lacks nothing, the supervisor acts next.
fn of_other_or(fleet: &Fleet, other: &str, wanted: &str, precondition: &'static str) -> Unmet {
    side(fleet, other, wanted, precondition)
        .unwrap_or_else(|| Unmet::new(MADE, format!("{other} has only just become ready"), NEXT_CHECK))
}

/// What is missing for the removal of a volume while a filesystem is on it: a request alone would be refused.
fn filesystem_on(fleet: &Fleet, entity: &StreamId) -> Option<Unmet> {
    if entity.kind() != volume::State::KIND {
        return None;
    }
    let name = fleet.volumes.get(entity.name())?.own.filesystem.clone()?;
    let is_alive = fleet.filesystems.get(name.as_str()).is_some_and(|state| state.life == Life::Alive);
    is_alive.then(|| {
        let by = format!("`bailiwick delete filesystem/{name}`");
        Unmet::new("the removal of the filesystem on it", format!("filesystem/{name} is on it"), by)
    })
}

/// What is missing for its removal, the inner none if it is gone; none at all if nothing was ever heard of it.
#[allow(clippy::option_option, reason = "unknown differs from gone")]
pub(super) fn storage_removed(fleet: &Fleet, entity: &StreamId) -> Option<Option<Unmet>> {
    let (life, undoing) = going(fleet, entity)?;
    match life {
        Life::Undeclared | Life::Removed => return Some(None),
        Life::Alive => {
            let unmet = filesystem_on(fleet, entity).unwrap_or_else(|| {
                let by = format!("`bailiwick delete {entity}`");
                Unmet::new(A_REQUEST, NO_REQUEST, by)
            });
            return Some(Some(unmet));
        }
        Life::Dying | Life::Dead => (),
    }
    let first = blockers(fleet, entity).into_iter().next();
    // What blocks it may itself be what takes long.
    let beneath = first.as_ref().and_then(|blocker| blocker.by.parse::<StreamId>().ok());
    let waits_with = beneath.as_ref().and_then(|beneath| waits_in_turn(fleet, beneath));
    let of_blocker = beneath.as_ref().and_then(|beneath| going(fleet, beneath)).and_then(|(_, undoing)| undoing);
    let (stuck, undoing) = match (beneath, of_blocker) {
        (Some(beneath), Some(undoing)) => (beneath, Some(undoing)),
        _ => (entity.clone(), undoing),
    };
    // Nobody is asked for it.
    let undoing = undoing.filter(|_| !clients::goes_with_instance(fleet, &stuck));
    let because = match first {
        Some(Blocker { by, why, since_ms, .. }) => {
            let since = since_ms.map(|since| format!(" since {}", Timestamp(since))).unwrap_or_default();
            format!("it has been waiting for {by}{since}: {why}")
        }
        None => "its provider is at work on it".to_owned(),
    };
    if let Some(unmet) = waits_with.filter(|_| undoing.is_none()) {
        return Some(Some(Unmet { because: format!("{because}; {}", unmet.because), ..unmet }));
    }
    let next = undoing.and_then(|effort| effort.wakes_at(effort.deadline()));
    let unmet = Unmet::new(THE_END, because, remedy(fleet, &stuck, undoing));
    Some(Some(unmet.looked_at(next)))
}

/// What that which blocks a removal waits for in turn: what is attached to a machine that goes stays there until the machine
/// is drained, and what stands beneath waits with it.
fn waits_in_turn(fleet: &Fleet, blocker: &StreamId) -> Option<Unmet> {
    let (life, _) = going(fleet, blocker)?;
    let waits_for = match (life, blocker.name().split_once(':')) {
        (Life::Alive, Some((machine, _))) => format!("machine/{machine}"),
        (Life::Dying, None) => blocker.to_string(),
        _ => return None,
    };
    let stream = waits_for.parse::<StreamId>().ok().filter(|stream| fleet.life(stream) == Some(Life::Dying))?;
    let first = blockers(fleet, &stream).into_iter().next()?;
    let waits_for_us = stream.kind() == machine::State::KIND
        && first.by.parse::<StreamId>().is_ok_and(|first| going(fleet, &first).is_some());
    // A machine that is drained waits for its storage: the supervisor acts next.
    (!waits_for_us).then(|| unmet_of(fleet, &waits_for, "removed", THE_END))
}

/// What helps it. Whose data its provider was to let go of, and did not, can still be destroyed.
fn remedy(fleet: &Fleet, stuck: &StreamId, undoing: Option<&Effort>) -> String {
    if clients::goes_with_instance(fleet, stuck) {
        return clients::end_of_attachment(fleet, stuck);
    }
    let (now, is_released) = (fleet.time, is_released(fleet, stuck));
    let force = format!("`bailiwick delete {stuck} --force`, which records what may be left behind");
    match undoing.map(|effort| (effort.overdue, effort.deadline())) {
        Some((Some(_), _)) => format!("its provider's answer, or {force}"),
        Some((None, Some(deadline))) => {
            format!("its provider's answer; without one, it is reported as blocked {}", due(now, deadline))
        }
        Some((None, None)) if is_released => {
            format!("`bailiwick retry {stuck}`, `bailiwick destroy {stuck}`, which removes its data, or {force}")
        }
        Some((None, None)) => format!("`bailiwick retry {stuck}`, or {force}"),
        None => "nothing to do: it completes by itself".to_owned(),
    }
}

/// Whether it goes without its data.
fn is_released(fleet: &Fleet, entity: &StreamId) -> bool {
    let removal = match entity.kind() {
        volume::State::KIND => fleet.volumes.get(entity.name()).map(|state| state.removal),
        filesystem::State::KIND => fleet.filesystems.get(entity.name()).map(|state| state.removal),
        _ => None,
    };
    removal == Some(StorageRemoval::Release)
}

/// How far the removal of something is, and the work on it.
fn going<'f>(fleet: &'f Fleet, entity: &StreamId) -> Option<(Life, Option<&'f Effort>)> {
    let name = entity.name();
    match entity.kind() {
        volume::State::KIND => fleet.volumes.get(name).map(|state| (state.life, state.undoing())),
        filesystem::State::KIND => fleet.filesystems.get(name).map(|state| (state.life, state.undoing())),
        volume_attachment::State::KIND => fleet.attachments.get(name).map(|state| (state.life, state.undoing())),
        filesystem_attachment::State::KIND => {
            fleet.filesystem_attachments.get(name).map(|state| (state.life, state.undoing()))
        }
        _ => None,
    }
}
