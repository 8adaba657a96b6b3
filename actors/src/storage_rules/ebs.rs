//! What the elastic block store can make. Source: Juju's EBS provider.

use super::Attributes;
use crate::vocab::SizeMib;

/// What a volume is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EbsVolumeType {
    /// `standard`, or `magnetic`.
    Standard,
    /// `gp2`, or `ssd`: the default.
    Gp2,
    /// `io1`, or `provisioned-iops`.
    Io1,
    /// `st1`, or `optimized-hdd`.
    St1,
    /// `sc1`, or `cold-storage`.
    Sc1,
}

/// A volume that the store can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EbsVolume {
    pub kind: EbsVolumeType,
    /// The size as it is made and paid: whole GiB.
    pub gib: u64,
    /// Operations per second of the whole volume; 0 where the type has none to choose.
    pub iops: u64,
}

/// Why the store cannot make a volume.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EbsError {
    #[error("{gib} GiB is too large: this type has at most {max_gib} GiB")]
    TooBig { gib: u64, max_gib: u64 },
    #[error("{gib} GiB is too small: this type has at least {min_gib} GiB")]
    TooSmall { gib: u64, min_gib: u64 },
    #[error("too many operations per second and GiB; the limit is {max_per_gib}")]
    IopsRatio { max_per_gib: u64 },
    #[error("`iops` can only be set for volumes of type io1")]
    IopsNotAllowed,
    #[error("a volume of the type io1 needs `iops`: operations per second and GiB")]
    IopsRequired,
    #[error("`iops` must be a whole number, not {text:?}")]
    IopsNoNumber { text: String },
    #[error("{text:?} is not a volume type")]
    UnknownType { text: String },
}

/// Operations per second and GiB of one volume, at most.
const IOPS_PER_GIB_MAX: u64 = 30;
/// Operations per second of one volume, at most; more is cut to this.
const IOPS_MAX: u64 = 20_000;

impl EbsVolumeType {
    fn parse(text: &str) -> Result<Self, EbsError> {
        Ok(match text {
            "standard" | "magnetic" => Self::Standard,
            "gp2" | "ssd" => Self::Gp2,
            "io1" | "provisioned-iops" => Self::Io1,
            "st1" | "optimized-hdd" => Self::St1,
            "sc1" | "cold-storage" => Self::Sc1,
            _ => return Err(EbsError::UnknownType { text: text.chars().take(80).collect() }),
        })
    }

    /// The smallest and the largest, in GiB.
    fn bounds_gib(self) -> (u64, u64) {
        match self {
            Self::Standard => (1, 1_024),
            Self::Gp2 => (1, 16_384),
            Self::Io1 => (4, 16_384),
            Self::St1 | Self::Sc1 => (500, 16_384),
        }
    }
}

/// Type, and operations per second and GiB; what else there is, is ignored.
pub(super) fn ebs_attributes(attributes: &Attributes) -> Result<(EbsVolumeType, Option<u64>), EbsError> {
    let kind = attributes.get("volume-type").map_or(Ok(EbsVolumeType::Gp2), |text| EbsVolumeType::parse(text))?;
    let iops = match attributes.get("iops") {
        Some(text) => {
            Some(text.parse::<u64>().map_err(|_| EbsError::IopsNoNumber { text: text.chars().take(80).collect() })?)
        }
        None => None,
    };
    // None and 0 are the same: no wish.
    let iops = iops.filter(|iops| 0 < *iops);
    match (kind, iops) {
        (EbsVolumeType::Io1, None) => Err(EbsError::IopsRequired),
        (EbsVolumeType::Io1, Some(iops)) if IOPS_PER_GIB_MAX < iops => {
            Err(EbsError::IopsRatio { max_per_gib: IOPS_PER_GIB_MAX })
        }
        (EbsVolumeType::Io1, iops) | (_, iops @ None) => Ok((kind, iops)),
        (_, Some(_)) => Err(EbsError::IopsNotAllowed),
    }
}

/// The volume that the store makes for this size and these attributes: sizes are rounded up to GiB.
pub fn ebs_volume(size: SizeMib, attributes: &Attributes) -> Result<EbsVolume, EbsError> {
    let (kind, iops_per_gib) = ebs_attributes(attributes)?;
    let gib = size.0.div_ceil(1_024);
    let (min_gib, max_gib) = kind.bounds_gib();
    if gib < min_gib {
        return Err(EbsError::TooSmall { gib, min_gib });
    }
    if max_gib < gib {
        return Err(EbsError::TooBig { gib, max_gib });
    }
    // At most 30 times 16,384.
    let iops = iops_per_gib.map_or(0, |per_gib| (per_gib * gib).min(IOPS_MAX));
    Ok(EbsVolume { kind, gib, iops })
}
