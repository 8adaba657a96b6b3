//! What a pass of the provisioner has to do with a machine. Source: Juju's provisioner, its classifier.

use crate::vocab::{Life, MachineId};

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing.
    None,
    /// An instance has to be started for it.
    Pending,
    /// Its instance may be stopped, and its record removed.
    Dead,
    /// It is a container that its host looks after.
    Maintain,
}

/// Whether it has an instance, as far as its record can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HasInstance<E> {
    Yes,
    NotProvisioned,
    Unknown(E),
}

/// The status of its agent, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentStatus {
    Pending,
    /// Started, down, in error, or whatever else is not pending.
    Other,
    /// It cannot be read.
    Unreadable,
}

/// What is known of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known<'a, E> {
    pub machine: &'a MachineId,
    pub life: Life,
    pub instance: HasInstance<E>,
    pub status: AgentStatus,
    /// The status of its instance says that it is being provisioned.
    pub is_being_provisioned: bool,
}

/// The answer: what is to be done, and whether it has to be made dead first because it has no agent that would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    pub class: Class,
    pub ensure_dead: bool,
}

impl Classified {
    fn just(class: Class) -> Self {
        Self { class, ensure_dead: false }
    }
}

/// What is to be done with a machine.
///
/// # Errors
/// If it cannot be known whether it has an instance, and that matters: nothing is to be done with it then.
pub fn classify<E>(known: Known<'_, E>) -> Result<Classified, E> {
    match (known.life, known.instance) {
        (Life::Dead | Life::Removed, _) => Ok(Classified::just(Class::Dead)),
        (_, HasInstance::Unknown(error)) => Err(error),
        (Life::Dying, HasInstance::Yes) | (Life::Undeclared, _) => Ok(Classified::just(Class::None)),
        // Nobody on it could finish what dying is for.
        (Life::Dying, HasInstance::NotProvisioned) => Ok(Classified { class: Class::Dead, ensure_dead: true }),
        (Life::Alive, HasInstance::Yes) if is_maintained(known.machine) => Ok(Classified::just(Class::Maintain)),
        (Life::Alive, HasInstance::Yes) => Ok(Classified::just(Class::None)),
        (Life::Alive, HasInstance::NotProvisioned) => Ok(Classified::just(match known.status {
            AgentStatus::Unreadable => Class::None,
            AgentStatus::Pending => Class::Pending,
            AgentStatus::Other if known.is_being_provisioned => Class::Pending,
            // Parked, until somebody asks for another attempt.
            AgentStatus::Other => Class::None,
        })),
    }
}

/// Containers of the kinds that could be maintained in 2016, at any depth.
fn is_maintained(machine: &MachineId) -> bool {
    machine.containers().any(|kind| matches!(kind, "lxc" | "kvm"))
}
