//! What kinds of providers there are, and what each can do.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::vocab::EXTERNAL;

/// A kind of provider that a pool can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProviderType {
    /// Loop devices over files.
    Loop,
    /// Filesystems in memory.
    Tmpfs,
    /// Directories of the machine's own filesystem, bound where they are wanted.
    Rootfs,
    /// Plain directories with their sizes kept in an account; needs no rights.
    Directory,
    /// Sparse files on the node's own host.
    Local,
    /// Storage in memory on virtual time.
    Simulated,
    /// Amazon's elastic block store; its parameters are checked here, its volumes are made elsewhere.
    Ebs,
    /// A provider of one's own, in any language; the pool names it.
    Exec,
    /// Juju's clients, who make volumes together with instances.
    External,
}

/// Says that a text names no kind of provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a storage provider type: expected one of {}", ProviderType::ALL.map(ProviderType::as_str).join(", "))]
pub struct UnknownProviderType {
    /// The text, cut to 80 characters.
    pub text: String,
}

/// What a provider makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StorageKind {
    /// Volumes; a filesystem can be made on each.
    Block,
    Filesystem,
}

impl ProviderType {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Loop,
        Self::Tmpfs,
        Self::Rootfs,
        Self::Directory,
        Self::Local,
        Self::Simulated,
        Self::Ebs,
        Self::Exec,
        Self::External,
    ];

    /// The stable text: `loop`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Tmpfs => "tmpfs",
            Self::Rootfs => "rootfs",
            Self::Directory => "directory",
            Self::Local => "local",
            Self::Simulated => "simulated",
            Self::Ebs => "ebs",
            Self::Exec => "exec",
            Self::External => EXTERNAL,
        }
    }

    pub const fn kind(self) -> StorageKind {
        match self {
            Self::Loop | Self::Local | Self::Simulated | Self::Ebs | Self::Exec | Self::External => StorageKind::Block,
            Self::Tmpfs | Self::Rootfs | Self::Directory => StorageKind::Filesystem,
        }
    }

    /// Whether it makes filesystems itself, not only on volumes.
    pub const fn makes_filesystems(self) -> bool {
        matches!(self.kind(), StorageKind::Filesystem) || matches!(self, Self::Simulated | Self::Exec)
    }

    /// Whether a pool of this type has an attribute that says who makes what comes from it: then no pool is there by itself.
    pub const fn is_named_by_attribute(self) -> bool {
        matches!(self, Self::Exec | Self::External)
    }

    /// Whether what it makes is inside of a machine, made by that one's agent, and gone with it.
    pub const fn is_inside(self) -> bool {
        matches!(self, Self::Loop | Self::Tmpfs | Self::Rootfs)
    }

    /// Whether a filesystem can come from it: of its own, or on a volume.
    pub const fn can_make(self, kind: StorageKind) -> bool {
        matches!(kind, StorageKind::Filesystem) || matches!(self.kind(), StorageKind::Block)
    }
}

impl FromStr for ProviderType {
    type Err = UnknownProviderType;
    fn from_str(text: &str) -> Result<Self, UnknownProviderType> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == text);
        found.ok_or_else(|| UnknownProviderType { text: text.chars().take(80).collect() })
    }
}

impl fmt::Display for ProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
