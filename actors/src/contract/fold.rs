//! All entities of one kind, folded from the journal.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    ops::Bound,
};

use bailiwick_journal::{Cite, Entry, StreamId, Version};
use smol_str::SmolStr;

use super::{Decider, Decoded, DecodedEvents, Marks, StoredError};
use crate::vocab::{Fact, Timestamp};

/// One entity in a fold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded<D> {
    pub state: D,
    pub version: Version,
    /// The last event of each side.
    pub marks: Marks,
    /// The time of its last event.
    pub changed: Timestamp,
}

/// The states of all entities of one kind, by name.
///
/// An entity is found by its hash: in a tree of many thousands of names each lookup waits for memory a dozen times, and one
/// changed entity would cost more the more there are. Nobody sees the order of the hashes: code that goes through all of them
/// goes by name.
#[derive(Clone, PartialEq)]
pub struct Fold<D> {
    entities: HashMap<SmolStr, Box<Folded<D>>>,
    /// The same names, in order.
    names: BTreeSet<SmolStr>,
}

impl<D> Folded<D> {
    /// The last event of one side, to be cited as one of this stream.
    pub fn cite(&self, kind: &str, name: &str, fact: Fact) -> Option<Cite> {
        Some(Cite::new(StreamId::new(kind, name).ok()?, self.marks.of(fact)?))
    }
}

impl<D> Default for Fold<D> {
    fn default() -> Self {
        Self { entities: HashMap::new(), names: BTreeSet::new() }
    }
}

impl<D: fmt::Debug> fmt::Debug for Fold<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.names.iter().map(|name| (name, &self.entities[name]))).finish()
    }
}

impl<D: Decider> Fold<D> {
    /// Takes an entry in if it belongs to a stream of this kind.
    ///
    /// # Errors
    /// If an event cannot be decoded; the fold is then as it was.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.apply_decoded(&Decoded::new(entry, &DecodedEvents::default()))
    }

    /// As [`Fold::apply`], for an entry that others take in, too.
    ///
    /// # Errors
    /// As [`Fold::apply`].
    pub fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        self.apply_showing(entry, |_| ())
    }

    /// As [`Fold::apply_decoded`], and shows each event that was taken in, so that nobody has to decode it once more.
    ///
    /// # Errors
    /// As [`Fold::apply`]; nothing was shown then.
    pub fn apply_showing(&mut self, entry: &Decoded<'_>, show: impl FnMut(&D::Event)) -> Result<(), StoredError> {
        if entry.header.stream.kind() == D::KIND { self.take_in_showing(entry, show) } else { Ok(()) }
    }

    /// Takes an entry in, of whatever kind its stream is: several kinds of streams may have the same frame.
    ///
    /// # Errors
    /// As [`Fold::apply`].
    pub fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        self.take_in_showing(entry, |_| ())
    }

    fn take_in_showing(&mut self, entry: &Decoded<'_>, mut show: impl FnMut(&D::Event)) -> Result<(), StoredError> {
        if entry.events.is_empty() {
            return Ok(());
        }
        let events = entry.events::<D::Event>()?;
        let name = entry.header.stream.name();
        // Looked up by a borrowed name, which is copied only for the first entry of all.
        let folded = match self.entities.get_mut(name) {
            Some(folded) => folded,
            None => {
                self.names.insert(name.into());
                debug_assert_eq!(self.names.len(), self.entities.len() + 1, "the names are those of the entities");
                self.entities.entry(name.into()).or_default()
            }
        };
        for (event, index) in events.iter().zip(0..) {
            folded.version = entry.header.first_version.plus(index);
            folded.state.evolve(folded.version, event);
            folded.marks.note(folded.version, D::touches(event));
            show(event);
        }
        folded.changed = Timestamp(entry.header.meta.time_ms);
        Ok(())
    }

    /// One entity.
    pub fn get(&self, name: &str) -> Option<&D> {
        self.entities.get(name).map(|folded| &folded.state)
    }

    /// One entity with its version.
    pub fn folded(&self, name: &str) -> Option<&Folded<D>> {
        self.entities.get(name).map(|folded| &**folded)
    }

    /// The last event of one side of an entity, to be cited; none if it is not known, or never had one.
    pub fn cite(&self, name: &str, fact: Fact) -> Option<Cite> {
        self.folded(name)?.cite(D::KIND, name, fact)
    }

    /// One entity, with its name as it is kept here.
    pub fn entry(&self, name: &str) -> Option<(&str, &Folded<D>)> {
        self.entities.get_key_value(name).map(|(name, folded)| (name.as_str(), &**folded))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Folded<D>)> {
        self.names.iter().filter_map(|name| self.entry(name))
    }

    /// Those whose names begin with a text, by name.
    pub fn beginning_with<'a>(&'a self, text: &str) -> impl Iterator<Item = (&'a str, &'a Folded<D>)> + use<'a, D> {
        let (from, beginning) =
            (self.names.range::<str, _>((Bound::Included(text), Bound::Unbounded)), text.to_owned());
        from.take_while(move |name| name.starts_with(&beginning)).filter_map(|name| self.entry(name))
    }

    /// Forgets one.
    pub fn remove(&mut self, name: &str) {
        if self.entities.remove(name).is_some() {
            let had_a_name = self.names.remove(name);
            debug_assert!(had_a_name, "the names are those of the entities");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::{Stored, given::entry},
        machine,
    };

    fn saw(fold: &mut Fold<machine::State>, name: &str) {
        let events = vec![machine::Event::Died.store().unwrap()];
        fold.apply(&entry(&format!("machine/{name}"), 7, events)).unwrap();
    }

    #[test]
    fn whoever_goes_through_all_goes_by_name() {
        let mut fold = Fold::default();
        for name in ["web-2", "db-1", "web-10", "a", "web-1", "wec"] {
            saw(&mut fold, name);
        }
        let names = |fold: &Fold<machine::State>| fold.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&fold), ["a", "db-1", "web-1", "web-10", "web-2", "wec"]);
        let of_web: Vec<&str> = fold.beginning_with("web-").map(|(name, _)| name).collect();
        assert_eq!(of_web, ["web-1", "web-10", "web-2"]);
        assert_eq!(fold.folded("a").map(|folded| (folded.version, folded.changed)), Some((Version(1), Timestamp(7))));

        fold.remove("web-10");
        fold.remove("nobody");
        assert_eq!(names(&fold), ["a", "db-1", "web-1", "web-2", "wec"]);
        assert_eq!(fold.beginning_with("web-1").count(), 1);
        assert!(fold.get("web-10").is_none() && fold.entry("web-10").is_none());
    }
}
