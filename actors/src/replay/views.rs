//! The view that a supervisor looked at, folded anew up to each position that it cites.

use std::{fmt, sync::Arc};

use super::added::ADDED;
use crate::contract::View;
use bailiwick_journal::{Entries, Entry, Filter, Journal, Position, ReadError};

/// The kinds of streams that any view may want. A later release adds its own.
const KINDS: [&str; 18] = [
    "machine",
    "volume",
    "volume-attachment",
    "policy",
    "supervisor",
    "replica-set",
    "filesystem",
    "filesystem-attachment",
    "member",
    "machine-set",
    "machine-deployment",
    "machine-class",
    "space",
    "subnet",
    "image-metadata",
    "agent-binary",
    "application",
    "model",
];

/// A view that lags behind the pass over the journal: it has a second reading of its own and only ever goes forward.
pub(super) struct LaggingView<'j, V> {
    view: V,
    at: Position,
    /// None if the view wants nothing.
    rest: Option<Entries<'j>>,
    next: Option<Arc<Entry>>,
}

/// Why a view cannot be brought to a position.
#[derive(Debug)]
pub(super) enum ViewFault {
    /// It stood further on for an earlier decision.
    Back {
        from: Position,
    },
    /// The entry cannot be understood.
    Undecodable {
        position: Position,
        problem: String,
    },
    Unreadable(ReadError),
}

impl<'j, V: View> LaggingView<'j, V> {
    pub(super) fn new(journal: &'j dyn Journal) -> Self {
        let all = KINDS.into_iter().chain(ADDED.all().into_iter().map(|kind| kind.name));
        let kinds: Vec<String> = all.filter(|kind| V::wants(kind)).map(str::to_owned).collect();
        let rest = (!kinds.is_empty()).then(|| {
            let filter = Filter { kinds, ..Filter::all() };
            journal.read(Position(1), journal.head().position, &filter)
        });
        Self { view: V::default(), at: Position::ZERO, rest, next: None }
    }

    /// Whether this view holds anything at all.
    pub(super) fn is_looked_at(&self) -> bool {
        self.rest.is_some()
    }

    pub(super) fn view(&self) -> &V {
        &self.view
    }

    /// Brings the view to a position; on a fault it stays where it is.
    pub(super) fn advance(&mut self, to: Position) -> Result<(), ViewFault> {
        if to < self.at {
            return Err(ViewFault::Back { from: self.at });
        }
        let Some(rest) = &mut self.rest else {
            return Ok(());
        };
        loop {
            let entry = match self.next.take() {
                Some(entry) => entry,
                None => match rest.next() {
                    None => break,
                    Some(entry) => entry.map_err(ViewFault::Unreadable)?,
                },
            };
            if entry.header.position > to {
                self.next = Some(entry);
                break;
            }
            self.view.apply(&entry).map_err(|error| ViewFault::Undecodable {
                position: entry.header.position,
                problem: error.to_string(),
            })?;
        }
        self.at = to;
        Ok(())
    }
}

impl<V: fmt::Debug> fmt::Debug for LaggingView<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaggingView").field("view", &self.view).field("at", &self.at).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::Decider,
        document, filesystem, filesystem_attachment, machine, machine_class, machine_deployment, machine_set, policy,
        replica_set,
        supervisor::{machine_sets, machines, replica_sets, storage},
        volume, volume_attachment,
    };

    #[test]
    fn every_kind_that_a_supervisor_wants_is_read_again() {
        for kind in [
            machine::State::KIND,
            volume::State::KIND,
            volume_attachment::State::KIND,
            filesystem::State::KIND,
            filesystem_attachment::State::KIND,
            machine_set::State::KIND,
            machine_deployment::State::KIND,
            machine_class::State::KIND,
            replica_set::State::KIND,
            policy::State::KIND,
            storage::State::KIND,
        ]
        .into_iter()
        .chain(document::Kind::ALL.map(document::Kind::as_str))
        {
            let wanted = machines::View::wants(kind)
                || storage::View::wants(kind)
                || replica_sets::View::wants(kind)
                || machine_sets::View::wants(kind);
            assert!(!wanted || KINDS.contains(&kind), "{kind}");
        }
    }
}
