//! What every machine of a set asks for: written into its template, with its pool as that is when the template is applied.

use bailiwick_actors::{
    machine::Workload,
    storage_rules::{
        ClaimForm, FromPool, Minimum, Pool, Pools, StorageClaim, StorageConfig, StorageKind, check_filesystem,
        check_volume, default_pool, demand, is_within,
    },
};

use super::{Claim, pool_of, problem};
use crate::manifest::{
    limits,
    problem::{Code, Problem},
};

/// What a template asks for.
pub(super) fn claims(
    claims: &[Claim],
    workloads: &[Workload],
    pools: &Pools,
    config: &StorageConfig,
) -> Result<Vec<StorageClaim>, Box<Problem>> {
    let mut all: Vec<StorageClaim> = Vec::new();
    for claim in claims {
        let storage = one(claim, pool_of(claim, pools, config)?, config)?;
        let count: u64 = all.iter().map(|storage| u64::from(storage.count)).sum();
        if limits::TEMPLATE_STORAGE_MAX < count + u64::from(storage.count) {
            let message = format!("more than {} volumes and filesystems for one machine", limits::TEMPLATE_STORAGE_MAX);
            return Err(problem(claim, Code::TooMany, message).next("ask for fewer").into());
        }
        apart(claim, &storage, &all)?;
        usable(claim, &storage, workloads)?;
        all.push(storage);
    }
    Ok(all)
}

fn one(claim: &Claim, pool: &Pool, config: &StorageConfig) -> Result<StorageClaim, Box<Problem>> {
    if !StorageClaim::may_be_called(&claim.name) {
        let message = format!(
            "`{}` has a number as one of its parts: its storage could be mistaken for that of another",
            claim.name
        );
        let next = "use letters, such as `data` or `data-b`";
        return Err(problem(claim, Code::BadName, message).next(next).into());
    }
    let kind = claim.kind.unwrap_or_else(|| pool.provider().kind());
    let name =
        claim.directive.pool.clone().unwrap_or_else(|| default_pool(claim.kind.unwrap_or(StorageKind::Block), config));
    let size = demand(kind, Some(&claim.directive), Minimum::default(), config).size;
    let fits = match kind {
        StorageKind::Block => check_volume(pool, size),
        StorageKind::Filesystem => check_filesystem(pool, size),
    };
    if let Err(error) = fits {
        let message = format!("pool `{name}` cannot create it: {error}");
        return Err(problem(claim, Code::BadPool, message).next("change the size, or name another pool").into());
    }
    let Ok(count) = u32::try_from(claim.directive.count) else {
        let message = format!("{} are too many", claim.directive.count);
        return Err(problem(claim, Code::TooMany, message).next("ask for fewer").into());
    };
    let (path, is_inside, source) = (claim.path.clone(), pool.provider().is_inside(), pool.source());
    let form = match kind {
        StorageKind::Block if pool.provider().kind() == StorageKind::Filesystem => {
            let message = format!("pool `{name}` provides filesystems, not volumes");
            let next = "write `filesystem:` instead of `volume:`, or name another pool";
            return Err(problem(claim, Code::BadPool, message).next(next).into());
        }
        StorageKind::Block => ClaimForm::Volume,
        StorageKind::Filesystem if pool.provider().makes_filesystems() => ClaimForm::Filesystem { path, is_inside },
        StorageKind::Filesystem => ClaimForm::OnVolume { path, is_inside },
    };
    Ok(StorageClaim {
        name: claim.name.clone(),
        count,
        size,
        provider: source.provider,
        pool: FromPool { name, attributes: source.attributes },
        form,
        read_only: claim.read_only,
        // Nobody looks on when a set removes a machine: what can stay does, unless it is said otherwise.
        is_persistent: claim.is_persistent.unwrap_or(!is_inside),
    })
}

/// Refuses what a workload uses as a volume and is none, as its pool says.
fn usable(claim: &Claim, storage: &StorageClaim, workloads: &[Workload]) -> Result<(), Box<Problem>> {
    let user = workloads.iter().find(|workload| workload.volumes.contains(&storage.name));
    let Some(user) = user.filter(|_| storage.form != ClaimForm::Volume) else { return Ok(()) };
    let message = format!("workload `{}` uses it as a volume, and its pool provides filesystems", user.name);
    let next = "name a pool of volumes, or remove it from the workload's `volumes`";
    Err(problem(claim, Code::BadPool, message).next(next).into())
}

/// Refuses a path that is another one's, or lies inside of it, or around it.
fn apart(claim: &Claim, storage: &StorageClaim, others: &[StorageClaim]) -> Result<(), Box<Problem>> {
    let Some(path) = storage.path() else { return Ok(()) };
    let overlaps =
        |other: &&StorageClaim| other.path().is_some_and(|other| is_within(path, other) || is_within(other, path));
    let Some(other) = others.iter().find(overlaps) else { return Ok(()) };
    let message =
        format!("`{}` of the same machine is mounted at {}", other.name, other.path().map_or("", |path| path));
    let next = "choose a path that is neither that path nor inside or above it";
    Err(problem(claim, Code::Duplicate, message).next(next).into())
}
