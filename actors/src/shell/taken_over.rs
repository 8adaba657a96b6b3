//! What a journal knows from the one that it was imported from as new: that one's node goes on with it, and here it is left
//! alone. Effect ids follow from the journal, so that destroying finds nothing; what names a volume or filesystem by the id
//! that it was made under is stopped here.

use std::collections::BTreeSet;

use super::{
    bulk::Report,
    calls::{Call, FilesystemCall, Perform, VolumeCall},
};
use crate::{
    filesystem, filesystem_attachment,
    ports::{Listing, ProvisionedVolume},
    vocab::{EffectId, Fault, FaultCode},
    volume_attachment,
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

    /// What is reported of a call that would touch what is not ours; none for any other.
    pub(super) fn report(&self, item: &Perform) -> Option<Report> {
        let attempt = item.call.attempt();
        let is = |effect: &EffectId| self.0.contains(effect);
        let beneath =
            |backing: &Option<_>| backing.as_ref().is_some_and(|it: &crate::ports::Backing| is(&it.volume_effect));
        let command = match &item.call {
            Call::Volume { call: VolumeCall::Attach(wish), .. } if is(&wish.volume_effect) => {
                volume_attachment::shell::attached(attempt, Err(refusal()))
            }
            Call::Volume { call: VolumeCall::Detach(wish), .. } if is(&wish.volume_effect) => {
                volume_attachment::shell::detached(attempt, Ok(()))
            }
            Call::Filesystem { call: FilesystemCall::Create(wish), .. } if beneath(&wish.backing) => {
                filesystem::shell::created(attempt, Err(refusal()))
            }
            Call::Filesystem { call: FilesystemCall::Attach(wish), .. }
                if is(&wish.filesystem_effect) || beneath(&wish.backing) =>
            {
                filesystem_attachment::shell::attached(attempt, Err(refusal()))
            }
            Call::Filesystem { call: FilesystemCall::Detach(wish), .. } if is(&wish.filesystem_effect) => {
                filesystem_attachment::shell::detached(attempt, Ok(()))
            }
            _ => return None,
        };
        Some((item.call.stream().clone(), command, item.cause))
    }
}

/// Why a volume or filesystem that another journal made is not touched, and what to do instead.
pub const STAYS_THERE: &str = "it belongs to the journal that this one was imported from, and stays there; destroy it here \
                               and declare it again to create a new one";

fn refusal() -> Fault {
    Fault::new(FaultCode::FailedPrecondition, STAYS_THERE)
}
