//! Machines in words.

use bailiwick_actors::{
    machine::{
        Cause, Command, DrainOutcome, Event, Removal, Report, Siting, Skipped, Spec, StartParameters, State, Step,
        TurnOutcome,
    },
    ports::Condition,
    vocab::{Cited, Name, Timestamp, Zone},
};

use super::{Words, count};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("be declared {}", declared(spec)),
            Command::Site { zone, .. } => format!("be made {}", site(zone.as_ref())),
            Command::TakeClass { copy, .. } => format!("be made from class {copy}"),
            Command::Prepare { .. } => "start with what was put together for it".into(),
            Command::AllowEviction { .. } => "end its workloads".into(),
            Command::RefuseEviction { budget, .. } => {
                format!("keep its workloads, for application {}", budget.application)
            }
            Command::NoteDetached { volume, .. } => format!("note that volume {volume} is detached"),
            Command::RefuseStart { why, .. } => format!("wait, for {why}"),
            Command::Assign { application } => format!("have a unit of application {application}"),
            Command::Unassign { application } => format!("have no unit of application {application}"),
            Command::ReserveContainer { container } => format!("make room for machine {container}"),
            Command::ReleaseContainer { container } => format!("let go of machine {container}"),
            Command::Remove => "be removed".into(),
            Command::RetryProvisioning => "try again what failed".into(),
            Command::ReserveAttachment { volume } => format!("make room for volume {volume}"),
            Command::ReleaseAttachment { volume } => format!("let go of volume {volume}"),
            Command::NoteVolume { volume, zone } => format!("note that volume {volume} is in zone {zone}"),
            Command::ReserveMount { filesystem } => format!("make room for filesystem {filesystem}"),
            Command::ReleaseMount { filesystem } => format!("let go of filesystem {filesystem}"),
            Command::Wake { due } => format!("go on with what was due at {}", due),
            Command::Report(report) => format!("note that {}", reported(report)),
            Command::Hold { reason, until } => format!("do nothing by itself{}: {reason}", until_in_words(*until)),
            Command::Unhold => "go on by itself".into(),
            Command::RemoveWith(removal) => removal_in_words(*removal),
            Command::Adopt { instance, .. } => format!("take over instance {}", instance.instance),
            Command::Disown => "let go of its instance".into(),
            Command::Reprieve { .. } => "take some more time to become well".into(),
            Command::GiveUp { .. } => "be given up".into(),
            Command::Engage { set } => format!("stay until replica set {set} does without it"),
            Command::Disengage { set } => format!("wait for replica set {set} no more"),
            Command::RemoveStray { instance, .. } => {
                format!("remove instance {}, which nobody knows", instance.instance)
            }
            Command::RemoveReturned { instance, .. } => {
                format!("delete instance {} again, which its provider still shows", instance.instance)
            }
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("it was declared {}", declared(spec)),
            Event::Progressed { text, percent, .. } => format!("its provider tells: {}", progress(text, *percent)),
            Event::Sited { zone, .. } => format!("it is to be made {}", site(zone.as_ref())),
            Event::ClassTaken { copy } => format!("it is made from class {copy}"),
            Event::StartPrepared { parameters, cited, .. } => {
                format!("it is started with {}", started_with(parameters, cited))
            }
            Event::StartRefused { why, .. } => format!("it cannot be started now: {why}"),
            Event::UnitAssigned { application } => format!("a unit of application {application} is to stand on it"),
            Event::UnitUnassigned { application } => {
                format!("no unit of application {application} is to stand on it any more")
            }
            Event::ContainerReserved { container } => format!("it keeps room for machine {container}"),
            Event::ContainerReleased { container } => format!("it let go of machine {container}"),
            Event::Skipped { what: Skipped::Container { container } } => {
                format!("machine {container}, which stands in it, was not waited for")
            }
            Event::ZoneBlamed { zone, fault } => format!("it could not be made in zone {zone} ({fault})"),
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
            Event::AgentJoined { token, node, .. } => {
                format!("its agent {} joined with token {token}", node.agent_version)
            }
            Event::NodeWentStale { last_seen } => format!("its agent is silent since {}", last_seen),
            Event::AttachmentReserved { volume } => format!("it keeps room for volume {volume}"),
            Event::AttachmentReleased { volume } => format!("it let go of volume {volume}"),
            Event::VolumeIsIn { volume, zone } => {
                format!("volume {volume} is in zone {zone}, so its instances are made there")
            }
            Event::MountReserved { filesystem } => format!("it keeps room for filesystem {filesystem}"),
            Event::MountReleased { filesystem } => format!("it let go of filesystem {filesystem}"),
            Event::RemovalBegan => "its removal began".into(),
            Event::Died => "nothing hangs on it any more".into(),
            Event::Removed => "it was removed".into(),
            Event::Held { reason, until, .. } => format!("it is held{}: {reason}", until_in_words(*until)),
            Event::HoldEnded => "it is not held any more".into(),
            Event::Withheld { step, .. } => format!("it is held, or {}", withheld(*step)),
            Event::InstanceToStay => "its instance is to stay".into(),
            Event::Skipped { what: Skipped::Attachment { volume } } => {
                format!("the attachment of volume {volume} was not waited for")
            }
            Event::Skipped { what: Skipped::Mount { filesystem } } => {
                format!("the attachment of filesystem {filesystem} was not waited for, so it may stay mounted")
            }
            Event::Skipped { what: Skipped::DeletionOf { effect } } => {
                format!("the end of instance {effect} was not waited for, so it may be an orphan")
            }
            Event::Skipped { what: Skipped::Membership { set } } => {
                format!("replica set {set} was not waited for, so it may miss a voter")
            }
            Event::Engaged { set } => format!("replica set {set} counts on it"),
            Event::Disengaged { set } => format!("replica set {set} does without it"),
            Event::StartedByOther { instance, nonce, .. } => {
                format!(
                    "instance {instance} was started by another control plane (its nonce is {nonce}) and is left alone"
                )
            }
            Event::InstanceLeft { effect, .. } => format!("it let go of instance {effect}, which stays"),
            Event::Adopted { instance, .. } => format!("it took over instance {}", instance.instance),
            Event::StrayFound { effect, instance, .. } => match instance {
                Some(instance) => format!("instance {instance} bears its name, is not its own, and is to go"),
                None => format!("instance {effect} bears its name, is not its own, and is to go"),
            },
            Event::StrayGone { effect } => format!("instance {effect}, which was not its own, is gone"),
            Event::StrayRetryScheduled { effect, until, fault } => {
                format!("removing instance {effect} failed ({fault}), next attempt at {until}")
            }
            Event::StrayGivenUp { effect, fault } => format!("removing instance {effect} was given up ({fault})"),
            Event::JoinAwaited { until, .. } => format!("it may take until {until} to become well"),
            Event::BecameWell { .. } => "it is well".into(),
            Event::BecameSuspect { cause, until, .. } => format!("{}; it may take until {until}", caused(*cause)),
            Event::BecameOverdue { cause, .. } => format!("its time is over: {}", caused(*cause)),
            Event::GivenUp { cause, .. } => format!("it has failed: {}", caused(*cause)),
            Event::EvictionAllowed { is_forced: false, .. } => "its workloads may end now".into(),
            Event::EvictionAllowed { is_forced: true, .. } => "its workloads end now, whatever the budget says".into(),
            Event::EvictionRefused { budget, until } => format!(
                "its workloads may not end yet: application {} needs {} of its other machines, and {} run well; asked again at {until}",
                budget.application, budget.needed, budget.available
            ),
            Event::TurnsPlanned { turns } => {
                format!(
                    "these of its workloads end one after the other: {}",
                    join(turns.iter().map(|turn| &turn.workload))
                )
            }
            Event::TurnBegan { workload, until } => {
                format!("workload {workload} is to end and its volumes are to leave, waited for until {until}")
            }
            Event::WorkloadEnded { workload, volumes } if volumes.is_empty() => {
                format!("workload {workload} has ended")
            }
            Event::WorkloadEnded { workload, volumes } => {
                format!("workload {workload} has ended, and its volumes leave: {}", join(volumes))
            }
            Event::VolumeDetached { volume } => format!("volume {volume} has left"),
            Event::TurnEnded { workload, outcome } => turn_over(workload, *outcome),
            Event::EvictionAskedAgain => "its workloads are asked to end again".into(),
            Event::DrainBegan { until, .. } => format!("its workloads are to end, and are waited for until {until}"),
            Event::DrainEnded { outcome } => drained(*outcome).into(),
            Event::StrayAttemptBegun { effect } => format!("the next attempt at removing instance {effect} began"),
        }
    }
}

/// Names in a row.
pub fn join<'a>(names: impl IntoIterator<Item = &'a Name>) -> String {
    names.into_iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

fn turn_over(workload: &Name, outcome: TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Done => format!("the turn of workload {workload} is over"),
        TurnOutcome::WorkloadStayed => format!("workload {workload} did not end in time, and is not waited for"),
        TurnOutcome::VolumesStayed => {
            format!("volumes of workload {workload} were not detached in time, and are not waited for")
        }
    }
}

fn until_in_words(until: Option<Timestamp>) -> String {
    until.map(|until| format!(" until {until}")).unwrap_or_default()
}

fn removal_in_words(removal: Removal) -> String {
    let keeping = if removal.keep_instance { ", and leave its instance" } else { "" };
    let forced = if removal.force { " without waiting for anything" } else { "" };
    format!("be removed{forced}{keeping}")
}

/// What would have happened to a machine that is held: "another attempt would have begun".
pub fn withheld(step: Step) -> &'static str {
    match step {
        Step::Attempt => "another attempt would have begun",
        Step::Replace => "its lost instance would have been replaced",
        Step::Create => "another instance would have been made",
        Step::GiveUp => "it would have been given up and replaced",
        Step::RemoveStray => "an instance that is not its own would have been removed",
    }
}

fn drained(outcome: DrainOutcome) -> &'static str {
    match outcome {
        DrainOutcome::Empty => "its workloads have ended",
        DrainOutcome::TimedOut => "its workloads did not end in time",
        DrainOutcome::Silent => "nobody says whether its workloads have ended",
        DrainOutcome::Forced => "an operator did not wait for its workloads",
    }
}

/// Why a machine is not well: "it never became well".
pub fn caused(cause: Cause) -> &'static str {
    match cause {
        Cause::NeverJoined => "it never became well",
        Cause::Unhealthy => "it is unhealthy",
        Cause::Silent => "its agent is silent",
    }
}

fn declared(spec: &Spec) -> String {
    let set = spec.set.as_ref().map(|set| format!(", as one of set {set}")).unwrap_or_default();
    let zone = match spec.siting() {
        Siting::Declared(zone) => format!(", in zone {zone}"),
        Siting::Provider | Siting::Spread { .. } => String::new(),
    };
    format!("with provider {} and {}{set}{zone}", spec.provider, count(spec.workloads.len(), "workload"))
}

/// What its instance is started with: "image ami-7 in machine 0, by model/default revision 2".
pub fn started_with(parameters: &StartParameters, cited: &[Cited]) -> String {
    let image = parameters.images.first().map(|image| format!("image {}", image.image));
    let agent = parameters.agent.as_ref().map(|agent| format!("agent {}", agent.version));
    let spaces: Vec<&str> = parameters.subnets.keys().map(|space| space.as_str()).collect();
    let spaces = (!spaces.is_empty()).then(|| format!("space {}", spaces.join(" and ")));
    let parts: Vec<String> = image.into_iter().chain(agent).chain(spaces).collect();
    let with = if parts.is_empty() { "what is declared".to_owned() } else { parts.join(", ") };
    let host = parameters.host.as_ref().map(|host| format!(" in machine {}", host.machine)).unwrap_or_default();
    let by = match cited {
        [] => String::new(),
        [one] => format!(", by {one}"),
        [first, ..] => format!(", by {first} and {} more", count(cited.len() - 1, "document")),
    };
    format!("{with}{host}{by}")
}

/// How far a call is: "booting, 40 %".
pub fn progress(text: &str, percent: Option<u8>) -> String {
    percent.map_or_else(|| text.to_owned(), |percent| format!("{text}, {percent} %"))
}

fn site(zone: Option<&Zone>) -> String {
    zone.map_or_else(|| "where its provider likes".into(), |zone| format!("in zone {zone}"))
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
        Report::Progress { text, percent, .. } => format!("its provider tells: {}", progress(text, *percent)),
        Report::Joined { token, .. } => format!("its agent joined with token {token}"),
        Report::StartedByOther { instance, nonce, .. } => {
            format!("instance {instance} was started by another control plane: its nonce is {nonce}")
        }
        Report::WorkloadEnded { workload, .. } => format!("workload {workload} does not run any more"),
        Report::Drained { .. } => "nothing runs inside any more".into(),
        Report::StrayDeleted { effect, attempt } => format!("attempt {attempt} removed instance {effect}"),
        Report::StrayDeleteFailed { effect, attempt, fault } => {
            format!("attempt {attempt} at removing instance {effect} failed ({fault})")
        }
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
        (all, []) => format!("{}, all good", count(all, "condition")),
        (_, bad) => bad.join(", "),
    }
}
