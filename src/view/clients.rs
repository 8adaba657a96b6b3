//! What a machine waits for that only a client of Juju's brings about.

use bailiwick_actors::{
    machine::{self, Instance},
    vocab::Life,
};

use super::unmet::Unmet;

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

impl Awaited {
    pub(super) fn unmet(self) -> Unmet {
        let by = format!("a client that calls `{}`; `bailiwick help juju` tells more", self.call);
        Unmet::new(self.precondition, self.because, by)
    }
}
