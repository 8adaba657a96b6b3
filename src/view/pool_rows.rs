//! Where storage can come from.

use std::collections::BTreeMap;

use bailiwick_actors::{
    policy,
    storage_rules::{Pool, PoolName, Scope, StorageConfig, StorageKind},
};
use serde::Serialize;

use super::Fleet;

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
}

/// All pools, by name: those that are always there, and those that were made.
pub fn pools(fleet: &Fleet) -> Vec<PoolRow> {
    let config = storage_config(fleet);
    // What was accepted once makes sense; if it does not to this release, the others are still told.
    let pools = config.pools().or_else(|_| StorageConfig::default().pools()).unwrap_or_default();
    let row = |(name, pool): (&PoolName, &Pool)| PoolRow {
        name: name.to_string(),
        provider: pool.provider().to_string(),
        makes: match pool.provider().kind() {
            StorageKind::Block => "volumes",
            StorageKind::Filesystem => "filesystems",
        },
        inside: pool.provider().scope() == Scope::Machine && pool.provider().as_str() != "directory",
        attributes: pool.attributes().clone(),
        own: config.pools.contains_key(name),
    };
    pools.iter().map(row).collect()
}

/// The document that says where storage comes from.
fn storage_config(fleet: &Fleet) -> StorageConfig {
    let name = policy::default_name();
    fleet.policies.get(name.as_str()).map(|state| state.pools.clone()).unwrap_or_default()
}
