//! Decisions as spans of OpenTelemetry, in the JSON form of its protocol over HTTP (OTLP): what a sink with `format=otlp` is told.
//!
//! A trace is everything that follows from one entry that came from outside. A span is one decision; its parent is the decision
//! that led to it. Deciding takes no time that is recorded, so a span begins and ends at the moment of its decision: what lies
//! between two spans was waited for. Source: OpenTelemetry protocol 1.x, `ExportTraceServiceRequest`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::vocab::{Timestamp, hex};
use bailiwick_journal::{Entry, Filter, Journal, Outcome, Position, ReadError};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{view::Calendar, words::Line};

/// So many entries are remembered with the entry that their trace began with. Those that are not are looked up.
const REMEMBERED_MAX: usize = 4_096;
/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u32 = 1;
/// `STATUS_CODE_ERROR`.
const ERROR: u32 = 2;

/// The traces of a journal.
#[derive(Debug, Default)]
pub(super) struct Traces(Mutex<BTreeMap<Position, Position>>);

impl Traces {
    /// One decision.
    pub(super) fn span(&self, journal: &dyn Journal, entry: &Entry, calendar: &Calendar) -> Result<Value, ReadError> {
        let (header, id) = (&entry.header, journal.id());
        let line = Line::of(entry);
        let nanoseconds = calendar.shown(Timestamp(header.meta.time_ms)).0.saturating_mul(1_000_000).to_string();
        let texts = [
            ("stream", line.stream.as_str()),
            ("outcome", line.outcome),
            ("code", line.code.as_str()),
            ("because", line.because.as_str()),
            ("principal", line.principal.as_str()),
            ("policy", line.policy.as_deref().unwrap_or_default()),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let mut attributes: Vec<Value> =
            texts.map(|(name, text)| attribute(name, json!({"stringValue": text}))).collect();
        // Whole numbers of 64 bits are texts there.
        attributes.push(attribute("position", json!({"intValue": line.position.to_string()})));
        let mut span = json!({
            "traceId": hex(Uuid::new_v5(&id, format!("trace {}", self.begin_of(journal, entry)?).as_bytes()).as_bytes()),
            "spanId": span_id(id, header.position),
            "name": format!("{} {}", header.stream.kind(), line.code),
            "kind": INTERNAL,
            "startTimeUnixNano": nanoseconds,
            "endTimeUnixNano": nanoseconds,
            "attributes": attributes,
        });
        if let Some(cause) = header.meta.cause {
            span["parentSpanId"] = span_id(id, cause).into();
        }
        if header.meta.outcome == Outcome::Refused {
            span["status"] = json!({"code": ERROR, "message": line.because});
        }
        Ok(span)
    }

    /// The entry from outside that it all began with.
    fn begin_of(&self, journal: &dyn Journal, entry: &Entry) -> Result<Position, ReadError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut cause) = (entry.header.position, entry.header.meta.cause);
        while let Some(before) = cause {
            if let Some(begin) = known.get(&before) {
                at = *begin;
                break;
            }
            at = before;
            cause = match journal.read(before, before, &Filter::all()).next() {
                Some(found) => found?.header.meta.cause,
                None => None,
            };
        }
        known.insert(entry.header.position, at);
        while known.len() > REMEMBERED_MAX {
            known.pop_first();
        }
        Ok(at)
    }
}

fn span_id(journal: Uuid, position: Position) -> String {
    hex(&Uuid::new_v5(&journal, format!("span {position}").as_bytes()).as_bytes()[..8])
}

fn attribute(name: &str, value: Value) -> Value {
    json!({"key": format!("bailiwick.{name}"), "value": value})
}

/// What is posted: these spans, and whose they are.
pub(super) fn request(journal: Uuid, spans: &[Value]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let of_resource =
        [("service.name", "bailiwick"), ("service.instance.id", &journal.to_string()), ("service.version", version)]
            .map(|(key, text)| json!({"key": key, "value": {"stringValue": text}}));
    json!({"resourceSpans": [{
        "resource": {"attributes": of_resource},
        "scopeSpans": [{"scope": {"name": "bailiwick", "version": version}, "spans": spans}],
    }]})
}
