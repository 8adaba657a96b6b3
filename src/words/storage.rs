//! Volumes and filesystems in words: volumes are attached, filesystems are mounted.

use bailiwick_actors::{
    filesystem::{self, Filesystem},
    ports::{Backing, ProvisionedVolume},
    storage::{Command, Declaration, Event, Made, Provisioned, Report, State},
    storage_rules::{ClaimForm, ClaimedBy, FromPool, StorageClaim},
    vocab::{Name, SkippedStorage},
    volume::{self, Volume, Where},
};

use super::{Words, count, gave_up, protection, protection_asked};

/// What is said of one of the two only.
trait Told: Provisioned {
    /// Removing it.
    const REMOVE: &'static str;
    /// It has no attachment any more.
    const NOWHERE: &'static str;

    /// What is declared: its size and provider, or what it is made of.
    fn spec(spec: &Self::Spec) -> String;

    /// A declaration, but for what it is there for.
    fn declaration(declaration: &Declaration<Self>) -> String;

    fn claim(claim: &Self::Claim) -> (String, &Name);

    /// On what it is made, if that matters.
    fn base(base: &Self::Base) -> Option<String>;

    fn asked(command: &Self::OwnCommand) -> String;

    fn reported(report: &Self::OwnReport) -> String;

    fn happened(event: &Self::OwnEvent) -> String;
}

impl<K: Told> Words for State<K> {
    fn asked(command: &Command<K>) -> String {
        match command {
            Command::Declare(declaration) => {
                let owner = declaration.owner.as_ref().map(|owner| format!(" for {owner}")).unwrap_or_default();
                format!("{}{owner}", K::declaration(declaration))
            }
            Command::Claim(claim) => {
                let (what, machine) = K::claim(claim);
                format!("declare {what} for machine {machine}")
            }
            Command::Keep => "keep: its machine is going away".into(),
            Command::Remove => K::REMOVE.into(),
            Command::Protect { on } => protection_asked(*on).into(),
            Command::RetryProvisioning => "retry".into(),
            Command::ReserveAttachment { machine } => format!("reserve for machine {machine}"),
            Command::ReleaseAttachment { machine } => format!("no longer reserve for machine {machine}"),
            Command::Release => "release, keeping the data".into(),
            Command::Destroy => "destroy with its data".into(),
            Command::RemoveForced => "remove without waiting".into(),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Report(report) => match report {
                Report::Created { attempt, made } => format!("{} (attempt {attempt})", created::<K>(made)),
                Report::CreateFailed { attempt, fault } => {
                    format!("creating it failed (attempt {attempt}): {fault}")
                }
                Report::Destroyed { attempt } => format!("provider confirmed its removal (attempt {attempt})"),
                Report::DestroyFailed { attempt, fault } => {
                    format!("removing it failed (attempt {attempt}): {fault}")
                }
                Report::Own(report) => K::reported(report),
            },
            Command::Own(own) => K::asked(own),
        }
    }

    fn happened(event: &Event<K>) -> String {
        match event {
            Event::Declared { spec } => format!("declared {}", K::spec(spec)),
            Event::CreateRequested { base, .. } => {
                let base = K::base(base).map(|base| format!(" {base}")).unwrap_or_default();
                format!("asked the provider to create it{base}")
            }
            Event::Created { made } => created::<K>(made),
            Event::CreateRetryScheduled { until, fault } => {
                format!("creating it failed ({fault}); next attempt at {until}")
            }
            Event::CreateGivenUp { fault, again } => gave_up("gave up creating it", fault, *again),
            Event::DestroyRequested { .. } => "asked the provider to remove it".into(),
            Event::Destroyed => "provider confirmed its removal".into(),
            Event::DestroyRetryScheduled { until, fault } => {
                format!("removing it failed ({fault}); next attempt at {until}")
            }
            Event::DestroyGivenUp { fault } => format!("gave up removing it ({fault})"),
            Event::AttemptBegun => "started the next attempt".into(),
            Event::AttachmentReserved { machine } => format!("reserved for machine {machine}"),
            Event::AttachmentReleased { machine } => format!("no longer reserved for machine {machine}"),
            Event::RemovalBegan => "removal started".into(),
            Event::Died => format!("no longer {} anywhere", K::NOWHERE),
            Event::Overdue { .. } => "removal is overdue".into(),
            Event::OwnedBy { owner } => format!("belongs to {owner}, and is removed with it"),
            Event::TakenFrom { pool } => format!("comes from pool {}", pool.name),
            Event::Claimed { by } => made_for(by),
            Event::Kept => "kept, although its machine is going away".into(),
            Event::Skipped { what } => skipped(what),
            Event::ReleaseWanted => "its data will be kept".into(),
            Event::DestroyWanted => "its data will be destroyed".into(),
            Event::CreateDropped => "nothing was created".into(),
            Event::Removed => "removed".into(),
            Event::Protected { on } => protection(*on).into(),
            Event::Own(own) => K::happened(own),
        }
    }
}

/// "team=storage, tier=one"
fn tagged(tags: &volume::Tags) -> String {
    tags.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

fn created<K: Provisioned>(made: &K::Made) -> String {
    let Made { id, size, .. } = K::made(made);
    format!("provider created {} {id} of {size}", K::KIND)
}

fn source(provider: &Name, pool: Option<&FromPool>) -> String {
    match pool {
        Some(pool) => format!("from pool {} with provider {provider}", pool.name),
        None => format!("from provider {provider}"),
    }
}

impl Told for Volume {
    const REMOVE: &'static str = "remove with its data";
    const NOWHERE: &'static str = "attached";

    fn spec(spec: &volume::Spec) -> String {
        format!("with {} {}", spec.size, source(&spec.provider, None))
    }

    fn declaration(declaration: &volume::Declaration) -> String {
        let volume::Declaration { spec, wanted, pool, .. } = declaration;
        let machine = wanted.machine.as_ref().map(|machine| format!(" on machine {machine}")).unwrap_or_default();
        match &wanted.import {
            Some(volume_id) => format!("import volume {volume_id} from provider {}{machine}", spec.provider),
            None => format!("declare {} {}{machine}", spec.size, source(&spec.provider, pool.as_ref())),
        }
    }

    fn claim(claim: &volume::Claim) -> (String, &Name) {
        (format!("{} from pool {}", claim.spec.size, claim.pool.name), &claim.by.machine)
    }

    fn base(base: &Where) -> Option<String> {
        match base {
            Where::Anywhere => None,
            Where::At(place) => Some(format!("for instance {}", place.instance)),
        }
    }

    fn asked(command: &volume::OwnCommand) -> String {
        use volume::OwnCommand as Own;
        match command {
            Own::Create { place } => format!("create for instance {}", place.instance),
            Own::CreateIn { place, zone } => format!("create for instance {}, in zone {zone}", place.instance),
            Own::DeclareTagged { declaration, tags } => {
                format!("{}, tagged {}", Self::declaration(declaration), tagged(tags))
            }
            Own::ReserveFilesystem { filesystem } => format!("reserve for filesystem {filesystem}"),
            Own::ReleaseFilesystem { filesystem, .. } => format!("no longer reserve for filesystem {filesystem}"),
            Own::RemoveWithFilesystem => "remove with its data, after its filesystem".into(),
            Own::DestroyReturned { provider, .. } => {
                format!("destroy its storage again: provider {provider} still lists it")
            }
        }
    }

    fn reported(report: &volume::OwnReport) -> String {
        match report {
            volume::OwnReport::Made { attempt, volume, .. } => {
                format!("{} (attempt {attempt})", created::<Self>(volume))
            }
            volume::OwnReport::Lost { .. } => "provider no longer lists it".into(),
            volume::OwnReport::Found { .. } => "provider lists it again".into(),
            volume::OwnReport::CameWith { place, volume_id, size, .. } => {
                format!("volume {volume_id} ({size}) came with instance {}", place.instance)
            }
            volume::OwnReport::WentWith { .. } | volume::OwnReport::InstanceReplaced { .. } => {
                "the instance that it came with is gone".into()
            }
        }
    }

    fn happened(event: &volume::OwnEvent) -> String {
        use volume::OwnEvent as Own;
        match event {
            Own::CameWith { place, made } => {
                let ProvisionedVolume { volume_id, size, .. } = made;
                format!(
                    "volume {volume_id} of {size} came with instance {} of machine {}",
                    place.instance, place.machine
                )
            }
            Own::WentToComeAgain => "went with its instance; waits for the next one of its machine".into(),
            Own::Returned { .. } => "requested the destruction of its storage again".into(),
            Own::Tagged { tags } => format!("tagged {}", tagged(tags)),
            Own::SitedIn { zone } => format!("is in zone {zone}"),
            Own::ImportWanted { volume_id } => format!("importing volume {volume_id} from its provider"),
            Own::WantedOn { machine } => format!("waits for machine {machine} to run"),
            Own::Described { facts } => match &facts.hardware_id {
                Some(hardware_id) => format!("hardware id is {hardware_id}"),
                None => "has no hardware id".into(),
            },
            Own::AttachedAtCreation { at_creation } => {
                format!("provider attached it to machine {} on creation", at_creation.machine)
            }
            Own::FilesystemReserved { filesystem } => format!("reserved for filesystem {filesystem}"),
            Own::FilesystemReleased { filesystem, .. } => format!("no longer reserved for filesystem {filesystem}"),
            Own::Lost { .. } => "lost: its provider no longer lists it".into(),
            Own::Found => "found: its provider lists it again".into(),
        }
    }
}

impl Told for Filesystem {
    const REMOVE: &'static str = "remove";
    const NOWHERE: &'static str = "mounted";

    fn spec(spec: &filesystem::Spec) -> String {
        match &spec.backing {
            Some(volume) => format!("on volume {volume}"),
            None => format!("with {} {}", spec.size, source(&spec.provider, None)),
        }
    }

    fn declaration(declaration: &filesystem::Declaration) -> String {
        let filesystem::Declaration { spec, pool, .. } = declaration;
        match &spec.backing {
            Some(volume) => format!("declare on volume {volume}"),
            None => format!("declare {} {}", spec.size, source(&spec.provider, pool.as_ref())),
        }
    }

    fn claim(claim: &filesystem::Claim) -> (String, &Name) {
        let what = match (&claim.spec.backing, &claim.pool) {
            (Some(volume), _) => format!("on volume {volume}"),
            (None, Some(pool)) => format!("{} from pool {}", claim.spec.size, pool.name),
            (None, None) => claim.spec.size.to_string(),
        };
        (what, &claim.by.machine)
    }

    fn base(base: &filesystem::Base) -> Option<String> {
        base.backing.as_ref().map(on_device)
    }

    fn asked(command: &filesystem::OwnCommand) -> String {
        let filesystem::OwnCommand::Create(base) = command;
        let device = base.backing.as_ref().map(|backing| format!(" {}", on_device(backing))).unwrap_or_default();
        format!("create{device}")
    }

    fn reported(report: &filesystem::OwnReport) -> String {
        match *report {}
    }

    fn happened(event: &filesystem::OwnEvent) -> String {
        match event {
            filesystem::OwnEvent::BackingChanged { backing: Some(backing) } => {
                format!("device is now {}", backing.device.name)
            }
            filesystem::OwnEvent::BackingChanged { backing: None } => "device is gone".into(),
        }
    }
}

fn on_device(backing: &Backing) -> String {
    format!("on device {}", backing.device.name)
}

/// For which machine of a set it was made, and what becomes of it.
pub(super) fn made_for(by: &ClaimedBy) -> String {
    let end = if by.is_persistent { "is kept when the machine is removed" } else { "is removed with it" };
    format!("created for machine {}, and {end}", by.machine)
}

/// What each machine of a set asks for under one name.
pub fn claim_told(claim: &StorageClaim) -> String {
    let what = match claim.form {
        ClaimForm::Volume => "volume",
        ClaimForm::Filesystem { .. } | ClaimForm::OnVolume { .. } => "filesystem",
    };
    let many = count(usize::try_from(claim.count).unwrap_or(usize::MAX), what);
    let path = claim.path().map(|path| format!(", mounted at {path}")).unwrap_or_default();
    let how = if claim.read_only { ", read-only" } else { "" };
    let end = if claim.is_persistent { "kept when the machine is removed" } else { "removed with the machine" };
    format!("{many} `{}` of {} from pool {}{path}{how}; {end}", claim.name, claim.size, claim.pool.name)
}

/// What a forced removal did not wait for.
pub(super) fn skipped(what: &SkippedStorage) -> String {
    match what {
        SkippedStorage::Attachment { machine } => {
            format!("did not wait for machine {machine} to detach; it may still be attached there")
        }
        SkippedStorage::Filesystem { filesystem } => {
            format!("did not wait for filesystem {filesystem}; it may still be on the volume")
        }
        SkippedStorage::Undoing { effect } => {
            format!("did not wait for the provider to undo effect {effect}; what it created may be orphaned")
        }
    }
}
