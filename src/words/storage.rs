//! Volumes and their attachments in words.

use bailiwick_actors::{vocab::SkippedStorage, volume, volume_attachment};

use super::Words;

impl Words for volume::State {
    fn asked(command: &volume::Command) -> String {
        use volume::{Command, Report};
        match command {
            Command::Declare(spec) => format!("be declared with {} from provider {}", spec.size, spec.provider),
            Command::Remove => "be removed with its data".into(),
            Command::RetryProvisioning => "try again what failed".into(),
            Command::ReserveAttachment { machine } => format!("be kept for machine {machine}"),
            Command::ReleaseAttachment { machine } => format!("be free of machine {machine}"),
            Command::DeclareOn { spec, machine } => {
                format!("be declared with {} from provider {} at machine {machine}", spec.size, spec.provider)
            }
            Command::DeclareFrom { spec, machine, pool } => {
                let place = machine.as_ref().map(|machine| format!(" at machine {machine}")).unwrap_or_default();
                format!("be declared with {} from pool {} of provider {}{place}", spec.size, pool.name, spec.provider)
            }
            Command::DeclareFor { spec, owner, .. } => {
                format!("be declared for {owner} with {} from provider {}", spec.size, spec.provider)
            }
            Command::Create { place } => format!("be made where instance {} is", place.instance),
            Command::CreateIn { place, zone } => {
                format!("be made where instance {} is, in zone {zone}", place.instance)
            }
            Command::Release => "be let go of with its data".into(),
            Command::Destroy => "be destroyed with its data".into(),
            Command::ReserveFilesystem { filesystem } => format!("be kept for filesystem {filesystem}"),
            Command::ReleaseFilesystem { filesystem } => format!("be free of filesystem {filesystem}"),
            Command::RemoveWithFilesystem => "be removed with its data, after the filesystem on it".into(),
            Command::Import { spec, volume_id, .. } => {
                format!("be declared as what provider {} has as {volume_id}", spec.provider)
            }
            Command::RemoveForced => "be removed without waiting for what comes next".into(),
            Command::DestroyReturned { provider, .. } => {
                format!("destroy its storage again, which provider {provider} still shows")
            }
            Command::Wake { due } => format!("go on with what was due at {}", due),
            Command::Report(report) => match report {
                Report::Made { attempt, volume, .. } | Report::Created { attempt, volume } => {
                    format!("note that attempt {attempt} made {} as {}", volume.size, volume.volume_id)
                }
                Report::CreateFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at making it failed ({fault})")
                }
                Report::Destroyed { attempt } => format!("note that attempt {attempt} destroyed it"),
                Report::DestroyFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at destroying it failed ({fault})")
                }
                Report::Lost { .. } => "note that its provider does not show it any more".into(),
                Report::Found { .. } => "note that its provider shows it again".into(),
            },
        }
    }

    fn happened(event: &volume::Event) -> String {
        use volume::Event;
        match event {
            Event::Declared { spec } => format!("it was declared with {} from provider {}", spec.size, spec.provider),
            Event::CreateRequested { .. } => "its storage is to be made".into(),
            Event::Created { volume } => format!("its storage is {} of {}", volume.volume_id, volume.size),
            Event::CreateRetryScheduled { until, fault } => {
                format!("making it failed ({fault}), next attempt at {}", until)
            }
            Event::CreateGivenUp { fault } => format!("making it was given up ({fault})"),
            Event::DestroyRequested { .. } => "its storage is to go".into(),
            Event::Destroyed => "its storage is gone".into(),
            Event::DestroyRetryScheduled { until, fault } => {
                format!("destroying its storage failed ({fault}), next attempt at {}", until)
            }
            Event::DestroyGivenUp { fault } => format!("destroying its storage was given up ({fault})"),
            Event::AttemptBegun => "the next attempt began".into(),
            Event::AttachmentReserved { machine } => format!("it is kept for machine {machine}"),
            Event::AttachmentReleased { machine } => format!("it is free of machine {machine}"),
            Event::RemovalBegan => "its removal began".into(),
            Event::Died => "it is attached nowhere any more".into(),
            Event::Returned { .. } => "its storage is still there and is to go".into(),
            Event::Overdue { .. } => "destroying its storage takes longer than it may".into(),
            Event::SitedIn { zone } => format!("it is in zone {zone}"),
            Event::OwnedBy { owner } => format!("it is there for {owner}, and goes with it"),
            Event::TakenFrom { pool } => format!("it comes from pool {}", pool.name),
            Event::ImportWanted { volume_id } => format!("it is what its provider has as {volume_id}"),
            Event::Skipped { what } => skipped(what),
            Event::WantedOn { machine } => format!("it waits for an instance of machine {machine}"),
            Event::CreateRequestedAt { place, .. } => {
                format!("its storage is to be made where instance {} is", place.instance)
            }
            Event::Described { facts } => match &facts.hardware_id {
                Some(hardware_id) => format!("its hardware is {hardware_id}"),
                None => "its hardware has no name".into(),
            },
            Event::AttachedAtCreation { at_creation } => {
                format!("it was attached to machine {} while it was made", at_creation.machine)
            }
            Event::ReleaseWanted => "its data is to stay".into(),
            Event::DestroyWanted => "its data is to go".into(),
            Event::FilesystemReserved { filesystem } => format!("it is kept for filesystem {filesystem}"),
            Event::FilesystemReleased { filesystem } => format!("it is free of filesystem {filesystem}"),
            Event::CreateDropped => "nothing of it was made".into(),
            Event::Lost { .. } => "its provider does not show it any more".into(),
            Event::Found => "its provider shows it again".into(),
            Event::Removed => "it was removed".into(),
        }
    }
}

/// What a forced removal did not wait for.
pub(super) fn skipped(what: &SkippedStorage) -> String {
    match what {
        SkippedStorage::Attachment { machine } => {
            format!("its attachment to machine {machine} was not waited for, so it may still be attached there")
        }
        SkippedStorage::Filesystem { filesystem } => {
            format!("filesystem {filesystem} was not waited for, so it may still be on it")
        }
        SkippedStorage::Undoing { effect } => {
            format!("nobody waited until what was made under {effect} is undone, so it may be an orphan")
        }
    }
}

impl Words for volume_attachment::State {
    fn asked(command: &volume_attachment::Command) -> String {
        use volume_attachment::{Command, Report};
        match command {
            Command::Declare(spec) => {
                let how = if spec.read_only { "for reading only" } else { "for reading and writing" };
                format!("be declared {how}")
            }
            Command::Remove => "be removed".into(),
            Command::Retry => "try again what failed".into(),
            Command::Attach { target } => {
                format!("connect volume {} to instance {}", target.volume_id, target.instance)
            }
            Command::Detach { .. } => "let go of an instance that is going or gone".into(),
            Command::TakeOver { info, .. } => format!("note that it was attached at {} from the start", info.path),
            Command::Reattach => "make sure that it is still attached".into(),
            Command::RemoveForced => "be removed without waiting until it is detached".into(),
            Command::Wake { due } => format!("go on with what was due at {}", due),
            Command::Report(report) => match report {
                Report::Attached { attempt, info } => {
                    format!("note that attempt {attempt} attached it at {}", info.path)
                }
                Report::AttachFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at attaching it failed ({fault})")
                }
                Report::Detached { attempt } => format!("note that attempt {attempt} detached it"),
                Report::DetachFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at detaching it failed ({fault})")
                }
            },
        }
    }

    fn happened(event: &volume_attachment::Event) -> String {
        use volume_attachment::Event;
        match event {
            Event::Declared { .. } => "it was declared".into(),
            Event::AttachRequested { target, .. } => format!("it is to be attached to instance {}", target.instance),
            Event::Attached { info } => format!("it is attached at {}", info.path),
            Event::AttachRetryScheduled { until, fault } => {
                format!("attaching it failed ({fault}), next attempt at {}", until)
            }
            Event::AttachGivenUp { fault } => format!("attaching it was given up ({fault})"),
            Event::DetachRequested { .. } => "it is to be detached".into(),
            Event::Detached => "it is detached".into(),
            Event::DetachRetryScheduled { until, fault } => {
                format!("detaching it failed ({fault}), next attempt at {}", until)
            }
            Event::DetachGivenUp { fault } => format!("detaching it was given up ({fault})"),
            Event::Overdue { .. } => "detaching it takes longer than it may".into(),
            Event::AttemptBegun => "the next attempt began".into(),
            Event::RemovalBegan => "its removal began".into(),
            Event::Removed => "it was removed".into(),
            Event::TakenOver { info, .. } => format!("it is attached at {} from the start", info.path),
            Event::ReattachRequested { .. } => "it is made sure that it is still attached".into(),
            Event::Skipped { what } => skipped(what),
            Event::AttachDropped => "nothing of it was attached".into(),
        }
    }
}
