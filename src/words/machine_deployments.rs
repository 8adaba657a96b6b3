//! Machine deployments in words.

use bailiwick_actors::machine_deployment::{Command, Counts, Event, ProgressReason, Spec, State, Strategy};

use super::{Words, count, protection, protection_asked};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("declare {}", declared(spec)),
            Command::Remove => "remove with its sets".into(),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Protect { on } => protection_asked(*on).into(),
            Command::Pause => "pause its rollout".into(),
            Command::Resume => "resume its rollout".into(),
            Command::Restart => "replace all its machines".into(),
            Command::Hurry => "continue its rollout outside its windows".into(),
            Command::Undo { revision: None } => "return to the previous revision".into(),
            Command::Undo { revision: Some(revision) } => format!("return to revision {revision}"),
            Command::Adopt { set, .. } => format!("machine set {set} belongs to it"),
            Command::Forget { set } => format!("machine set {set} is gone"),
            Command::Observe { counts, .. } => format!("its sets have {}", counted(counts.values())),
            Command::ReportEmpty => "its last set is gone".into(),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("declared {}", declared(spec)),
            Event::SpecChanged { spec } => format!("declaration changed: {}", declared(spec)),
            Event::Restarted { at } => format!("replacing all machines created before {at}"),
            Event::RolledBack { revision } => format!("rolled back to the template of revision {revision}"),
            Event::RemovalBegan => "removal started".into(),
            Event::Removed => "removed".into(),
            Event::Protected { on } => protection(*on).into(),
            Event::PassOwed => "another pass follows".into(),
            Event::Ripened => "a machine was ready for long enough".into(),
            Event::WindowAwaited { opens: Some(opens) } => format!("its rollout waits for the window at {opens}"),
            Event::WindowAwaited { opens: None } => "its rollout no longer waits for a window".into(),
            Event::WindowOpened => "its window opened".into(),
            Event::Hurried => "its rollout is not limited to its windows".into(),
            Event::DeadlinePassed => "its progress deadline passed".into(),
            Event::Adopted { set, .. } => format!("adopted machine set {set}"),
            Event::Forgotten { set } => format!("forgot machine set {set}"),
            Event::Observed { counts, .. } => format!("pass began: {}", counted(counts.values())),
            Event::SetMade { set, replicas, .. } => {
                format!("new machine set {set} with {}", count(*replicas as usize, "machine"))
            }
            Event::Renumbered { set, revision } => format!("machine set {set} is revision {revision}"),
            Event::Scaled { set, replicas, .. } => {
                format!("scaled machine set {set} to {}", count(*replicas as usize, "machine"))
            }
            Event::SetDropped { set } => format!("machine set {set} is no longer needed"),
            Event::Progressed { progress } => progressed(progress.reason).into(),
            Event::Counted { totals } => format!(
                "{} in all: {} updated, {} ready, {} available",
                count(totals.machines as usize, "machine"),
                totals.updated,
                totals.ready,
                totals.available
            ),
        }
    }
}

fn declared(spec: &Spec) -> String {
    let machines = count(usize::try_from(spec.replicas).unwrap_or(usize::MAX), "machine");
    let strategy = match spec.strategy {
        Strategy::Recreate => "strategy Recreate".to_owned(),
        Strategy::RollingUpdate(update) => {
            format!("max surge {}, max unavailable {}", update.max_surge, update.max_unavailable)
        }
    };
    let paused = if spec.paused { ", paused" } else { "" };
    format!("with {machines} of provider {}, {strategy}{paused}", spec.template.provider)
}

fn counted<'a>(counts: impl Iterator<Item = &'a Counts>) -> String {
    let (mut machines, mut available) = (0_usize, 0_usize);
    for counts in counts {
        machines += counts.machines as usize;
        available += counts.available as usize;
    }
    format!("{}, {available} available", count(machines, "machine"))
}

/// How a rollout stands: "its rollout is complete".
pub fn progressed(reason: ProgressReason) -> &'static str {
    match reason {
        ProgressReason::NewMachineSetCreated => "its rollout started",
        ProgressReason::FoundNewMachineSet => "a set with its template exists",
        ProgressReason::MachineSetUpdated => "its rollout progressed",
        ProgressReason::NewMachineSetAvailable => "its rollout is complete",
        ProgressReason::ProgressDeadlineExceeded => "its rollout exceeded its progress deadline",
        ProgressReason::DeploymentPaused => "its rollout is paused",
        ProgressReason::DeploymentResumed => "its rollout resumed",
        ProgressReason::WindowAwaited => "its rollout waits for its window",
        ProgressReason::WindowOpened => "its rollout resumed in its window",
    }
}
