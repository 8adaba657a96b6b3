//! How far a provider's call for a machine is, as its provider tells meanwhile.
//!
//! Only a change is noted, and of a percentage only whole tens, so that a talkative provider fills no journal. What was told
//! ends with the call that it was told about.

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, State,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    ports,
    vocab::{EffectId, Outlook, Timestamp},
};

/// What a provider told last about the call that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// For people, at most [`Progress::TEXT_BYTES_MAX`] bytes. No secrets.
    pub text: String,
    /// From 0 to 100, in whole tens, if the provider can tell.
    pub percent: Option<u8>,
    pub since: Timestamp,
}

impl Progress {
    /// The longest text, in bytes.
    pub const TEXT_BYTES_MAX: usize = 255;

    /// What is worth noting of what a provider tells: bounded, without characters that a terminal obeys, in whole tens.
    pub fn worth_noting(told: &ports::Progress) -> (String, Option<u8>) {
        let mut text = String::new();
        for letter in told.text.chars().filter(|letter| !letter.is_control()) {
            if text.len() + letter.len_utf8() > Self::TEXT_BYTES_MAX {
                break;
            }
            text.push(letter);
        }
        (text, told.percent.map(|percent| percent.min(100) / 10 * 10))
    }
}

impl State {
    /// The call that is under way, or owed, for its own instance.
    pub fn calling(&self, journal: uuid::Uuid, stream: &bailiwick_journal::StreamId) -> Option<EffectId> {
        self.own(journal, stream).filter(|_| self.is_called())
    }

    /// Whether nothing else is waited for than the answer to that call.
    pub(super) fn is_called(&self) -> bool {
        let is_trying = self.effort().is_some_and(|effort| effort.outlook == Outlook::Trying);
        is_trying && !self.awaits_start() && !self.awaits_site() && self.awaits_class().is_none()
    }

    /// Whether this was told last.
    pub fn has_progressed(&self, text: &str, percent: Option<u8>) -> bool {
        self.progress.as_ref().is_some_and(|told| told.text == text && told.percent == percent)
    }
}

pub(super) fn report(state: &State, effect: EffectId, text: &str, percent: Option<u8>, facts: &Facts<'_>) -> Verdict {
    if state.calling(facts.journal, facts.stream) != Some(effect) {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    if state.has_progressed(text, percent) {
        return Ok(Decision::nothing(Reason::ProgressKnown));
    }
    let event = Event::Progressed { text: text.to_owned(), percent, at: facts.now };
    Ok(Decision::because(Reason::ProgressTold, [event]))
}
