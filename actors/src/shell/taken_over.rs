//! What a journal knows from the one that it was imported from as new: that one's node goes on with it, and here it is left
//! alone. Effect ids follow from the journal, so that destroying finds nothing; what names a volume or filesystem by the id
//! that it was made under is stopped here.

use std::collections::BTreeSet;

use crate::{
    ports::{Listing, ProvisionedVolume},
    vocab::{EffectId, Fault, FaultCode},
};

/// The volumes and filesystems that another journal made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenOver(BTreeSet<EffectId>);

impl TakenOver {
    /// Adds what another journal made.
    pub(super) fn extend(&mut self, made: impl IntoIterator<Item = EffectId>) {
        self.0.extend(made);
    }

    /// Leaves out of a list what is not ours.
    pub(crate) fn without(&self, mut listing: Listing<ProvisionedVolume>) -> Listing<ProvisionedVolume> {
        listing.items.retain(|volume| !self.0.contains(&volume.effect));
        listing
    }

    /// Whether one of these is not ours.
    pub(super) fn has_any(&self, effects: &[EffectId]) -> bool {
        !self.0.is_empty() && effects.iter().any(|effect| self.0.contains(effect))
    }
}

/// Why a volume or filesystem that another journal made is not touched, and what to do instead.
pub const STAYS_THERE: &str = "it belongs to the journal that this one was imported from, and stays there; destroy it here \
                               and declare it again to create a new one";

/// What is reported of a call that would touch what is not ours.
pub(super) fn refusal() -> Fault {
    Fault::new(FaultCode::FailedPrecondition, STAYS_THERE)
}
