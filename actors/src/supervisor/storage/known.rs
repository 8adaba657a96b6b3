//! How far an entity is known.

use bailiwick_journal::Version;

use crate::{
    contract::{Decider, Fold},
    vocab::Name,
};

pub(super) fn version<D: Decider>(fold: &Fold<D>, name: &Name) -> Version {
    fold.folded(name.as_str()).map_or(Version::ZERO, |folded| folded.version)
}
