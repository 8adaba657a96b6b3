//! Volumes that were destroyed, as their providers said: what a list still shows of them is destroyed again.

use std::collections::{BTreeMap, VecDeque};

use bailiwick_journal::{Entry, Version};

use crate::{
    contract::{Stored as _, StoredError, StoredFacts},
    vocab::{EffectId, Name, Timestamp},
    volume::{self, Event, Removal, Storage},
};

/// As many are remembered. A provider that was wrong shows it with its next lists.
const REMEMBERED: usize = 10_000;

/// What was made under ids that are gone by what their providers said, the latest of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    volumes: BTreeMap<EffectId, GoneVolume>,
    /// The same, in the order in which they went first.
    order: VecDeque<EffectId>,
    /// Those that are still there, by the name of their volume, and the version of the supervisor's event that noted it.
    returned: BTreeMap<Name, (EffectId, Version)>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneVolume {
    pub volume: Name,
    pub provider: Name,
    /// The version of the event that opened the intent it was made under.
    pub of: Version,
    /// When it was said to be gone.
    pub at: Timestamp,
    /// The version of its volume then.
    pub ended: Version,
    /// What the first list describes that shows it all the same.
    pub shown: Option<Timestamp>,
}

impl Gone {
    /// What was destroyed under this id.
    pub fn get(&self, effect: EffectId) -> Option<&GoneVolume> {
        self.volumes.get(&effect)
    }

    /// Whether something of this provider's was destroyed.
    pub fn any_of(&self, provider: &Name) -> bool {
        self.volumes.values().any(|gone| gone.provider == *provider)
    }

    /// What of a volume was destroyed and is still there.
    pub fn returned(&self, volume: &Name) -> Option<&GoneVolume> {
        self.get(self.returned.get(volume)?.0)
    }

    /// The supervisor's event that noted that a volume is still there.
    pub(super) fn returned_at(&self, volume: &Name) -> Option<Version> {
        Some(self.returned.get(volume)?.1)
    }

    fn is_returned(&self, volume: &Name, effect: EffectId) -> bool {
        self.returned.get(volume).is_some_and(|(returned, _)| *returned == effect)
    }

    /// Whether a list that describes this moment and shows it says more than is known.
    pub(super) fn is_news(&self, effect: EffectId, as_of: Timestamp) -> bool {
        self.get(effect).is_some_and(|gone| match gone.shown {
            None => gone.at < as_of,
            Some(first) => first < as_of && !self.is_returned(&gone.volume, effect),
        })
    }

    /// A list shows it. One list may be old; two are believed.
    pub(super) fn shown(&mut self, at: Version, effect: EffectId, as_of: Timestamp) {
        let Some(gone) = self.volumes.get_mut(&effect) else { return };
        match gone.shown {
            None => gone.shown = Some(as_of),
            Some(_) => drop(self.returned.insert(gone.volume.clone(), (effect, at))),
        }
    }

    pub(super) fn insert(&mut self, effect: EffectId, gone: GoneVolume) {
        if self.is_returned(&gone.volume, effect) {
            self.returned.remove(&gone.volume);
        }
        if self.volumes.insert(effect, gone).is_none() {
            self.order.push_back(effect);
        }
        if REMEMBERED < self.order.len()
            && let Some(gone) = self.order.pop_front().and_then(|oldest| self.volumes.remove(&oldest))
        {
            self.returned.remove(&gone.volume);
        }
    }
}

/// What is gone once the provider has confirmed it: not what it was to let go of, with its data.
pub(super) struct Going {
    effect: EffectId,
    of: Version,
    provider: Option<Name>,
}

impl Going {
    /// What is going when an entry of its stream comes.
    pub(super) fn of(entry: &Entry, state: &volume::State) -> Result<Option<Self>, StoredError> {
        let (Storage::Destroying { of, .. }, Removal::Destroy) = (&state.storage, state.removal) else {
            return Ok(None);
        };
        let provider = state.spec.as_ref().map(|spec| spec.provider.clone());
        let effect = EffectId::of(StoredFacts::load(&entry.facts)?.journal, &entry.header.stream, *of);
        Ok(Some(Self { effect, of: *of, provider }))
    }

    /// Whether an event ends it.
    pub(super) fn is_over(event: &Event) -> bool {
        use crate::vocab::SkippedStorage;
        // Nobody waited for its end, which was asked for.
        matches!(event, Event::Destroyed | Event::Skipped { what: SkippedStorage::Undoing { .. } })
    }

    /// It is gone.
    pub(super) fn has_gone(self, volume: Name, entry: &Entry, all: &mut Gone) {
        // Of what has come back nobody remembers more than this.
        let known = || all.get(self.effect).map(|gone| gone.provider.clone());
        if let Some(provider) = self.provider.clone().or_else(known) {
            let (at, ended) = (Timestamp(entry.header.meta.time_ms), entry.header.last_version());
            all.insert(self.effect, GoneVolume { volume, provider, of: self.of, at, ended, shown: None });
        }
    }
}
