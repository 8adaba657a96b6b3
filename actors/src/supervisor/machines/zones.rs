//! Which zone a machine is started in.
//!
//! The emptiest of the allowed ones, so that machines are spread; of equals the first by name, so that every replay chooses
//! the same. Source: Juju's provisioner (2.3 to 4.0, which takes one of the equals by chance).

use crate::vocab::Zone;

/// Where it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// None where the provider has no zones.
    pub zone: Option<Zone>,
    /// It has failed in every allowed zone: a new round begins, and uses up a retry.
    pub round_is_new: bool,
}

/// No zone that it may be in is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of its allowed zones exists")]
pub struct NoSuitableZone;

/// The emptiest of the allowed zones, given in the order of their names; one that has failed only if all have.
///
/// # Errors
/// If there is no allowed zone.
pub fn emptiest<'a>(
    allowed: impl IntoIterator<Item = (&'a Zone, usize)>,
    has_failed: impl Fn(&Zone) -> bool,
) -> Result<Choice, NoSuitableZone> {
    let allowed: Vec<(&Zone, usize)> = allowed.into_iter().collect();
    let untried = allowed.iter().filter(|(zone, _)| !has_failed(zone));
    // The first of equals is the first by name.
    let (chosen, round_is_new) = match untried.min_by_key(|(_, population)| *population) {
        Some(chosen) => (chosen, false),
        None => (allowed.iter().min_by_key(|(_, population)| *population).ok_or(NoSuitableZone)?, true),
    };
    Ok(Choice { zone: Some(chosen.0.clone()), round_is_new })
}
