//! What only volumes can be asked, undergo, and are.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Cite, Version};
use serde::{Deserialize, Serialize};

use super::Declaration;
use crate::{
    ports::{AttachmentInfo, ProvisionedVolume},
    vocab::{EffectId, InstanceId, Name, SizeMib, Timestamp, Zone},
};

/// What is true of volumes only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// The machine that it is made at; none if it is made anywhere, at once.
    pub wanted_on: Option<Name>,
    /// Where it is or was made, if that mattered.
    pub place: Option<Place>,
    /// What its provider said of it.
    pub facts: Option<VolumeFacts>,
    /// The attachment that was made together with it, until its attachment has taken that over.
    pub at_creation: Option<AtCreation>,
    /// The filesystem that lives on it.
    pub filesystem: Option<Name>,
    /// The intents of the filesystems that were on it and are gone with their data, each with the event that says so: what
    /// is left of them there is nobody's, and makes room for the next one.
    pub leftovers: BTreeMap<Cite, Version>,
    /// What its provider had under this name is taken over as it.
    pub import: Option<InstanceId>,
    /// Since when its provider has not shown it any more; none while it does.
    pub lost: Option<Timestamp>,
    /// The zone that it is in, if it was made for a machine of which that was known.
    pub zone: Option<Zone>,
    /// What its provider is to tag it with.
    pub tags: Tags,
}

/// What a provider tags a volume with, by key.
pub type Tags = BTreeMap<String, String>;

/// Where a volume is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Where {
    Anywhere,
    At(Place),
}

/// The machine at which a volume is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub machine: Name,
    pub machine_effect: EffectId,
    pub instance: InstanceId,
}

/// What a filesystem that is gone leaves on its volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftovers {
    /// The intents under which it was made there, or may have been, if it went with its data.
    pub of: BTreeSet<Cite>,
    /// Of those before it nothing is left: it was made over them.
    pub instead: bool,
}

/// What a provider says of a volume beside its id and size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// What stays the same wherever it is attached: serial number or world wide name.
    pub hardware_id: Option<String>,
    /// Whether it outlives the instance that it is attached to.
    pub persistent: bool,
}

/// An attachment that was made together with a volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AtCreation {
    pub machine: Name,
    pub info: AttachmentInfo,
}

/// What only a volume can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnCommand {
    /// The machine that it waits for has an instance: make it there.
    Create { place: Place },
    /// As `Create`, where that machine is in this zone: then the volume is, too.
    CreateIn { place: Place, zone: Zone },
    /// A filesystem is about to be made on it.
    ReserveFilesystem { filesystem: Name },
    /// The filesystem on it is gone, and leaves this.
    ReleaseFilesystem { filesystem: Name, leaves: Leftovers },
    /// It shall go, with its data, once the filesystem on it is gone, which was asked to go as well.
    RemoveWithFilesystem,
    /// What was made at this version was destroyed, as this provider said, and the provider still shows it: it shall go. A
    /// supervisor's order.
    DestroyReturned { provider: Name, of: Version },
    /// As `Declare`, tagged with these at its provider.
    DeclareTagged { declaration: Box<Declaration>, tags: Tags },
}

/// What is reported of a volume only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnReport {
    /// As `Created`, by a provider that tells more.
    Made {
        attempt: u32,
        volume: ProvisionedVolume,
        facts: VolumeFacts,
        /// It was attached while it was made.
        attached: Option<AtCreation>,
    },
    /// Its provider does not show any more what was made under this id.
    Lost { effect: EffectId },
    /// Its provider shows it again.
    Found { effect: EffectId },
    /// It was made with the instance of the machine that it waits for.
    CameWith {
        place: Place,
        /// The zone that the instance is in, if that is known.
        zone: Option<Zone>,
        volume_id: InstanceId,
        size: SizeMib,
        facts: VolumeFacts,
    },
    /// The instance made under this id is gone, and with it what came with it.
    WentWith { machine_effect: EffectId },
    /// As `WentWith`, and its machine gets another one, with which it is to come again.
    InstanceReplaced { machine_effect: EffectId },
}

/// What happens to a volume only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnEvent {
    /// It is made where this machine is, once that has an instance.
    WantedOn {
        machine: Name,
    },
    /// What its provider says of it beside its id and size.
    Described {
        facts: VolumeFacts,
    },
    /// It was attached while it was made: its attachment takes that over.
    AttachedAtCreation {
        at_creation: AtCreation,
    },
    FilesystemReserved {
        filesystem: Name,
    },
    FilesystemReleased {
        filesystem: Name,
        leaves: Leftovers,
    },
    /// It is made by taking over what the provider has under this name.
    ImportWanted {
        volume_id: InstanceId,
    },
    /// Its provider does not show it any more. Nothing is done about that.
    Lost {
        at: Timestamp,
    },
    /// Its provider shows it again.
    Found,
    /// It is made where its machine is, and can be attached only there.
    SitedIn {
        zone: Zone,
    },
    /// What was made at this version is still there although it was destroyed: an intent to destroy it is open again.
    Returned {
        provider: Name,
        of: Version,
        at: Timestamp,
    },
    /// It was made with the instance of this machine: its effect id follows from this event's version.
    CameWith {
        place: Place,
        made: ProvisionedVolume,
    },
    /// Its provider is to tag it with these.
    Tagged {
        tags: Tags,
    },
    /// It went with the instance that it came with, and is to come with the next one of its machine.
    WentToComeAgain,
}
