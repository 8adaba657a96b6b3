//! An entry as it is stored, looked at in place: for passes over the whole journal, where building each entry costs more
//! than reading it.

use serde::Deserialize;

use crate::{
    CodecError, Entry, Header, Position, Version,
    format::record::{Malformed, Record},
    model::codec,
};

/// One entry, looked at where it lies. Nothing is copied before it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct EntryView<'a>(Inner<'a>);

#[derive(Clone, Copy, Debug)]
enum Inner<'a> {
    /// With its stream, which was read when the entry was filtered.
    Stored(Record<'a>, &'a str),
    Live(&'a Entry),
}

/// One stored form, looked at where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyView<'a> {
    pub schema: u16,
    pub bytes: &'a [u8],
}

impl<'a> BodyView<'a> {
    /// Reads a value; texts and bytes of it may stay where they lie.
    ///
    /// # Errors
    /// As [`crate::decode`].
    pub fn decode<T: Deserialize<'a>>(&self) -> Result<T, CodecError> {
        codec::decode_bytes(self.schema, self.bytes)
    }
}

impl<'a> EntryView<'a> {
    pub(crate) fn stored(record: Record<'a>, stream: &'a str) -> Self {
        Self(Inner::Stored(record, stream))
    }

    /// A view of an entry that is in memory.
    pub fn of(entry: &'a Entry) -> Self {
        Self(Inner::Live(entry))
    }

    /// Its position.
    #[inline]
    pub fn position(&self) -> Position {
        match self.0 {
            Inner::Stored(record, _) => record.position(),
            Inner::Live(entry) => entry.header.position,
        }
    }

    /// Its stream, `kind/name`.
    #[inline]
    pub fn stream(&self) -> &'a str {
        match self.0 {
            Inner::Stored(_, stream) => stream,
            Inner::Live(entry) => entry.header.stream.as_str(),
        }
    }

    /// The version of its first event; without events, the version that a next event would take.
    #[inline]
    pub fn first_version(&self) -> Version {
        match self.0 {
            Inner::Stored(record, _) => record.first_version(),
            Inner::Live(entry) => entry.header.first_version,
        }
    }

    /// How many events it has.
    #[inline]
    pub fn event_count(&self) -> u32 {
        match self.0 {
            Inner::Stored(record, _) => record.events(),
            Inner::Live(entry) => entry.header.events,
        }
    }

    /// Its time, in milliseconds.
    #[inline]
    pub fn time_ms(&self) -> u64 {
        match self.0 {
            Inner::Stored(record, _) => record.time_ms(),
            Inner::Live(entry) => entry.header.meta.time_ms,
        }
    }

    /// Its header, built.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn header(&self) -> Result<Header, &'static str> {
        match self.0 {
            Inner::Stored(record, _) => record.header(),
            Inner::Live(entry) => Ok(entry.header.clone()),
        }
    }

    /// The whole entry, built.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn entry(&self) -> Result<Entry, &'static str> {
        match self.0 {
            Inner::Stored(record, _) => record.entry(),
            Inner::Live(entry) => Ok(entry.clone()),
        }
    }

    /// Shows the events with their versions.
    ///
    /// # Errors
    /// What is wrong with the stored form; or the visitor's.
    pub fn each_event<E: From<&'static str>>(
        &self,
        mut visit: impl FnMut(Version, BodyView<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.0 {
            Inner::Stored(record, _) => {
                let mut version = record.first_version();
                record.each_event(|schema, bytes| {
                    let seen = visit(version, BodyView { schema, bytes });
                    version = version.next();
                    seen
                })
            }
            Inner::Live(entry) => entry
                .versioned_events()
                .try_for_each(|(version, body)| visit(version, BodyView { schema: body.schema, bytes: &body.bytes })),
        }
    }
}

/// What is wrong with a record, as the reader's error.
pub(crate) fn damaged(position: Position, problem: Malformed) -> crate::ReadError {
    crate::ReadError::Damaged { position, problem: problem.to_owned() }
}
