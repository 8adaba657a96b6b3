//! Whether a volume is where a machine is.

use std::fmt;

use crate::{
    contract::Fold,
    machine::{self, Instance},
    vocab::{EffectId, Life, Name, Zone},
    volume,
};

/// A volume is in one zone and a machine in another: nothing there can be attached here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub volume: Zone,
    pub machine: Zone,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the volume is in zone {}, and the machine in zone {}", self.volume.0, self.machine.0)
    }
}

/// Whether a volume is certainly in another zone than a machine: its zone was noted when it was
/// made, or it was made where an instance is that still runs; and the instances say in which zone they are. Whatever is not known is left for the provider to say.
pub fn elsewhere(machines: &Fold<machine::State>, volume: &volume::State, machine: &Name) -> Option<Elsewhere> {
    let at = zone_of(machines, volume)?;
    let (here, _) = zone(machines, machine)?;
    (at != here).then_some(Elsewhere { volume: at, machine: here })
}

/// The zone that a volume is in: what was noted when it was made, or else where the instance is that it was made for.
pub fn zone_of(machines: &Fold<machine::State>, volume: &volume::State) -> Option<Zone> {
    let of_place = || {
        let place = volume.own.place.as_ref()?;
        let (zone, _) = zone(machines, &place.machine).filter(|(_, effect)| *effect == place.machine_effect)?;
        Some(zone)
    };
    volume.own.zone.clone().or_else(of_place)
}

fn zone(machines: &Fold<machine::State>, machine: &Name) -> Option<(Zone, EffectId)> {
    let state = machines.get(machine.as_str()).filter(|state| state.life != Life::Removed)?;
    match &state.instance {
        Instance::Running { instance, .. } => Some((instance.zone()?, instance.effect)),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
    }
}
