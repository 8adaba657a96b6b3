//! Frozen forms: what the journal holds of commands, facts, verdicts and events.
//!
//! The schema number in a [`Body`] names the frozen form. When a type changes, its old form is kept beside it as a type of
//! its own, `SCHEMA` goes up, and `load` lifts the old one. Golden tests pin the bytes of each.

use std::fmt;

use bailiwick_journal::{Body, CodecError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::Decider;

/// Why a stored form could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The bytes or the value do not fit.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// Written by a later release, or not by us.
    #[error("stored form {schema} is not known here; forms up to {newest} are")]
    UnknownSchema { schema: u16, newest: u16 },
}

/// A type with a frozen form.
pub trait Stored: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Unpin + 'static {
    /// The newest frozen form, from 1.
    const SCHEMA: u16;

    /// Writes the newest form.
    ///
    /// # Errors
    /// If it is larger than a body may be.
    fn store(&self) -> Result<Body, StoredError> {
        Ok(bailiwick_journal::encode(Self::SCHEMA, self)?)
    }

    /// Reads any form ever released. (Override to lift older ones.)
    ///
    /// # Errors
    /// If the bytes are not of a known form.
    fn load(body: &Body) -> Result<Self, StoredError> {
        if body.schema != Self::SCHEMA {
            return Err(StoredError::UnknownSchema { schema: body.schema, newest: Self::SCHEMA });
        }
        Ok(bailiwick_journal::decode(body)?)
    }
}

/// Data that is stored as a part of something else.
pub trait Part: Clone + fmt::Debug + Eq + Serialize + DeserializeOwned + Send + Sync + Unpin + 'static {}

impl<T: Clone + fmt::Debug + Eq + Serialize + DeserializeOwned + Send + Sync + Unpin + 'static> Part for T {}

/// The numbers of variants in an earlier form, the inner ones behind the outer, and in today's. What is not listed has kept
/// its numbers.
pub type Renumbered = &'static [(&'static [u32], &'static [u32])];

/// Reads today's form, or the first one, of which nothing but these numbers was different.
pub(crate) fn load_lifted<T: Stored>(body: &Body, first: Option<Renumbered>) -> Result<T, StoredError> {
    match (body.schema, first) {
        (1, Some(table)) => Ok(bailiwick_journal::decode(&renumbered(body, T::SCHEMA, 0, table))?),
        (schema, _) if schema == T::SCHEMA => Ok(bailiwick_journal::decode(body)?),
        (schema, _) => Err(StoredError::UnknownSchema { schema, newest: T::SCHEMA }),
    }
}

/// An earlier form as a later one, `schema`, where nothing but the numbers of variants that stand from `at` is different. Bytes
/// that are too few stay as they are, and are refused when they are read.
pub(crate) fn renumbered(body: &Body, schema: u16, at: usize, table: Renumbered) -> Body {
    let bytes_of = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = body.bytes.clone();
    let rest = bytes.get(at..).unwrap_or_default();
    let lifted = table.iter().map(|(then, now)| (bytes_of(then), now)).find(|(then, _)| rest.starts_with(then));
    if let Some((then, now)) = lifted {
        bytes.splice(at..at + then.len(), bytes_of(now));
    }
    Body { schema, bytes }
}

/// A verdict as the journal holds it: why, or why not. The events stand beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Recorded<D: Decider> {
    Decided(D::Reason),
    Refused(D::Rejection),
}

impl<D: Decider> Stored for Recorded<D> {
    const SCHEMA: u16 = if D::FIRST_VERDICTS.is_some() { 2 } else { 1 };

    fn load(body: &Body) -> Result<Self, StoredError> {
        load_lifted(body, D::FIRST_VERDICTS)
    }
}

/// The facts that are not in the entry's header already (time, policy revision and view position are).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFacts {
    /// The journal that it is decided in: ids and chance follow from it.
    pub journal: Uuid,
}

impl Stored for StoredFacts {
    const SCHEMA: u16 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A form as it is today: its size in MiB has a name now.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Disk {
        size_mib: u64,
        name: String,
    }

    /// The form before it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct DiskV1 {
        size_gib: u64,
    }

    impl Stored for DiskV1 {
        const SCHEMA: u16 = 1;
    }

    impl Stored for Disk {
        const SCHEMA: u16 = 2;

        fn load(body: &Body) -> Result<Self, StoredError> {
            match body.schema {
                1 => DiskV1::load(body).map(|old| Self { size_mib: old.size_gib * 1024, name: "disk".into() }),
                2 => Ok(bailiwick_journal::decode(body)?),
                schema => Err(StoredError::UnknownSchema { schema, newest: Self::SCHEMA }),
            }
        }
    }

    #[test]
    fn an_earlier_form_is_lifted_and_a_later_one_refused() {
        let (old, new) = (DiskV1 { size_gib: 2 }, Disk { size_mib: 2048, name: "disk".into() });
        assert_eq!(Disk::load(&old.store().expect("small")).expect("lifted"), new);
        assert_eq!(Disk::load(&new.store().expect("small")).expect("as it was written"), new);
        let later = Body { schema: 3, ..new.store().expect("small") };
        let refused = Disk::load(&later).expect_err("not known");
        assert_eq!(refused.to_string(), "stored form 3 is not known here; forms up to 2 are");
        assert!(DiskV1::load(&new.store().expect("small")).is_err(), "an older release refuses the newer form");
    }
}
