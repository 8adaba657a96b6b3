//! Volumes attached to machines as devices: what is declared, what its provider is told, and how. Their life is that of all
//! attachments ([`crate::attachment`]).

mod spec;

#[cfg(feature = "shell")]
mod shell;

pub use crate::attachment::{Effect, Reason, Rejection};
pub use spec::Spec;

use serde::{Deserialize, Serialize};

use crate::{
    attachment::{self, Attached, FirstForm},
    ports::AttachmentInfo,
    vocab::{EffectId, InstanceId, Name},
};

/// Volumes, as what is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volumes;

pub type State = attachment::State<Volumes>;
pub type Link = attachment::Link<Volumes>;
pub type Command = attachment::Command<Volumes>;
pub type Report = attachment::Report<Volumes>;
pub type Event = attachment::Event<Volumes>;

/// The real things at both ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The provider of the volume: it does the attaching.
    pub provider: Name,
    pub machine_effect: EffectId,
    pub instance: InstanceId,
    pub volume_effect: EffectId,
    pub volume_id: InstanceId,
}

impl Attached for Volumes {
    const KIND: &'static str = "volume-attachment";
    const FIRST_FORM: Option<FirstForm> = None;
    type Spec = Spec;
    type Target = Target;
    type Info = AttachmentInfo;

    fn differs_in(_: &Spec, _: &Spec) -> &'static str {
        "spec.readOnly"
    }

    fn machine(spec: &Spec) -> &Name {
        &spec.machine
    }

    fn machine_effect(target: &Target) -> EffectId {
        target.machine_effect
    }

    fn provider(target: &Target) -> &Name {
        &target.provider
    }
}
