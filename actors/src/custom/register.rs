//! How a kind is registered.

use std::sync::PoisonError;

use super::{
    RegisterError, Rule, State,
    registry::{REGISTERED, Registered},
};
use crate::{
    contract::Decider,
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy,
    replay::Redecider,
    replica_set,
    shell::{Asked, Kind, Supervision, entry_of},
    volume, volume_attachment,
};

/// Names of streams that are no kinds of entities.
const RESERVED: [&str; 4] = ["supervisor", "schedule", "journal", "pool"];

fn is_built_in(kind: &str) -> bool {
    let kinds = [
        machine::State::KIND,
        machine_class::State::KIND,
        machine_set::State::KIND,
        machine_deployment::State::KIND,
        volume::State::KIND,
        volume_attachment::State::KIND,
        filesystem::State::KIND,
        filesystem_attachment::State::KIND,
        replica_set::State::KIND,
        member::State::KIND,
        policy::State::KIND,
    ];
    kinds.contains(&kind) || document::Kind::of(kind).is_some() || RESERVED.contains(&kind)
}

fn is_usable(kind: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    kind.starts_with(|first: char| first.is_ascii_lowercase()) && kind.len() <= 63 && kind.bytes().all(letter)
}

/// Registers a kind, with its rule, for this process: nodes and journals that are opened from now on know it.
///
/// # Errors
/// If the name is taken or cannot be used.
pub fn register<K>() -> Result<(), RegisterError>
where
    K: Rule<Command: Asked<State = K>> + Kind,
{
    let kind = K::KIND;
    if !is_usable(kind) {
        return Err(RegisterError::Unusable { kind });
    }
    if is_built_in(kind) {
        return Err(RegisterError::Reserved { kind });
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if registered.iter().any(|one| one.name == kind) {
        return Err(RegisterError::Registered { kind });
    }
    registered.push(Registered {
        name: kind,
        redecider: |journal| Box::new(Redecider::<K>::new(journal)),
        supervisor: |journal| Box::new(Redecider::<State<K>>::of_supervisor(journal)),
        entry: entry_of::<K>(),
        supervision: || Box::new(Supervision::<State<K>>::default()),
    });
    Ok(())
}
