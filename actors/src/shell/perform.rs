//! One bulk call: asked for by id first where it may have been begun, within its time, one answer per item; and the
//! reports of how it went.

use std::{collections::BTreeMap, time::Duration};

use bailiwick_journal::{Position, StreamId, digest};
use uuid::Uuid;

use super::{
    AnyCommand, Ask, AskError, Origin, Registry, Services, absence,
    budgets::Calls,
    bulk::{Batch, Report, bulk, ids},
    calls::{Call, Perform, ReplicaSetCall},
    ownership,
    secrets::{self, Outfit},
    services::none,
    wishes,
};
use crate::{
    filesystem, filesystem_attachment, machine,
    ports::{
        BulkAnswer, CallKind, FilesystemProvider, ImportVolume, Lookup, MachineProvider, Operation,
        replica_set::Outcome,
    },
    replica_set,
    vocab::{EffectId, Fault, FaultCode, derived_uuid},
    volume, volume_attachment,
};

/// Makes one bulk call; all items are of one operation and one provider.
pub(super) async fn perform(services: &Services, batch: Batch) -> Vec<Report> {
    let (mut told, mut ours) = (Vec::new(), Batch::new());
    for item in batch {
        match services.taken_over.report(&item) {
            Some(report) => told.push(report),
            None => ours.push(item),
        }
    }
    told.extend(perform_ours(services, ours).await);
    told
}

async fn perform_ours(services: &Services, batch: Batch) -> Vec<Report> {
    let Some(first) = batch.first() else {
        return Vec::new();
    };
    let policy = services.policy();
    let timeout_ms = match &first.call {
        Call::Machine { .. } | Call::ReplicaSet { .. } => policy.document.machines.call_timeout_ms,
        Call::Volume { .. } | Call::Filesystem { .. } => policy.document.storage.call_timeout_ms,
    };
    let limit = Duration::from_millis(timeout_ms);
    let name = first.call.provider().cloned();
    let streams = batch.iter().map(|item| item.call.stream().clone()).collect();
    let calls = &Calls::new(&services.budgets, name.clone(), streams, limit);
    let machines = name.as_ref().and_then(|name| services.providers.machines.get(name)).cloned();
    let source = services.providers.source(name.as_ref(), first.call.machine());
    let volumes = services.providers.volumes_of(&source);
    let operation = first.call.operation();
    if matches!(first.call, Call::Filesystem { .. })
        && let Some(provider) = services.providers.filesystems_of(&source)
    {
        return perform_filesystems(&*provider, operation, batch, calls).await;
    }
    match (operation, machines, volumes) {
        (Operation::CreateMachine, Some(provider), _) => {
            let lookup = |ids| provider.lookup(ids);
            let make = |machines| secrets::create(&*provider, Outfit::of(services), machines);
            let making = Making { wish: wishes::machine, lookup, make, command: machine::shell::created };
            let reports = making.run(batch, calls).await;
            reports.into_iter().map(|report| ownership::told_apart(report, services.journal_id())).collect()
        }
        (Operation::DeleteMachine | Operation::DeleteStray, Some(provider), _) => {
            delete_machines(services, &*provider, operation, batch, calls).await
        }
        (Operation::CreateVolume, _, Some(provider)) => {
            let lookup = |ids| provider.lookup_volumes(ids);
            let make = |volumes| provider.create_volumes(volumes);
            Making { wish: wishes::volume, lookup, make, command: volume::shell::created }.run(batch, calls).await
        }
        (Operation::ImportVolume, _, Some(provider)) => {
            let lookup = |ids| provider.lookup_volumes(ids);
            let make = |volumes: Vec<ImportVolume>| match provider.importer() {
                Some(importer) => importer.import_volumes(volumes),
                None => Box::pin(std::future::ready(Ok(volumes.iter().map(|_| Err(cannot_import())).collect()))),
            };
            Making { wish: wishes::import, lookup, make, command: volume::shell::created }.run(batch, calls).await
        }
        (Operation::DestroyVolume, _, Some(provider)) => {
            let results = bulk(calls, CallKind::Remove, batch.len(), || provider.destroy_volumes(ids(&batch))).await;
            let lookup = |ids| provider.lookup_volumes(ids);
            let results = absence::confirmed(calls, &ids(&batch), results, lookup).await;
            reports(batch, results, volume::shell::destroyed)
        }
        (Operation::ReleaseVolume, _, Some(provider)) => {
            let results = bulk(calls, CallKind::Remove, batch.len(), || provider.release_volumes(ids(&batch))).await;
            let lookup = |ids| provider.lookup_volumes(ids);
            let results = absence::confirmed(calls, &ids(&batch), results, lookup).await;
            reports(batch, results, volume::shell::destroyed)
        }
        (Operation::AttachVolume, _, Some(provider)) => {
            let lookup = |ids| provider.lookup_attachments(ids);
            let make = |attachments| provider.attach_volumes(attachments);
            Making { wish: wishes::attach, lookup, make, command: volume_attachment::shell::attached }
                .run(batch, calls)
                .await
        }
        (Operation::DetachVolume, _, Some(provider)) => {
            let wanted = batch.iter().filter_map(wishes::detach).collect();
            let results = bulk(calls, CallKind::Remove, batch.len(), || provider.detach_volumes(wanted)).await;
            let lookup = |ids| provider.lookup_attachments(ids);
            let results = absence::confirmed(calls, &ids(&batch), results, lookup).await;
            reports(batch, results, volume_attachment::shell::detached)
        }
        (Operation::LookAtReplicaSet | Operation::StepReplicaSet, _, _) => replica_sets(services, batch, limit).await,
        (operation, _, _) => without_provider(operation, &services.providers.nobody(&source), batch),
    }
}

/// Deletes instances, but for those that another control plane has started.
async fn delete_machines(
    services: &Services,
    provider: &dyn MachineProvider,
    operation: Operation,
    batch: Batch,
    calls: &Calls<'_>,
) -> Vec<Report> {
    let asked = ownership::ask(services.journal_id(), provider, batch, calls).await;
    if asked.ours.is_empty() {
        return asked.told;
    }
    let results = bulk(calls, CallKind::Remove, asked.ours.len(), || provider.delete(ids(&asked.ours))).await;
    let results = absence::confirmed(calls, &ids(&asked.ours), results, |ids| provider.lookup(ids)).await;
    let deleted = if operation == Operation::DeleteStray {
        stray_reports(asked.ours, results)
    } else {
        forget_tokens(services, &asked.ours, &results);
        reports(asked.ours, results, machine::shell::deleted)
    };
    deleted.into_iter().chain(asked.told).collect()
}

/// As [`perform`], for filesystems and their attachments.
async fn perform_filesystems(
    provider: &dyn FilesystemProvider,
    operation: Operation,
    batch: Batch,
    calls: &Calls<'_>,
) -> Vec<Report> {
    match operation {
        Operation::CreateFilesystem => {
            let lookup = |ids| provider.lookup_filesystems(ids);
            let make = |filesystems| provider.create_filesystems(filesystems);
            Making { wish: wishes::create_filesystem, lookup, make, command: filesystem::shell::created }
                .run(batch, calls)
                .await
        }
        Operation::DestroyFilesystem => {
            let results =
                bulk(calls, CallKind::Remove, batch.len(), || provider.destroy_filesystems(ids(&batch))).await;
            let lookup = |ids| provider.lookup_filesystems(ids);
            let results = absence::confirmed(calls, &ids(&batch), results, lookup).await;
            reports(batch, results, filesystem::shell::destroyed)
        }
        Operation::ReleaseFilesystem => {
            let results =
                bulk(calls, CallKind::Remove, batch.len(), || provider.release_filesystems(ids(&batch))).await;
            let lookup = |ids| provider.lookup_filesystems(ids);
            let results = absence::confirmed(calls, &ids(&batch), results, lookup).await;
            reports(batch, results, filesystem::shell::destroyed)
        }
        Operation::AttachFilesystem => {
            let lookup = |ids| provider.lookup_filesystem_attachments(ids);
            let make = |attachments| provider.attach_filesystems(attachments);
            Making { wish: wishes::attach_filesystem, lookup, make, command: filesystem_attachment::shell::attached }
                .run(batch, calls)
                .await
        }
        Operation::DetachFilesystem => {
            let wanted = batch.iter().filter_map(wishes::detach_filesystem).collect();
            let results = bulk(calls, CallKind::Remove, batch.len(), || provider.detach_filesystems(wanted)).await;
            let lookup = |ids| provider.lookup_filesystem_attachments(ids);
            let results = absence::confirmed(calls, &ids(&batch), results, lookup).await;
            reports(batch, results, filesystem_attachment::shell::detached)
        }
        other => without_provider(other, &none(None), batch),
    }
}

/// Calls to engines, one after the other (a batch of them has one): what is not answered in time is unknown.
async fn replica_sets(services: &Services, batch: Batch, limit: Duration) -> Vec<Report> {
    let mut reports = Vec::new();
    for item in batch {
        let Call::ReplicaSet { stream, engine, round, contact, call, .. } = item.call else { continue };
        let name = engine.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        let engine = engine.and_then(|engine| services.providers.replica_sets.get(&engine)).cloned();
        let late = |limit: Duration| {
            let text = format!("no answer within {} ms; it may still happen", limit.as_millis());
            Fault::new(FaultCode::DeadlineExceeded, text)
        };
        let command = match (call, engine) {
            (ReplicaSetCall::Look, Some(engine)) => {
                let answer = tokio::time::timeout(limit, engine.observe(contact)).await;
                replica_set::shell::looked(round, answer.unwrap_or_else(|_| Err(late(limit))))
            }
            (ReplicaSetCall::Step { step, base }, Some(engine)) => {
                let taken = replica_set::shell::take(&*engine, contact, *step, base, item.ask_first);
                let outcome = tokio::time::timeout(limit, taken).await;
                replica_set::shell::stepped(round, outcome.unwrap_or_else(|_| Outcome::Unknown(late(limit))))
            }
            (call, None) => {
                let fault = Fault::new(FaultCode::InvalidArgument, format!("this node has no engine named {name}"));
                match call {
                    ReplicaSetCall::Look => replica_set::shell::looked(round, Err(fault)),
                    ReplicaSetCall::Step { .. } => replica_set::shell::stepped(round, Outcome::Refused(fault)),
                }
            }
        };
        reports.push((stream, command, item.cause));
    }
    reports
}

fn without_provider(operation: Operation, fault: &Fault, batch: Batch) -> Vec<Report> {
    match operation {
        Operation::CreateMachine => fail(batch, fault, machine::shell::created),
        Operation::DeleteMachine => fail(batch, fault, machine::shell::deleted),
        Operation::DeleteStray => {
            let results = vec![Err(fault.clone()); batch.len()];
            stray_reports(batch, results)
        }
        Operation::CreateVolume | Operation::ImportVolume => fail(batch, fault, volume::shell::created),
        Operation::DestroyVolume | Operation::ReleaseVolume => fail(batch, fault, volume::shell::destroyed),
        Operation::AttachVolume => fail(batch, fault, volume_attachment::shell::attached),
        Operation::DetachVolume => fail(batch, fault, volume_attachment::shell::detached),
        Operation::CreateFilesystem => fail(batch, fault, filesystem::shell::created),
        Operation::DestroyFilesystem | Operation::ReleaseFilesystem => fail(batch, fault, filesystem::shell::destroyed),
        Operation::AttachFilesystem => fail(batch, fault, filesystem_attachment::shell::attached),
        Operation::DetachFilesystem => fail(batch, fault, filesystem_attachment::shell::detached),
        Operation::LookAtReplicaSet | Operation::StepReplicaSet => Vec::new(),
    }
}

fn fail<T: Clone>(batch: Batch, fault: &Fault, command: fn(u32, Result<T, Fault>) -> AnyCommand) -> Vec<Report> {
    let results = vec![Err(fault.clone()); batch.len()];
    reports(batch, results, command)
}

fn reports<T>(
    batch: Batch,
    results: Vec<Result<T, Fault>>,
    command: fn(u32, Result<T, Fault>) -> AnyCommand,
) -> Vec<Report> {
    let report = |(item, result): (Perform, Result<T, Fault>)| {
        (item.call.stream().clone(), command(item.call.attempt(), result), item.cause)
    };
    batch.into_iter().zip(results).map(report).collect()
}

/// A stray is named in its report: a machine may have more than one.
fn stray_reports(batch: Batch, results: Vec<Result<(), Fault>>) -> Vec<Report> {
    let report = |(item, result): (Perform, Result<(), Fault>)| {
        let command = machine::shell::stray_deleted(item.call.id(), item.call.attempt(), result);
        (item.call.stream().clone(), command, item.cause)
    };
    batch.into_iter().zip(results).map(report).collect()
}

/// What is gone joins nowhere any more.
fn forget_tokens(services: &Services, batch: &[Perform], results: &[Result<(), Fault>]) {
    let Some(enrolment) = &services.providers.enrolment else { return };
    let gone = batch.iter().zip(results).filter(|(_, result)| result.is_ok());
    gone.for_each(|(item, _)| enrolment.forget(item.call.id()));
}

fn cannot_import() -> Fault {
    Fault::new(FaultCode::Unimplemented, "the provider cannot take over what it has not made")
}

/// Splits a batch: the items to be looked up first, and those to be made at once; both with their places.
fn split(batch: &[Perform]) -> (Vec<usize>, Vec<usize>) {
    (0..batch.len()).partition(|place| batch[*place].ask_first)
}

/// Turns what is known about items into answers; the places of those that are absent go on the list of things to make.
fn adopt<T>(
    known: Vec<Result<Lookup<T>, Fault>>,
    places: Vec<usize>,
    results: &mut BTreeMap<usize, Result<T, Fault>>,
    to_make: &mut Vec<usize>,
) {
    for (place, known) in places.into_iter().zip(known) {
        match known {
            Ok(Lookup::Present(present)) => drop(results.insert(place, Ok(present))),
            Ok(Lookup::Absent) => to_make.push(place),
            Ok(Lookup::Unknown) => {
                let fault = Fault::new(FaultCode::Unknown, "the provider cannot tell now whether it is there");
                results.insert(place, Err(fault));
            }
            Err(fault) => drop(results.insert(place, Err(fault))),
        }
    }
    to_make.sort_unstable();
}

/// How things of one kind are made: what is asked for by id first, how the rest is made, and what is reported.
struct Making<W, T, L, M> {
    wish: fn(&Perform) -> Option<W>,
    lookup: L,
    make: M,
    command: fn(u32, Result<T, Fault>) -> AnyCommand,
}

impl<W, T, L, M> Making<W, T, L, M> {
    /// Adopts what is there of what may have been begun, and makes the rest.
    async fn run<'p>(self, batch: Batch, calls: &Calls<'_>) -> Vec<Report>
    where
        L: FnOnce(Vec<EffectId>) -> BulkAnswer<'p, Lookup<T>>,
        M: FnOnce(Vec<W>) -> BulkAnswer<'p, T>,
    {
        let (to_ask, mut to_make) = split(&batch);
        let mut results: BTreeMap<usize, Result<T, Fault>> = BTreeMap::new();
        let asked: Vec<EffectId> = to_ask.iter().map(|place| batch[*place].call.id()).collect();
        if !asked.is_empty() {
            let known = bulk(calls, CallKind::LookUp, asked.len(), || (self.lookup)(asked)).await;
            adopt(known, to_ask, &mut results, &mut to_make);
        }
        let wanted: Vec<W> = to_make.iter().filter_map(|place| (self.wish)(&batch[*place])).collect();
        if !wanted.is_empty() {
            let made = bulk(calls, CallKind::Make, wanted.len(), || (self.make)(wanted)).await;
            results.extend(to_make.into_iter().zip(made));
        }
        reports(batch, results.into_values().collect(), self.command)
    }
}

/// The id of a report, by what the journal will hold of it. One that is too large for that is refused under any id.
fn report_id(stream: &StreamId, cause: Position, command: &AnyCommand) -> Uuid {
    let told = command.store().map_or(Uuid::nil(), |body| Uuid::from_bytes(digest(&body.bytes)));
    derived_uuid(&format!("report {stream} {cause} {told}"))
}

/// Tells the entities. A report that cannot be taken now is made again: what has happened must not be forgotten.
pub(super) async fn report(registry: &actix::WeakAddr<Registry>, reports: Vec<Report>) {
    let mut open = reports;
    let mut wait_ms = 100;
    loop {
        let mut refused = Vec::new();
        let mut asks = Vec::new();
        for (stream, command, cause) in open {
            let Some(registry) = registry.upgrade() else {
                return;
            };
            let id = report_id(&stream, cause, &command);
            let origin =
                Origin { id, principal: "executor".into(), cause: Some(cause), cites: Vec::new(), routine: true };
            let ask = Ask { stream: stream.clone(), command: command.clone(), origin };
            asks.push((registry.send(ask), (stream, command, cause)));
        }
        for (ask, report) in asks {
            match ask.await {
                Ok(Err(AskError::Overloaded | AskError::Contended | AskError::Crashed { .. })) => refused.push(report),
                Ok(Err(error)) => {
                    tracing::error!(stream = %report.0, %error, "a report was not recorded; sending it again")
                }
                Ok(Ok(_)) => (),
                // The registry has ended: the node stops, and asks the provider by id when it starts again.
                Err(_) => return,
            }
        }
        if refused.is_empty() {
            return;
        }
        open = refused;
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        wait_ms = (wait_ms * 2).min(5_000);
    }
}
