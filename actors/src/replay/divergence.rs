//! Where a decision, decided again, came out differently.

use std::fmt;

use bailiwick_journal::{Header, StreamId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::vocab::{Call, Timestamp};

/// What does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A position is missing or comes twice.
    Position,
    /// The entry does not follow the stream's version.
    Version,
    /// Time goes back.
    Time,
    /// A stored form cannot be read.
    Undecodable,
    /// The command is not the one whose hash is recorded.
    Command,
    /// The command's id does not follow from what it has to follow from.
    CommandId,
    /// The facts are not those that are recorded.
    Facts,
    /// The cited policy revision is not there, or is another one.
    Policy,
    /// The cited view position is impossible, or the view cannot be folded.
    View,
    /// It does not cite all of its own that it goes on from.
    Cites,
    /// Another outcome, reason or rejection.
    Verdict,
    /// An event that follows is not recorded.
    MissingEvent,
    /// An event is recorded that does not follow.
    SurplusEvent,
    /// Another event follows than the recorded one.
    Events,
    /// The decider broke.
    Broken,
    /// What always holds of an entity does not hold behind it.
    Invariant,
}

impl What {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Version => "version",
            Self::Time => "time",
            Self::Undecodable => "undecodable",
            Self::Command => "command",
            Self::CommandId => "command-id",
            Self::Facts => "facts",
            Self::Policy => "policy",
            Self::View => "view",
            Self::Cites => "cites",
            Self::Verdict => "verdict",
            Self::MissingEvent => "missing-event",
            Self::SurplusEvent => "surplus-event",
            Self::Events => "events",
            Self::Broken => "broken",
            Self::Invariant => "invariant",
        }
    }
}

/// One entry that does not come out as it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Divergence {
    pub position: u64,
    #[serde(serialize_with = "stream_text")]
    pub stream: StreamId,
    pub time: String,
    pub time_ms: u64,
    pub what: What,
    /// One sentence for people.
    pub text: String,
    /// What the journal says.
    pub recorded: Value,
    /// What is decided now.
    pub redecided: Value,
    /// Where the two differ, field by field.
    pub differences: Vec<Difference>,
    /// What a provider is called for by what is decided now only, and by what is recorded only.
    #[serde(default)]
    pub gained: Vec<Call>,
    #[serde(default)]
    pub lost: Vec<Call>,
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// `events[0].CreateRetryScheduled.until`.
    pub field: String,
    /// Null if it is not there.
    pub recorded: Value,
    pub redecided: Value,
}

impl Divergence {
    /// A divergence that is told in a sentence.
    pub fn new(header: &Header, what: What, text: impl Into<String>) -> Self {
        Self {
            position: header.position.0,
            stream: header.stream.clone(),
            time: Timestamp(header.meta.time_ms).to_string(),
            time_ms: header.meta.time_ms,
            what,
            text: text.into(),
            recorded: Value::Null,
            redecided: Value::Null,
            differences: Vec::new(),
            gained: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// The same with what a provider is called for by what is recorded, and by what is decided now.
    #[must_use]
    pub fn calling(mut self, recorded: &[Call], redecided: &[Call]) -> Self {
        (self.lost, self.gained) = (beyond(recorded, redecided), beyond(redecided, recorded));
        self
    }

    /// The same with what is recorded and what is decided now.
    #[must_use]
    pub fn between(mut self, recorded: Value, redecided: Value) -> Self {
        self.differences = differences(&recorded, &redecided);
        self.recorded = recorded;
        self.redecided = redecided;
        self
    }
}

/// The calls of the one that the other has fewer of, in their order.
fn beyond(one: &[Call], other: &[Call]) -> Vec<Call> {
    let count = |calls: &[Call], call: Call| calls.iter().filter(|known| **known == call).count();
    let more = |call: Call| count(one, call).saturating_sub(count(other, call));
    Call::ALL.into_iter().flat_map(|call| std::iter::repeat_n(call, more(call))).collect()
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}: {}: {}", self.position, self.time, self.stream, self.what.code(), self.text)?;
        for difference in &self.differences {
            write!(f, "\n    {difference}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, recorded, redecided } = self;
        write!(f, "{field}: recorded {}, decided again {}", or_nothing(recorded), or_nothing(redecided))
    }
}

fn or_nothing(value: &Value) -> String {
    if value.is_null() { "nothing".into() } else { value.to_string() }
}

fn stream_text<S: serde::Serializer>(stream: &StreamId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(stream.as_str())
}

/// The fields in which two values differ, in order of their names.
fn differences(recorded: &Value, redecided: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(String::new(), recorded, redecided, &mut found);
    found
}

fn compare(field: String, recorded: &Value, redecided: &Value, found: &mut Vec<Difference>) {
    match (recorded, redecided) {
        _ if recorded == redecided => (),
        (Value::Object(left), Value::Object(right)) => {
            let names: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                let inner = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                let side = |object: &serde_json::Map<String, Value>| object.get(name).cloned().unwrap_or(Value::Null);
                compare(inner, &side(left), &side(right), found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let side = |array: &Vec<Value>| array.get(index).cloned().unwrap_or(Value::Null);
                compare(format!("{field}[{index}]"), &side(left), &side(right), found);
            }
        }
        _ => found.push(Difference { field, recorded: recorded.clone(), redecided: redecided.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_fields_that_differ_are_named() {
        let recorded = json!({"code": "a", "events": [{"until": 1}, {"x": 2}], "same": [1, 2]});
        let redecided = json!({"code": "a", "events": [{"until": 5}], "same": [1, 2]});
        let fields: Vec<String> = differences(&recorded, &redecided).into_iter().map(|d| d.field).collect();
        assert_eq!(fields, ["events[0].until", "events[1]"]);
    }

    #[test]
    fn each_call_counts_as_often_as_the_other_side_lacks_it() {
        use Call::{Attach, Create, Delete};
        assert_eq!(beyond(&[Delete, Create, Create, Attach], &[Create, Attach]), [Create, Delete]);
        assert_eq!(beyond(&[Create], &[Create, Delete]), []);
    }
}
