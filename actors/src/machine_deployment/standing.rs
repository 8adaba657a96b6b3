//! Whether a deployment may be changed.

use super::{Rejection, Spec, State};
use crate::vocab::Life;

/// What it is declared as, if it exists and does not go.
pub(super) fn alive(state: &State) -> Result<&Spec, Rejection> {
    match (state.life, &state.spec) {
        (Life::Alive, Some(spec)) => Ok(spec),
        (Life::Dying | Life::Dead, _) => Err(Rejection::Leaving { life: state.life }),
        _ => Err(Rejection::NotDeclared),
    }
}

/// As [`alive`], and its template may change.
pub(super) fn moving(state: &State) -> Result<&Spec, Rejection> {
    let spec = alive(state)?;
    match spec.paused {
        true => Err(Rejection::Paused),
        // Its machines would be replaced.
        false if state.protected => Err(Rejection::Protected),
        false => Ok(spec),
    }
}
