//! What an entry says, in plain words: what was asked, what happened, and why.
//!
//! Texts are for people and may change with any release; what programs read are codes, numbers and types. Nothing here
//! prints a value in the form that the compiler derives: what has no words of its own does not compile.

mod attachments;
mod clients;
mod custom_kinds;
mod documents;
mod machine_classes;
mod machine_deployments;
mod machine_sets;
mod machines;
mod members;
mod names;
mod notes;
mod policies;
mod providers;
mod replica_sets;
mod storage;
mod supervisors;
#[cfg(test)]
pub(crate) mod tests;
mod times;
mod values;
mod windows;

use std::{fmt, marker::PhantomData};

use bailiwick_actors::{
    contract::{Decider, Recorded, Stored, StoredError, Touches},
    custom::{Rule, State},
    document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, member,
    policy, provider, replica_set,
    supervisor::{
        machine_sets as machine_sets_supervisor, machines as machines_supervisor,
        replica_sets as replica_sets_supervisor, storage as storage_supervisor,
    },
    vocab::{Added, Fault, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::{Body, Entry, EntryKind, Readable, StreamId};
use schemars::JsonSchema;
use serde::Serialize;

pub use machine_deployments::progressed;
pub use machine_sets::frozen;
pub(crate) use machines::short_of;
use machines::until_in_words;
pub use machines::{caused, join, progress, started_with, withheld};
pub use names::near;
pub use replica_sets::{reason_in_words, step_in_words};
pub use storage::claim_told;
pub use supervisors::{ordered, withholding};
pub use times::{due, period, until, written_period};
pub use values::readable;
pub use windows::windows_told;

/// One entry, told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub position: u64,
    /// RFC 3339 with milliseconds, UTC.
    pub time: String,
    pub time_ms: u64,
    pub stream: String,
    /// The stream's version after the entry.
    pub version: u64,
    pub kind: &'static str,
    /// What was asked for or reported, as a command is called: "release volume data", "provider created instance i-1".
    pub asked: String,
    /// `done`, `nothing` or `refused`.
    pub outcome: &'static str,
    /// The stable code of the reason.
    pub code: String,
    /// Reads well after "because".
    pub because: String,
    /// What happened, one clause per event, without a subject where that is the stream's entity: "removal started".
    pub happened: Vec<String>,
    pub principal: String,
    pub command_id: String,
    /// The entry that led to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<u64>,
    /// `name` revision `n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Where the view stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<u64>,
}

impl Line {
    /// Tells an entry. What cannot be understood (a later release wrote it, or nobody did) is told as that.
    pub fn of(entry: &Entry) -> Self {
        let header = &entry.header;
        let meta = &header.meta;
        let told = match meta.kind {
            EntryKind::Note => {
                Told { asked: notes::noted(entry), because: meta.code.replace('-', " "), happened: Vec::new() }
            }
            EntryKind::Decision => told(entry).unwrap_or_else(|| Told {
                asked: "a command unknown to this version".into(),
                because: meta.code.replace('-', " "),
                happened: vec![format!("{} unknown to this version", count(header.events as usize, "event"))],
            }),
        };
        Self {
            position: header.position.0,
            time: Timestamp(meta.time_ms).to_string(),
            time_ms: meta.time_ms,
            stream: header.stream.to_string(),
            version: header.last_version().0,
            kind: match meta.kind {
                EntryKind::Decision => "decision",
                EntryKind::Note => "note",
            },
            asked: told.asked,
            outcome: meta.outcome.code(),
            code: meta.code.clone(),
            because: told.because,
            happened: told.happened,
            principal: meta.principal.clone(),
            command_id: meta.command_id.to_string(),
            cause: meta.cause.map(|position| position.0),
            policy: meta.policy.as_ref().map(|policy| format!("{} revision {}", policy.name, policy.revision)),
            view: meta.view.map(|position| position.0),
        }
    }

    /// What happened; or what was asked for, and that nothing came of it.
    pub fn what(&self) -> String {
        match self.outcome {
            "refused" => format!("refused: {}", self.asked),
            "nothing" => format!("no change: {}", self.asked),
            _ if self.happened.is_empty() => self.asked.clone(),
            _ => self.happened.join("; "),
        }
    }
}

/// A kind whose commands and events have words.
pub trait Words: Decider {
    /// What is asked for, as a command is called, or what is reported: "release volume data", "agent joined".
    fn asked(command: &Self::Command) -> String;
    /// What happened, as a clause that may stand after the entity's name: "provider created instance i-1".
    fn happened(event: &Self::Event) -> String;

    /// As [`Words::asked`], where it matters who said it.
    fn asked_by(command: &Self::Command, _principal: &str) -> String {
        Self::asked(command)
    }

    /// As [`Words::happened`], where it matters who said it.
    fn happened_by(event: &Self::Event, _principal: &str) -> String {
        Self::happened(event)
    }
}

struct Told {
    asked: String,
    because: String,
    happened: Vec<String>,
}

/// What is done with the bodies of a kind's entries, for those who need not know which kind it is.
pub(crate) struct Spoken {
    tell: fn(&Entry) -> Result<Told, StoredError>,
    readable: fn(&Entry) -> Result<Option<Readable>, StoredError>,
    /// The sides that an event changes.
    pub touches: fn(&Body) -> Result<Touches, StoredError>,
}

impl Spoken {
    /// The words of a kind, or of a supervisor.
    pub(crate) const fn of<D: Words>() -> Self {
        let touches = |event: &Body| Ok(D::touches(&D::Event::load(event)?));
        Self { tell: tell::<D>, readable: values::bodies::<D>, touches }
    }
}

/// The built-in kinds.
static KINDS: [(&str, Spoken); 12] = [
    (machine::State::KIND, Spoken::of::<machine::State>()),
    (volume::State::KIND, Spoken::of::<volume::State>()),
    (volume_attachment::State::KIND, Spoken::of::<volume_attachment::State>()),
    (policy::State::KIND, Spoken::of::<policy::State>()),
    (provider::State::KIND, Spoken::of::<provider::State>()),
    (filesystem::State::KIND, Spoken::of::<filesystem::State>()),
    (filesystem_attachment::State::KIND, Spoken::of::<filesystem_attachment::State>()),
    (machine_set::State::KIND, Spoken::of::<machine_set::State>()),
    (machine_deployment::State::KIND, Spoken::of::<machine_deployment::State>()),
    (machine_class::State::KIND, Spoken::of::<machine_class::State>()),
    (replica_set::State::KIND, Spoken::of::<replica_set::State>()),
    (member::State::KIND, Spoken::of::<member::State>()),
];

/// The supervisors.
static SUPERVISORS: [(&str, Spoken); 4] = [
    (machines_supervisor::View::NAME, Spoken::of::<machines_supervisor::State>()),
    (storage_supervisor::View::NAME, Spoken::of::<storage_supervisor::State>()),
    (replica_sets_supervisor::View::NAME, Spoken::of::<replica_sets_supervisor::State>()),
    (machine_sets_supervisor::View::NAME, Spoken::of::<machine_sets_supervisor::State>()),
];

/// A kind that a program adds, and its supervisor.
struct AddedKind {
    name: &'static str,
    kind: Spoken,
    supervisor: Spoken,
}

static ADDED: Added<AddedKind> = Added::new();

struct Of<K>(PhantomData<K>);

impl<K: Rule + Words> Of<K> {
    const ENTRY: AddedKind = AddedKind { name: K::KIND, kind: Spoken::of::<K>(), supervisor: Spoken::of::<State<K>>() };
}

/// Adds a kind.
pub(crate) fn add<K: Rule + Words>() {
    ADDED.add(&Of::<K>::ENTRY);
}

static DOCUMENTS: Spoken = Spoken::of::<document::State>();

/// The words of a stream; none for a kind that this program does not know.
pub(crate) fn spoken(stream: &StreamId) -> Option<&'static Spoken> {
    let named = |table: &'static [(&str, Spoken)], name: &str| {
        table.iter().find(|(known, _)| *known == name).map(|(_, spoken)| spoken)
    };
    if stream.kind() == SUPERVISOR {
        let added = || ADDED.find(|added| added.name == stream.name()).map(|added| &added.supervisor);
        return named(&SUPERVISORS, stream.name()).or_else(added);
    }
    let of_document = || document::Kind::of(stream.kind()).map(|_| &DOCUMENTS);
    let added = || ADDED.find(|added| added.name == stream.kind()).map(|added| &added.kind);
    named(&KINDS, stream.kind()).or_else(of_document).or_else(added)
}

const SUPERVISOR: &str = machines_supervisor::State::KIND;

fn told(entry: &Entry) -> Option<Told> {
    (spoken(&entry.header.stream)?.tell)(entry).ok()
}

fn tell<D: Words>(entry: &Entry) -> Result<Told, StoredError> {
    let command = D::Command::load(&entry.command)?;
    let (because, principal) = (because::<D>(entry)?, &entry.header.meta.principal);
    let mut happened = Vec::new();
    for event in &entry.events {
        happened.push(D::happened_by(&D::Event::load(event)?, principal));
    }
    Ok(Told { asked: D::asked_by(&command, principal), because, happened })
}

fn because<D: Decider>(entry: &Entry) -> Result<String, StoredError> {
    Ok(match Recorded::<D>::load(&entry.verdict)? {
        Recorded::Decided(reason) => reason.to_string(),
        Recorded::Refused(rejection) => rejection.to_string(),
    })
}

/// That it was given up, for what, and when it is tried again by itself.
fn gave_up(what: &str, fault: &Fault, again: Option<Timestamp>) -> String {
    let next = again.map(|again| format!("; tried again at {again}")).unwrap_or_default();
    format!("{what} ({fault}){next}")
}

/// What is asked of whatever can be protected.
fn protection_asked(on: bool) -> &'static str {
    if on { "protect from deletion" } else { "end its deletion protection" }
}

/// What became of its protection.
fn protection(on: bool) -> &'static str {
    if on { "protected from deletion" } else { "no longer protected from deletion" }
}

/// "1 volume", "2 volumes".
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, time, stream, principal, because, .. } = self;
        write!(f, "{position}  {time}  {stream}  {}", self.what())?;
        // The reason of a note is its code, which says nothing that the note does not say.
        if self.kind == "decision" && !because.is_empty() {
            write!(f, ", because {because}")?;
        }
        write!(f, " ({principal})")
    }
}
