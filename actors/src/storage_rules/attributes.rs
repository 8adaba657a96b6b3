//! What a pool says beyond its provider's type, checked by the rules of that type.

use std::collections::BTreeMap;

use super::{EbsError, Pool, ProviderType, ebs::ebs_attributes};
use crate::vocab::{Name, SizeMib};

/// The attributes of a pool: what they mean depends on the provider's type.
pub type Attributes = BTreeMap<String, String>;

/// The longest attribute, name or value, in bytes; and the most of them.
const BYTES_MAX: usize = 255;
const COUNT_MAX: usize = 64;

/// Why attributes do not fit a type of provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttributeError {
    #[error("the provider type {provider} knows no attribute {name:?}")]
    Unknown { provider: ProviderType, name: String },
    #[error("a pool of type {provider} has an attribute {name:?}")]
    Missing { provider: ProviderType, name: &'static str },
    #[error("attribute {name:?}: {value:?} is not {expected}")]
    BadValue { name: String, value: String, expected: &'static str },
    #[error("at most {COUNT_MAX} attributes, with names and values of at most {BYTES_MAX} bytes")]
    TooMuch,
    #[error(transparent)]
    Ebs(#[from] EbsError),
}

/// Checks attributes against the rules of a provider's type.
///
/// What our own providers do not know is refused: a misspelt attribute that is ignored is a setting that silently does
/// not hold. EBS ignores what it does not know, as Juju's does; a provider of one's own is told everything.
pub fn check_attributes(provider: ProviderType, attributes: &Attributes) -> Result<(), AttributeError> {
    let too_long = |(name, value): (&String, &String)| BYTES_MAX < name.len() || BYTES_MAX < value.len();
    if COUNT_MAX < attributes.len() || attributes.iter().any(too_long) {
        return Err(AttributeError::TooMuch);
    }
    if provider == ProviderType::Ebs {
        ebs_attributes(attributes)?;
        return Ok(());
    }
    if provider.is_named_by_attribute() && !attributes.contains_key(Pool::PROVIDER) {
        return Err(AttributeError::Missing { provider, name: Pool::PROVIDER });
    }
    for (name, value) in attributes {
        match (provider, name.as_str()) {
            // All that is promised from this pool on one machine.
            (ProviderType::Directory, "capacity") => {
                let size = value.parse::<SizeMib>().ok().filter(|size| 0 < size.0);
                size.ok_or_else(|| bad_value(name, value, "a size above 0"))?;
            }
            // What else there is its own provider knows.
            (ProviderType::Exec | ProviderType::External, Pool::PROVIDER) => {
                value.parse::<Name>().map_err(|_| bad_value(name, value, "the name of a provider"))?;
            }
            (ProviderType::Exec | ProviderType::External | ProviderType::Simulated, _) => (),
            _ => return Err(AttributeError::Unknown { provider, name: name.clone() }),
        }
    }
    Ok(())
}

pub(super) fn bad_value(name: &str, value: &str, expected: &'static str) -> AttributeError {
    AttributeError::BadValue { name: name.to_owned(), value: value.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(provider: ProviderType, attributes: &[(&str, &str)]) -> Result<(), AttributeError> {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        check_attributes(provider, &attributes)
    }

    #[test]
    fn each_type_has_its_own_rules() {
        assert_eq!(check(ProviderType::Directory, &[("capacity", "10G")]), Ok(()));
        assert!(matches!(check(ProviderType::Directory, &[("capacity", "0")]), Err(AttributeError::BadValue { .. })));
        assert!(matches!(check(ProviderType::Loop, &[("capacity", "10G")]), Err(AttributeError::Unknown { .. })));
        assert_eq!(check(ProviderType::Ebs, &[("volume-type", "gp2"), ("colour", "red")]), Ok(()));
        assert_eq!(check(ProviderType::Ebs, &[("volume-type", "io1")]), Err(EbsError::IopsRequired.into()));
        assert!(matches!(check(ProviderType::Exec, &[("tier", "gold")]), Err(AttributeError::Missing { .. })));
        assert!(matches!(check(ProviderType::Exec, &[("provider", "No!")]), Err(AttributeError::BadValue { .. })));
        assert_eq!(check(ProviderType::Exec, &[("provider", "mine"), ("tier", "gold")]), Ok(()));
        for provider in ProviderType::ALL {
            let named: &[(&str, &str)] = if provider.is_named_by_attribute() { &[("provider", "mine")] } else { &[] };
            assert_eq!(check(provider, named), Ok(()));
            assert_eq!(check(provider, &[(&"x".repeat(256), "1")]), Err(AttributeError::TooMuch));
        }
    }
}
