//! Reads the fields of a record, one after the other.

use super::Malformed;
use crate::{Body, Draft, PolicyRef};

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
