//! What an instance proves with that it is the one that this control plane started.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{EffectId, derived_uuid};

/// Says who started an instance, and for which intent: `<provisioner>:<uuid>`.
///
/// It follows from the journal and the effect id, and is the same over all attempts of one intent: an instance that an
/// earlier attempt has made is as good. What reports another nonce is somebody else's.
///
/// Source of the form: Juju's provisioner (the tag of its machine, a colon, a uuid).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nonce(pub String);

impl Nonce {
    /// The provisioner: who asks providers for machines.
    pub const PROVISIONER: &str = "supervisor/machines";

    /// The nonce of what is started in this journal under this effect id.
    pub fn of(journal: Uuid, effect: EffectId) -> Self {
        Self(format!("{}:{}", Self::PROVISIONER, derived_uuid(&format!("nonce {journal} {effect}"))))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_the_provisioner_and_differs_by_journal_and_by_intent() {
        let of = |journal: u128, effect: u128| Nonce::of(Uuid::from_u128(journal), EffectId(Uuid::from_u128(effect)));
        let one = of(1, 1);
        let (provisioner, uuid) = one.as_str().split_once(':').expect("two parts");
        assert_eq!(provisioner, "supervisor/machines");
        assert_eq!(uuid.parse::<Uuid>().expect("a uuid").get_version_num(), 5);
        assert_eq!(one, of(1, 1));
        assert!(one != of(2, 1) && one != of(1, 2));
    }
}
