//! What machines, volumes and attachments wait for that only a client of Juju's brings about.

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

/// What is missing of a volume that the client which made its machine did not make, or attach; none if it did.
pub(super) fn left_out(fleet: &Fleet, machine: &str, volume: &str, precondition: &'static str) -> Option<Unmet> {
    let state = fleet.machines.get(machine)?;
    let (Instance::Running { .. }, Ok(name)) = (&state.instance, volume.parse::<Name>()) else { return None };
    let of = fleet.volumes.get(volume).filter(|state| state.is_external())?;
    let came = &state.record().storage;
    let because = match of.made() {
        None if came.volumes.contains_key(&name) => return None,
        Some(_) if came.attachments.contains_key(&name) => return None,
        None => format!("a client created machine {machine} without volume {volume}"),
        Some(_) => format!("a client created machine {machine} without attaching volume {volume}"),
    };
    let by = format!(
        "another instance of machine {machine}: `bailiwick delete machine/{machine}`, `bailiwick apply` its manifest again, and \
         a client that creates it with its volumes"
    );
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
pub(super) fn end_of_attachment(entity: &StreamId) -> String {
    let machine = entity.name().split_once(':').map_or("", |(machine, _)| machine);
    format!(
        "a client that calls `Remove` for machine {machine}; or `bailiwick delete {entity} --force`, which does not wait for it"
    )
}

impl Awaited {
    pub(super) fn unmet(self) -> Unmet {
        let by = format!("a client that calls `{}`; `bailiwick help juju` tells more", self.call);
        Unmet::new(self.precondition, self.because, by)
    }
}
