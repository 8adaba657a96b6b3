//! What a pool gives to the storage that is made from it.

use serde::{Deserialize, Serialize};

use super::{Attributes, Pool, PoolName, ProviderType};
use crate::vocab::Name;

/// The pool that something was declared from, and what that pool said then: what was made from a pool stays as it is,
/// whatever becomes of the pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FromPool {
    pub name: PoolName,
    /// What its provider is told with the wish to make it. No secrets: this is recorded and shown.
    #[serde(default)]
    pub attributes: Attributes,
}

/// Who makes what comes from a pool, and what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub provider: Name,
    pub attributes: Attributes,
}

impl Pool {
    /// The attribute that names the provider where the type alone does not: one of one's own, or one that Juju's clients know.
    pub const PROVIDER: &'static str = "provider";

    /// Who makes what comes from here. A provider of one's own is named by an attribute, and is told all others; clients of
    /// Juju's are told that one, too.
    pub fn source(&self) -> Source {
        let mut attributes = self.attributes().clone();
        let named = match self.provider() {
            ProviderType::Exec => attributes.remove(Self::PROVIDER).and_then(|name| name.parse().ok()),
            _ => None,
        };
        let of_type = || self.provider().as_str().parse().expect("types are names");
        Source { provider: named.unwrap_or_else(of_type), attributes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(provider: ProviderType, attributes: &[(&str, &str)]) -> Source {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Pool::new(provider, attributes.collect()).unwrap().source()
    }

    #[test]
    fn a_pool_names_its_provider_by_its_type_or_by_an_attribute() {
        for provider in ProviderType::ALL.into_iter().filter(|provider| !provider.is_named_by_attribute()) {
            assert_eq!(source(provider, &[]).provider.as_str(), provider.as_str());
        }
        let of_directory = source(ProviderType::Directory, &[("capacity", "1G")]);
        assert_eq!(of_directory.attributes.get("capacity").map(String::as_str), Some("1G"));
        let own = source(ProviderType::Exec, &[("provider", "mine"), ("tier", "gold")]);
        assert_eq!(own.provider.as_str(), "mine");
        assert_eq!(own.attributes, [("tier".to_owned(), "gold".to_owned())].into());
        let of_clients = source(ProviderType::External, &[("provider", "static"), ("tier", "gold")]);
        assert_eq!(of_clients.provider.as_str(), "external");
        assert_eq!(of_clients.attributes.get("provider").map(String::as_str), Some("static"));
    }
}
