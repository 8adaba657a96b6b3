//! One pass over the machines that have changed: what is stopped, removed, maintained and started, and in which order.
//!
//! Stopping comes before starting, because an instance that could not be recorded has to be gone before the same machine is
//! started again. A list that cannot be had, a machine that cannot be loaded or an instance that cannot be read ends the
//! pass before anything is stopped: what looks unknown may only be unreadable. Source: Juju's provisioner, one pass.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    HarvestMode,
    classify::{AgentStatus, Class, HasInstance, Known, classify},
};
use crate::vocab::{InstanceId, Life, MachineId};

/// What the passes have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisioner {
    mode: HarvestMode,
    /// A mode that was set before the first full view, and waits for it: until then every instance looks unknown.
    held_back: Option<HarvestMode>,
    has_seen_all: bool,
    known: BTreeSet<MachineId>,
}

/// A machine as it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub life: Life,
    pub status: AgentStatus,
    pub is_being_provisioned: bool,
    pub keep_instance: bool,
}

/// Why a machine could not be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFault {
    /// It is not there, or not ours to see: it is forgotten.
    Gone,
    /// The store does not answer.
    Unreadable,
}

/// The instance of a machine, as far as its record can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Instance(InstanceId),
    NotProvisioned,
    /// It is not there, or not ours to see: it claims nothing.
    Gone(String),
    /// The store does not answer; the code says how.
    Unreadable(String),
}

/// What a pass sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What the provider has; none if it could not be asked.
    pub instances: Option<BTreeSet<InstanceId>>,
    /// The machines that have changed.
    pub changed: BTreeMap<MachineId, Result<Loaded, LoadFault>>,
    /// What every machine claims that is known or has changed.
    pub claims: BTreeMap<MachineId, Claim>,
}

/// What a pass does, in this order; each list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Machines that have no agent that would make them dead.
    pub ensure_dead: Vec<MachineId>,
    /// Instances of dead machines, then those that nobody knows: one call for all of them, if there are any. If it fails,
    /// nothing of what follows is done.
    pub stop: Vec<InstanceId>,
    pub remove: Vec<MachineId>,
    pub maintain: Vec<MachineId>,
    pub start: Vec<MachineId>,
    /// Machines with which nothing is done, because it is not known whether they have an instance.
    pub unclear: Vec<MachineId>,
}

/// Why a pass does nothing at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassFault {
    #[error("the provider could not be asked what it has")]
    List,
    #[error("machine {machine} cannot be loaded")]
    Load { machine: MachineId },
    #[error("it cannot be read which instance machine {machine} has: {code}")]
    Claim { machine: MachineId, code: String },
}

impl Provisioner {
    pub fn new(mode: HarvestMode) -> Self {
        Self { mode, held_back: None, has_seen_all: false, known: BTreeSet::new() }
    }

    /// The machines that have been seen and are not gone.
    pub fn known(&self) -> &BTreeSet<MachineId> {
        &self.known
    }

    /// The mode that waits for the first full view; it is to be set again when that has been seen.
    pub fn held_back(&self) -> Option<HarvestMode> {
        self.held_back
    }

    /// Another mode is wanted; says whether a pass without changed machines follows from it.
    pub fn set_mode(&mut self, mode: HarvestMode) -> bool {
        if !self.has_seen_all {
            self.held_back = Some(mode);
            return false;
        }
        self.held_back = None;
        let is_new = self.mode != mode;
        self.mode = mode;
        is_new && mode.stops_unknown()
    }

    /// What a pass does.
    ///
    /// # Errors
    /// If something cannot be read that it depends on; then it does nothing.
    pub fn pass(&mut self, seen: &Seen) -> Result<Pass, PassFault> {
        let plan = self.plan(seen);
        // The first view is complete whatever came of it: it names all machines.
        self.has_seen_all |= !seen.changed.is_empty();
        plan
    }

    fn plan(&mut self, seen: &Seen) -> Result<Pass, PassFault> {
        let instances = seen.instances.as_ref().ok_or(PassFault::List)?;
        let mut loaded: BTreeMap<&MachineId, &Loaded> = BTreeMap::new();
        for (machine, found) in &seen.changed {
            match found {
                Ok(found) => drop(loaded.insert(machine, found)),
                Err(LoadFault::Gone) => drop(self.known.remove(machine)),
                Err(LoadFault::Unreadable) => return Err(PassFault::Load { machine: machine.clone() }),
            }
        }
        self.known.extend(loaded.keys().map(|machine| (*machine).clone()));

        let mut pass = Pass::default();
        let mut stopping = BTreeSet::new();
        for (machine, found) in loaded {
            let claim = seen.claims.get(machine).unwrap_or(&Claim::NotProvisioned);
            let known = Known {
                machine,
                life: found.life,
                instance: claim.has_instance(),
                status: found.status,
                is_being_provisioned: found.is_being_provisioned,
            };
            let Ok(classified) = classify(known) else {
                pass.unclear.push(machine.clone());
                continue;
            };
            if classified.ensure_dead {
                pass.ensure_dead.push(machine.clone());
            }
            match classified.class {
                Class::None => (),
                Class::Pending => pass.start.push(machine.clone()),
                Class::Maintain => pass.maintain.push(machine.clone()),
                Class::Dead => {
                    pass.remove.push(machine.clone());
                    if let Claim::Instance(instance) = claim
                        && instances.contains(instance)
                        && !found.keep_instance
                    {
                        stopping.insert(instance.clone());
                    }
                }
            }
        }
        let claimed = self.claimed(seen)?;
        let unknown = instances.iter().filter(|instance| !claimed.contains(*instance)).cloned();
        if self.mode.stops_dead() {
            pass.stop.extend(stopping);
        }
        if self.mode.stops_unknown() {
            pass.stop.extend(unknown);
        }
        Ok(pass)
    }

    /// What all known machines claim, also the dead ones and those that have not changed.
    fn claimed(&self, seen: &Seen) -> Result<BTreeSet<InstanceId>, PassFault> {
        let mut claimed = BTreeSet::new();
        for machine in &self.known {
            match seen.claims.get(machine) {
                Some(Claim::Instance(instance)) => drop(claimed.insert(instance.clone())),
                Some(Claim::Unreadable(code)) => {
                    return Err(PassFault::Claim { machine: machine.clone(), code: code.clone() });
                }
                Some(Claim::NotProvisioned | Claim::Gone(_)) | None => (),
            }
        }
        Ok(claimed)
    }

    /// What was to be stopped was stopped, and the records of these machines were removed, or could not be: they are not
    /// known any more either way.
    pub fn removed(&mut self, machines: &[MachineId]) {
        for machine in machines {
            self.known.remove(machine);
        }
    }
}

impl Claim {
    fn has_instance(&self) -> HasInstance<&str> {
        match self {
            Self::Instance(_) => HasInstance::Yes,
            Self::NotProvisioned => HasInstance::NotProvisioned,
            Self::Gone(code) | Self::Unreadable(code) => HasInstance::Unknown(code),
        }
    }
}

/// A machine that a watch found: perhaps worth another attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    pub machine: MachineId,
    pub life: Life,
    pub is_in_error: bool,
    /// Somebody has asked for another attempt, or the trouble is of a kind that passes.
    pub may_pass: bool,
    pub has_instance: bool,
}

/// The machines that get another attempt: in error for a reason that may pass, without an instance, and still wanted.
/// (The original starts machines that are going, too.)
pub fn worth_retrying(parked: &[Parked]) -> Vec<MachineId> {
    let is_worth_it =
        |parked: &&Parked| parked.is_in_error && parked.may_pass && !parked.has_instance && parked.life == Life::Alive;
    parked.iter().filter(is_worth_it).map(|parked| parked.machine.clone()).collect()
}
