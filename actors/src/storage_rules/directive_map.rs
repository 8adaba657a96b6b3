//! Several directives, each for a name.

use std::collections::BTreeMap;

use super::{Directive, DirectiveError};
use crate::vocab::Name;

/// Why a list of texts is no map of directives. Every variant holds the text it is about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveMapError {
    #[error("{text:?} is neither NAME nor NAME=VALUE")]
    BadForm { text: String },
    #[error("{text:?} names something a second time")]
    RepeatedName { text: String },
    #[error("the value of {text:?} is not a pool, count or size")]
    BadValue { text: String, source: DirectiveError },
}

/// Reads `name=directive` or `name`, each name once; a name alone means one of whatever the defaults say.
pub fn directives<T: AsRef<str>>(texts: &[T]) -> Result<BTreeMap<Name, Directive>, DirectiveMapError> {
    let mut map = BTreeMap::new();
    for text in texts.iter().map(AsRef::as_ref) {
        let cut = || text.chars().take(80).collect::<String>();
        let (name, value) = match text.split_once('=') {
            Some((_, value)) if value.contains('=') => return Err(DirectiveMapError::BadForm { text: cut() }),
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let name: Name = name.parse().map_err(|_| DirectiveMapError::BadForm { text: cut() })?;
        if map.contains_key(&name) {
            return Err(DirectiveMapError::RepeatedName { text: cut() });
        }
        let directive = match value {
            Some(value) => value.parse().map_err(|source| DirectiveMapError::BadValue { text: cut(), source })?,
            None => Directive::default(),
        };
        map.insert(name, directive);
    }
    Ok(map)
}
