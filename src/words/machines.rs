//! Machines in words.

use bailiwick_actors::{
    machine::{Command, Event, Report, Spec, State},
    ports::Condition,
};

use super::{Words, count};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("be declared {}", declared(spec)),
            Command::Remove => "be removed".into(),
            Command::RetryProvisioning => "try again what failed".into(),
            Command::ReserveAttachment { volume } => format!("make room for volume {volume}"),
            Command::ReleaseAttachment { volume } => format!("let go of volume {volume}"),
            Command::Wake { due } => format!("go on with what was due at {}", due),
            Command::Report(report) => format!("take in that {}", reported(report)),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("it was declared {}", declared(spec)),
            Event::SpecChanged { spec } => format!("it is now declared {}", declared(spec)),
            Event::CreateRequested { .. } => "an instance is to be made".into(),
            Event::Created { instance, .. } => format!("its instance is {}", instance.instance),
            Event::CreateRetryScheduled { until, fault } => {
                format!("making it failed ({fault}), next attempt at {}", until)
            }
            Event::CreateGivenUp { fault } => format!("making it was given up ({fault})"),
            Event::DeleteRequested { .. } => "its instance is to go".into(),
            Event::Deleted => "its instance is gone".into(),
            Event::DeleteRetryScheduled { until, fault } => {
                format!("deleting its instance failed ({fault}), next attempt at {}", until)
            }
            Event::DeleteGivenUp { fault } => format!("deleting its instance was given up ({fault})"),
            Event::AttemptBegun => "the next attempt began".into(),
            Event::InstanceLost { .. } => "its instance was lost".into(),
            Event::NodeReported { conditions, .. } => format!("its agent reports {}", conditions_in_words(conditions)),
            Event::NodeWentStale { last_seen } => format!("its agent is silent since {}", last_seen),
            Event::AttachmentReserved { volume } => format!("it keeps room for volume {volume}"),
            Event::AttachmentReleased { volume } => format!("it let go of volume {volume}"),
            Event::RemovalBegan => "its removal began".into(),
            Event::Died => "nothing hangs on it any more".into(),
            Event::Removed => "it was removed".into(),
        }
    }
}

fn declared(spec: &Spec) -> String {
    format!("with provider {} and {}", spec.provider, count(spec.workloads.len(), "workload"))
}

fn reported(report: &Report) -> String {
    match report {
        Report::Created { attempt, instance } => format!("attempt {attempt} made instance {}", instance.instance),
        Report::CreateFailed { attempt, fault } => format!("attempt {attempt} at making it failed ({fault})"),
        Report::Deleted { attempt } => format!("attempt {attempt} deleted its instance"),
        Report::DeleteFailed { attempt, fault } => format!("attempt {attempt} at deleting it failed ({fault})"),
        Report::Lost { .. } => "its instance does not run any more".into(),
        Report::Node { conditions, .. } => format!("its agent reports {}", conditions_in_words(conditions)),
        Report::NodeSilent { last_seen, .. } => format!("its agent is silent since {}", last_seen),
    }
}

fn conditions_in_words(conditions: &[Condition]) -> String {
    let bad: Vec<String> = conditions
        .iter()
        .filter(|condition| !condition.healthy)
        .map(|condition| format!("{} is bad ({})", condition.kind, condition.text))
        .collect();
    match (conditions.len(), bad.as_slice()) {
        (0, _) => "that it is there".into(),
        (all, []) => format!("{} and all are good", count(all, "condition")),
        (_, bad) => bad.join(", "),
    }
}
