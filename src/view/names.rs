//! The names that manifests may point at.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_actors::{contract::Decider, document::Kind, filesystem, machine, vocab::Name, volume};
use bailiwick_journal::StreamId;

/// What a manifest may name without declaring it, kept as it changes: to gather the names of ten thousand objects takes longer than
/// to declare ten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub machines: Arc<BTreeSet<Name>>,
    pub volumes: Arc<BTreeSet<Name>>,
    pub filesystems: Arc<BTreeSet<Name>>,
    pub spaces: Arc<BTreeSet<Name>>,
    pub applications: Arc<BTreeSet<Name>>,
}

impl Names {
    /// The names of a kind, if they are kept.
    fn of(&mut self, kind: &str) -> Option<&mut Arc<BTreeSet<Name>>> {
        match kind {
            machine::State::KIND => Some(&mut self.machines),
            volume::State::KIND => Some(&mut self.volumes),
            filesystem::State::KIND => Some(&mut self.filesystems),
            kind => match Kind::of(kind)? {
                Kind::Space => Some(&mut self.spaces),
                Kind::Application => Some(&mut self.applications),
                _ => None,
            },
        }
    }

    /// From now on an object may be named, or may not.
    pub(super) fn note(&mut self, object: &StreamId, may_be: bool) {
        let Some(names) = self.of(object.kind()) else { return };
        let Ok(name) = object.name().parse::<Name>() else { return };
        if names.contains(&name) == may_be {
            return;
        }
        let names = Arc::make_mut(names);
        if may_be {
            names.insert(name);
        } else {
            names.remove(&name);
        }
    }
}
