//! Answers.

use std::fmt;

use super::Decider;

/// The answer to a command: a decision, or a rejection. A rejection is an answer, not a failure, and is journaled too.
pub type Verdict<D> = Result<Decision<D>, <D as Decider>::Rejection>;

/// What happens, and why. Without events nothing happens, for that reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<D: Decider> {
    pub reason: D::Reason,
    pub events: Vec<D::Event>,
}

impl<D: Decider> Decision<D> {
    /// Something happens.
    pub fn because(reason: D::Reason, events: impl IntoIterator<Item = D::Event>) -> Self {
        Self { reason, events: events.into_iter().collect() }
    }

    /// Nothing has to be done.
    pub fn nothing(reason: D::Reason) -> Self {
        Self { reason, events: Vec::new() }
    }
}

/// A typed reason or rejection with a stable name; its `Display` is the same in plain words.
pub trait Code: fmt::Display {
    /// Stable, lower-case, hyphenated: `worth-retrying`.
    fn code(&self) -> &'static str;
}

/// Declares an enum of reasons: each variant with its stable code and words that read well after "because".
macro_rules! reasons {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal, $words:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[doc = $words] $variant,)* }

        impl $name {
            /// All of them, in the order of their stored forms.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
        }

        impl $crate::contract::Code for $name {
            fn code(&self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $words,)* })
            }
        }

        impl $crate::contract::Stored for $name { const SCHEMA: u16 = 1; }
    };
}
pub(crate) use reasons;
