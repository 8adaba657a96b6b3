//! Machines in words.

use bailiwick_actors::{
    machine::{
        BudgetSeen, Cause, Command, DrainOutcome, Event, NodeFacts, Removal, RemovalReason, Report, Skipped, Spec,
        StartParameters, State, Step, TurnOutcome, TurnPlan, ZoneRule, juju::CLIENT,
    },
    ports::{Condition, Healthy},
    supervisor::machines::PROVIDER,
    vocab::{Cited, Name, Timestamp, Zone},
};

use super::{Words, clients, count, gave_up, protection, protection_asked};

impl Words for State {
    fn asked(command: &Command) -> String {
        match command {
            Command::Declare(spec) => format!("declare {}", declared(spec)),
            Command::Site { zone, .. } => format!("create {}", site(zone.as_ref())),
            Command::RefuseSite { .. } => "give up: none of its allowed zones exists".into(),
            Command::TakeClass { copy, .. } => format!("use class {copy}"),
            Command::Prepare { parameters, cited, .. } => format!("start with {}", started_with(parameters, cited)),
            Command::AllowEviction { workloads, .. } if workloads.len() == 1 => {
                format!("stop workload {}", join(workloads))
            }
            Command::AllowEviction { workloads, .. } => format!("stop workloads {}", join(workloads)),
            Command::RefuseEviction { workload, budget, .. } => {
                format!("keep workload {workload} running for now: {}", short_of(budget))
            }
            Command::NoteDetached { volume, .. } => format!("continue: volume {volume} is detached"),
            Command::RefuseStart { why, .. } => format!("delay the start: {why}"),
            Command::Assign { application } => format!("assign a unit of application {application}"),
            Command::Unassign { application } => format!("unassign the unit of application {application}"),
            Command::ReserveContainer { container } => format!("host machine {container}"),
            Command::ReleaseContainer { container } => format!("stop hosting machine {container}"),
            Command::Remove => "remove".into(),
            Command::Protect { on } => protection_asked(*on).into(),
            Command::RetryProvisioning => "retry".into(),
            Command::ReserveAttachment { volume } => format!("reserve an attachment for volume {volume}"),
            Command::ReleaseAttachment { volume } => format!("no longer reserve an attachment for volume {volume}"),
            Command::NoteVolume { volume, zone } => format!("record that volume {volume} is in zone {zone}"),
            Command::ReserveMount { filesystem } => format!("reserve a mount for filesystem {filesystem}"),
            Command::ReleaseMount { filesystem } => format!("no longer reserve a mount for filesystem {filesystem}"),
            Command::Wake { due } => format!("run the step that was due at {due}"),
            Command::Report(report) => reported(report, "agent"),
            Command::Hold { reason, until } => format!("hold{}: {reason}", until_in_words(*until)),
            Command::Unhold => "unhold".into(),
            Command::RemoveWith(removal) => removal_in_words(*removal),
            Command::Adopt { instance, .. } => format!("adopt instance {}", instance.instance),
            Command::Disown => "disown its instance".into(),
            Command::Reprieve { .. } => "allow more time to become healthy".into(),
            Command::JudgeAnew { .. } => "restart its recovery time".into(),
            Command::GiveUp { .. } => "give up its instance and replace it".into(),
            Command::KeepFailed { .. } => "give it up and keep its instance for diagnosis".into(),
            Command::Keep { until } => format!("keep it for diagnosis until {until}"),
            Command::Unkeep => "no longer keep it for diagnosis".into(),
            Command::Client(command) => clients::asked(command),
            Command::Engage { set } => format!("stay until replica set {set} has removed its member"),
            Command::Disengage { set } => format!("no longer wait for replica set {set}"),
            Command::RemoveStray { instance, .. } => format!("delete stray instance {}", instance.instance),
            Command::RemoveReturned { instance, .. } => {
                format!("delete instance {} again: its provider still lists it", instance.instance)
            }
        }
    }

    fn asked_by(command: &Command, principal: &str) -> String {
        match command {
            // No agent runs workloads there: the node knows that, and the provider was not asked.
            Command::Report(Report::WorkloadsEnded { workloads, .. }) if principal.starts_with(PROVIDER) => {
                format!("no agent there runs {}", join(workloads))
            }
            Command::Report(Report::Drained { .. }) if principal.starts_with(PROVIDER) => {
                "no agent there runs workloads".into()
            }
            Command::Report(report) => reported(report, &teller(principal)),
            other => Self::asked(other),
        }
    }

    fn happened_by(event: &Event, principal: &str) -> String {
        match event {
            Event::NodeReported { conditions, .. } => changed(conditions, &teller(principal)),
            Event::Created { instance, .. } if principal.starts_with(CLIENT) => {
                format!("client created instance {}", instance.instance)
            }
            Event::Deleted if principal.starts_with(CLIENT) => "client deleted the instance".into(),
            other => Self::happened(other),
        }
    }

    fn happened(event: &Event) -> String {
        match event {
            Event::Declared { spec } => format!("declared {}", declared(spec)),
            Event::Progressed { text, percent, .. } => {
                format!("provider reported progress: {}", progress(text, *percent))
            }
            Event::Sited { zone, .. } => format!("will be created {}", site(zone.as_ref())),
            Event::ClassTaken { copy } => format!("uses class {copy}"),
            Event::StartPrepared { parameters, cited, .. } => {
                format!("starts with {}", started_with(parameters, cited))
            }
            Event::StartRefused { why, .. } => format!("cannot start yet: {why}"),
            Event::UnitAssigned { application } => format!("unit of application {application} assigned"),
            Event::UnitUnassigned { application } => format!("unit of application {application} unassigned"),
            Event::ContainerReserved { container } => format!("hosts machine {container}"),
            Event::ContainerReleased { container } => format!("no longer hosts machine {container}"),
            Event::Skipped { what } => skipped(what),
            Event::ZoneBlamed { zone, fault, until } => {
                let later = until.map(|until| format!("; the next zone is tried at {until}")).unwrap_or_default();
                format!("creating it in zone {zone} failed ({fault}){later}")
            }
            Event::SpecChanged { spec } => format!("declaration changed: {}", declared(spec)),
            Event::CreateRequested { .. } => "requested a new instance".into(),
            Event::Created { instance, .. } => format!("provider created instance {}", instance.instance),
            Event::CreateRetryScheduled { until, fault } => {
                format!("creating the instance failed ({fault}); next attempt at {until}")
            }
            Event::CreateGivenUp { fault, again } => gave_up("gave up creating the instance", fault, *again),
            Event::DeleteRequested { .. } => "requested the deletion of its instance".into(),
            Event::Deleted => "provider deleted the instance".into(),
            Event::DeleteRetryScheduled { until, fault } => {
                format!("deleting the instance failed ({fault}); next attempt at {until}")
            }
            Event::DeleteGivenUp { fault } => format!("gave up deleting the instance ({fault})"),
            Event::AttemptBegun => "started the next attempt".into(),
            Event::InstanceLost { .. } => "instance lost".into(),
            Event::NodeReported { conditions, .. } => changed(conditions, "agent"),
            Event::AgentJoined { token, node, .. } => {
                format!("agent {} joined with token {token}", node.agent_version)
            }
            Event::NodeChanged { node, .. } => format!("agent reported its node: {}", node_in_words(node)),
            Event::NodeWentStale { last_seen } => format!("no health report since {last_seen}"),
            Event::AttachmentReserved { volume } => format!("reserved an attachment for volume {volume}"),
            Event::AttachmentReleased { volume } => format!("no longer reserves an attachment for volume {volume}"),
            Event::VolumeIsIn { volume, zone } => {
                format!("must be created in zone {zone}, where volume {volume} is")
            }
            Event::MountReserved { filesystem } => format!("reserved a mount for filesystem {filesystem}"),
            Event::MountReleased { filesystem } => format!("no longer reserves a mount for filesystem {filesystem}"),
            Event::RemovalExplained { why } => format!("removed because {why}"),
            Event::RemovalBegan { .. } => "removal started".into(),
            Event::Died => "nothing depends on it any more".into(),
            Event::Removed => "removed".into(),
            Event::Protected { on } => protection(*on).into(),
            Event::Held { reason, until, .. } => format!("held{}: {reason}", until_in_words(*until)),
            Event::HoldEnded => "hold ended".into(),
            Event::LaidAside { until, .. } => format!("out of service, kept for diagnosis until {until}"),
            Event::AsideEnded => "no longer kept for diagnosis".into(),
            Event::Client(event) => clients::happened(event),
            Event::Withheld { step, .. } => format!("{} was held back", withheld(*step)),
            Event::InstanceToStay => "its instance will be kept".into(),
            Event::Engaged { set } => format!("hosts a member of replica set {set}; stays until the member is removed"),
            Event::Disengaged { set } => format!("replica set {set} no longer needs it"),
            Event::StartedByOther { instance, nonce, .. } => {
                format!("left instance {instance} alone: another control plane started it (nonce {nonce})")
            }
            Event::InstanceLeft { effect, .. } => format!("disowned instance {effect}, which keeps running"),
            Event::Adopted { instance, .. } => format!("adopted instance {}", instance.instance),
            Event::StrayFound { effect, instance, .. } => match instance {
                Some(instance) => format!("requested the deletion of stray instance {instance}"),
                None => format!("requested the deletion of stray instance {effect}"),
            },
            Event::StrayGone { effect } => format!("stray instance {effect} is gone"),
            Event::StrayRetryScheduled { effect, until, fault } => {
                format!("deleting stray instance {effect} failed ({fault}); next attempt at {until}")
            }
            Event::StrayGivenUp { effect, fault } => format!("gave up deleting stray instance {effect} ({fault})"),
            Event::JoinAwaited { until, .. } => format!("has until {until} to become healthy"),
            Event::BecameWell { .. } => "became healthy".into(),
            Event::BecameSuspect { cause, until, .. } => {
                format!("{}; it will be given up at {until} unless it recovers", caused(*cause))
            }
            Event::BecameOverdue { cause, .. } => format!("its time ran out: {}", caused(*cause)),
            Event::GivenUp { cause, .. } => format!("gave up the instance: {}", caused(*cause)),
            Event::EvictionRefused { workload, budget, until } => {
                format!("workload {workload} keeps running: {}; next check at {until}", short_of(budget))
            }
            Event::TurnBegan { workload, is_forced: false, until } => {
                format!("stopping workload {workload}; it has until {until} to stop")
            }
            Event::TurnBegan { workload, is_forced: true, until } => {
                format!(
                    "stopping workload {workload} although its disruption budget is used up; it has until {until} to stop"
                )
            }
            Event::WorkloadEnded { workload, volumes } if volumes.is_empty() => format!("workload {workload} stopped"),
            Event::WorkloadEnded { workload, volumes } => {
                format!("workload {workload} stopped; detaching its volumes: {}", join(volumes))
            }
            Event::VolumeDetached { volume } => format!("volume {volume} detached"),
            Event::TurnEnded { workload, outcome } => turn_over(workload, *outcome),
            Event::EvictionAskedAgain { workload } => format!("asked again to stop workload {workload}"),
            Event::DrainBegan { until, turns, .. } => drain_began(*until, turns),
            Event::DrainEnded { outcome } => drained(*outcome).into(),
            Event::StrayAttemptBegun { effect } => {
                format!("started the next attempt to delete stray instance {effect}")
            }
        }
    }
}

/// Where the order matters, it is told.
fn drain_began(until: Timestamp, turns: &[TurnPlan]) -> String {
    let has_order = turns.iter().any(|turn| 0 < turn.wave || !turn.volumes.is_empty());
    let order = has_order.then(|| format!(", in this order: {}", join(turns.iter().map(|turn| &turn.workload))));
    format!("drain started: workloads must stop by {until}{}", order.unwrap_or_default())
}

/// Names in a row.
pub fn join<'a>(names: impl IntoIterator<Item = &'a Name>) -> String {
    names.into_iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

/// What a forced removal did not wait for.
fn skipped(what: &Skipped) -> String {
    match what {
        Skipped::Container { container } => format!("did not wait for machine {container}, which it hosts"),
        Skipped::Attachment { volume } => format!("did not wait for volume {volume} to detach"),
        Skipped::Mount { filesystem } => {
            format!("did not wait for filesystem {filesystem} to unmount; it may still be mounted")
        }
        Skipped::DeletionOf { effect } => {
            format!("did not wait for instance {effect} to be deleted; it may be an orphan")
        }
        Skipped::Membership { set } => format!("did not wait for replica set {set}, which may have lost a voter"),
    }
}

fn turn_over(workload: &Name, outcome: TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Done => format!("workload {workload} stopped, and its volumes detached"),
        TurnOutcome::WorkloadStayed => format!("workload {workload} did not stop in time; continuing without it"),
        TurnOutcome::VolumesStayed => {
            format!("volumes of workload {workload} did not detach in time; continuing without them")
        }
    }
}

/// Why a budget has no room: "application web needs 2 of its other machines healthy, and has 1".
pub(crate) fn short_of(budget: &BudgetSeen) -> String {
    let BudgetSeen { application, needed, available, others } = budget;
    if budget.is_hopeless() {
        let others = count(*others as usize, "other machine");
        return format!(
            "application {application} needs {needed} and has only {others}; lower its minAvailable or add machines"
        );
    }
    format!("application {application} needs {needed} of its other machines healthy, and has {available}")
}

pub(super) fn until_in_words(until: Option<Timestamp>) -> String {
    until.map(|until| format!(" until {until}")).unwrap_or_default()
}

fn removal_in_words(removal: Removal) -> String {
    let forced = if removal.force { " without waiting" } else { "" };
    let keeping = if removal.keep_instance { " and keep its instance" } else { "" };
    let why = if removal.why == RemovalReason::default() { String::new() } else { format!(": {}", removal.why) };
    format!("remove{forced}{keeping}{why}")
}

/// What a node has that somebody may have put there: "2 labels, taint dedicated".
fn node_in_words(node: &NodeFacts) -> String {
    let taints: Vec<&str> = node.taints.iter().map(|taint| taint.key.as_str()).collect();
    let tainted = match taints.as_slice() {
        [] => "no taints".to_owned(),
        taints => format!("tainted {}", taints.join(", ")),
    };
    let (labels, annotations) = (count(node.labels.len(), "label"), count(node.annotations.len(), "annotation"));
    format!("{labels}, {annotations}, {tainted}")
}

/// What a hold keeps from happening: "a retry".
pub fn withheld(step: Step) -> &'static str {
    match step {
        Step::Attempt => "a retry",
        Step::Replace => "the replacement of its lost instance",
        Step::Create => "the creation of a new instance",
        Step::GiveUp => "its replacement",
        Step::RemoveStray => "the deletion of a stray instance",
    }
}

fn drained(outcome: DrainOutcome) -> &'static str {
    match outcome {
        DrainOutcome::Empty => "drained: all workloads stopped",
        DrainOutcome::TimedOut => "drain timed out: workloads are still running",
        DrainOutcome::Silent => "drain ended: the agent does not say whether workloads are running",
        DrainOutcome::Forced => "drain skipped by an operator",
    }
}

/// Why a machine is not healthy: "it never became healthy".
pub fn caused(cause: Cause) -> &'static str {
    match cause {
        Cause::NeverJoined => "it has not become healthy",
        Cause::Unhealthy => "it is unhealthy",
        Cause::Silent => "its health reports stopped",
    }
}

fn declared(spec: &Spec) -> String {
    let set = spec.set.as_ref().map(|set| format!(", set {set}")).unwrap_or_default();
    let zone = match spec.zone_rule() {
        ZoneRule::Declared(zone) => format!(", zone {zone}"),
        ZoneRule::Provider | ZoneRule::Spread { .. } => String::new(),
    };
    format!("with provider {}, {}{set}{zone}", spec.provider, count(spec.workloads.len(), "workload"))
}

/// What its instance is started with: "image ami-7 (from model/default revision 2), in machine 0".
pub fn started_with(parameters: &StartParameters, cited: &[Cited]) -> String {
    let image = parameters.images.first().map(|image| format!("image {}", image.image));
    let agent = parameters.agent.as_ref().map(|agent| format!("agent {}", agent.version));
    let spaces: Vec<&str> = parameters.subnets.keys().map(|space| space.as_str()).collect();
    let spaces = (!spaces.is_empty()).then(|| format!("space {}", spaces.join(" and ")));
    let parts: Vec<String> = image.into_iter().chain(agent).chain(spaces).collect();
    let with = if parts.is_empty() { "its declaration".to_owned() } else { parts.join(", ") };
    let host = parameters.host.as_ref().map(|host| format!(", in machine {}", host.machine)).unwrap_or_default();
    let by = match cited {
        [] => String::new(),
        [one] => format!(" (from {one})"),
        [first, ..] => format!(" (from {first} and {} more)", count(cited.len() - 1, "document")),
    };
    format!("{with}{by}{host}")
}

/// How far a call is: "booting (40%)".
pub fn progress(text: &str, percent: Option<u8>) -> String {
    percent.map_or_else(|| text.to_owned(), |percent| format!("{text} ({percent}%)"))
}

fn site(zone: Option<&Zone>) -> String {
    zone.map_or_else(|| "in a zone of its provider's choice".into(), |zone| format!("in zone {zone}"))
}

fn changed(conditions: &[Condition], teller: &str) -> String {
    format!("{teller} reported: {} (changed)", conditions_in_words(conditions))
}

/// Who says how the inside of a machine is: its agent, or its provider in the place of one.
fn teller(principal: &str) -> String {
    principal.strip_prefix(PROVIDER).map_or_else(|| "agent".into(), |provider| format!("provider {provider}"))
}

fn reported(report: &Report, teller: &str) -> String {
    match report {
        Report::Created { attempt, instance } => {
            format!("provider created instance {} (attempt {attempt})", instance.instance)
        }
        Report::CreatedWith { attempt, instance, network, storage } => {
            let devices = (!network.is_empty()).then(|| count(network.len(), "network device"));
            let volumes = (!storage.is_empty()).then(|| clients::volumes(storage));
            let beside: Vec<String> = devices.into_iter().chain(volumes).collect();
            format!("provider created instance {} with {} (attempt {attempt})", instance.instance, beside.join(" and "))
        }
        Report::CreateFailed { attempt, fault } => format!("creating the instance failed (attempt {attempt}): {fault}"),
        Report::Deleted { attempt } => format!("provider deleted the instance (attempt {attempt})"),
        Report::DeleteFailed { attempt, fault } => format!("deleting the instance failed (attempt {attempt}): {fault}"),
        Report::Lost { .. } => "instance is gone".into(),
        Report::Node { conditions, .. } => format!("{teller} reported: {}", conditions_in_words(conditions)),
        Report::NodeSilent { last_seen, .. } => format!("no health report since {last_seen}"),
        Report::Progress { text, percent, .. } => format!("provider reported progress: {}", progress(text, *percent)),
        Report::Joined { token, .. } => format!("agent joined with token {token}"),
        Report::NodeChanged { node, .. } => format!("agent reported its node: {}", node_in_words(node)),
        Report::StartedByOther { instance, nonce, .. } => {
            format!("another control plane started instance {instance} (nonce {nonce})")
        }
        Report::WorkloadsEnded { workloads, .. } => format!("agent reported: stopped {}", join(workloads)),
        Report::Drained { .. } => "agent reported: all workloads stopped".into(),
        Report::StrayDeleted { effect, attempt } => {
            format!("provider deleted stray instance {effect} (attempt {attempt})")
        }
        Report::StrayDeleteFailed { effect, attempt, fault } => {
            format!("deleting stray instance {effect} failed (attempt {attempt}): {fault}")
        }
    }
}

fn standing(healthy: Healthy) -> &'static str {
    match healthy {
        Healthy::Yes => "healthy",
        Healthy::No => "unhealthy",
        Healthy::Unknown => "unknown",
    }
}

fn conditions_in_words(conditions: &[Condition]) -> String {
    let bad: Vec<String> = conditions
        .iter()
        .filter(|condition| !condition.healthy.is_yes())
        .map(|condition| format!("{} {} ({})", condition.kind, standing(condition.healthy), condition.text))
        .collect();
    match (conditions, bad.as_slice()) {
        ([], _) => "running, no conditions".into(),
        ([only], []) => format!("{} healthy", only.kind),
        ([_, _], []) => "both conditions healthy".into(),
        (all, []) => format!("all {} conditions healthy", all.len()),
        (_, bad) => bad.join(", "),
    }
}
