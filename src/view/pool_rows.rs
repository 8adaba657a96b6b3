//! Where storage can come from.

use std::collections::BTreeMap;

use bailiwick_actors::{
    policy,
    storage_rules::{Pool, PoolName, ProviderType, StorageConfig, StorageKind, default_pool},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Fleet;

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PoolRow {
    pub name: String,
    pub provider: String,
    /// `volumes` or `filesystems`.
    pub makes: &'static str,
    /// Whether what comes from it is inside of one machine.
    pub inside: bool,
    pub attributes: BTreeMap<String, String>,
    /// Whether somebody made it; the others are always there.
    pub own: bool,
    /// What comes from it that names no pool: `volumes`, `filesystems`.
    pub default: Vec<&'static str>,
}

/// All pools, by name: those that are always there, and those that were made.
pub fn pools(fleet: &Fleet) -> Vec<PoolRow> {
    let config = storage_config(fleet);
    // What was accepted once makes sense; if it does not to this release, the others are still told.
    let pools = config.pools().or_else(|_| StorageConfig::default().pools()).unwrap_or_default();
    let is_default = |name: &PoolName, kind| default_pool(kind, &config) == *name;
    let row = |(name, pool): (&PoolName, &Pool)| PoolRow {
        name: name.to_string(),
        provider: pool.provider().to_string(),
        makes: words(pool.provider().kind()),
        inside: pool.provider().is_inside(),
        attributes: pool.attributes().clone(),
        own: config.pools.contains_key(name),
        default: [StorageKind::Block, StorageKind::Filesystem]
            .into_iter()
            .filter(|kind| is_default(name, *kind))
            .map(words)
            .collect(),
    };
    // No node makes anything for `ebs` or `simulated`: only those that somebody made have to be told.
    let is_of_nobody = |pool: &Pool| matches!(pool.provider(), ProviderType::Ebs | ProviderType::Simulated);
    let can_be = |(name, pool): &(&PoolName, &Pool)| !is_of_nobody(pool) || config.pools.contains_key(*name);
    pools.iter().filter(can_be).map(row).collect()
}

fn words(kind: StorageKind) -> &'static str {
    match kind {
        StorageKind::Block => "volumes",
        StorageKind::Filesystem => "filesystems",
    }
}

/// The document that says where storage comes from.
pub fn storage_config(fleet: &Fleet) -> StorageConfig {
    let name = policy::default_name();
    fleet.policies.get(name.as_str()).map(|state| state.pools.clone()).unwrap_or_default()
}
