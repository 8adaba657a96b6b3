//! Filesystems from pools that make volumes: each is made on a volume of its own, which is attached where it is mounted, and
//! goes with it.

use std::collections::BTreeMap;

use bailiwick_actors::{
    contract::Decider,
    filesystem,
    storage_rules::{Pool, PoolName, StorageKind, check_filesystem, default_pool},
    vocab::Name,
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;

use super::{
    pools::known_pools,
    problem::{Code, Place, Problem, Problems},
    read::{Known, Provider, Read, add},
    source::Source,
    wish::{Document, Wish},
};

/// Adds the volumes beneath, and their attachments, to what is declared.
pub(super) fn expand(documents: &mut Vec<Read>, known: Option<&Known>, sources: &[Source], problems: &mut Problems) {
    let (config, pools) = known_pools(known);
    let mut beneath: BTreeMap<Name, Name> = known.map(|known| known.own_volumes.clone()).unwrap_or_default();
    let mut made = Vec::new();
    for Read { document: Document { place, wish, .. }, provider, .. } in &mut *documents {
        let (Wish::Filesystem { name, spec, .. }, Provider::OfPool(named)) = (wish, &*provider) else { continue };
        let pool_name = match named {
            Some((pool, _)) => pool.clone(),
            None => default_pool(StorageKind::Filesystem, &config),
        };
        // A missing pool is reported where objects get their pools.
        let Some(pool) = pools.get(&pool_name).ok().filter(|pool| !pool.provider().makes_filesystems()) else {
            continue;
        };
        let source = match named {
            Some(_) => Provider::OfPool(named.clone()),
            None => Provider::OfDefault(pool_name.clone()),
        };
        let pool_place = named.as_ref().map_or(&*place, |(_, place)| place);
        match volume(name, spec, (&pool_name, pool), (place, pool_place)) {
            Ok((volume, wish)) => {
                beneath.insert(name.clone(), volume.clone());
                spec.backing = Some(volume);
                spec.provider = filesystem::MANAGED.parse().expect("a valid name");
                *provider = Provider::Said;
                made.push(read(place, wish, source));
            }
            Err(problem) => add(*problem, sources, problems),
        }
    }
    for Read { document: Document { place, wish, .. }, .. } in &*documents {
        let Wish::FilesystemAttachment { spec } = wish else { continue };
        let Some(volume) = beneath.get(&spec.filesystem).cloned() else { continue };
        // What is on it has to be made first: only the mount is read-only, where that is asked for.
        let spec = volume_attachment::Spec { machine: spec.machine.clone(), volume, read_only: false };
        made.push(read(place, Wish::VolumeAttachment { spec }, Provider::Said));
    }
    documents.extend(made);
}

/// The volume that a filesystem is made on.
fn volume(
    filesystem: &Name,
    spec: &filesystem::Spec,
    (pool_name, pool): (&PoolName, &Pool),
    (place, pool_place): (&Place, &Place),
) -> Result<(Name, Wish), Box<Problem>> {
    if let Err(error) = check_filesystem(pool, spec.size) {
        let message = format!("pool `{pool_name}` cannot create it: {error}");
        let problem = Problem::new(pool_place.clone(), "spec.pool", Code::BadPool, message);
        return Err(problem.next("change the size, or name another pool").into());
    }
    let text = format!("{filesystem}-volume");
    let name = text.parse::<Name>().map_err(|_| {
        let message = format!("its volume would be named {text}");
        let next = format!("a name has at most {} letters: use a shorter one", Name::BYTES_MAX);
        Box::new(Problem::new(place.clone(), "metadata.name", Code::BadName, message).next(next))
    })?;
    let owner = StreamId::new(filesystem::State::KIND, filesystem.as_str()).ok();
    let (machine, spec) = (spec.machine.clone(), volume::Spec { provider: pool.source().provider, size: spec.size });
    Ok((name.clone(), Wish::Volume { name, spec, machine, pool: None, owner, tags: volume::Tags::new() }))
}

fn read(place: &Place, wish: Wish, provider: Provider) -> Read {
    let document = Document { place: place.clone(), wish, protect: None };
    Read { document, references: Vec::new(), provider, claims: Vec::new() }
}
