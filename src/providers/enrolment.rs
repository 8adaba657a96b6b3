//! Tokens with which agents join: drawn here, kept in files that only the node's owner can read, and checked here.
//!
//! ```text
//! <data-dir>/enrolment/<effect id>      0600; id and secret of the token, and until when it is good
//! ```
//!
//! They are not synced: a token that a power cut takes belongs to a machine that the power cut took, too, or to one whose
//! agent does not join in time and is replaced.

use std::{
    fs, io,
    path::{Path, PathBuf},
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
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    id: String,
    /// `<id>.<secret>`
    token: String,
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
    #[error("the token expired at {until}; the next attempt to create the machine issues a new one")]
    Expired { until: Timestamp },
}

impl NotAdmitted {
    /// Stable, lower-case, hyphenated.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unknown => "unknown-token",
            Self::Wrong => "wrong-token",
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
        for entry in fs::read_dir(&directory)? {
            // What is none of ours opens nothing.
            if let Ok(Some(kept)) = files::read_json::<Kept>(&entry?.path()) {
                kept.tell(&known);
            }
        }
        Ok(Self { directory, known })
    }

    /// Whether an agent with this token may join as that of this instance; the answer is the token's id. The same token
    /// again is admitted again until it expires: an answer may have been lost.
    ///
    /// # Errors
    /// With why it may not. Who has not got the secret learns nothing else.
    pub fn admit(&self, effect: EffectId, presented: &str, now: Timestamp) -> Result<String, NotAdmitted> {
        let kept = self.kept(effect).ok().flatten().ok_or(NotAdmitted::Unknown)?;
        // Hashes are compared in the same time for every wrong one.
        if blake3::hash(presented.as_bytes()) != blake3::hash(kept.token.as_bytes()) {
            return Err(NotAdmitted::Wrong);
        }
        let until = Timestamp(kept.until_ms);
        if until <= now { Err(NotAdmitted::Expired { until }) } else { Ok(kept.id) }
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
        let kept = Kept { id, token, until_ms: now.after(lasts_ms).0, lasts_ms };
        kept.tell(&self.known);
        put(&self.path(effect), &serde_json::to_vec(&kept)?)?;
        Ok(kept)
    }

    fn forget_secret(&self, effect: EffectId) {
        if let Ok(Some(kept)) = self.kept(effect) {
            self.known.forget_bytes(kept.secret());
        }
    }
}

impl Kept {
    /// The part of the token that opens; the id is in the journal, too.
    fn secret(&self) -> &[u8] {
        self.token.split_once('.').map_or(self.token.as_str(), |(_, secret)| secret).as_bytes()
    }

    fn tell(&self, known: &KnownSecrets) {
        known.add_bytes("a token to join with", self.secret());
    }
}

/// Puts a file in place that only its owner may read: whoever reads sees all of it or nothing.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
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
        let good = kept.filter(|kept| now.after(kept.lasts_ms / 2).0 <= kept.until_ms);
        let kept = good.map_or_else(|| self.draw(effect, now, lasts_ms), Ok);
        let kept = kept.map_err(|error| {
            let text = format!("the token that its agent joins with cannot be kept: {}", error.kind());
            Fault::new(FaultCode::FailedPrecondition, text)
        })?;
        Ok(JoinToken::new(kept.id, kept.token, Timestamp(kept.until_ms), self.path(effect)))
    }

    fn forget(&self, effect: EffectId) {
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
        assert_eq!(admit(EFFECT, "", 1), Err(NotAdmitted::Wrong));
        assert_eq!(admit(OTHER, token.reveal(), 1), Err(NotAdmitted::Unknown));
        tokens.forget(EFFECT);
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
