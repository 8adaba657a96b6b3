//! What a manifest says once it has been read.

use bailiwick_actors::{machine, policy, vocab::Name, volume, volume_attachment};
use bailiwick_journal::StreamId;

use super::Place;

/// Everything that was declared, in the order of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub documents: Vec<Document>,
}

/// One declared wish, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub place: Place,
    pub wish: Wish,
}

/// What one document asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Machine { name: Name, spec: machine::Spec },
    Volume { name: Name, spec: volume::Spec },
    VolumeAttachment { spec: volume_attachment::Spec },
    Policy { name: Name, document: policy::Document },
}

impl Wish {
    /// The stream of the entity that is wished for.
    pub fn stream(&self) -> StreamId {
        let (kind, name) = match self {
            Self::Machine { name, .. } => ("machine", name.to_string()),
            Self::Volume { name, .. } => ("volume", name.to_string()),
            Self::VolumeAttachment { spec } => ("volume-attachment", spec.stream_name()),
            Self::Policy { name, .. } => ("policy", name.to_string()),
        };
        StreamId::new(kind, &name).expect("names and pairs of names are stream names")
    }
}
