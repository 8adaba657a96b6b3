//! Words that all kinds share.

pub(crate) mod address;
mod cited;
mod class;
mod effort;
mod fact;
mod fault;
pub(crate) mod guard;
mod harvest;
mod ids;
mod life;
mod nonce;
mod phase;
mod size;
mod skipped;
mod space;
mod taint;
mod text;
mod time;

pub use address::{Address, Scope};
pub use cited::Cited;
pub use class::{ClassContent, ClassCopy, ClassFlaw, NodeCapacity};
pub use effort::{Effort, Outlook};
pub use fact::Fact;
pub use fault::{Fault, FaultClass, FaultCode, InvalidFaultCode};
pub use guard::Guard;
pub use harvest::{HarvestMode, InvalidHarvestMode};
pub use ids::{EffectId, InstanceId, InvalidName, Name, Uid, Zone, derived_uuid};
pub use life::Life;
pub use nonce::Nonce;
pub use phase::MachinePhase;
pub use size::{InvalidSize, SizeMib};
pub use skipped::SkippedStorage;
pub use space::SpaceWish;
pub use taint::{Taint, TaintEffect};
pub use text::Text;
pub use time::Timestamp;
