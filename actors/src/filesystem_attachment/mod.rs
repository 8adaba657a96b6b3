//! Filesystems mounted on machines: what is declared, what their provider is told, and how. Their life is that of all
//! attachments ([`crate::attachment`]).

mod spec;

#[cfg(feature = "shell")]
mod shell;

pub use crate::attachment::{Effect, Reason, Rejection};
pub use spec::Spec;

use serde::{Deserialize, Serialize};

use crate::{
    attachment::{self, Attached, FirstForm},
    ports::{Backing, FilesystemAttachmentInfo},
    vocab::{EffectId, InstanceId, Name},
};

/// Filesystems, as what is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filesystems;

pub type State = attachment::State<Filesystems>;
pub type Link = attachment::Link<Filesystems>;
pub type Command = attachment::Command<Filesystems>;
pub type Report = attachment::Report<Filesystems>;
pub type Event = attachment::Event<Filesystems>;

/// The real things at both ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The provider that does the mounting.
    pub provider: Name,
    pub machine_effect: EffectId,
    pub instance: InstanceId,
    pub filesystem_effect: EffectId,
    pub filesystem_id: InstanceId,
    /// The device beneath it, if it lives on a volume.
    pub backing: Option<Backing>,
    /// Where it is wanted; none leaves it to the provider.
    pub path: Option<String>,
}

impl Attached for Filesystems {
    const KIND: &'static str = "filesystem-attachment";
    /// Its commands had no taking over, and its new target stood where that of volumes does among events and reasons.
    const FIRST_FORM: Option<FirstForm> = Some(FirstForm {
        commands: &[(&[7], &[8]), (&[8], &[9])],
        events: &[(&[12], &[17])],
        verdicts: &[(&[0, 23], &[0, 29])],
    });
    type Spec = Spec;
    type Target = Target;
    type Info = FilesystemAttachmentInfo;

    fn differs_in(present: &Spec, wanted: &Spec) -> &'static str {
        if present.path == wanted.path { "spec.readOnly" } else { "spec.path" }
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
