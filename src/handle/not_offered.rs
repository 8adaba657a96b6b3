//! Why this node cannot make what is asked for.

use bailiwick_actors::{
    supervisor::storage::Elsewhere,
    vocab::{EXTERNAL, Name},
};
use bailiwick_journal::StreamId;

use crate::manifest::nearest;

/// Why something that is asked for is not offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOffered {
    #[error("{entity} names provider {provider}, which this node does not have")]
    NoProvider { entity: StreamId, provider: Name, known: String },
    #[error("{entity} names provider {provider}, which only makes {makes}")]
    MakesOther { entity: StreamId, provider: Name, makes: String, known: String },
    #[error("{entity} names provider {provider}, which cannot work here without {missing}")]
    CannotHere { entity: StreamId, provider: Name, missing: String, instead: &'static str },
    #[error("{entity} names no machine, but provider {provider} creates storage inside a machine")]
    NeedsMachine { entity: StreamId, provider: Name },
    #[error("{entity} attaches storage of machine {inside} to another machine")]
    OtherMachine { entity: StreamId, inside: Name },
    #[error("{entity} needs a block device, but volume {volume} of provider {provider} is a file")]
    NoDevice { entity: StreamId, volume: Name, provider: Name },
    #[error("{entity} needs an agent inside machine {machine}, and machines of provider {provider} run none")]
    NoAgent { entity: StreamId, machine: Name, provider: Name },
    #[error("{entity} needs an agent inside each machine, and machines of provider {provider} run none")]
    NoAgents { entity: StreamId, provider: Name },
    #[error(
        "{entity} cannot be mounted at {path}: machines of provider {provider} only mount beneath their own directory"
    )]
    NotMountable { entity: StreamId, path: String, provider: Name },
    #[error(
        "{entity} names no path and would be mounted at {path}, by `storage.mountDir` of the policy: machines of provider \
         {provider} only mount beneath their own directory"
    )]
    NotMountableByPolicy { entity: StreamId, path: String, provider: Name },
    #[error("provider {provider} cannot release {entity} without destroying its data")]
    CannotRelease { entity: StreamId, provider: Name },
    #[error("provider {provider} cannot import {entity}: it only knows volumes that it has created")]
    CannotImport { entity: StreamId, provider: Name },
    #[error("{entity} cannot be attached: {elsewhere}")]
    OtherZone { entity: StreamId, elsewhere: Elsewhere },
    #[error(
        "{entity} names provider {EXTERNAL}, whose machines are created by Juju's clients, and these only see machines with \
         a name such as 0 or 0-lxd-1"
    )]
    Unseen { entity: StreamId },
    #[error(
        "{entity} names provider {EXTERNAL}, whose volumes are created by Juju's clients, and these only see volumes with a \
         name such as 0 or 0-lxd-1-5"
    )]
    UnseenVolume { entity: StreamId },
    #[error("{entity} names provider {EXTERNAL}, whose clients can only reach a node that listens on the network")]
    NotListening { entity: StreamId },
    #[error(
        "{entity} names no machine, but clients create volumes of provider {EXTERNAL} together with a machine's instance"
    )]
    NoInstance { entity: StreamId },
    #[error(
        "{entity} names provider {EXTERNAL}, but no pool: clients need one to know which storage provider creates it"
    )]
    NoPool { entity: StreamId },
    #[error(
        "{entity} needs a volume of provider {EXTERNAL} on a machine of provider {provider}, but clients only create such \
         volumes for machines of their own"
    )]
    NotOfClients { entity: StreamId, provider: Name },
    #[error(
        "{entity} needs a volume that comes with its machines' instances, but provider {provider} creates no volumes with them"
    )]
    AloneOnly { entity: StreamId, provider: Name },
    #[error(
        "{entity} needs storage {claim} from provider {EXTERNAL}, whose volumes come with an instance and go with it: it can \
         neither be a filesystem nor persistent"
    )]
    GoesWithInstance { entity: StreamId, claim: Name },
}

impl NotOffered {
    /// All its words.
    pub const CODES: [&str; 14] = [
        "no-provider",
        "cannot-here",
        "needs-machine",
        "other-machine",
        "no-device",
        "no-agent",
        "not-mountable",
        "other-zone",
        "cannot-release",
        "cannot-import",
        "unseen",
        "needs-pool",
        "not-of-clients",
        "goes-with-instance",
    ];

    /// The stable word for it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoProvider { .. } | Self::MakesOther { .. } => "no-provider",
            Self::CannotHere { .. } | Self::NotListening { .. } => "cannot-here",
            Self::NeedsMachine { .. } | Self::NoInstance { .. } => "needs-machine",
            Self::NoPool { .. } => "needs-pool",
            Self::NotOfClients { .. } | Self::AloneOnly { .. } => "not-of-clients",
            Self::GoesWithInstance { .. } => "goes-with-instance",
            Self::OtherMachine { .. } => "other-machine",
            Self::NoDevice { .. } => "no-device",
            Self::NoAgent { .. } | Self::NoAgents { .. } => "no-agent",
            Self::NotMountable { .. } | Self::NotMountableByPolicy { .. } => "not-mountable",
            Self::OtherZone { .. } => "other-zone",
            Self::CannotRelease { .. } => "cannot-release",
            Self::CannotImport { .. } => "cannot-import",
            Self::Unseen { .. } | Self::UnseenVolume { .. } => "unseen",
        }
    }

    /// What can be done about it.
    pub fn next(&self) -> String {
        match self {
            Self::NoProvider { provider, known, .. } => match nearest(provider.as_str(), known.split(", ")) {
                Some(meant) => format!("did you mean {meant}? this node has {known}"),
                None => format!("this node has {known}"),
            },
            Self::MakesOther { known, .. } => format!("use another provider: this node has {known}"),
            Self::NotMountable { .. } => {
                "omit `path`: it is then mounted beneath the machine's own directory".to_owned()
            }
            Self::NotMountableByPolicy { .. } => {
                "leave `storage.mountDir` out of the policy: each provider then mounts where it can".to_owned()
            }
            Self::CannotHere { instead, .. } => (*instead).to_owned(),
            Self::NeedsMachine { .. } | Self::NoInstance { .. } => "add `machine: NAME` to its spec".to_owned(),
            Self::CannotRelease { entity, .. } => {
                format!("copy the data you need, then run `bailiwick destroy {entity}`")
            }
            Self::CannotImport { .. } => {
                "declare a new volume and copy the data, or import with provider `loop`".to_owned()
            }
            Self::OtherMachine { inside, .. } => format!("attach it to machine {inside}, or declare another one"),
            Self::NoAgent { .. } => "name a machine of provider `local`".to_owned(),
            Self::NoAgents { .. } => "name a pool whose storage is outside the machines".to_owned(),
            Self::OtherZone { elsewhere, .. } => {
                let zone = &elsewhere.volume.0;
                format!("attach it to a machine in zone {zone}, or declare another volume for this machine")
            }
            Self::NoDevice { .. } => "declare the volume with provider `loop` and a machine".to_owned(),
            Self::Unseen { .. } | Self::UnseenVolume { .. } => {
                "name it so, or name another provider; `bailiwick help juju` tells more".to_owned()
            }
            Self::NotListening { .. } => "start the node with `bailiwick serve --listen ADDRESS:PORT`".to_owned(),
            Self::NoPool { .. } => {
                "run `bailiwick pool create NAME external provider=PROVIDER`, then name that pool".to_owned()
            }
            Self::NotOfClients { .. } => "name a machine of provider `external`, or another pool".to_owned(),
            Self::AloneOnly { .. } => "name another pool, or another provider of machines".to_owned(),
            Self::GoesWithInstance { .. } => {
                "add `persistent: false` and name a `volume`, or use another pool".to_owned()
            }
        }
    }
}
