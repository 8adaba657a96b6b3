//! Tokens with which agents join: drawn here, kept in files that only the node's owner can read, and checked here.
//!
//! ```text
//! <data-dir>/enrolment/<effect id>      0600; id and secret of the token, and until when it is good;
//!                                       once it was used, its hash in place of the secret
//! ```
//!
//! They are not synced: a token that a power cut takes belongs to a machine that the power cut took, too, or to one whose
//! agent does not join in time and is replaced.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::{
    ports::{Enrolment, JoinToken},
    vocab::{EffectId, Fault, FaultCode, Timestamp},
};
use serde::{Deserialize, Serialize};
use tracing::warn;
use uuid::Uuid;

use super::known::KnownSecrets;
use crate::agent::files;

/// The tokens of one node.
#[derive(Debug)]
pub struct Enrolments {
    directory: PathBuf,
    known: KnownSecrets,
    /// The instances whose token was not used yet.
    open: Mutex<BTreeSet<EffectId>>,
    /// The secrets of those that were used in this life of the node: who has one may still repeat it.
    used: Mutex<BTreeMap<EffectId, Vec<u8>>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    id: String,
    /// `<id>.<secret>`; none once it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// Its BLAKE3, in hexadecimal digits, once it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    until_ms: u64,
    /// How long it was good for when it was drawn.
    lasts_ms: u64,
}

/// Why an agent may not join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdmitted {
    #[error("no token was issued for this instance, or what it was issued for is gone")]
    Unknown,
    #[error("this is not the token that was issued for this instance")]
    Wrong,
    #[error("the token was used already; the agent that joined with it has one of its own")]
    Used,
    #[error("the token expired at {until}; the next attempt to create the machine issues a new one")]
    Expired { until: Timestamp },
}

impl NotAdmitted {
    /// Stable, lower-case, hyphenated.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unknown => "unknown-token",
            Self::Wrong => "wrong-token",
            Self::Used => "used-token",
            Self::Expired { .. } => "expired-token",
        }
    }
}

impl Enrolments {
    /// Those in a directory, which is made if it is not there. As long as a token is kept it is among the secrets that are
    /// known.
    ///
    /// # Errors
    /// If it cannot be made, or not be read.
    pub fn open(directory: PathBuf, known: KnownSecrets) -> io::Result<Self> {
        files::make_directory(&directory)?;
        files::remove_unfinished(&directory)?;
        let mut open = BTreeSet::new();
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            // What is none of ours opens nothing.
            if let Ok(Some(kept)) = files::read_json::<Kept>(&entry.path()) {
                kept.tell(&known);
                let is_open = kept.token.is_some();
                let effect = entry.file_name().to_str().and_then(|name| name.parse::<EffectId>().ok());
                open.extend(effect.filter(|_| is_open));
            }
        }
        Ok(Self { directory, known, open: Mutex::new(open), used: Mutex::default() })
    }

    /// Whether an agent with this token may join as that of this instance; the answer is the token's id. The same token
    /// again is admitted again until it expires: an answer may have been lost.
    ///
    /// # Errors
    /// With why it may not. Who has not got the secret learns nothing else.
    pub fn admit(&self, effect: EffectId, presented: &str, now: Timestamp) -> Result<String, NotAdmitted> {
        let kept = self.kept(effect).ok().flatten().ok_or(NotAdmitted::Unknown)?;
        // Hashes are compared in the same time for every wrong one.
        if kept.known_hash() != Some(blake3::hash(presented.as_bytes())) {
            return Err(NotAdmitted::Wrong);
        }
        let until = Timestamp(kept.until_ms);
        match kept.token {
            _ if until <= now => Err(NotAdmitted::Expired { until }),
            None => Err(NotAdmitted::Used),
            Some(_) => Ok(kept.id),
        }
    }

    /// The agent of this instance has a token of its own and uses it: the one to join with has done its work, and opens nothing
    /// from here on. Until then it is good for a repeat, because the answer with the other one may have been lost.
    pub fn used(&self, effect: EffectId) {
        let is_open = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&effect);
        let Some(kept) = is_open.then(|| self.kept(effect).ok().flatten()).flatten() else { return };
        let secret = kept.secret().to_vec();
        let hash = kept.known_hash().map(|hash| hash.to_hex().to_string());
        let put = serde_json::to_vec(&Kept { token: None, hash, ..kept }).map_err(io::Error::from);
        match put.and_then(|kept| put_file(&self.path(effect), &kept)) {
            Ok(()) => drop(self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(effect, secret)),
            Err(error) => warn!(%effect, %error, "a token that was used is good until it expires"),
        }
    }

    fn path(&self, effect: EffectId) -> PathBuf {
        self.directory.join(effect.to_string())
    }

    fn kept(&self, effect: EffectId) -> io::Result<Option<Kept>> {
        files::read_json(&self.path(effect))
    }

    fn draw(&self, effect: EffectId, now: Timestamp, lasts_ms: u64) -> io::Result<Kept> {
        self.forget_secret(effect);
        let id = Uuid::new_v4().simple().to_string()[..8].to_owned();
        let token = format!("{id}.{}", Uuid::new_v4().simple());
        let kept = Kept { id, token: Some(token), hash: None, until_ms: now.after(lasts_ms).0, lasts_ms };
        kept.tell(&self.known);
        put_file(&self.path(effect), &serde_json::to_vec(&kept)?)?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(effect);
        Ok(kept)
    }

    fn forget_secret(&self, effect: EffectId) {
        if let Some(secret) = self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(&effect) {
            self.known.forget_bytes(&secret);
        }
        if let Ok(Some(kept)) = self.kept(effect) {
            self.known.forget_bytes(kept.secret());
        }
    }
}

impl Kept {
    /// The part of the token that opens; the id is in the journal, too.
    fn secret(&self) -> &[u8] {
        let token = self.token.as_deref().unwrap_or_default();
        token.split_once('.').map_or(token, |(_, secret)| secret).as_bytes()
    }

    fn known_hash(&self) -> Option<blake3::Hash> {
        match (&self.token, &self.hash) {
            (Some(token), _) => Some(blake3::hash(token.as_bytes())),
            (None, hash) => hash.as_ref().and_then(|hash| blake3::Hash::from_hex(hash).ok()),
        }
    }

    fn tell(&self, known: &KnownSecrets) {
        if self.token.is_some() {
            known.add_bytes("a token to join with", self.secret());
        }
    }
}

/// Puts a file in place that only its owner may read: a reader sees all of it or nothing.
fn put_file(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::{io::Write, os::unix::fs::OpenOptionsExt};
    let unfinished = path.with_extension("tmp");
    files::remove_file(&unfinished)?;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?.write_all(content)?;
    fs::rename(unfinished, path)
}

impl Enrolment for Enrolments {
    fn issue(&self, effect: EffectId, now: Timestamp, lasts_ms: u64) -> Result<JoinToken, Fault> {
        let kept = self.kept(effect).ok().flatten();
        // An earlier attempt may have made something that holds it.
        let good = kept.filter(|kept| kept.token.is_some() && now.after(kept.lasts_ms / 2).0 <= kept.until_ms);
        let kept = good.map_or_else(|| self.draw(effect, now, lasts_ms), Ok);
        let kept = kept.map_err(|error| {
            let text = format!("the token that its agent joins with cannot be kept: {}", error.kind());
            Fault::new(FaultCode::FailedPrecondition, text)
        })?;
        let token = kept.token.unwrap_or_default();
        Ok(JoinToken::new(kept.id, token, Timestamp(kept.until_ms), self.path(effect)))
    }

    fn forget(&self, effect: EffectId) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&effect);
        self.forget_secret(effect);
        if let Err(error) = files::remove_file(&self.path(effect)) {
            warn!(%effect, %error, "cannot remove a token; it expires by itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const EFFECT: EffectId = EffectId(Uuid::from_u128(1));
    const OTHER: EffectId = EffectId(Uuid::from_u128(2));

    fn at(second: u64) -> Timestamp {
        Timestamp(second * 1_000)
    }

    #[test]
    fn a_token_opens_its_own_instance_until_it_expires() {
        let scratch = tempfile::tempdir().unwrap();
        let tokens = Enrolments::open(scratch.path().join("enrolment"), KnownSecrets::default()).unwrap();
        let token = tokens.issue(EFFECT, at(0), 60_000).unwrap();
        assert!(token.reveal().starts_with(&format!("{}.", token.id)) && 32 < token.reveal().len());
        assert!(!format!("{token:?}").contains(token.reveal()), "it shows nothing of itself");
        let admit = |effect, text: &str, second| tokens.admit(effect, text, at(second));
        assert_eq!(admit(EFFECT, token.reveal(), 1), Ok(token.id.clone()));
        assert_eq!(admit(EFFECT, token.reveal(), 59), Ok(token.id.clone()), "an answer may have been lost");
        assert_eq!(admit(EFFECT, token.reveal(), 60), Err(NotAdmitted::Expired { until: at(60) }));
        assert_eq!(admit(EFFECT, &token.id, 61), Err(NotAdmitted::Wrong), "nothing else is told to who has no secret");
        tokens.used(OTHER);
        assert_eq!(admit(EFFECT, "", 1), Err(NotAdmitted::Wrong));
        assert_eq!(admit(OTHER, token.reveal(), 1), Err(NotAdmitted::Unknown));
        tokens.used(EFFECT);
        tokens.used(EFFECT);
        assert_eq!(admit(EFFECT, token.reveal(), 1), Err(NotAdmitted::Used), "its agent has another one by now");
        assert_eq!(admit(EFFECT, token.reveal(), 60), Err(NotAdmitted::Expired { until: at(60) }));
        assert_eq!(admit(EFFECT, &token.id, 1), Err(NotAdmitted::Wrong));
        let kept = fs::read_to_string(&token.file).unwrap();
        assert!(!kept.contains(token.reveal()), "the secret is not kept: {kept}");
        let again = tokens.issue(EFFECT, at(2), 60_000).unwrap();
        assert_ne!(again.reveal(), token.reveal(), "another attempt has another one");
        tokens.forget(EFFECT);
        assert_eq!(admit(EFFECT, token.reveal(), 1), Err(NotAdmitted::Unknown));
    }

    #[test]
    fn an_attempt_that_follows_soon_has_the_same_token_and_a_late_one_a_new_one() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("enrolment");
        let first =
            Enrolments::open(path.clone(), KnownSecrets::default()).unwrap().issue(EFFECT, at(0), 60_000).unwrap();
        // Also after a restart of the node.
        let known = KnownSecrets::default();
        let tokens = Enrolments::open(path, known.clone()).unwrap();
        assert_eq!(known.blot().out(first.reveal()), format!("{}.***", first.id), "it is known to be secret");
        assert_eq!(tokens.issue(EFFECT, at(30), 60_000).unwrap(), first);
        let late = tokens.issue(EFFECT, at(31), 60_000).unwrap();
        assert!(late.id != first.id && late.until == at(91));
        assert_eq!(tokens.admit(EFFECT, first.reveal(), at(31)), Err(NotAdmitted::Wrong));
        assert_ne!(tokens.issue(OTHER, at(31), 60_000).unwrap().id, late.id);
        let mode = fs::metadata(&late.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
