//! What documents say: the declared part, one type per kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use super::Account;
use crate::{
    machine::{Base, Constraints},
    vocab::{Name, Zone},
};

/// The kinds of documents; each is a kind of stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    Space,
    Subnet,
    ImageMetadata,
    AgentBinary,
    Application,
    Model,
    Account,
    JujuModel,
    JujuApplication,
    JujuMachine,
}

/// What one document says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    Space(Space),
    Subnet(Subnet),
    ImageMetadata(ImageMetadata),
    AgentBinary(AgentBinary),
    Model(Model),
    Application(Application),
    Account(Account),
    JujuModel(Juju),
    JujuApplication(Juju),
    JujuMachine(Juju),
}

/// What Juju's clients are told, and nothing here is decided by. The program that takes such a document in knows its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Juju {
    /// A JSON object, in its shortest form.
    pub json: String,
}

/// Subnets that can be reached from one another, and are meant for the same traffic. Which they are, the subnets say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// The provider's own name for it.
    pub provider_id: Option<String>,
}

/// A part of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// `10.0.1.0/24`, `fd00:1::/64`.
    pub cidr: String,
    /// The zones from which it can be reached; none means all.
    pub zones: BTreeSet<Zone>,
    pub space: Name,
    /// The provider's own name for it.
    pub provider_id: Option<String>,
}

/// Which image a base is, for one architecture, in one region, of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageMetadata {
    pub base: Base,
    /// `amd64`, `arm64`.
    pub arch: String,
    /// None means all regions.
    pub region: Option<String>,
    /// `released`, `daily`.
    pub stream: String,
    /// What the provider calls it.
    pub image: String,
    /// Of several that fit, the one with the highest is taken.
    pub priority: u32,
    /// What its root disk is made of, in the provider's words.
    pub root_storage: Option<String>,
    /// `hvm`, `pv`.
    pub virtualisation: Option<String>,
}

/// A program that runs inside of machines, for one base and architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentBinary {
    pub version: String,
    pub base: Base,
    pub arch: String,
    /// 64 hexadecimal digits.
    pub sha256: String,
    /// Where it can be had; without credentials, for it is journaled.
    pub location: String,
}

/// Units of one program on several machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// The machines that its units stand on: they are spread over the zones.
    pub machines: BTreeSet<Name>,
    /// The space that each endpoint is bound to.
    pub bindings: BTreeMap<String, Name>,
    /// What its machines have to have, where they do not say it themselves.
    pub constraints: Constraints,
    /// Its disruption budget: so many of its other machines have to run well before the workloads of one of them are told to
    /// end. None means that nobody waits.
    pub min_available: Option<u32>,
}

/// What holds for all machines, where they do not say it themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub base: Option<Base>,
    /// Default `released`.
    pub image_stream: Option<String>,
    pub region: Option<String>,
    /// The version of the agent; none means that no agent is installed.
    pub agent_version: Option<String>,
    /// Where agents reach the control plane.
    pub api_addresses: Vec<String>,
    /// Told to providers beside a machine's own.
    pub tags: BTreeMap<String, String>,
    /// What agents check the control plane's certificate against, as PEM.
    pub ca_certificate: Option<String>,
    /// What the streams of images are signed with: a public key, as it is written.
    pub image_signing_key: Option<String>,
    /// Whether connections are made without checking who answers.
    pub skips_certificate_check: bool,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Space,
        Self::Subnet,
        Self::ImageMetadata,
        Self::AgentBinary,
        Self::Application,
        Self::Model,
        Self::Account,
        Self::JujuModel,
        Self::JujuApplication,
        Self::JujuMachine,
    ];

    /// The kind of its streams.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Subnet => "subnet",
            Self::ImageMetadata => "image-metadata",
            Self::AgentBinary => "agent-binary",
            Self::Application => "application",
            Self::Model => "model",
            Self::Account => "account",
            Self::JujuModel => "juju-model",
            Self::JujuApplication => "juju-application",
            Self::JujuMachine => "juju-machine",
        }
    }

    /// Whether it is about who may use the node, and not about something that the node manages: what removes all that is
    /// declared leaves it alone.
    pub const fn is_access(self) -> bool {
        matches!(self, Self::Account)
    }

    /// Whether something is decided about machines by it: not by who may use the node, nor by what Juju's clients are told.
    pub const fn is_for_machines(self) -> bool {
        !matches!(self, Self::Account | Self::JujuModel | Self::JujuApplication | Self::JujuMachine)
    }

    /// The kind whose streams are of this kind.
    pub fn of(stream_kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == stream_kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Content {
    /// What kind of document it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Space(_) => Kind::Space,
            Self::Subnet(_) => Kind::Subnet,
            Self::ImageMetadata(_) => Kind::ImageMetadata,
            Self::AgentBinary(_) => Kind::AgentBinary,
            Self::Application(_) => Kind::Application,
            Self::Model(_) => Kind::Model,
            Self::Account(_) => Kind::Account,
            Self::JujuModel(_) => Kind::JujuModel,
            Self::JujuApplication(_) => Kind::JujuApplication,
            Self::JujuMachine(_) => Kind::JujuMachine,
        }
    }

    /// The space documents that it names.
    pub fn spaces(&self) -> BTreeSet<&Name> {
        match self {
            Self::Subnet(subnet) => BTreeSet::from([&subnet.space]),
            Self::Application(application) => reached(&application.bindings, &application.constraints),
            Self::Space(_)
            | Self::ImageMetadata(_)
            | Self::AgentBinary(_)
            | Self::Model(_)
            | Self::Account(_)
            | Self::JujuModel(_)
            | Self::JujuApplication(_)
            | Self::JujuMachine(_) => BTreeSet::new(),
        }
    }
}

fn reached<'a>(bindings: &'a BTreeMap<String, Name>, constraints: &'a Constraints) -> BTreeSet<&'a Name> {
    let wished = constraints.spaces.iter().map(|wish| &wish.space);
    bindings.values().chain(wished).collect()
}

impl ImageMetadata {
    /// The stream of images that is taken where none is named.
    pub const STREAM: &str = "released";
}

impl Model {
    /// The name of the one that holds for all machines.
    pub const NAME: &str = "default";
}

impl Constraints {
    /// The architecture that is meant where none is named. Source: Juju 4.
    pub const ARCH: &str = "amd64";

    /// The same, with what it does not say taken from others. Spaces of both count.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.arch = self.arch.or_else(|| other.arch.clone());
        self.cores = self.cores.or(other.cores);
        self.memory = self.memory.or(other.memory);
        self.root_disk = self.root_disk.or(other.root_disk);
        self.instance_type = self.instance_type.or_else(|| other.instance_type.clone());
        if self.zones.is_empty() {
            self.zones.clone_from(&other.zones);
        }
        self.spaces.extend(other.spaces.iter().cloned());
        self
    }
}
