//! Heads of the journal, signed with the node's own key: who keeps one elsewhere has proof of all that led up to it.
//!
//! The chain in the journal shows every change to it but one: an intruder who can write all files can compute a whole new chain. No
//! such chain has the value that was signed before.

use std::{fs, io, path::Path};

use bailiwick_actors::vocab::{hex, unhex};
use bailiwick_journal::Head;
use ring::{
    rand::SystemRandom,
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};
use uuid::Uuid;

use crate::{agent::files, api::wire::journal::SignedHead};

/// What a signature is for: nothing else that is ever signed begins like this.
const PURPOSE: &[u8] = b"bailiwick-head/1\n";

/// The file in a data directory that has the key, and the one that has the heads that were signed with it, a line each.
pub const SIGNING_KEY: &str = "signing.key";
pub const HEADS: &str = "heads.jsonl";

/// Signs heads.
#[derive(Debug)]
pub struct Signer(Ed25519KeyPair);

/// Why a head proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHead {
    #[error("{field} is not {bytes} bytes in hexadecimal")]
    Form { field: &'static str, bytes: usize },
    #[error("the signature is not that of its key")]
    Signature,
}

impl Signer {
    /// The key in this file; one is made if there is no file.
    ///
    /// # Errors
    /// If it cannot be read or made, or is no key.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let no_randomness = |_| io::Error::other("the system has no random numbers");
                let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(no_randomness)?;
                files::replace(path, made.as_ref())?;
                made.as_ref().to_vec()
            }
            found => found?,
        };
        let no_key = |_| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "it is no signing key; move it away, and the next start makes one",
            )
        };
        Ok(Self(Ed25519KeyPair::from_pkcs8(&found).map_err(no_key)?))
    }

    /// Signs where a journal stands, or stood.
    pub fn sign(&self, journal: Uuid, head: &Head) -> SignedHead {
        let Head { position, time_ms, block, hash } = *head;
        let signature = self.0.sign(&message(journal, head));
        let (key, signature) = (hex(self.0.public_key().as_ref()), hex(signature.as_ref()));
        SignedHead { journal, position, block, hash: hex(&hash), time_ms, key, signature }
    }
}

/// Checks that a head was signed with the key that it names; the answer is what was signed.
///
/// # Errors
/// If it was not.
pub fn verified(signed: &SignedHead) -> Result<Head, BadHead> {
    let SignedHead { journal, position, block, hash, time_ms, key, signature } = signed;
    let hash = bytes::<32>("hash", hash)?;
    let (key, signature) = (bytes::<32>("key", key)?, bytes::<64>("signature", signature)?);
    let head = Head { position: *position, time_ms: *time_ms, block: *block, hash };
    let is_signed = UnparsedPublicKey::new(&ED25519, key).verify(&message(*journal, &head), &signature);
    is_signed.map(|()| head).map_err(|_| BadHead::Signature)
}

/// The bytes that are signed; all numbers are little-endian, as in the journal.
fn message(journal: Uuid, head: &Head) -> Vec<u8> {
    let Head { position, time_ms, block, hash } = head;
    let numbers = [position.0, *block, *time_ms].map(u64::to_le_bytes).concat();
    [PURPOSE, journal.as_bytes(), &numbers, hash].concat()
}

fn bytes<const N: usize>(field: &'static str, text: &str) -> Result<[u8; N], BadHead> {
    let found = unhex(text).and_then(|bytes| bytes.try_into().ok());
    found.ok_or(BadHead::Form { field, bytes: N })
}

#[cfg(test)]
mod tests {
    use bailiwick_journal::Position;

    use super::*;

    #[test]
    fn whatever_is_changed_in_a_head_its_signature_does_not_fit() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("signing.key");
        let signer = Signer::of(&path).unwrap();
        let head = Head { position: Position(7), time_ms: 1_000, block: 3, hash: [0xab; 32] };
        let signed = signer.sign(Uuid::from_u128(1), &head);
        assert_eq!(verified(&signed), Ok(head));
        // The key stays the node's.
        assert_eq!(Signer::of(&path).unwrap().sign(Uuid::from_u128(1), &head), signed);
        let others = Signer::of(&scratch.path().join("other.key")).unwrap().sign(Uuid::from_u128(1), &head);
        let changed = [
            SignedHead { journal: Uuid::from_u128(2), ..signed.clone() },
            SignedHead { position: Position(8), ..signed.clone() },
            SignedHead { block: 4, ..signed.clone() },
            SignedHead { time_ms: 1_001, ..signed.clone() },
            SignedHead { hash: hex(&[0xac; 32]), ..signed.clone() },
            SignedHead { key: others.key.clone(), ..signed.clone() },
            SignedHead { signature: others.signature, ..signed.clone() },
        ];
        for changed in changed {
            assert_eq!(verified(&changed), Err(BadHead::Signature), "{changed:?}");
        }
        for short in ["", "ab", "zz"] {
            let of = SignedHead { hash: short.into(), ..signed.clone() };
            assert_eq!(verified(&of), Err(BadHead::Form { field: "hash", bytes: 32 }));
        }
        fs::write(&path, "no key").unwrap();
        assert_eq!(Signer::of(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
