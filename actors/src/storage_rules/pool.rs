//! Pools: where storage comes from, by a name that people chose.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{AttributeError, Attributes, ProviderType, check_attributes};

/// The name of a pool: one or more letters, then letters, digits, hyphens and question marks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = r"^[A-Za-z][A-Za-z0-9?-]{0,62}$")))]
#[serde(try_from = "String", into = "String")]
pub struct PoolName(String);

/// Says that a text is no name of a pool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a pool name: expected a letter, then letters, digits, '-' or '?', at most 63")]
pub struct InvalidPoolName {
    /// The text, cut to 80 characters.
    pub text: String,
}

impl PoolName {
    /// The longest name, in bytes.
    pub const BYTES_MAX: usize = 63;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The pool that every model has for this type of provider: it bears the type's name and has no attributes.
    pub fn of(provider: ProviderType) -> Self {
        Self(provider.as_str().to_owned())
    }
}

impl FromStr for PoolName {
    type Err = InvalidPoolName;
    fn from_str(text: &str) -> Result<Self, InvalidPoolName> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        let goes_on = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'?');
        if begins && goes_on && text.len() <= Self::BYTES_MAX {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidPoolName { text: text.chars().take(80).collect() })
    }
}

impl TryFrom<String> for PoolName {
    type Error = InvalidPoolName;
    fn try_from(text: String) -> Result<Self, InvalidPoolName> {
        text.parse()
    }
}

impl From<PoolName> for String {
    fn from(name: PoolName) -> Self {
        name.0
    }
}

impl fmt::Display for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A type of provider with its attributes; only made by [`Pool::new`], so they fit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pool {
    provider: ProviderType,
    attributes: Attributes,
}

impl Pool {
    /// A pool, if the attributes fit the type.
    pub fn new(provider: ProviderType, attributes: Attributes) -> Result<Self, AttributeError> {
        check_attributes(provider, &attributes)?;
        Ok(Self { provider, attributes })
    }

    pub fn provider(&self) -> ProviderType {
        self.provider
    }

    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }
}

/// Why something about pools is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    #[error("there is a pool {name} already")]
    AlreadyExists { name: PoolName },
    #[error("pool {name} not found")]
    NotFound { name: PoolName },
    #[error("pool {name} is invalid")]
    Attributes { name: PoolName, source: AttributeError },
}

/// The pools of one model, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pools(BTreeMap<PoolName, Pool>);

impl Pools {
    /// The pools that a new model has: one for each type that says who makes something, and `ebs-ssd`; a name that is taken
    /// stays as it is.
    pub fn add_defaults(&mut self) {
        for provider in ProviderType::ALL.into_iter().filter(|provider| !provider.is_named_by_attribute()) {
            self.0.entry(PoolName::of(provider)).or_insert_with(|| Pool { provider, attributes: Attributes::new() });
        }
        let ssd = Attributes::from([("volume-type".to_owned(), "ssd".to_owned())]);
        let name = PoolName("ebs-ssd".to_owned());
        self.0.entry(name).or_insert_with(|| Pool { provider: ProviderType::Ebs, attributes: ssd });
    }

    /// Adds a pool under a name that is free.
    pub fn create(&mut self, name: PoolName, provider: ProviderType, attributes: Attributes) -> Result<(), PoolError> {
        if self.0.contains_key(&name) {
            return Err(PoolError::AlreadyExists { name });
        }
        let pool = fit(&name, provider, attributes)?;
        self.0.insert(name, pool);
        Ok(())
    }

    pub fn get(&self, name: &PoolName) -> Result<&Pool, PoolError> {
        self.0.get(name).ok_or_else(|| PoolError::NotFound { name: name.clone() })
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&PoolName, &Pool)> {
        self.0.iter()
    }
}

fn fit(name: &PoolName, provider: ProviderType, attributes: Attributes) -> Result<Pool, PoolError> {
    Pool::new(provider, attributes).map_err(|source| PoolError::Attributes { name: name.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PoolName {
        text.parse().unwrap()
    }

    fn io1() -> Attributes {
        [("volume-type", "io1"), ("iops", "30")].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn a_pool_is_made_once_and_only_with_attributes_that_its_type_has() {
        let mut pools = Pools::default();
        pools.create(name("fast"), ProviderType::Ebs, io1()).unwrap();
        assert_eq!(
            pools.create(name("fast"), ProviderType::Loop, Attributes::new()),
            Err(PoolError::AlreadyExists { name: name("fast") })
        );
        let refused = pools.create(name("slow"), ProviderType::Loop, io1());
        assert!(matches!(refused, Err(PoolError::Attributes { .. })));
        assert_eq!(pools.get(&name("slow")), Err(PoolError::NotFound { name: name("slow") }));
    }

    #[test]
    fn default_pools_are_valid_and_leave_taken_names_alone() {
        let mut pools = Pools::default();
        pools.create(name("ebs-ssd"), ProviderType::Loop, Attributes::new()).unwrap();
        pools.add_defaults();
        assert_eq!(pools.get(&name("ebs-ssd")).unwrap().provider(), ProviderType::Loop);
        for (_, pool) in pools.iter() {
            check_attributes(pool.provider(), pool.attributes()).unwrap();
        }
        let before = pools.clone();
        pools.add_defaults();
        assert_eq!(pools, before);
    }
}
