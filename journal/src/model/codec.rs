//! The one bincode configuration, and the hash that names a body.
//!
//! Little endian, fixed integers, at most [`Draft::BODY_BYTES_MAX`] bytes, trailing bytes refused; decoding is only ever
//! done from a slice that a checksum has covered, because bincode takes half of all single-bit errors for another valid
//! value. The bound is applied before anything is allocated.

use std::io;

use bincode::Options;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Body, Draft};

/// Names bincode 1.3.3 with the options of this module in frames and in the `FORMAT` file.
pub const CODEC_BINCODE_FIXED: u8 = 1;

/// Why a value could not be brought into its stored form, or back.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The value does not fit into one body, or is of a type that has no stored form.
    #[error("the value has no stored form of at most {} bytes", Draft::BODY_BYTES_MAX)]
    Encode { source: bincode::Error },
    /// The bytes are no stored form of the expected type.
    #[error("{bytes} bytes of schema {schema} are no stored form of the expected type")]
    Decode { schema: u16, bytes: usize, source: bincode::Error },
}

/// Brings a value into its stored form.
///
/// `schema` counts the frozen forms of this kind and place, from 1.
///
/// # Errors
/// If the encoded form is longer than [`Draft::BODY_BYTES_MAX`].
pub fn encode<T: Serialize>(schema: u16, value: &T) -> Result<Body, CodecError> {
    let mut bytes = Bounded(Vec::with_capacity(TYPICAL_BYTES));
    // Not `Options::serialize`: that walks through the value twice more to know its size, in code of its own for each type.
    value
        .serialize(&mut bincode::Serializer::new(&mut bytes, options()))
        .map_err(|source| CodecError::Encode { source })?;
    Ok(Body { schema, bytes: bytes.0 })
}

/// Room for most bodies.
const TYPICAL_BYTES: usize = 64;

/// At most as many bytes as a body may have.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > Draft::BODY_BYTES_MAX - self.0.len() {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a value from its stored form; the caller has looked at the schema.
///
/// # Errors
/// If the bytes are not exactly one value of this type, or more than [`Draft::BODY_BYTES_MAX`].
pub fn decode<T: DeserializeOwned>(body: &Body) -> Result<T, CodecError> {
    decode_bytes(body.schema, &body.bytes)
}

/// As [`decode`], from bytes that may be borrowed from.
pub(crate) fn decode_bytes<'a, T: Deserialize<'a>>(schema: u16, bytes: &'a [u8]) -> Result<T, CodecError> {
    let malformed = |source| CodecError::Decode { schema, bytes: bytes.len(), source };
    if bytes.len() > Draft::BODY_BYTES_MAX {
        return Err(malformed(Box::new(bincode::ErrorKind::SizeLimit)));
    }
    options().deserialize(bytes).map_err(malformed)
}

/// The first 16 bytes of the BLAKE3 hash: how commands and policies are told apart.
pub fn digest(bytes: &[u8]) -> [u8; 16] {
    let hash = blake3::hash(bytes);
    let mut first = [0; 16];
    first.copy_from_slice(&hash.as_bytes()[..16]);
    first
}

fn options() -> impl Options {
    bincode::DefaultOptions::new()
        .with_fixint_encoding()
        .with_little_endian()
        .with_limit(Draft::BODY_BYTES_MAX as u64)
        .reject_trailing_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_from_its_stored_form() {
        let body = encode(3, &("machine".to_owned(), 7u32)).unwrap();
        assert_eq!(body.schema, 3);
        assert_eq!(body.bytes, b"\x07\0\0\0\0\0\0\0machine\x07\0\0\0");
        assert_eq!(decode::<(String, u32)>(&body).unwrap(), ("machine".to_owned(), 7));
    }

    #[test]
    fn trailing_bytes_are_refused() {
        let mut body = encode(1, &7u32).unwrap();
        body.bytes.push(0);
        assert!(matches!(decode::<u32>(&body), Err(CodecError::Decode { bytes: 5, .. })));
    }

    #[test]
    fn a_hostile_length_is_refused_before_it_is_allocated() {
        let body = Body { schema: 1, bytes: u64::MAX.to_le_bytes().to_vec() };
        assert!(decode::<Vec<u8>>(&body).is_err());
        assert!(decode::<String>(&body).is_err());
    }

    #[test]
    fn what_does_not_fit_a_body_is_refused() {
        assert!(encode(1, &vec![0u8; Draft::BODY_BYTES_MAX - 8]).is_ok());
        assert!(matches!(encode(1, &vec![0u8; Draft::BODY_BYTES_MAX - 7]), Err(CodecError::Encode { .. })));
    }

    #[test]
    fn the_longest_body_comes_back() {
        let longest = encode(1, &vec![7u8; Draft::BODY_BYTES_MAX - 8]).unwrap();
        assert_eq!(longest.bytes.len(), Draft::BODY_BYTES_MAX);
        assert_eq!(decode::<Vec<u8>>(&longest).unwrap().len(), Draft::BODY_BYTES_MAX - 8);
    }

    #[test]
    fn the_digest_is_the_beginning_of_blake3() {
        assert_eq!(digest(b"")[..4], [0xaf, 0x13, 0x49, 0xb9]);
    }
}
