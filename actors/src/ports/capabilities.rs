//! What a provider can do beyond what every one has to, and what it tells while it is at work.

use crate::vocab::EffectId;

/// What a provider can do beyond what every one has to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// A call that is not wanted any more is cut short.
    pub cancel: bool,
    /// It tells how far a call is.
    pub progress: bool,
}

/// How far a call is, as its provider tells. Only the newest word counts, and none outlives its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being made or removed.
    pub id: EffectId,
    /// For people; harmless to a terminal, at most 255 bytes. No secrets.
    pub text: String,
    /// From 0 to 100, if the provider can tell.
    pub percent: Option<u8>,
}
