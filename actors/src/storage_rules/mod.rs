//! What storage is asked for with, and when that makes sense: rules as functions over plain data.
//!
//! A *directive* (`pool,10G,2`) is how people ask. It names a *pool*: a provider type with attributes, checked by rules of
//! that type. The *configuration* of a model is one document with its pools and its defaults. From directive, minimum and
//! configuration follows what is made, and parameters and things to be imported are checked before any provider is called.
//!
//! Nothing here knows entities or providers. Source: the storage rules of Juju.

mod attributes;
mod claim;
mod config;
mod defaults;
mod directive;
mod directive_map;
mod ebs;
mod import;
mod mount_point;
mod params;
mod pool;
mod provider_type;
mod source;

pub use attributes::{AttributeError, Attributes, check_attributes};
pub use claim::{ClaimForm, Claimed, ClaimedBy, StorageClaim, claimed, claimed_with_instance};
pub use config::{ConfigProblem, PoolSettings, StorageConfig};
pub use defaults::{Demand, Minimum, default_pool, demand};
pub use directive::{Directive, DirectiveError};
pub use directive_map::{DirectiveMapError, directives};
pub use ebs::{EbsError, EbsVolume, EbsVolumeType, ebs_volume};
pub use import::{Adoption, ExistingVolume, ImportRefusal, ImportWish, check_import};
pub use mount_point::{MountPointError, check_mount_point, default_mount_point, is_within};
pub use params::{ParamsError, check_filesystem, check_volume};
pub use pool::{InvalidPoolName, Pool, PoolError, PoolName, Pools};
pub use provider_type::{ProviderType, StorageKind, UnknownProviderType};
pub use source::{FromPool, Source};
