//! What is made where a directive leaves something open.

use super::{Directive, PoolName, ProviderType, StorageConfig, StorageKind};
use crate::vocab::SizeMib;

/// What the user of the storage needs at least; nothing where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minimum {
    pub size: Option<SizeMib>,
    pub count: Option<u64>,
}

/// What is asked for, with nothing left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    pub pool: PoolName,
    pub count: u64,
    pub size: SizeMib,
}

/// The size where neither directive nor minimum name one.
const SIZE: SizeMib = SizeMib(1_024);

/// Fills in what a directive leaves open.
///
/// Where nothing at all was asked for, the machine's own storage serves (`loop`, `rootfs`), whatever the configuration
/// says; where anything was, the configured default does. The same directive, minimum and configuration give the same
/// demand for ever. Source: Juju.
pub fn demand(kind: StorageKind, directive: Option<&Directive>, minimum: Minimum, config: &StorageConfig) -> Demand {
    let named = directive.and_then(|directive| directive.pool.clone());
    let pool = named.unwrap_or_else(|| match directive {
        Some(_) => default_pool(kind, config),
        None => fallback(kind),
    });
    let count = directive.map_or_else(|| minimum.count.unwrap_or(1), |directive| directive.count);
    let size = directive.and_then(|directive| directive.size).filter(|size| 0 < size.0);
    Demand { pool, count, size: size.or(minimum.size).unwrap_or(SIZE) }
}

/// The machine's own storage.
fn fallback(kind: StorageKind) -> PoolName {
    PoolName::of(match kind {
        StorageKind::Block => ProviderType::Loop,
        StorageKind::Filesystem => ProviderType::Rootfs,
    })
}

/// Where storage comes from that is asked for and names no pool.
pub fn default_pool(kind: StorageKind, config: &StorageConfig) -> PoolName {
    let configured = match kind {
        StorageKind::Block => config.default_block_pool.as_ref(),
        StorageKind::Filesystem => config.default_filesystem_pool.as_ref().or(config.default_block_pool.as_ref()),
    };
    configured.cloned().unwrap_or_else(|| fallback(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: StorageKind = StorageKind::Block;
    const FILES: StorageKind = StorageKind::Filesystem;

    fn pool(kind: StorageKind, directive: Option<&str>, block: Option<&str>, files: Option<&str>) -> String {
        let config = StorageConfig {
            default_block_pool: block.map(|name| name.parse().unwrap()),
            default_filesystem_pool: files.map(|name| name.parse().unwrap()),
            ..StorageConfig::default()
        };
        let directive = directive.map(|text| text.parse::<Directive>().unwrap());
        demand(kind, directive.as_ref(), Minimum::default(), &config).pool.to_string()
    }

    #[test]
    fn the_pool_follows_from_what_was_asked_and_configured() {
        for (kind, directive, block, files, expected) in [
            (BLOCK, None, Some("ebs"), None, "loop"),
            (FILES, None, Some("ebs"), Some("tmpfs"), "rootfs"),
            (BLOCK, Some("1G"), Some("ebs"), None, "ebs"),
            (BLOCK, Some("1G"), None, Some("tmpfs"), "loop"),
            (FILES, Some("1G"), Some("ebs"), Some("tmpfs"), "tmpfs"),
            (FILES, Some("1G"), Some("ebs"), None, "ebs"),
            (FILES, Some("1"), None, None, "rootfs"),
            (FILES, Some("mine"), Some("ebs"), Some("tmpfs"), "mine"),
        ] {
            assert_eq!(pool(kind, directive, block, files), expected, "{kind:?} {directive:?} {block:?} {files:?}");
        }
    }

    #[test]
    fn size_and_count_follow_from_the_directive_then_the_minimum() {
        let config = StorageConfig::default();
        let minimum = Minimum { size: Some(SizeMib(7)), count: Some(3) };
        let ask = |text: Option<&str>, minimum| {
            let directive = text.map(|text| text.parse::<Directive>().unwrap());
            let demand = demand(BLOCK, directive.as_ref(), minimum, &config);
            (demand.count, demand.size.0)
        };
        assert_eq!(ask(None, Minimum::default()), (1, 1_024));
        assert_eq!(ask(None, minimum), (3, 7));
        assert_eq!(ask(Some("2,1G"), minimum), (2, 1_024));
        assert_eq!(ask(Some("p"), minimum), (1, 7), "a directive without a count says one");
    }
}
