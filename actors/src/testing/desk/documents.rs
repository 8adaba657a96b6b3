//! Documents at the desk.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_journal::{Entry, StreamId};

use super::{Desk, name};
use crate::document;

impl Desk {
    /// Declares a document: an application, a space, …
    pub fn declare_document(&mut self, name: &str, content: document::Content) -> Arc<Entry> {
        let stream = StreamId::new(content.kind().as_str(), name).expect("a valid name");
        let from = self.operator();
        self.ask::<document::State>(&stream, document::Command::Declare(Box::new(content)), from)
    }

    /// An operator removes a document; with that goes which other documents use it.
    pub fn remove_document(&mut self, kind: document::Kind, document: &str) -> Arc<Entry> {
        let used_by = match kind {
            document::Kind::Space => self.machines_view().documents.users_of_space(&name(document)),
            _ => BTreeSet::new(),
        };
        let stream = StreamId::new(kind.as_str(), document).expect("a valid name");
        let remove = document::Command::Remove { kind, used_by: document::Users::of(used_by) };
        let from = self.operator();
        self.ask::<document::State>(&stream, remove, from)
    }
}
