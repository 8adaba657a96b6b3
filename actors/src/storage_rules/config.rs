//! The storage part of a model's configuration, as one document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attributes, PoolError, PoolName, Pools, ProviderType, StorageKind};

/// The document: what people write and what is kept. [`pools`](Self::pools) says whether it makes sense.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StorageConfig {
    /// Where volumes come from that name no pool. Without it: `loop`.
    pub default_block_pool: Option<PoolName>,
    /// Where filesystems come from that name no pool. Without it: the default for volumes, else `rootfs`.
    pub default_filesystem_pool: Option<PoolName>,
    /// Pools by name, beside those that every model has.
    pub pools: BTreeMap<PoolName, PoolSettings>,
}

/// One pool as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PoolSettings {
    pub provider: ProviderType,
    #[serde(default)]
    pub attributes: Attributes,
}

/// One thing in the document that does not make sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigProblem {
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error("the default pool {pool} of {kind} does not exist", kind = words(*.kind))]
    NoSuchDefault { kind: StorageKind, pool: PoolName },
    #[error("pool {pool} of type {provider} does not provide {kind}", kind = words(*.kind))]
    WrongKind { kind: StorageKind, pool: PoolName, provider: ProviderType },
}

fn words(kind: StorageKind) -> &'static str {
    match kind {
        StorageKind::Block => "volumes",
        StorageKind::Filesystem => "filesystems",
    }
}

impl StorageConfig {
    /// The pool that is said to be the default for this kind of storage.
    pub fn default_of(&self, kind: StorageKind) -> Option<&PoolName> {
        match kind {
            StorageKind::Block => self.default_block_pool.as_ref(),
            StorageKind::Filesystem => self.default_filesystem_pool.as_ref(),
        }
    }

    /// The place of [`Self::default_of`].
    pub fn default_of_mut(&mut self, kind: StorageKind) -> &mut Option<PoolName> {
        match kind {
            StorageKind::Block => &mut self.default_block_pool,
            StorageKind::Filesystem => &mut self.default_filesystem_pool,
        }
    }

    /// The pools of the model, with those that every model has; or all that is wrong, in the order of the document.
    pub fn pools(&self) -> Result<Pools, Vec<ConfigProblem>> {
        let (mut pools, mut problems) = (Pools::default(), Vec::new());
        for (name, settings) in &self.pools {
            if let Err(error) = pools.create(name.clone(), settings.provider, settings.attributes.clone()) {
                problems.push(error.into());
            }
        }
        pools.add_defaults();
        let defaults =
            [(StorageKind::Block, &self.default_block_pool), (StorageKind::Filesystem, &self.default_filesystem_pool)];
        for (kind, pool) in defaults.into_iter().filter_map(|(kind, pool)| Some((kind, pool.clone()?))) {
            // A pool that is written and refused has been told already.
            match pools.get(&pool).map(|found| found.provider()) {
                Err(_) if self.pools.contains_key(&pool) => (),
                Err(_) => problems.push(ConfigProblem::NoSuchDefault { kind, pool }),
                Ok(provider) if !provider.can_make(kind) => {
                    problems.push(ConfigProblem::WrongKind { kind, pool, provider });
                }
                Ok(_) => (),
            }
        }
        if problems.is_empty() { Ok(pools) } else { Err(problems) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> StorageConfig {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_document_is_read_written_and_understood() {
        let text = r#"{"default-block-pool": "fast", "pools": {"fast": {"provider": "ebs", "attributes": {"volume-type": "ssd"}}}}"#;
        let config = read(text);
        let pools = config.pools().unwrap();
        assert_eq!(pools.get(&"fast".parse().unwrap()).unwrap().provider(), ProviderType::Ebs);
        assert_eq!(read(&serde_json::to_string(&config).unwrap()), config);
        assert!(StorageConfig::default().pools().is_ok());
    }

    #[test]
    fn everything_that_is_wrong_is_told() {
        let config = read(
            r#"{"default-block-pool": "tmpfs", "default-filesystem-pool": "nowhere",
                "pools": {"bad": {"provider": "loop", "attributes": {"colour": "red"}}}}"#,
        );
        let problems = config.pools().unwrap_err();
        assert!(matches!(problems[0], ConfigProblem::Pool(PoolError::Attributes { .. })));
        assert!(matches!(problems[1], ConfigProblem::WrongKind { kind: StorageKind::Block, .. }));
        assert!(matches!(problems[2], ConfigProblem::NoSuchDefault { kind: StorageKind::Filesystem, .. }));
        assert_eq!(problems.len(), 3);
    }

    #[test]
    fn a_word_that_nobody_knows_is_refused() {
        for text in [
            r#"{"defaultBlock": "x"}"#,
            r#"{"pools": {"7p": {"provider": "loop"}}}"#,
            r#"{"pools": {"p": {"provider": "x"}}}"#,
        ] {
            assert!(serde_json::from_str::<StorageConfig>(text).is_err(), "{text}");
        }
    }
}
