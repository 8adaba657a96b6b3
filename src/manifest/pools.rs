//! Where storage comes from: the pool that is named, or the one for what names none.

use bailiwick_actors::storage_rules::{
    FromPool, ParamsError, Pool, PoolName, Pools, StorageConfig, StorageKind, check_filesystem, check_volume,
    default_pool,
};

use super::{
    hint::nearest,
    problem::{Code, Place, Problem, Problems},
    read::{Known, Provider, Read, add},
    source::Source,
    wish::{Pooled, Wish},
};

/// Gives what comes from a pool the provider and the attributes of that pool, and checks whether the pool can make it.
///
/// Where nobody knows the pools of a node, those that every node has are taken, and others are left for the node to find.
pub(super) fn resolve(documents: &mut [Read], known: Option<&Known>, sources: &[Source], problems: &mut Problems) {
    let (config, pools) = known_pools(known);
    for Read { document, provider, .. } in documents {
        let (named, default) = match provider {
            Provider::OfPool(named) => (named.clone(), None),
            Provider::OfDefault(default) => (None, Some(default.clone())),
            Provider::Said | Provider::OfClass(_) => continue,
        };
        let kind = match document.wish {
            Wish::Filesystem { .. } => StorageKind::Filesystem,
            _ => StorageKind::Block,
        };
        let place = named.as_ref().map_or_else(|| document.place.clone(), |(_, place)| place.clone());
        let named = named.map(|(pool, _)| pool);
        let name = named.clone().or(default).unwrap_or_else(|| default_pool(kind, &config));
        let Ok(pool) = pools.get(&name) else {
            if known.is_some() {
                add(no_such_pool(place, "spec.pool", &name, &pools), sources, problems);
            }
            continue;
        };
        match take(&mut document.wish, &name, pool, named.is_some()) {
            Ok(()) => (),
            Err(why) => {
                let problem = Problem::new(place, "spec.pool", Code::BadPool, why.message);
                add(problem.next(why.next), sources, problems);
            }
        }
    }
}

/// What says where storage comes from, and the pools.
pub(super) fn known_pools(known: Option<&Known>) -> (StorageConfig, Pools) {
    let config = known.map(|known| known.storage.clone()).unwrap_or_default();
    // What was accepted once makes sense; if it does not to this release, those that everybody has are still there.
    let pools = config.pools().or_else(|_| StorageConfig::default().pools()).unwrap_or_default();
    (config, pools)
}

pub(super) fn no_such_pool(place: Place, field: &str, name: &PoolName, pools: &Pools) -> Problem {
    let message = format!("pool `{name}` not found");
    let problem = Problem::new(place, field, Code::DanglingReference, message);
    match nearest(name.as_str(), pools.iter().map(|(name, _)| name.as_str())) {
        Some(meant) => problem.next(format!("did you mean `{meant}`?")),
        None => problem.next("`bailiwick pool list` lists all pools, `bailiwick pool create` adds one"),
    }
}

/// Why a pool cannot make what is asked of it.
struct Unfit {
    message: String,
    next: &'static str,
}

fn take(wish: &mut Wish, name: &PoolName, of: &Pool, is_named: bool) -> Result<(), Unfit> {
    let source = of.source();
    let pool = FromPool { name: name.clone(), attributes: source.attributes };
    let unfit = |error: ParamsError| Unfit {
        message: format!("pool `{name}` cannot create it: {error}"),
        next: "request less, or name another pool",
    };
    match wish {
        Wish::Volume { spec, pool: from, .. } => {
            check_volume(of, spec.size).map_err(unfit)?;
            (spec.provider, *from) = (source.provider, Some(Pooled { pool, is_named }));
        }
        Wish::Filesystem { spec, pool: from, .. } => {
            if !of.provider().makes_filesystems() {
                return Err(Unfit {
                    message: format!("pool `{name}` provides volumes, not filesystems"),
                    next: "declare a volume from it and a filesystem with `volume:`, or name a pool of filesystems",
                });
            }
            check_filesystem(of, spec.size).map_err(unfit)?;
            (spec.provider, *from) = (source.provider, Some(Pooled { pool, is_named }));
        }
        _ => (),
    }
    Ok(())
}
