//! Reads the fields of a record, one after the other.

use super::Malformed;
use crate::{Body, Cite, Draft, PolicyRef, StreamId, Version};

/// Takes from the front of a slice, never beyond its end.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("a record ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("as many bytes as were asked for"))
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    #[inline]
    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        let length = usize::from(self.u8()?);
        str::from_utf8(self.take(length)?).map_err(|_| "a text is not UTF-8")
    }

    pub(super) fn policy(&mut self) -> Result<PolicyRef, Malformed> {
        Ok(PolicyRef { name: self.text()?.to_owned(), revision: self.u64()?, digest: self.array()? })
    }

    /// What an entry of this stream cites. There is one form of each: none of a version 0, no own stream by name.
    pub(super) fn cites(&mut self, own: &StreamId) -> Result<Vec<Cite>, Malformed> {
        let count = self.u8()?;
        if count == 0 {
            return Err("a list of cites is empty");
        }
        let mut cites = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let stream = match self.text()? {
                "" => own.clone(),
                text if text == own.as_str() => return Err("an entry cites its own stream by name"),
                text => text.parse().map_err(|_| "a cited stream has no valid name")?,
            };
            let version = Version(self.u64()?);
            if version == Version::ZERO {
                return Err("a cited event has no version");
            }
            cites.push(Cite { stream, version });
        }
        if cites.is_sorted_by(|a, b| a < b) { Ok(cites) } else { Err("cites are out of order") }
    }

    pub(super) fn body(&mut self) -> Result<Body, Malformed> {
        self.body_bytes().map(|(schema, bytes)| Body { schema, bytes: bytes.to_vec() })
    }

    #[inline]
    pub(super) fn body_bytes(&mut self) -> Result<(u16, &'a [u8]), Malformed> {
        let schema = self.array().map(u16::from_le_bytes)?;
        let length = self.u32()? as usize;
        if length > Draft::BODY_BYTES_MAX {
            return Err("a body is too long");
        }
        Ok((schema, self.take(length)?))
    }
}
