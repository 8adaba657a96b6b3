//! One append on its way to the disk: checked and encoded on the caller's thread.

use std::sync::Arc;

use crate::{AppendError, Body, Done, Draft, Entry, Header, Intake, Position, record, shared::answer};

/// One append on its way to the disk. Whatever can be done on the caller's thread is done there: the commit thread is
/// one for all.
pub(crate) struct Request {
    /// The entries to be, without positions; the first version is still the one that is expected. Nobody else has them.
    pub(crate) entries: Vec<Arc<Entry>>,
    /// The records of all drafts, without positions and versions.
    pub(crate) records: Vec<u8>,
    pub(crate) intake: Intake,
    pub(crate) done: Done,
}

impl Request {
    /// Checks what can be checked without the journal, and encodes.
    pub(crate) fn new(drafts: Vec<Draft>, intake: Intake, done: Done) -> Result<Self, (AppendError, Done)> {
        let mut records = Vec::with_capacity(drafts.iter().map(rough_bytes).sum());
        for draft in &drafts {
            let problem = match problem_of(draft) {
                None => {
                    record::encode(draft, &mut records);
                    (records.len() > Draft::APPEND_BYTES_MAX).then_some("one append has too many bytes")
                }
                problem => problem,
            };
            if let Some(problem) = problem {
                return Err((AppendError::Invalid { stream: draft.stream.clone(), problem }, done));
            }
        }
        let entries = drafts.into_iter().map(entry_of).collect();
        Ok(Self { entries, records, intake, done })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn refuse(self, error: AppendError) {
        answer(self.done, Err(error));
    }
}

fn entry_of(draft: Draft) -> Arc<Entry> {
    let Draft { stream, expected, meta, command, facts, verdict, events } = draft;
    let count = events.len() as u32;
    let header = Header { position: Position::ZERO, stream, first_version: expected, events: count, meta };
    Arc::new(Entry { header, command, facts, verdict, events })
}

fn rough_bytes(draft: &Draft) -> usize {
    let events: usize = draft.events.iter().map(|body| body.bytes.len() + 6).sum();
    256 + draft.command.bytes.len() + draft.facts.bytes.len() + draft.verdict.bytes.len() + events
}

pub(crate) fn problem_of(draft: &Draft) -> Option<&'static str> {
    let bodies = [&draft.command, &draft.facts, &draft.verdict];
    let body_too_long = |body: &Body| body.bytes.len() > Draft::BODY_BYTES_MAX;
    let meta = &draft.meta;
    let policy_name = meta.policy.as_ref().map_or("", |policy| &policy.name);
    let text_too_long = |text: &str| text.len() > record::TEXT_BYTES_MAX;
    if bodies.into_iter().chain(&draft.events).any(body_too_long) {
        Some("a body is too long")
    } else if draft.events.len() > Draft::EVENTS_MAX {
        Some("there are too many events")
    } else if [meta.code.as_str(), &meta.principal, policy_name].into_iter().any(text_too_long) {
        Some("code, principal or policy name is too long")
    } else {
        None
    }
}
