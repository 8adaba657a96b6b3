//! Conditions under which a backtest fails: `flip(delete) > 0`.

use std::{fmt, str::FromStr};

use bailiwick_actors::vocab::Call;
use serde::{Serialize, Serializer};

use crate::audit::Backtest;

/// A condition on what a backtest counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gate {
    counted: Counted,
    is: Is,
    number: u64,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Decisions that come out differently.
    Flips(Which),
    /// Calls under the new settings only.
    Gained(Call),
    /// Calls under the recorded ones only.
    Lost(Call),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Any,
    Verdict,
    Events,
    DueTime,
    With(Call),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Unequal,
}

impl Is {
    /// The longer ones first: `>=` begins as `>` does.
    const ALL: [(&'static str, Self); 6] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        (">", Self::Above),
        ("<", Self::Below),
    ];

    fn holds(self, found: u64, number: u64) -> bool {
        match self {
            Self::Above => found > number,
            Self::AtLeast => found >= number,
            Self::Below => found < number,
            Self::AtMost => found <= number,
            Self::Equal => found == number,
            Self::Unequal => found != number,
        }
    }
}

/// What kinds of flips are called, beside calls.
const WHICH: [(&str, Which); 4] =
    [("any", Which::Any), ("verdict", Which::Verdict), ("events", Which::Events), ("due-time", Which::DueTime)];

/// A condition with what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Judged {
    #[serde(serialize_with = "text")]
    pub condition: Gate,
    pub found: u64,
    /// Whether the condition holds, so that the command fails.
    pub failed: bool,
}

fn text<S: Serializer>(gate: &Gate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(gate)
}

impl Gate {
    pub(super) fn judge(&self, backtest: &Backtest) -> Judged {
        let of = |call: Call| backtest.calls.get(&call).copied().unwrap_or_default();
        let found = match self.counted {
            Counted::Flips(Which::Any) => backtest.flips(),
            Counted::Flips(Which::Verdict) => backtest.verdict_flips,
            Counted::Flips(Which::Events) => backtest.event_flips,
            Counted::Flips(Which::DueTime) => backtest.due_time_flips,
            Counted::Flips(Which::With(call)) => of(call).flips,
            Counted::Gained(call) => of(call).gained,
            Counted::Lost(call) => of(call).lost,
        };
        Judged { condition: self.clone(), found, failed: self.is.holds(found, self.number) }
    }
}

/// A condition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadGate {
    #[error("a condition is FUNCTION(WORD) COMPARISON NUMBER, as in `flip(delete) > 0`")]
    Form,
    #[error("there is no function {0}; there are flip, gained and lost")]
    Function(String),
    #[error(
        "flip takes any, verdict, events, due-time or a call (create, delete, attach, detach, reconfigure), not {0}"
    )]
    Which(String),
    #[error("gained and lost take a call (create, delete, attach, detach, reconfigure), not {0}")]
    Call(String),
    #[error("{0} is no whole number")]
    Number(String),
}

impl FromStr for Gate {
    type Err = BadGate;

    fn from_str(text: &str) -> Result<Self, BadGate> {
        let (function, rest) = text.split_once('(').ok_or(BadGate::Form)?;
        let (word, rest) = rest.split_once(')').ok_or(BadGate::Form)?;
        let (function, word, rest) = (function.trim(), word.trim(), rest.trim());
        let call = |word: &str| word.parse().map_err(|_| BadGate::Call(word.to_owned()));
        let counted = match function {
            "flip" => Counted::Flips(which(word)?),
            "gained" => Counted::Gained(call(word)?),
            "lost" => Counted::Lost(call(word)?),
            other => return Err(BadGate::Function(other.to_owned())),
        };
        let compared = Is::ALL.into_iter().find_map(|(sign, is)| Some((is, rest.strip_prefix(sign)?.trim())));
        let (is, number) = compared.ok_or(BadGate::Form)?;
        let number = number.parse().map_err(|_| BadGate::Number(number.to_owned()))?;
        Ok(Self { counted, is, number })
    }
}

fn which(word: &str) -> Result<Which, BadGate> {
    let known = WHICH.into_iter().find(|(name, _)| *name == word).map(|(_, which)| which);
    known.or_else(|| Some(Which::With(word.parse().ok()?))).ok_or_else(|| BadGate::Which(word.to_owned()))
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.counted {
            Counted::Flips(Which::With(call)) => write!(f, "flip({call})")?,
            Counted::Flips(which) => {
                let name = WHICH.into_iter().find(|(_, known)| *known == which).map_or("any", |(name, _)| name);
                write!(f, "flip({name})")?;
            }
            Counted::Gained(call) => write!(f, "gained({call})")?,
            Counted::Lost(call) => write!(f, "lost({call})")?,
        }
        let sign = Is::ALL.into_iter().find(|(_, known)| *known == self.is).map_or("", |(sign, _)| sign);
        write!(f, " {sign} {}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::CallFlips;

    fn found() -> Backtest {
        let calls = [(Call::Delete, CallFlips { flips: 2, gained: 1, lost: 4 })].into();
        Backtest { verdict_flips: 3, event_flips: 2, due_time_flips: 7, calls, ..Backtest::default() }
    }

    #[test]
    fn each_condition_counts_what_it_names() {
        for (text, count) in [
            ("flip(any) > 0", 12),
            ("flip(verdict) > 0", 3),
            ("flip(events) > 0", 2),
            ("flip(due-time) > 0", 7),
            ("flip(delete) > 0", 2),
            ("flip(create) > 0", 0),
            ("gained(delete) > 0", 1),
            ("lost(delete) > 0", 4),
        ] {
            let gate: Gate = text.parse().expect(text);
            assert_eq!(gate.judge(&found()), Judged { condition: gate.clone(), found: count, failed: count > 0 });
            assert_eq!(gate.to_string(), text);
        }
    }

    #[test]
    fn numbers_are_compared_as_written() {
        for (text, failed) in [
            ("flip(verdict)>=3", true),
            ("flip(verdict)>3", false),
            (" flip ( verdict ) <= 3 ", true),
            ("flip(verdict) < 3", false),
            ("flip(verdict) == 3", true),
            ("flip(verdict) != 3", false),
        ] {
            let gate: Gate = text.parse().expect(text);
            assert_eq!(gate.judge(&found()).failed, failed, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_there_is() {
        let bad = |text: &str| text.parse::<Gate>().expect_err(text);
        assert_eq!(bad("delete > 0"), BadGate::Form);
        assert_eq!(bad("flip(delete"), BadGate::Form);
        assert_eq!(bad("flip(delete) 0"), BadGate::Form);
        assert_eq!(bad("flop(delete) > 0"), BadGate::Function("flop".into()));
        assert_eq!(bad("flip(destroy) > 0"), BadGate::Which("destroy".into()));
        assert_eq!(bad("gained(verdict) > 0"), BadGate::Call("verdict".into()));
        assert_eq!(bad("flip(delete) > many"), BadGate::Number("many".into()));
        assert_eq!(bad("flip(delete) > -1"), BadGate::Number("-1".into()));
    }
}
