//! The settings for choosing zones, where we choose.

use serde::{Deserialize, Serialize};

use crate::vocab::FaultCode;

/// Settings for the zones in which an instance is tried, one after the other.
///
/// The defaults lose no time and leave no zone out: what is short of room in one zone is tried in all others at once, in the
/// last round as well, and where no zone will do, it waits for one. Source of the others: Juju's provisioner (2.3 to 4.0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Zones {
    /// Which failures are a zone's. Default capacity.
    pub blame: ZoneBlame,
    /// When the next zone is tried. Default at once.
    pub next: NextZone,
    /// How many zones the last attempt is made in. Default all.
    pub last_round: LastRound,
    /// What becomes of a machine that may be in none of its provider's zones. Default wait.
    pub when_none: NoZone,
}

/// Which failures of a create are blamed on the zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ZoneBlame {
    /// Those that say that the zone has no room, or cannot be reached: resource-exhausted and unavailable.
    #[default]
    Capacity,
    /// All, but for those that say that it is the request or the credentials.
    Any,
}

/// When another zone is tried after one has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NextZone {
    #[default]
    AtOnce,
    /// After the wait that a failed attempt is followed by. A new round then begins without one.
    AfterWait,
}

/// In which zones the last attempt is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LastRound {
    /// In all, one after the other.
    #[default]
    All,
    /// In one alone.
    One,
}

/// What becomes of a machine for which there is no zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NoZone {
    /// It waits until its provider has one that it may be in.
    #[default]
    Wait,
    /// It is given up, until an operator says otherwise.
    GiveUp,
}

impl ZoneBlame {
    /// Whether the zone is to blame for a create that failed so.
    pub fn is_the_zones(self, code: FaultCode) -> bool {
        use FaultCode::{
            AlreadyExists, InvalidArgument, OutOfRange, PermissionDenied, ResourceExhausted, Unauthenticated,
            Unavailable, Unimplemented, Uninitialized,
        };
        match self {
            Self::Capacity => matches!(code, ResourceExhausted | Unavailable),
            Self::Any => !matches!(
                code,
                InvalidArgument
                    | OutOfRange
                    | Unimplemented
                    | PermissionDenied
                    | Unauthenticated
                    | Uninitialized
                    | AlreadyExists
            ),
        }
    }
}
