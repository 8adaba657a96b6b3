//! What machines, volumes and attachments wait for that only a client of Juju's brings about, or the provider that makes their
//! instance.

use bailiwick_actors::{
    machine::{self, Instance},
    vocab::{Life, Name},
    volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{Fleet, unmet::Unmet};

/// What a client has not done yet.
pub(super) struct Awaited {
    /// What is missing, as a noun.
    pub precondition: &'static str,
    pub because: String,
    /// The call that brings it about.
    pub call: &'static str,
}

/// What a machine waits for, if its instance is a client's.
pub(super) fn awaited(state: &machine::State) -> Option<Awaited> {
    let awaited = |precondition, because: &str, call| Some(Awaited { precondition, because: because.to_owned(), call });
    if !state.is_external() {
        return None;
    }
    match (&state.instance, state.life) {
        (Instance::Creating(_), Life::Alive) => {
            awaited("an instance", "no client has created its instance yet", "SetInstanceInfo")
        }
        (Instance::Running { .. }, Life::Alive) if !state.is_ready() => {
            let said = state.record().status.as_ref().map(|status| &status.said);
            let because = match said {
                None => "its agent has not reported that it started".to_owned(),
                Some(said) if said.info.is_empty() => format!("its status is {}", said.status),
                Some(said) => format!("its status is {}: {}", said.status, said.info),
            };
            Some(Awaited { precondition: "an agent that has started", because, call: "SetStatus" })
        }
        (_, Life::Dead) => awaited("the deletion of its instance", "no client has deleted its instance yet", "Remove"),
        _ => None,
    }
}

/// What is missing of a volume that whoever made the instance of its machine did not make, or attach; none if it did.
pub(super) fn left_out(fleet: &Fleet, machine: &str, volume: &str, precondition: &'static str) -> Option<Unmet> {
    let state = fleet.machines.get(machine)?;
    let (Instance::Running { .. }, Ok(name)) = (&state.instance, volume.parse::<Name>()) else { return None };
    let of = fleet.volumes.get(volume).filter(|state| state.is_external())?;
    let came = &state.record().storage;
    let because = match of.made() {
        None if came.volumes.contains_key(&name) => return None,
        Some(_) if came.attachments.contains_key(&name) => return None,
        None => format!("{} created machine {machine} without volume {volume}", maker(state)),
        Some(_) => format!("{} created machine {machine} without attaching volume {volume}", maker(state)),
    };
    let by = match state.is_external() {
        true => format!(
            "another instance of machine {machine}: `bailiwick delete machine/{machine}`, `bailiwick apply` its manifest again, \
             and a client that creates it with its volumes"
        ),
        false => format!(
            "a provider that creates instances with their volumes, then `bailiwick delete machine/{machine}`: its set creates \
             another machine"
        ),
    };
    Some(Unmet::new(precondition, because, by))
}

/// Whether it is an attachment that is to go, and goes with its instance.
pub(super) fn goes_with_instance(fleet: &Fleet, entity: &StreamId) -> bool {
    let state = fleet.attachments.get(entity.name()).filter(|_| entity.kind() == "volume-attachment");
    state.is_some_and(is_going)
}

pub(super) fn is_going(state: &volume_attachment::State) -> bool {
    state.life == Life::Dying && state.is_external()
}

/// What ends an attachment that goes with its instance.
pub(super) fn end_of_attachment(fleet: &Fleet, entity: &StreamId) -> String {
    let machine = entity.name().split_once(':').map_or("", |(machine, _)| machine);
    let force = format!("or `bailiwick delete {entity} --force`, which does not wait for it");
    match fleet.machines.get(machine).is_none_or(machine::State::is_external) {
        true => format!("a client that calls `Remove` for machine {machine}; {force}"),
        false => format!("the deletion of the instance of machine {machine}; {force}"),
    }
}

/// Who makes the instance of a machine.
fn maker(state: &machine::State) -> String {
    match state.spec.as_ref().filter(|_| !state.is_external()) {
        Some(spec) => format!("provider {}", spec.provider),
        None => "a client".to_owned(),
    }
}

/// Who a going attachment waits for, and what for.
pub(super) fn waits_for(fleet: &Fleet, machine: &str) -> (String, String) {
    match fleet.machines.get(machine).filter(|state| !state.is_external()) {
        Some(state) => (maker(state), format!("it is attached until the instance of machine {machine} is deleted")),
        None => {
            let why = format!("it is attached until a client has deleted the instance of machine {machine}");
            ("its client".to_owned(), why)
        }
    }
}

impl Awaited {
    pub(super) fn unmet(self) -> Unmet {
        let by = format!("a client that calls `{}`; `bailiwick help juju` tells more", self.call);
        Unmet::new(self.precondition, self.because, by)
    }
}
