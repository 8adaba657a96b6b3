//! In which zone a machine can only be, because its volumes are there.
//!
//! A volume cannot follow a machine into another zone, so the machine follows its volumes: the choice of a zone for its
//! instance chooses theirs. Two volumes in two zones are refused to one machine, and so is a volume in a zone in which the
//! machine may not be.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Event, Instance, Reason, Rejection, SiteChoice, State, ZoneRule, verdict::Verdict};
use crate::{
    contract::Decision,
    vocab::{Life, Name, Zone},
};

/// Where the volumes of a machine are, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeZones {
    of: BTreeMap<Name, Zone>,
    zones: BTreeSet<Zone>,
}

/// No zone is both where its volumes are and where it may be otherwise.
const NOWHERE: &BTreeSet<Zone> = &BTreeSet::new();

impl VolumeZones {
    /// Where a volume is.
    pub fn of(&self, volume: &Name) -> Option<&Zone> {
        self.of.get(volume)
    }

    /// The volumes whose zone is known, each with that.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Zone)> {
        self.of.iter()
    }

    pub(super) fn note(&mut self, volume: &Name, zone: &Zone) {
        self.of.insert(volume.clone(), zone.clone());
        self.zones = self.of.values().cloned().collect();
    }

    pub(super) fn forget(&mut self, volume: &Name) {
        self.of.remove(volume);
        self.zones = self.of.values().cloned().collect();
    }

    /// What is left of this way to find a zone.
    pub(super) fn within<'a>(&'a self, zone_rule: ZoneRule<'a>) -> ZoneRule<'a> {
        let Some(zone) = self.zones.first() else { return zone_rule };
        match zone_rule {
            ZoneRule::Provider => ZoneRule::Declared(zone.clone()),
            ZoneRule::Declared(declared) => ZoneRule::Declared(declared),
            ZoneRule::Spread { allowed, group } => {
                let is_allowed = allowed.is_none_or(|allowed| self.zones.is_subset(allowed));
                ZoneRule::Spread { allowed: Some(if is_allowed { &self.zones } else { NOWHERE }), group }
            }
        }
    }
}

/// A volume that is attached to it, or about to be, is in this zone.
pub(super) fn note(state: &State, volume: &Name, zone: &Zone) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if !state.attachments.contains(volume) || state.volume_zones.of(volume) == Some(zone) {
        return Ok(Decision::nothing(Reason::VolumeZoneKnown));
    }
    let (volume, zone) = (volume.clone(), zone.clone());
    let apart = state.volume_zones.iter().find(|(other, here)| **other != volume && **here != zone);
    if let Some((other, here)) = apart {
        return Err(Rejection::VolumesApart { volume, zone, other: other.clone(), here: here.clone() });
    }
    if !may_be_in(state, &zone) {
        return Err(Rejection::VolumeElsewhere { volume, zone });
    }
    Ok(Decision::because(Reason::VolumeSeen, [Event::VolumeIsIn { volume, zone }]))
}

/// Whether its instance is, or is to be, or may be made there.
fn may_be_in(state: &State, zone: &Zone) -> bool {
    let present = match (&state.instance, &state.site.choice) {
        (Instance::Running { instance, .. }, _) => instance.zone(),
        (Instance::Creating(_), SiteChoice::Chosen { zone }) => zone.clone(),
        _ => None,
    };
    if let Some(present) = present {
        return present == *zone;
    }
    match state.zone_rule() {
        ZoneRule::Provider => true,
        ZoneRule::Declared(declared) => declared == *zone,
        ZoneRule::Spread { allowed, .. } => allowed.is_none_or(|allowed| allowed.contains(zone)),
    }
}
