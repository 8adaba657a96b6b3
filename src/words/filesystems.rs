//! Filesystems and their attachments in words.

use bailiwick_actors::{filesystem, filesystem_attachment};

use super::{Words, storage::skipped};

impl Words for filesystem::State {
    fn asked(command: &filesystem::Command) -> String {
        use filesystem::{Command, Report};
        match command {
            Command::Declare(spec) => match &spec.backing {
                Some(volume) => format!("be declared on volume {volume}"),
                None => format!("be declared with {} from provider {}", spec.size, spec.provider),
            },
            Command::DeclareFrom { spec, pool } => {
                format!("be declared with {} from pool {} of provider {}", spec.size, pool.name, spec.provider)
            }
            Command::DeclareFor { spec, owner, .. } => {
                format!("be declared for {owner} with {} from provider {}", spec.size, spec.provider)
            }
            Command::Remove => "be removed".into(),
            Command::Release => "be let go of with its data".into(),
            Command::Destroy => "be destroyed with its data".into(),
            Command::RemoveForced => "be removed without waiting for what comes next".into(),
            Command::RetryProvisioning => "try again what failed".into(),
            Command::ReserveAttachment { machine } => format!("be kept for machine {machine}"),
            Command::ReleaseAttachment { machine } => format!("be free of machine {machine}"),
            Command::Create { backing: Some(backing) } => format!("be made on device {}", backing.device.name),
            Command::Create { backing: None } => "be made".into(),
            Command::Wake { due } => format!("go on with what was due at {due}"),
            Command::Report(report) => match report {
                Report::Created { attempt, filesystem } => {
                    format!("note that attempt {attempt} made {} as {}", filesystem.size, filesystem.filesystem_id)
                }
                Report::CreateFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at making it failed ({fault})")
                }
                Report::Destroyed { attempt } => format!("note that attempt {attempt} removed it"),
                Report::DestroyFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at removing it failed ({fault})")
                }
            },
        }
    }

    fn happened(event: &filesystem::Event) -> String {
        use filesystem::Event;
        match event {
            Event::Declared { spec } => match &spec.backing {
                Some(volume) => format!("it was declared on volume {volume}"),
                None => format!("it was declared with {} from provider {}", spec.size, spec.provider),
            },
            Event::CreateRequested { backing: Some(backing), .. } => {
                format!("it is to be made on device {}", backing.device.name)
            }
            Event::CreateRequested { backing: None, .. } => "it is to be made".into(),
            Event::BackingChanged { backing: Some(backing) } => {
                format!("its device is {} now", backing.device.name)
            }
            Event::Overdue { .. } => "removing what was made takes longer than it may".into(),
            Event::OwnedBy { owner } => format!("it is there for {owner}, and goes with it"),
            Event::TakenFrom { pool } => format!("it comes from pool {}", pool.name),
            Event::BackingChanged { backing: None } => "it has no device now".into(),
            Event::Created { filesystem } => format!("it is {} of {}", filesystem.filesystem_id, filesystem.size),
            Event::CreateRetryScheduled { until, fault } => {
                format!("making it failed ({fault}), next attempt at {until}")
            }
            Event::CreateGivenUp { fault } => format!("making it was given up ({fault})"),
            Event::CreateDropped => "nothing of it was made".into(),
            Event::DestroyRequested { .. } => "what was made of it is to go".into(),
            Event::Destroyed => "what was made of it is gone".into(),
            Event::DestroyRetryScheduled { until, fault } => {
                format!("removing it failed ({fault}), next attempt at {until}")
            }
            Event::DestroyGivenUp { fault } => format!("removing it was given up ({fault})"),
            Event::AttemptBegun => "the next attempt began".into(),
            Event::AttachmentReserved { machine } => format!("it is kept for machine {machine}"),
            Event::AttachmentReleased { machine } => format!("it is free of machine {machine}"),
            Event::ReleaseWanted => "its data is to stay".into(),
            Event::DestroyWanted => "its data is to go".into(),
            Event::Skipped { what } => skipped(what),
            Event::RemovalBegan => "its removal began".into(),
            Event::Died => "it is mounted nowhere any more".into(),
            Event::Removed => "it was removed".into(),
        }
    }
}

impl Words for filesystem_attachment::State {
    fn asked(command: &filesystem_attachment::Command) -> String {
        use filesystem_attachment::{Command, Report};
        match command {
            Command::Declare(spec) => {
                let how = if spec.read_only { "for reading only" } else { "for reading and writing" };
                match &spec.path {
                    Some(path) => format!("be declared at {path} {how}"),
                    None => format!("be declared {how}"),
                }
            }
            Command::Remove => "be removed".into(),
            Command::Retry => "try again what failed".into(),
            Command::Attach { target } => {
                format!("mount filesystem {} on instance {}", target.filesystem_id, target.instance)
            }
            Command::Detach { .. } => "let go of an instance that is going or gone".into(),
            Command::Reattach => "make sure that it is still mounted".into(),
            Command::RemoveForced => "be removed without waiting until it is unmounted".into(),
            Command::Wake { due } => format!("go on with what was due at {due}"),
            Command::Report(report) => match report {
                Report::Attached { attempt, info } => {
                    format!("note that attempt {attempt} mounted it at {}", info.mount_point)
                }
                Report::AttachFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at mounting it failed ({fault})")
                }
                Report::Detached { attempt } => format!("note that attempt {attempt} unmounted it"),
                Report::DetachFailed { attempt, fault } => {
                    format!("note that attempt {attempt} at unmounting it failed ({fault})")
                }
            },
        }
    }

    fn happened(event: &filesystem_attachment::Event) -> String {
        use filesystem_attachment::Event;
        match event {
            Event::Declared { .. } => "it was declared".into(),
            Event::AttachRequested { target, .. } => format!("it is to be mounted on instance {}", target.instance),
            Event::Attached { info } => format!("it is mounted at {}", info.mount_point),
            Event::AttachRetryScheduled { until, fault } => {
                format!("mounting it failed ({fault}), next attempt at {until}")
            }
            Event::AttachGivenUp { fault } => format!("mounting it was given up ({fault})"),
            Event::DetachRequested { .. } => "it is to be unmounted".into(),
            Event::Detached => "it is unmounted".into(),
            Event::DetachRetryScheduled { until, fault } => {
                format!("unmounting it failed ({fault}), next attempt at {until}")
            }
            Event::DetachGivenUp { fault } => format!("unmounting it was given up ({fault})"),
            Event::Overdue { .. } => "unmounting it takes longer than it may".into(),
            Event::AttemptBegun => "the next attempt began".into(),
            Event::RemovalBegan => "its removal began".into(),
            Event::Removed => "it was removed".into(),
            Event::Retargeted { .. } => "what it is mounted from is called otherwise now".into(),
            Event::ReattachRequested { .. } => "it is made sure that it is still mounted".into(),
            Event::Skipped { what } => skipped(what),
            Event::AttachDropped => "nothing of it was mounted".into(),
        }
    }
}
