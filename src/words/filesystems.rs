//! Filesystems in words.

use bailiwick_actors::filesystem;

use super::{
    Words, gave_up, protection, protection_asked,
    storage::{made_for, skipped},
};

impl Words for filesystem::State {
    fn asked(command: &filesystem::Command) -> String {
        use filesystem::{Command, Report};
        match command {
            Command::Declare(spec) => match &spec.backing {
                Some(volume) => format!("declare on volume {volume}"),
                None => format!("declare {} from provider {}", spec.size, spec.provider),
            },
            Command::DeclareFrom { spec, pool } => {
                format!("declare {} from pool {} with provider {}", spec.size, pool.name, spec.provider)
            }
            Command::DeclareFor { spec, owner, .. } => {
                format!("declare {} from provider {} for {owner}", spec.size, spec.provider)
            }
            Command::Claim(claim) => {
                let from = match (&claim.spec.backing, &claim.pool) {
                    (Some(volume), _) => format!("on volume {volume}"),
                    (None, Some(pool)) => format!("{} from pool {}", claim.spec.size, pool.name),
                    (None, None) => claim.spec.size.to_string(),
                };
                format!("declare {from} for machine {}", claim.by.machine)
            }
            Command::Keep => "keep: its machine is going away".into(),
            Command::Remove => "remove".into(),
            Command::Protect { on } => protection_asked(*on).into(),
            Command::Release => "release, keeping the data".into(),
            Command::Destroy => "destroy with its data".into(),
            Command::RemoveForced => "remove without waiting".into(),
            Command::RetryProvisioning => "retry".into(),
            Command::ReserveAttachment { machine } => format!("reserve for machine {machine}"),
            Command::ReleaseAttachment { machine } => format!("no longer reserve for machine {machine}"),
            Command::Create { backing: Some(backing), .. } => format!("create on device {}", backing.device.name),
            Command::Create { backing: None, .. } => "create".into(),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Report(report) => match report {
                Report::Created { attempt, filesystem } => {
                    format!(
                        "provider created filesystem {} of {} (attempt {attempt})",
                        filesystem.filesystem_id, filesystem.size
                    )
                }
                Report::CreateFailed { attempt, fault } => {
                    format!("creating it failed (attempt {attempt}): {fault}")
                }
                Report::Destroyed { attempt } => format!("provider confirmed its removal (attempt {attempt})"),
                Report::DestroyFailed { attempt, fault } => {
                    format!("removing it failed (attempt {attempt}): {fault}")
                }
            },
        }
    }

    fn happened(event: &filesystem::Event) -> String {
        use filesystem::Event;
        match event {
            Event::Declared { spec } => match &spec.backing {
                Some(volume) => format!("declared on volume {volume}"),
                None => format!("declared with {} from provider {}", spec.size, spec.provider),
            },
            Event::CreateRequested { backing: Some(backing), .. } => {
                format!("asked the provider to create it on device {}", backing.device.name)
            }
            Event::CreateRequested { backing: None, .. } => "asked the provider to create it".into(),
            Event::BackingChanged { backing: Some(backing) } => {
                format!("device is now {}", backing.device.name)
            }
            Event::Overdue { .. } => "removal is overdue".into(),
            Event::OwnedBy { owner } => format!("belongs to {owner}, and is removed with it"),
            Event::TakenFrom { pool } => format!("comes from pool {}", pool.name),
            Event::Claimed { by } => made_for(by),
            Event::Kept => "kept, although its machine is going away".into(),
            Event::BackingChanged { backing: None } => "device is gone".into(),
            Event::Created { filesystem } => {
                format!("provider created filesystem {} of {}", filesystem.filesystem_id, filesystem.size)
            }
            Event::CreateRetryScheduled { until, fault } => {
                format!("creating it failed ({fault}); next attempt at {until}")
            }
            Event::CreateGivenUp { fault, again } => gave_up("gave up creating it", fault, *again),
            Event::CreateDropped => "nothing was created".into(),
            Event::DestroyRequested { .. } => "asked the provider to remove it".into(),
            Event::Destroyed => "provider confirmed its removal".into(),
            Event::DestroyRetryScheduled { until, fault } => {
                format!("removing it failed ({fault}); next attempt at {until}")
            }
            Event::DestroyGivenUp { fault } => format!("gave up removing it ({fault})"),
            Event::AttemptBegun => "started the next attempt".into(),
            Event::AttachmentReserved { machine } => format!("reserved for machine {machine}"),
            Event::AttachmentReleased { machine } => format!("no longer reserved for machine {machine}"),
            Event::ReleaseWanted => "its data will be kept".into(),
            Event::DestroyWanted => "its data will be destroyed".into(),
            Event::Skipped { what } => skipped(what),
            Event::RemovalBegan => "removal started".into(),
            Event::Died => "no longer mounted anywhere".into(),
            Event::Removed => "removed".into(),
            Event::Protected { on } => protection(*on).into(),
        }
    }
}
