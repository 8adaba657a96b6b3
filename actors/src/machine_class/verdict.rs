//! Why something was done to a machine class, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons},
    vocab::{ClassFlaw, Life, Name},
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared";
        ContentDiffers = "content-differs", "its declaration changed; existing machines keep what they were created from";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        RemovalAsked = "removal-asked", "its removal was requested and no machine uses it";
        AlreadyGone = "already-gone", "there is nothing to remove";
        MachinesCome = "machines-come", "machines will be created from it";
        InUseAlready = "in-use-already", "they are already recorded as users";
        MachinesGone = "machines-gone", "the machines are gone, or use another class";
        NotInUse = "not-in-use", "they do not use it";
        RemovalWaits = "removal-waits", "its removal was requested and waits for the machines that use it";
        AlreadyGoing = "already-going", "it is already being removed";
        LastMachineGone = "last-machine-gone", "its removal was requested and the last machine that used it is gone";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine class")]
    NotDeclared,
    #[error("{}; remove them first, or move them to another class", used_by(.machines, .more))]
    InUse { machines: Vec<Name>, more: u32 },
    #[error("{flaw}")]
    Flawed { flaw: ClassFlaw },
    #[error("spec.provider cannot change while machines use the class; declare another class")]
    ProviderFixed,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
}

impl Rejection {
    /// The most machines that a refused removal names; the others are counted.
    pub const NAMED_MAX: usize = 8;
}

fn used_by(machines: &[Name], more: &u32) -> String {
    let names: Vec<&str> = machines.iter().map(Name::as_str).collect();
    let more = if *more == 0 { String::new() } else { format!(" and {more} more") };
    let (noun, verb) = if machines.len() == 1 && more.is_empty() { ("machine", "uses") } else { ("machines", "use") };
    format!("{noun} {}{more} {verb} it", names.join(", "))
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::InUse { .. } => "in-use",
            Self::Flawed { .. } => "flawed",
            Self::ProviderFixed => "provider-fixed",
            Self::Leaving { .. } => "leaving",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
