//! Volumes in words.

use bailiwick_actors::{
    storage_rules::{ClaimForm, ClaimedBy, StorageClaim},
    vocab::SkippedStorage,
    volume,
};

use super::{Words, count, gave_up, protection, protection_asked};

impl Words for volume::State {
    fn asked(command: &volume::Command) -> String {
        use volume::{Command, Report};
        match command {
            Command::Declare(spec) => format!("declare {} from provider {}", spec.size, spec.provider),
            Command::Remove => "remove with its data".into(),
            Command::Protect { on } => protection_asked(*on).into(),
            Command::RetryProvisioning => "retry".into(),
            Command::ReserveAttachment { machine } => format!("reserve for machine {machine}"),
            Command::ReleaseAttachment { machine } => format!("no longer reserve for machine {machine}"),
            Command::DeclareOn { spec, machine } => {
                format!("declare {} from provider {} on machine {machine}", spec.size, spec.provider)
            }
            Command::DeclareFrom { spec, machine, pool } => {
                let place = machine.as_ref().map(|machine| format!(" on machine {machine}")).unwrap_or_default();
                format!("declare {} from pool {} with provider {}{place}", spec.size, pool.name, spec.provider)
            }
            Command::DeclareFor { spec, owner, .. } => {
                format!("declare {} from provider {} for {owner}", spec.size, spec.provider)
            }
            Command::Claim(claim) => {
                let (size, pool) = (claim.spec.size, &claim.pool.name);
                format!("declare {size} from pool {pool} for machine {}", claim.by.machine)
            }
            Command::Keep => "keep: its machine is going away".into(),
            Command::Create { place } => format!("create for instance {}", place.instance),
            Command::CreateIn { place, zone } => {
                format!("create for instance {}, in zone {zone}", place.instance)
            }
            Command::Release => "release, keeping the data".into(),
            Command::Destroy => "destroy with its data".into(),
            Command::ReserveFilesystem { filesystem } => format!("reserve for filesystem {filesystem}"),
            Command::ReleaseFilesystem { filesystem, .. } => format!("no longer reserve for filesystem {filesystem}"),
            Command::RemoveWithFilesystem => "remove with its data, after its filesystem".into(),
            Command::Import { spec, volume_id, .. } => {
                format!("import volume {volume_id} from provider {}", spec.provider)
            }
            Command::RemoveForced => "remove without waiting".into(),
            Command::DestroyReturned { provider, .. } => {
                format!("destroy its storage again: provider {provider} still lists it")
            }
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Report(report) => match report {
                Report::Made { attempt, volume, .. } | Report::Created { attempt, volume } => {
                    format!("provider created volume {} of {} (attempt {attempt})", volume.volume_id, volume.size)
                }
                Report::CreateFailed { attempt, fault } => {
                    format!("creating it failed (attempt {attempt}): {fault}")
                }
                Report::Destroyed { attempt } => format!("provider confirmed its removal (attempt {attempt})"),
                Report::DestroyFailed { attempt, fault } => {
                    format!("removing it failed (attempt {attempt}): {fault}")
                }
                Report::Lost { .. } => "provider no longer lists it".into(),
                Report::Found { .. } => "provider lists it again".into(),
            },
        }
    }

    fn happened(event: &volume::Event) -> String {
        use volume::Event;
        match event {
            Event::Declared { spec } => format!("declared with {} from provider {}", spec.size, spec.provider),
            Event::CreateRequested { .. } => "asked the provider to create it".into(),
            Event::Created { volume } => format!("provider created volume {} of {}", volume.volume_id, volume.size),
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
            Event::Died => "no longer attached anywhere".into(),
            Event::Returned { .. } => "requested the destruction of its storage again".into(),
            Event::Overdue { .. } => "removal is overdue".into(),
            Event::SitedIn { zone } => format!("is in zone {zone}"),
            Event::OwnedBy { owner } => format!("belongs to {owner}, and is removed with it"),
            Event::TakenFrom { pool } => format!("comes from pool {}", pool.name),
            Event::Claimed { by } => made_for(by),
            Event::Kept => "kept, although its machine is going away".into(),
            Event::ImportWanted { volume_id } => format!("importing volume {volume_id} from its provider"),
            Event::Skipped { what } => skipped(what),
            Event::WantedOn { machine } => format!("waits for machine {machine} to run"),
            Event::CreateRequestedAt { place, .. } => {
                format!("asked the provider to create it for instance {}", place.instance)
            }
            Event::Described { facts } => match &facts.hardware_id {
                Some(hardware_id) => format!("hardware id is {hardware_id}"),
                None => "has no hardware id".into(),
            },
            Event::AttachedAtCreation { at_creation } => {
                format!("provider attached it to machine {} on creation", at_creation.machine)
            }
            Event::ReleaseWanted => "its data will be kept".into(),
            Event::DestroyWanted => "its data will be destroyed".into(),
            Event::FilesystemReserved { filesystem } => format!("reserved for filesystem {filesystem}"),
            Event::FilesystemReleased { filesystem, .. } => format!("no longer reserved for filesystem {filesystem}"),
            Event::CreateDropped => "nothing was created".into(),
            Event::Lost { .. } => "lost: its provider no longer lists it".into(),
            Event::Found => "found: its provider lists it again".into(),
            Event::Removed => "removed".into(),
            Event::Protected { on } => protection(*on).into(),
        }
    }
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
