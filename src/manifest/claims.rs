//! The storage that declarations of machines ask for: each claim becomes volumes or filesystems and their attachments, with
//! names that follow from machine and claim.
//!
//! Every one has a number, also a single one: who asks for another count keeps those that are there.

mod templates;

use std::sync::Arc;

use bailiwick_actors::{
    contract::Decider,
    filesystem, filesystem_attachment, machine,
    storage_rules::{Minimum, Pool, Pools, StorageConfig, StorageKind, default_pool, demand},
    vocab::Name,
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{
    limits,
    pools::{known_pools, no_such_pool},
    problem::{Code, Problem, Problems},
    read::{Claim, Known, Provider, Read, Reference, add},
    source::Source,
    wish::{Document, Wish},
};

/// Adds what machines ask for to what is declared, and what machines of sets ask for to their templates.
pub(super) fn expand(documents: &mut Vec<Read>, known: Option<&Known>, sources: &[Source], problems: &mut Problems) {
    let (config, pools) = known_pools(known);
    // Where nobody knows the pools of a node, the node will find out.
    let tell = |problem: Box<Problem>, problems: &mut Problems| {
        if known.is_some() {
            add(*problem, sources, problems);
        }
    };
    let mut made = Vec::new();
    for Read { document, claims, .. } in &mut *documents {
        let template = match &mut document.wish {
            Wish::Machine { name, .. } => {
                let machine = name.clone();
                for claim in &*claims {
                    let pool = match pool_of(claim, &pools, &config) {
                        Ok(pool) => pool,
                        Err(problem) => {
                            tell(problem, problems);
                            continue;
                        }
                    };
                    match of_machine(&machine, claim, pool, (made.len(), &config)) {
                        Ok(all) => made.extend(all),
                        Err(problem) => add(*problem, sources, problems),
                    }
                }
                continue;
            }
            Wish::MachineSet { spec, .. } => &mut spec.template,
            Wish::MachineDeployment { spec, .. } => &mut spec.template,
            _ => continue,
        };
        match templates::claims(claims, &template.workloads, &pools, &config) {
            Ok(claims) => Arc::make_mut(template).storage = claims,
            Err(problem) => tell(problem, problems),
        }
    }
    documents.extend(made);
}

/// Everything that a machine asks for under one name, each with its attachment.
fn of_machine(
    machine: &Name,
    claim: &Claim,
    pool: &Pool,
    (made, config): (usize, &StorageConfig),
) -> Result<Vec<Read>, Box<Problem>> {
    let room = (limits::DOCUMENTS_MAX - made.min(limits::DOCUMENTS_MAX)) as u64 / 2;
    if room.min(limits::CLAIM_COUNT_MAX) < claim.directive.count {
        let message = format!("{} are too many", claim.directive.count);
        let next = format!(
            "use at most {} per storage name, and {} per manifest",
            limits::CLAIM_COUNT_MAX,
            limits::DOCUMENTS_MAX / 2
        );
        return Err(problem(claim, Code::TooMany, message).next(next).into());
    }
    let mut all = Vec::new();
    for number in 0..claim.directive.count {
        all.extend(claimed(machine, claim, number, pool, config)?);
    }
    Ok(all)
}

fn problem(claim: &Claim, code: Code, message: impl AsRef<str>) -> Problem {
    Problem::new(claim.place.clone(), &claim.field, code, message)
}

fn pool_of<'p>(claim: &Claim, pools: &'p Pools, config: &StorageConfig) -> Result<&'p Pool, Box<Problem>> {
    let kind = claim.kind.unwrap_or(StorageKind::Block);
    let name = claim.directive.pool.clone().unwrap_or_else(|| default_pool(kind, config));
    let pool = pools.get(&name).map_err(|_| no_such_pool(claim.place.clone(), &claim.field, &name, pools))?;
    if claim.is_persistent == Some(true) && pool.provider().is_inside() {
        let message = format!("storage of pool `{name}` is inside the machine, and is removed with it");
        let next = "omit `persistent`, or name another pool";
        return Err(problem(claim, Code::BadPool, message).next(next).into());
    }
    Ok(pool)
}

/// One of what is asked for, and its attachment to the machine.
fn claimed(
    machine: &Name,
    claim: &Claim,
    number: u64,
    pool: &Pool,
    config: &StorageConfig,
) -> Result<[Read; 2], Box<Problem>> {
    let text = format!("{machine}-{}-{number}", claim.name);
    let Ok(name) = text.parse::<Name>() else {
        let next =
            format!("a name has at most {} characters: shorten this one, or that of the machine", Name::BYTES_MAX);
        return Err(problem(claim, Code::BadName, format!("its storage would be named {text}")).next(next).into());
    };
    let kind = claim.kind.unwrap_or_else(|| pool.provider().kind());
    let size = demand(kind, Some(&claim.directive), Minimum::default(), config).size;
    let is_persistent = claim.is_persistent.unwrap_or(false);
    let owner = (!is_persistent).then(|| StreamId::new(machine::State::KIND, machine.as_str()));
    let owner = owner.and_then(Result::ok);
    let (provider, read_only) = (pool.source().provider, claim.read_only);
    let here = || machine.clone();
    let (storage, attachment) = match kind {
        StorageKind::Block => (
            // Made where its machine is: in the same zone.
            Wish::Volume {
                name: name.clone(),
                spec: volume::Spec { provider, size },
                machine: Some(here()),
                pool: None,
                owner,
                tags: volume::Tags::new(),
            },
            Wish::VolumeAttachment { spec: volume_attachment::Spec { machine: here(), volume: name, read_only } },
        ),
        StorageKind::Filesystem => {
            let bound = pool.provider().is_inside().then(here);
            let spec = filesystem::Spec { provider, size, backing: None, machine: bound };
            let path = claim.path.clone();
            (
                Wish::Filesystem { name: name.clone(), spec, pool: None, owner },
                Wish::FilesystemAttachment {
                    spec: filesystem_attachment::Spec { machine: here(), filesystem: name, path, read_only },
                },
            )
        }
    };
    let read = |wish, provider| Read {
        document: Document { place: claim.place.clone(), wish, protect: None },
        references: Vec::<Reference>::new(),
        provider,
        claims: Vec::new(),
    };
    let named = claim.directive.pool.clone().map(|pool| (pool, claim.place.clone()));
    Ok([read(storage, Provider::OfPool(named)), read(attachment, Provider::Said)])
}
