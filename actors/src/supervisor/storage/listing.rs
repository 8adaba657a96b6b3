//! Which volumes their providers do not show any more. What works inside of machines is asked in each of them.

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use super::{View, VolumeChange};
use crate::{
    ports::{Listing, ProvisionedVolume},
    vocab::{EffectId, Life, Name, Timestamp},
    volume,
};

/// That a volume is missing from its provider's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    pub effect: EffectId,
    /// What the first list without it describes.
    pub first: Timestamp,
    /// Whether a later one lacked it, too.
    pub is_confirmed: bool,
    /// The event that said so last.
    pub at: Version,
}

/// What a list says of the volumes of its provider that was not known before.
///
/// An absence counts only in a complete list, and only for what was there, unchanged, before the list was made; one list
/// without it is not enough. That something is shown counts in every list. A list of what is inside of a machine says nothing
/// of other machines.
pub fn volume_changes(
    view: &View,
    provider: &Name,
    machine: Option<&Name>,
    listing: &Listing<ProvisionedVolume>,
) -> Vec<VolumeChange> {
    let shown: BTreeSet<EffectId> = listing.items.iter().map(|volume| volume.effect).collect();
    let change = |(name, folded): (&str, &crate::contract::Folded<volume::State>)| {
        let (volume, effect) = (name.parse().ok()?, made_by(&folded.state, provider)?);
        if machine.is_some_and(|machine| made_on(&folded.state) != Some(machine)) {
            return None;
        }
        if shown.contains(&effect) {
            return Some(VolumeChange::Back { volume, effect });
        }
        let is_older = folded.changed < listing.as_of;
        let missing = VolumeChange::Missing { volume, effect, as_of: listing.as_of };
        (listing.complete && is_older).then_some(missing)
    };
    let returned = listing.items.iter().filter_map(|shown| {
        let gone = view.gone.get(shown.effect).filter(|gone| gone.provider == *provider)?;
        Some(VolumeChange::Returned { volume: gone.volume.clone(), effect: shown.effect, as_of: listing.as_of })
    });
    view.volumes.iter().filter_map(change).chain(returned).filter(|change| is_news(view, change)).collect()
}

/// Whether somebody has to ask a provider for its volumes.
pub fn has_volumes(view: &View, provider: &Name) -> bool {
    view.gone.any_of(provider) || view.volumes.iter().any(|(_, folded)| made_by(&folded.state, provider).is_some())
}

/// The machines inside of which a provider has made volumes, as far as they run: there it can be asked.
pub fn machines_with_volumes(view: &View, provider: &Name) -> BTreeSet<Name> {
    let made = view.volumes.iter().filter(|(_, folded)| made_by(&folded.state, provider).is_some());
    let machines = made.filter_map(|(_, folded)| made_on(&folded.state));
    machines.filter(|machine| view.running(machine).is_some()).cloned().collect()
}

/// Whether it says more than is known: the first absence, a later one, or that an absence is over.
pub(super) fn is_news(view: &View, change: &VolumeChange) -> bool {
    match change {
        VolumeChange::Missing { volume, effect, as_of } => match view.absence(volume, *effect) {
            None => view.volumes.get(volume.as_str()).is_some_and(|state| state.life != Life::Removed),
            Some(absence) => !absence.is_confirmed && absence.first < *as_of,
        },
        VolumeChange::Back { volume, effect } => view.absence(volume, *effect).is_some(),
        VolumeChange::Returned { effect, as_of, .. } => view.gone.is_news(*effect, *as_of),
    }
}

fn made_on(state: &volume::State) -> Option<&Name> {
    state.own.place.as_ref().map(|place| &place.machine)
}

fn made_by(state: &volume::State, provider: &Name) -> Option<EffectId> {
    let made = state.made()?;
    (state.spec.as_ref()?.provider == *provider).then_some(made.effect)
}
