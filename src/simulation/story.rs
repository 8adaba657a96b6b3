//! A journal as a story: one line per decision.

use std::{collections::BTreeMap, fmt};

use bailiwick_actors::{
    contract::{Decider, Recorded, Stored, StoredError},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, replica_set,
    supervisor::{machine_sets, machines, replica_sets, storage},
    vocab::Timestamp,
    volume, volume_attachment,
};
use bailiwick_journal::{Entry, EntryKind, Filter, Journal, Outcome, Position};
use serde::Serialize;
use serde_json::Value;

/// One decision, or something that no entry tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryLine {
    /// Since the simulation began, by the node's clock.
    pub at_ms: u64,
    pub position: Option<u64>,
    pub stream: Option<String>,
    /// What was done, or that nothing was.
    pub what: String,
    /// Why; none for what happens from outside.
    pub because: Option<String>,
    pub who: Option<String>,
    /// The entry that led to it.
    pub cause: Option<u64>,
}

impl StoryLine {
    /// Something that happened from outside.
    pub(super) fn aside(at_ms: u64, what: String) -> Self {
        Self { at_ms, position: None, stream: None, what, because: None, who: None, cause: None }
    }
}

impl fmt::Display for StoryLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, ms) = (self.at_ms / 1000, self.at_ms % 1000);
        write!(f, "{:02}:{:02}:{:02}.{ms:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        let (Some(position), Some(stream)) = (self.position, &self.stream) else {
            return write!(f, "     --- {}", self.what);
        };
        write!(f, " {position:>5} {stream:<28} {}", self.what)?;
        if let Some(because) = &self.because {
            write!(f, ", because {because}")?;
        }
        if let Some(who) = &self.who {
            write!(f, " ({who}")?;
            if let Some(cause) = self.cause {
                write!(f, ", after {cause}")?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// Tells a whole journal, with the asides that stand after so many entries.
///
/// # Errors
/// If an entry cannot be understood.
///
/// # Panics
/// If the journal cannot be read: a simulated disk is always there.
pub fn tell(
    journal: &dyn Journal,
    epoch: Timestamp,
    asides: Vec<(u64, StoryLine)>,
) -> Result<Vec<StoryLine>, StoredError> {
    let mut asides = asides.into_iter().peekable();
    let mut lines = Vec::new();
    for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
        let entry = entry.expect("a simulated disk can be read");
        while let Some((_, aside)) = asides.next_if(|(entries, _)| *entries < entry.header.position.0) {
            lines.push(aside);
        }
        lines.push(line(&entry, epoch)?);
    }
    lines.extend(asides.map(|(_, aside)| aside));
    Ok(lines)
}

fn line(entry: &Entry, epoch: Timestamp) -> Result<StoryLine, StoredError> {
    let header = &entry.header;
    let meta = &header.meta;
    let told = match (meta.kind, header.stream.kind(), header.stream.name()) {
        (EntryKind::Note, ..) => (meta.code.replace('-', " "), None),
        (_, machine::State::KIND, _) => told::<machine::State>(entry, epoch)?,
        (_, volume::State::KIND, _) => told::<volume::State>(entry, epoch)?,
        (_, volume_attachment::State::KIND, _) => told::<volume_attachment::State>(entry, epoch)?,
        (_, policy::State::KIND, _) => told::<policy::State>(entry, epoch)?,
        (_, filesystem::State::KIND, _) => told::<filesystem::State>(entry, epoch)?,
        (_, filesystem_attachment::State::KIND, _) => told::<filesystem_attachment::State>(entry, epoch)?,
        (_, "supervisor", machines::View::NAME) => told::<machines::State>(entry, epoch)?,
        (_, "supervisor", storage::View::NAME) => told::<storage::State>(entry, epoch)?,
        (_, machine_set::State::KIND, _) => told::<machine_set::State>(entry, epoch)?,
        (_, machine_deployment::State::KIND, _) => told::<machine_deployment::State>(entry, epoch)?,
        (_, machine_class::State::KIND, _) => told::<machine_class::State>(entry, epoch)?,
        (_, "supervisor", machine_sets::View::NAME) => told::<machine_sets::State>(entry, epoch)?,
        (_, replica_set::State::KIND, _) => told::<replica_set::State>(entry, epoch)?,
        (_, member::State::KIND, _) => told::<member::State>(entry, epoch)?,
        (_, "supervisor", replica_sets::View::NAME) => told::<replica_sets::State>(entry, epoch)?,
        (_, kind, _) if document::Kind::of(kind).is_some() => told::<document::State>(entry, epoch)?,
        _ => (meta.code.clone(), None),
    };
    Ok(StoryLine {
        at_ms: Timestamp(meta.time_ms).since(epoch),
        position: Some(header.position.0),
        stream: Some(header.stream.to_string()),
        what: told.0,
        because: told.1,
        who: Some(meta.principal.clone()),
        cause: meta.cause.map(|cause| cause.0),
    })
}

/// What was done, and why.
fn told<D: Decider>(entry: &Entry, epoch: Timestamp) -> Result<(String, Option<String>), StoredError> {
    let because = match Recorded::<D::Reason, D::Rejection>::load(&entry.verdict)? {
        Recorded::Decided(reason) => reason.to_string(),
        Recorded::Refused(rejection) => rejection.to_string(),
    };
    let what = match entry.header.meta.outcome {
        Outcome::Refused => "refused".to_owned(),
        Outcome::Nothing => "left alone".to_owned(),
        Outcome::Done => {
            let events: Vec<String> = entry
                .events
                .iter()
                .map(|body| D::Event::load(body).map(|event| event_text(&event, epoch)))
                .collect::<Result<_, _>>()?;
            events.join(", ")
        }
    };
    Ok((what, Some(because)))
}

/// An event in words: its name, and the parts that say most.
fn event_text(event: &impl Serialize, epoch: Timestamp) -> String {
    let value = serde_json::to_value(event).unwrap_or_default();
    let (name, parts) = match &value {
        Value::String(name) => (name.as_str(), &Value::Null),
        Value::Object(only) => only.iter().next().map_or(("", &Value::Null), |(name, parts)| (name.as_str(), parts)),
        _ => ("", &Value::Null),
    };
    let mut text = words(name);
    let mut add = |part: String| {
        text.push(' ');
        text.push_str(&part);
    };
    if let Some(order) = parts.get("order") {
        add(order_text(order));
    }
    for name in ["volume", "machine", "application", "container", "set"] {
        if let Some(Value::String(value)) = parts.get(name) {
            add(value.clone());
        }
    }
    if let Some(instance) = parts.pointer("/instance/instance").and_then(Value::as_str) {
        add(instance.to_owned());
    }
    // What is missing, with its name: "empty space inner".
    if let ("StartRefused", Some(Value::Object(why))) = (name, parts.get("why")) {
        for (what, of) in why {
            add(words(what));
            let names = ["space", "version", "host"].iter().filter_map(|key| of.get(key)?.as_str());
            names.for_each(|name| add(name.to_owned()));
        }
    }
    if let Some(Value::Array(changes)) = parts.get("changes") {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for change in changes {
            *kinds.entry(words(&first_key(change))).or_default() += 1;
        }
        let told = |(kind, count): (String, usize)| if count == 1 { kind } else { format!("{count} {kind}") };
        add(kinds.into_iter().map(told).collect::<Vec<_>>().join(" and "));
    }
    if let Some(until) = parts.get("until").and_then(Value::as_u64) {
        let ms = Timestamp(until).since(epoch);
        add(format!("until {:02}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000));
    }
    if let Some(code) = parts.pointer("/fault/code").and_then(Value::as_str) {
        add(format!("[{code}]"));
    }
    text
}

/// An order: to whom, and what.
fn order_text(order: &Value) -> String {
    let parts = order.as_object().and_then(|only| only.values().next()).unwrap_or(&Value::Null);
    let name = |key: &str| parts.get(key).and_then(Value::as_str).map(str::to_owned);
    let target: Vec<String> =
        [name("machine"), name("volume"), name("set"), name("deployment")].into_iter().flatten().collect();
    let command = parts.get("command").map(first_key).unwrap_or_default();
    let report = parts.pointer("/command/Report").map(first_key).unwrap_or_default();
    let what = if report.is_empty() { words(&command) } else { words(&report) };
    format!("to {}: {what}", target.join(":"))
}

fn first_key(value: &Value) -> String {
    match value {
        Value::String(name) => name.clone(),
        Value::Object(only) => only.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

/// `CreateRequested` as `create requested`; in which form it is stored makes no other story.
fn words(name: &str) -> String {
    let unnumbered = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let name = unnumbered.strip_suffix('V').filter(|_| unnumbered != name).unwrap_or(name);
    let mut text = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            text.push(' ');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
