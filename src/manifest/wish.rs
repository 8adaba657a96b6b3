//! What a manifest says once it has been read.

use std::{fmt, sync::Arc};

use bailiwick_actors::{
    document::Content,
    filesystem, filesystem_attachment, machine, machine_deployment, machine_set, policy, replica_set,
    shell::AnyCommand,
    storage_rules::FromPool,
    vocab::{ClassContent, Name},
    volume, volume_attachment,
};
use bailiwick_journal::{StreamId, digest, encode};
use serde_json::Value;

use super::Place;
use crate::text::harmless;

/// Everything that was declared, in the order of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub documents: Vec<Document>,
    /// What was read and is not carried out, each thing by itself.
    pub notes: Vec<Note>,
}

/// Something that a manifest says and nobody here carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub place: Place,
    /// The field, from the document's root.
    pub field: String,
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, harmless(&self.field), harmless(&self.text))
    }
}

/// One declared wish, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub place: Place,
    pub wish: Wish,
    /// Whether it is to be protected from deletion; none leaves that as it is.
    pub protect: Option<bool>,
}

/// What one document asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Machine {
        name: Name,
        spec: Arc<machine::Spec>,
    },
    /// At this machine, if one is named; from a pool, unless a provider is named.
    Volume {
        name: Name,
        spec: volume::Spec,
        machine: Option<Name>,
        pool: Option<Pooled>,
        /// What it is for, and goes with.
        owner: Option<StreamId>,
        /// What its provider is to tag it with.
        tags: volume::Tags,
    },
    VolumeAttachment {
        spec: volume_attachment::Spec,
    },
    Policy {
        name: Name,
        document: Box<policy::Document>,
    },
    ReplicaSet {
        name: Name,
        spec: replica_set::Spec,
    },
    Filesystem {
        name: Name,
        spec: filesystem::Spec,
        pool: Option<Pooled>,
        owner: Option<StreamId>,
    },
    FilesystemAttachment {
        spec: filesystem_attachment::Spec,
    },
    MachineSet {
        name: Name,
        spec: machine_set::Spec,
    },
    MachineDeployment {
        name: Name,
        spec: machine_deployment::Spec,
    },
    MachineClass {
        name: Name,
        content: Box<ClassContent>,
    },
    /// An entity of a kind that this program has registered.
    Custom(Box<CustomWish>),
    /// A space, a subnet, an image, an agent's program, an application, what holds for all machines, or an account.
    Document {
        name: Name,
        content: Box<Content>,
    },
}

/// What is declared of an entity of a registered kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomWish {
    /// Of its stream: `virtual-ip`.
    pub kind: &'static str,
    pub name: Name,
    pub provider: Name,
    /// The fields of its spec as they are shown.
    pub spec: Value,
    /// What declares it.
    pub command: AnyCommand,
}

/// The pool that something comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pooled {
    pub pool: FromPool,
    /// Whether it was named; else it is the one for what names none, which says nothing of what is there already.
    pub is_named: bool,
}

impl Pooled {
    /// What it comes from.
    pub fn from_pool(wanted: Option<&Self>) -> Option<FromPool> {
        wanted.map(|wanted| wanted.pool.clone())
    }
}

impl Wish {
    /// Tells apart what is asked for: entity and stored form, hashed.
    pub fn digest(&self) -> [u8; 16] {
        let body = match self {
            Self::Machine { spec, .. } => encode(1, spec),
            Self::Volume { spec, machine, pool, owner, tags, .. } if !tags.is_empty() => {
                encode(2, &(spec, machine, Pooled::from_pool(pool.as_ref()), owner, tags))
            }
            Self::Volume { spec, machine, pool, owner: Some(owner), .. } => {
                encode(1, &(spec, machine, Pooled::from_pool(pool.as_ref()), owner))
            }
            Self::Volume { spec, machine, pool: Some(pool), .. } => encode(1, &(spec, machine, &pool.pool)),
            Self::Volume { spec, machine: None, .. } => encode(1, spec),
            Self::Volume { spec, machine, .. } => encode(1, &(spec, machine)),
            Self::VolumeAttachment { spec } => encode(1, spec),
            Self::Policy { document, .. } => encode(1, &**document),
            Self::ReplicaSet { spec, .. } => encode(2, spec),
            Self::Filesystem { spec, pool, owner: Some(owner), .. } => {
                encode(1, &(spec, Pooled::from_pool(pool.as_ref()), owner))
            }
            Self::Filesystem { spec, pool: Some(pool), .. } => encode(1, &(spec, &pool.pool)),
            Self::Filesystem { spec, .. } => encode(1, spec),
            Self::FilesystemAttachment { spec } => encode(1, spec),
            Self::MachineSet { spec, .. } => encode(1, spec),
            Self::MachineDeployment { spec, .. } => encode(1, spec),
            Self::MachineClass { content, .. } => encode(1, &**content),
            Self::Document { content, .. } => encode(1, &**content),
            Self::Custom(custom) => custom.command.store().map_or_else(|_| encode(1, &()), Ok),
        };
        let mut bytes = self.stream().to_string().into_bytes();
        // What does not fit into a stored form is refused when it is asked for.
        bytes.extend(body.map(|body| body.bytes).unwrap_or_default());
        digest(&bytes)
    }

    /// The stream of the entity that is wished for.
    pub fn stream(&self) -> StreamId {
        let (kind, name) = match self {
            Self::Machine { name, .. } => ("machine", name.to_string()),
            Self::Volume { name, .. } => ("volume", name.to_string()),
            Self::VolumeAttachment { spec } => ("volume-attachment", spec.stream_name()),
            Self::Policy { name, .. } => ("policy", name.to_string()),
            Self::ReplicaSet { name, .. } => ("replica-set", name.to_string()),
            Self::MachineSet { name, .. } => ("machine-set", name.to_string()),
            Self::MachineDeployment { name, .. } => ("machine-deployment", name.to_string()),
            Self::MachineClass { name, .. } => ("machine-class", name.to_string()),
            Self::Document { name, content } => (content.kind().as_str(), name.to_string()),
            Self::Filesystem { name, .. } => ("filesystem", name.to_string()),
            Self::FilesystemAttachment { spec } => ("filesystem-attachment", spec.stream_name()),
            Self::Custom(custom) => (custom.kind, custom.name.to_string()),
        };
        StreamId::new(kind, &name).expect("names and pairs of names are stream names")
    }
}
