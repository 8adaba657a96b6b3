//! The events of an entry, decoded at most once for all who take it in.

use std::{any::Any, cell::OnceCell, fmt, ops::Deref, rc::Rc};

use bailiwick_journal::Entry;

use super::{Stored, StoredError};

/// The place for an entry's decoded events: the first reader decodes them.
#[derive(Default)]
pub struct DecodedEvents(OnceCell<Rc<dyn Any>>);

/// An entry, with the place for its decoded events. It is read as the entry that it is.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    entry: &'a Entry,
    cell: &'a DecodedEvents,
}

impl fmt::Debug for DecodedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DecodedEvents").field(&self.0.get().is_some()).finish()
    }
}

impl<'a> Decoded<'a> {
    /// An entry with its own place: never that of another one.
    pub fn new(entry: &'a Entry, cell: &'a DecodedEvents) -> Self {
        Self { entry, cell }
    }

    /// Its events, of the type that its stream has.
    ///
    /// # Errors
    /// If one of them cannot be decoded.
    pub fn events<E: Stored>(&self) -> Result<Rc<Vec<E>>, StoredError> {
        let known = self.cell.0.get().and_then(|events| events.clone().downcast::<Vec<E>>().ok());
        if let Some(events) = known {
            return Ok(events);
        }
        let events: Rc<Vec<E>> = Rc::new(self.entry.events.iter().map(E::load).collect::<Result<_, _>>()?);
        // It is taken already only if somebody took the stream for one of another type; each of the two has its own then.
        let _ = self.cell.0.set(events.clone());
        Ok(events)
    }
}

impl Deref for Decoded<'_> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        self.entry
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_journal::Body;

    use super::*;
    use crate::{contract::given::entry, machine, volume};

    #[test]
    fn whoever_comes_second_gets_what_the_first_one_decoded() {
        let entry = entry("machine/web", 1, vec![machine::Event::Died.store().unwrap()]);
        let events = DecodedEvents::default();
        let first = Decoded::new(&entry, &events).events::<machine::Event>().unwrap();
        let second = Decoded::new(&entry, &events).events::<machine::Event>().unwrap();
        assert_eq!(*first, [machine::Event::Died]);
        assert!(Rc::ptr_eq(&first, &second));
    }

    #[test]
    fn what_cannot_be_decoded_is_refused_every_time() {
        let event = machine::Event::Died.store().unwrap();
        let entry = entry("machine/web", 1, vec![event.clone(), Body { schema: event.schema + 1, ..event }]);
        let events = DecodedEvents::default();
        for _ in 0..2 {
            let refused = Decoded::new(&entry, &events).events::<machine::Event>();
            assert!(matches!(refused, Err(StoredError::UnknownSchema { .. })), "{refused:?}");
        }
    }

    #[test]
    fn a_stream_that_is_taken_for_one_of_another_type_spoils_nothing() {
        let (entry, events) = (entry("machine/web", 1, vec![]), DecodedEvents::default());
        let decoded = Decoded::new(&entry, &events);
        assert_eq!(*decoded.events::<volume::Event>().unwrap(), []);
        assert_eq!(*decoded.events::<machine::Event>().unwrap(), []);
    }
}
