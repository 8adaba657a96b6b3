//! What an instance is started with beside what is declared, and why there may be nothing to start it with.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use crate::{
    machine::{Base, Constraints},
    vocab::{EffectId, InstanceId, Name, Zone},
};

/// What follows from a machine's declaration and the documents. Source: Juju's provisioner, the parameters of a start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartParameters {
    /// Its own constraints, and those of the applications whose units stand on it.
    pub constraints: Constraints,
    /// The images that fit, the one with the highest priority first; none where no base is known.
    pub images: Vec<StartImage>,
    /// The agent that is installed; none where the model names no version, or no base is known.
    pub agent: Option<StartAgent>,
    /// Those of the model, and its own, which win.
    pub tags: BTreeMap<String, String>,
    /// The zones that it may be in: those of its constraints from which its subnets can be reached; none means any.
    pub zones: BTreeSet<Zone>,
    /// For each space that it has to reach, its subnets, and the zones from which each can be reached.
    pub subnets: BTreeMap<Name, BTreeMap<Name, BTreeSet<Zone>>>,
    /// The space that each endpoint is bound to, by `application:endpoint`.
    pub bindings: BTreeMap<String, Name>,
    /// The application from the machines of whose other units it is kept apart.
    pub spread: Option<Name>,
    /// These machines: its distribution group.
    pub group: BTreeSet<Name>,
    /// The volumes that are to be attached to it.
    pub volumes: BTreeSet<Name>,
    /// Where its agent reaches the control plane.
    pub api_addresses: Vec<String>,
    /// The machine that it is made in.
    pub host: Option<StartHost>,
}

/// How what is started reaches the control plane, and whom it believes. Source: Juju's instance configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceConfig {
    /// What it checks the control plane's certificate against, as PEM.
    pub ca_certificate: Option<String>,
    /// The stream that images are taken from.
    pub image_stream: String,
    /// What that stream is signed with: a public key, as it is written.
    pub image_signing_key: Option<String>,
    /// Whether connections are made without checking who answers.
    pub skips_certificate_check: bool,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartImage {
    /// What the provider calls it.
    pub image: String,
    pub arch: String,
    pub region: Option<String>,
    pub stream: String,
    pub root_storage: Option<String>,
    pub virtualisation: Option<String>,
}

/// An agent's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartAgent {
    pub version: String,
    pub sha256: String,
    pub location: String,
}

/// The machine that another one is made in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartHost {
    pub machine: Name,
    /// The instance that it had then: with that one goes whatever is made in it.
    pub effect: EffectId,
    pub instance: InstanceId,
    pub zone: Option<Zone>,
}

/// Why a machine cannot be started now: the first thing that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unstartable {
    NoSpace {
        space: Name,
    },
    /// The space has no subnet.
    EmptySpace {
        space: Name,
    },
    /// It must not reach a space that it has to reach.
    SpaceExcluded {
        space: Name,
    },
    /// No zone that it may be in reaches all of these spaces.
    NoCommonZone {
        spaces: BTreeSet<Name>,
    },
    NoImage {
        base: Base,
        arch: String,
        stream: String,
    },
    NoAgentBinary {
        version: String,
        base: Base,
        arch: String,
    },
    /// The machine that it is to be made in is not declared.
    NoHost {
        host: Name,
    },
    /// It is going.
    HostLeaving {
        host: Name,
    },
    /// It does not run, or its agent does not report.
    HostNotThere {
        host: Name,
    },
}

impl fmt::Display for Unstartable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSpace { space } => write!(f, "space {space} does not exist"),
            Self::EmptySpace { space } => write!(f, "space {space} has no subnet"),
            Self::SpaceExcluded { space } => write!(f, "it must reach space {space}, but excludes it"),
            Self::NoCommonZone { spaces } => {
                let spaces: Vec<&str> = spaces.iter().map(Name::as_str).collect();
                write!(f, "no allowed zone reaches {}", spaces.join(" and "))
            }
            Self::NoImage { base, arch, stream } => write!(f, "no image for {base}, {arch}, stream {stream}"),
            Self::NoAgentBinary { version, base, arch } => {
                write!(f, "no agent binary {version} for {base}, {arch}")
            }
            Self::NoHost { host } => write!(f, "its host machine {host} does not exist"),
            Self::HostLeaving { host } => write!(f, "its host machine {host} is being removed"),
            Self::HostNotThere { host } => write!(f, "its host machine {host} is not running yet"),
        }
    }
}

impl Unstartable {
    /// The machine that it waits for, to be made in it.
    pub fn host(&self) -> Option<&Name> {
        match self {
            Self::HostLeaving { host } | Self::HostNotThere { host } => Some(host),
            _ => None,
        }
    }

    /// What would help.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoSpace { space } => format!("`bailiwick apply` a Space named {space}"),
            Self::EmptySpace { space } => format!("`bailiwick apply` a Subnet with `space: {space}`"),
            Self::SpaceExcluded { space } => {
                format!("remove `^{space}` from its constraints, or {space} from bindings and constraints")
            }
            Self::NoCommonZone { .. } => {
                "`bailiwick apply` subnets of these spaces in one zone, or change its constraints".into()
            }
            Self::NoImage { base, arch, .. } => {
                format!("`bailiwick apply` an ImageMetadata with `base: {base}` and `arch: {arch}`")
            }
            Self::NoAgentBinary { version, base, .. } => {
                format!("`bailiwick apply` an AgentBinary with `version: {version}` and `base: {base}`")
            }
            Self::NoHost { host } => format!("`bailiwick apply` machine {host}"),
            Self::HostLeaving { host } => format!("`bailiwick apply` machine {host} again once it is gone"),
            Self::HostNotThere { host } => format!("the first report of the agent of machine {host}"),
        }
    }
}
