//! Whose an instance is, asked right before something is done to it: what another control plane has started is left alone.

use uuid::Uuid;

use super::{
    AnyCommand,
    budgets::Calls,
    bulk::{Batch, Report, bulk, ids},
    calls::{Call, MachineCall, Perform},
};
use crate::{
    machine,
    ports::{CallKind, Lookup, MachineInstance, MachineProvider},
    vocab::{Fault, FaultCode, Nonce},
};

/// A batch of deletions, after it was asked whose the instances are.
pub(super) struct Asked {
    /// Those that may be deleted.
    pub ours: Batch,
    /// What is reported of the others.
    pub told: Vec<Report>,
}

/// Asks by id, where it was not seen yet that the instance is ours. Where the provider cannot tell, nothing is deleted.
pub(super) async fn ask(journal: Uuid, provider: &dyn MachineProvider, batch: Batch, calls: &Calls<'_>) -> Asked {
    let (mut ours, doubtful): (Batch, Batch) = batch.into_iter().partition(is_proven);
    let mut told = Vec::new();
    let seen = match doubtful.len() {
        0 => Vec::new(),
        asked => bulk(calls, CallKind::LookUp, asked, || provider.lookup(ids(&doubtful))).await,
    };
    for (item, seen) in doubtful.into_iter().zip(seen) {
        let unknown = || Fault::new(FaultCode::Unknown, "the provider cannot tell who owns it");
        let command = match seen {
            Ok(Lookup::Present(instance)) => match other_nonce(&instance, journal) {
                Some(nonce) => machine::shell::started_by_other(&instance, nonce),
                None => {
                    ours.push(item);
                    continue;
                }
            },
            // Making it may still be under way somewhere: only a deletion ends that.
            Ok(Lookup::Absent) => {
                ours.push(item);
                continue;
            }
            Ok(Lookup::Unknown) => failed(&item, unknown()),
            Err(fault) => failed(&item, fault),
        };
        told.push((item.call.stream().clone(), command, item.cause));
    }
    Asked { ours, told }
}

fn is_proven(item: &Perform) -> bool {
    matches!(item.call, Call::Machine { call: MachineCall::Delete { is_proven: true }, .. })
}

fn failed(item: &Perform, fault: Fault) -> AnyCommand {
    match &item.call {
        Call::Machine { call: MachineCall::DeleteStray, id, attempt, .. } => {
            machine::shell::stray_deleted(*id, *attempt, Err(fault))
        }
        call => machine::shell::deleted(call.attempt(), Err(fault)),
    }
}

fn other_nonce(instance: &MachineInstance, journal: Uuid) -> Option<&str> {
    instance.nonce().filter(|nonce| *nonce != Nonce::of(journal, instance.effect).as_str())
}

/// A create that was answered with what another control plane has started, as what it is.
pub(super) fn told_apart((stream, command, cause): Report, journal: Uuid) -> Report {
    let Some(machine::Command::Report(machine::Report::Created { instance, .. })) = command.get() else {
        return (stream, command, cause);
    };
    let other = other_nonce(instance, journal).map(|nonce| machine::shell::started_by_other(instance, nonce));
    (stream, other.unwrap_or(command), cause)
}
