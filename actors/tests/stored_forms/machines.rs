//! Stored forms of machines and sets of machines.

use std::sync::Arc;

use bailiwick_actors::{
    machine, machine_set,
    ports::InstanceStatus,
    vocab::{Cited, FaultCode, InstanceId, Life, SizeMib, SpaceWish, Zone},
};
use bailiwick_journal::Version;

use super::{AT, clients, conditions, effect, fault, instance, machine_classes::copy, name, verdicts};
use crate::{Forms, forms};

pub(crate) fn machine() -> Forms {
    use machine::{
        Cause, Command, DrainOutcome, Event, Leaving, Reason, Rejection, Removal, Report, Skipped, Step, TurnOutcome,
        Workload,
    };
    let app = Workload {
        volumes: [name("data")].into(),
        priority: -1,
        grace_ms: Some(2),
        application: Some(name("shop")),
        ..Workload::new(name("app"), vec!["app".into()])
    };
    let spec = Arc::new(machine::Spec { workloads: vec![app], ..machine_spec() });
    let zone = || Zone("b".into());
    let volume = || name("data");
    let mut all = forms(
        "command",
        [
            Command::Remove,
            Command::RetryProvisioning,
            Command::ReserveAttachment { volume: volume() },
            Command::ReleaseAttachment { volume: volume() },
            Command::Wake { due: AT },
            Command::Report(Report::Created { attempt: 1, instance: instance(InstanceStatus::Running) }),
            Command::Report(Report::CreateFailed { attempt: 2, fault: fault(FaultCode::Unavailable) }),
            Command::Report(Report::Deleted { attempt: 3 }),
            Command::Report(Report::DeleteFailed { attempt: 4, fault: fault(FaultCode::NotFound) }),
            Command::Report(Report::Lost { effect: effect(1) }),
            Command::Report(Report::Node { effect: effect(1), conditions: conditions() }),
            Command::Report(Report::NodeSilent { effect: effect(1), last_seen: AT }),
            Command::Hold { reason: "looking at it".into(), until: Some(AT) },
            Command::Unhold,
            Command::RemoveWith(Removal { force: true, keep_instance: false, why: machine::RemovalReason::ScaleDown }),
            Command::Adopt { provider: name("local"), instance: instance(InstanceStatus::Running) },
            Command::Disown,
            Command::RemoveStray { provider: name("local"), instance: instance(InstanceStatus::Stopped) },
            Command::GiveUp { effect: effect(1) },
            Command::Reprieve { effect: effect(1) },
            Command::JudgeAnew { effect: effect(1), since: AT },
            Command::Protect { on: true },
            Command::KeepFailed { effect: effect(1) },
            Command::Keep { until: AT },
            Command::Unkeep,
            Command::Engage { set: name("db") },
            Command::Disengage { set: name("db") },
            Command::Site { effect: effect(1), zone: Some(zone()), round_is_new: true },
            Command::RefuseSite { effect: effect(1) },
            Command::Report(Report::StrayDeleted { effect: effect(1), attempt: 5 }),
            Command::Report(Report::StrayDeleteFailed {
                effect: effect(1),
                attempt: 6,
                fault: fault(FaultCode::OutOfRange),
            }),
            Command::Report(Report::Drained { effect: effect(1) }),
            Command::ReserveMount { filesystem: name("files") },
            Command::ReleaseMount { filesystem: name("files") },
            Command::Report(Report::Progress { effect: effect(1), text: "booting".into(), percent: Some(40) }),
            Command::Report(Report::Joined { effect: effect(1), token: "1f".into(), node: node() }),
            Command::Report(Report::NodeChanged { effect: effect(1), node: node() }),
            Command::Report(Report::StartedByOther {
                effect: effect(1),
                instance: InstanceId("i-9".into()),
                nonce: "somebody:else".into(),
            }),
            Command::TakeClass { effect: effect(1), copy: copy() },
            Command::Prepare { asked: Version(1), parameters: parameters(), config: None, cited: cited() },
            Command::Assign { application: name("shop") },
            Command::Unassign { application: name("shop") },
            Command::ReserveContainer { container: name("web-lxd-0") },
            Command::ReleaseContainer { container: name("web-lxd-0") },
            Command::NoteVolume { volume: name("data"), zone: zone() },
            Command::Prepare { asked: Version(1), parameters: parameters(), config: Some(config()), cited: cited() },
            Command::AllowEviction { effect: effect(1), workloads: [name("app")].into() },
            Command::RefuseEviction { effect: effect(1), workload: name("app"), budget: budget() },
            Command::Declare(spec.clone()),
            Command::NoteDetached { effect: effect(1), volume: volume() },
            Command::RemoveReturned { provider: name("local"), instance: instance(InstanceStatus::Running) },
            Command::Report(Report::WorkloadsEnded { effect: effect(1), workloads: [name("app")].into() }),
        ]
        .into_iter()
        .chain(unstartable().map(|why| Command::RefuseStart { asked: Version(1), why, cited: cited() }))
        .chain(clients::commands().map(Command::Client))
        .chain([Command::Report(Report::CreatedWith {
            attempt: 2,
            instance: instance(InstanceStatus::Running),
            network: clients::devices(),
            storage: clients::storage(),
        })]),
    );
    all.extend(forms(
        "event",
        [
            Event::CreateRequested { at: AT },
            Event::Created { instance: instance(InstanceStatus::Stopped), at: AT },
            Event::CreateRetryScheduled { until: AT, fault: fault(FaultCode::Aborted) },
            Event::CreateGivenUp { fault: fault(FaultCode::InvalidArgument), again: None },
            Event::DeleteRequested { at: AT },
            Event::Deleted,
            Event::DeleteRetryScheduled { until: AT, fault: fault(FaultCode::Internal) },
            Event::DeleteGivenUp { fault: fault(FaultCode::Unimplemented) },
            Event::AttemptBegun,
            Event::InstanceLost { at: AT },
            Event::NodeReported { conditions: conditions(), at: AT },
            Event::NodeWentStale { last_seen: AT },
            Event::AttachmentReserved { volume: volume() },
            Event::AttachmentReleased { volume: volume() },
            Event::NodeChanged { node: node(), at: AT },
            Event::RemovalExplained { why: machine::RemovalReason::Unhealthy },
            Event::RemovalBegan { at: AT },
            Event::Died,
            Event::Removed,
            Event::Held { reason: "looking at it".into(), until: Some(AT), at: AT },
            Event::HoldEnded,
            Event::Withheld { step: Step::Attempt, at: AT },
            Event::Withheld { step: Step::Replace, at: AT },
            Event::Withheld { step: Step::Create, at: AT },
            Event::Withheld { step: Step::RemoveStray, at: AT },
            Event::InstanceToStay,
            Event::Skipped { what: Skipped::Attachment { volume: volume() } },
            Event::Skipped { what: Skipped::DeletionOf { effect: effect(1) } },
            Event::InstanceLeft { effect: effect(1), why: Leaving::OperatorKeeps },
            Event::InstanceLeft { effect: effect(1), why: Leaving::PolicySpares },
            Event::InstanceLeft { effect: effect(1), why: Leaving::Forced },
            Event::InstanceLeft { effect: effect(1), why: Leaving::OfOther },
            Event::StartedByOther {
                effect: effect(1),
                instance: InstanceId("i-9".into()),
                nonce: "somebody:else".into(),
                at: AT,
            },
            Event::Adopted { instance: instance(InstanceStatus::Running), at: AT },
            Event::StrayFound {
                effect: effect(1),
                provider: name("local"),
                instance: Some(InstanceId("i-9".into())),
                at: AT,
            },
            Event::StrayGone { effect: effect(1) },
            Event::StrayRetryScheduled { effect: effect(1), until: AT, fault: fault(FaultCode::Internal) },
            Event::StrayGivenUp { effect: effect(1), fault: fault(FaultCode::Unimplemented) },
            Event::StrayAttemptBegun { effect: effect(1) },
            Event::Withheld { step: Step::GiveUp, at: AT },
            Event::JoinAwaited { until: AT, at: AT },
            Event::BecameWell { at: AT },
            Event::BecameSuspect { cause: Cause::NeverJoined, at: AT, until: AT },
            Event::BecameSuspect { cause: Cause::Unhealthy, at: AT, until: AT },
            Event::BecameSuspect { cause: Cause::Silent, at: AT, until: AT },
            Event::BecameOverdue { cause: Cause::Silent, until: AT, at: AT },
            Event::GivenUp { cause: Cause::Silent, at: AT },
            Event::DrainBegan { at: AT, until: AT, turns: turns() },
            Event::DrainEnded { outcome: DrainOutcome::Empty },
            Event::DrainEnded { outcome: DrainOutcome::TimedOut },
            Event::DrainEnded { outcome: DrainOutcome::Silent },
            Event::DrainEnded { outcome: DrainOutcome::Forced },
            Event::Engaged { set: name("db") },
            Event::Disengaged { set: name("db") },
            Event::Skipped { what: Skipped::Membership { set: name("db") } },
            Event::MountReserved { filesystem: name("files") },
            Event::MountReleased { filesystem: name("files") },
            Event::Skipped { what: Skipped::Mount { filesystem: name("files") } },
            Event::Sited { zone: Some(zone()), at: AT },
            Event::Progressed { text: "booting".into(), percent: Some(40), at: AT },
            Event::ZoneBlamed { zone: zone(), fault: fault(FaultCode::ResourceExhausted), until: Some(AT) },
            Event::ClassTaken { copy: copy() },
            Event::StartPrepared { parameters: parameters(), config: None, cited: cited(), at: AT },
            Event::UnitAssigned { application: name("shop") },
            Event::UnitUnassigned { application: name("shop") },
            Event::ContainerReserved { container: name("web-lxd-0") },
            Event::ContainerReleased { container: name("web-lxd-0") },
            Event::VolumeIsIn { volume: name("data"), zone: zone() },
            Event::StartPrepared { parameters: parameters(), config: Some(config()), cited: cited(), at: AT },
            Event::EvictionRefused { workload: name("app"), budget: budget(), until: AT },
            Event::EvictionAskedAgain { workload: name("app") },
            Event::AgentJoined { token: "1f".into(), node: node(), at: AT },
            Event::Skipped { what: Skipped::Container { container: name("web-lxd-0") } },
            Event::Declared { spec: spec.clone() },
            Event::SpecChanged { spec },
            Event::TurnBegan { workload: name("app"), is_forced: true, until: AT },
            Event::WorkloadEnded { workload: name("app"), volumes: [volume()].into() },
            Event::VolumeDetached { volume: volume() },
            Event::TurnEnded { workload: name("app"), outcome: TurnOutcome::Done },
            Event::TurnEnded { workload: name("app"), outcome: TurnOutcome::WorkloadStayed },
            Event::TurnEnded { workload: name("app"), outcome: TurnOutcome::VolumesStayed },
            Event::Protected { on: true },
            Event::LaidAside { until: AT, at: AT },
            Event::AsideEnded,
        ]
        .into_iter()
        .chain(unstartable().map(|why| Event::StartRefused { why, cited: cited(), at: AT }))
        .chain(clients::events().map(Event::Client)),
    ));
    let mut rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::Immutable { field: "spec.provider".into() },
        Rejection::StillReserved,
        Rejection::UnknownAttempt { attempt: 2 },
        Rejection::Held { reason: "looking at it".into() },
        Rejection::BadHold,
        Rejection::HasInstance { instance: InstanceId("i-1".into()) },
        Rejection::NoInstance,
        Rejection::Busy,
        Rejection::NotItsName { machine: name("db") },
        Rejection::OtherProvider { provider: name("simulated") },
        Rejection::NotRunning,
        Rejection::BeingRemoved,
        Rejection::ClassOfOtherProvider { class: name("small"), provider: name("simulated") },
        Rejection::VolumesApart { volume: name("data"), zone: zone(), other: name("logs"), here: Zone("b".into()) },
        Rejection::VolumeElsewhere { volume: name("data"), zone: zone() },
        Rejection::OtherNonce { nonce: "somebody:else".into() },
        Rejection::HoldOver,
        Rejection::Protected,
        Rejection::NothingToKeep,
        Rejection::KeepOver,
    ];
    rejections.extend(clients::refusals().map(Rejection::Client));
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<machine::State>(Reason::ALL, rejections));
    all
}

fn cited() -> Vec<Cited> {
    vec![Cited { document: "space/inner".parse().expect("a stream"), revision: 3 }]
}

fn turns() -> Vec<machine::TurnPlan> {
    vec![machine::TurnPlan { workload: name("app"), volumes: [name("data")].into(), wave: 1, grace_ms: 2 }]
}

fn budget() -> machine::BudgetSeen {
    machine::BudgetSeen { application: name("shop"), available: 1, needed: 2, others: 3 }
}

fn node() -> Box<machine::NodeFacts> {
    let spec = machine_spec();
    Box::new(machine::NodeFacts {
        agent_version: "0.1.0".into(),
        arch: "x86_64".into(),
        cores: 2,
        memory: SizeMib(1024),
        disk: SizeMib(2048),
        labels: spec.labels,
        annotations: spec.annotations,
        taints: spec.taints,
    })
}

fn config() -> Box<machine::InstanceConfig> {
    Box::new(machine::InstanceConfig {
        ca_certificate: Some("-----BEGIN CERTIFICATE-----".into()),
        image_stream: "daily".into(),
        image_signing_key: Some("key".into()),
        skips_certificate_check: true,
    })
}

/// What a machine is started with, with something in every field.
fn parameters() -> Box<machine::StartParameters> {
    use machine::{StartAgent, StartHost, StartImage, StartParameters};
    let spec = machine_spec();
    let zone = || Zone("a".into());
    let image = StartImage {
        image: "ami-1".into(),
        arch: "arm64".into(),
        region: Some("north".into()),
        stream: "released".into(),
        root_storage: Some("ssd".into()),
        virtualisation: Some("hvm".into()),
    };
    let agent = StartAgent {
        version: "1.2.3".into(),
        sha256: "0f".repeat(32),
        location: "https://binaries.example/agent".into(),
    };
    let host =
        StartHost { machine: name("host"), effect: effect(2), instance: InstanceId("i-2".into()), zone: Some(zone()) };
    Box::new(StartParameters {
        constraints: spec.constraints,
        images: vec![image],
        agent: Some(agent),
        tags: spec.tags,
        zones: [zone()].into(),
        subnets: [(name("inner"), [(name("inner-a"), [zone()].into())].into())].into(),
        bindings: [("shop:db".to_owned(), name("inner"))].into(),
        spread: Some(name("shop")),
        group: [name("db")].into(),
        volumes: [name("data")].into(),
        api_addresses: vec!["10.0.0.1:17070".into()],
        host: Some(host),
    })
}

/// Every reason why a machine cannot be started.
fn unstartable() -> [machine::Unstartable; 9] {
    use machine::{Base, Unstartable};
    let base = || Base { os: "ubuntu".into(), channel: "22.04/stable".into() };
    let (arch, stream) = (|| "amd64".to_owned(), "released".to_owned());
    [
        Unstartable::NoSpace { space: name("inner") },
        Unstartable::EmptySpace { space: name("inner") },
        Unstartable::SpaceExcluded { space: name("inner") },
        Unstartable::NoCommonZone { spaces: [name("inner")].into() },
        Unstartable::NoImage { base: base(), arch: arch(), stream },
        Unstartable::NoAgentBinary { version: "1.2.3".into(), base: base(), arch: arch() },
        Unstartable::NoHost { host: name("host") },
        Unstartable::HostLeaving { host: name("host") },
        Unstartable::HostNotThere { host: name("host") },
    ]
}

/// A machine with something in every field.
fn machine_spec() -> machine::Spec {
    use machine::{Base, Constraints, Job, Placement, Spec, rules};
    let text = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
    let effects = [rules::TaintEffect::NoSchedule, rules::TaintEffect::PreferNoSchedule, rules::TaintEffect::NoExecute];
    let taint = |effect| rules::Taint { key: "gpu".into(), value: "yes".into(), effect };
    Spec {
        labels: text("tier", "front"),
        annotations: text("owner", "clerk"),
        taints: effects.map(taint).to_vec(),
        tags: text("cost", "7"),
        constraints: Constraints {
            arch: Some("arm64".into()),
            cores: Some(4),
            memory: Some(SizeMib(2048)),
            root_disk: Some(SizeMib(4096)),
            instance_type: Some("large".into()),
            zones: [Zone("a".into()), Zone("b".into())].into(),
            spaces: [SpaceWish { is_excluded: false, space: name("inner") }].into(),
        },
        placement: Some(Placement { key: "host".into(), value: "rack-7".into() }),
        base: Some(Base { os: "ubuntu".into(), channel: "22.04/stable".into() }),
        jobs: [Job::HostUnits, Job::ManageModel].into(),
        parent: Some(name("host")),
        zone: Some(Zone("b".into())),
        spread: Some("tier".into()),
        class: Some(name("small")),
        set: Some(name("fleet")),
        patience: rules::Overrides {
            creation_timeout_ms: Some(1),
            health_timeout_ms: Some(2),
            drain_timeout_ms: Some(3),
            evictions_max: Some(4),
            node_conditions: Some(["DiskPressure".to_owned()].into()),
            keep_failed_ms: Some(5),
        },
        storage: super::storage::claims(),
        ..Spec::with_provider(name("local"))
    }
}

pub(crate) fn machine_set() -> Forms {
    use machine_set::{Change, Command, Event, Plan, Reason, Rejection, Spec, pass};
    let spec = Spec {
        replicas: 3,
        template: Arc::new(machine_spec()),
        priorities: [(name("web-1"), -1)].into(),
        deployment: Some(name("shop")),
    };
    let plan = |change| Plan { stale: vec!["web-9".into()], change };
    let changes = || [Change::Nothing, Change::HeldByFreeze, Change::Create(2), Change::Remove(vec!["web-1".into()])];
    let begin = |change| Command::BeginPass { plan: plan(change), names: vec![name("web-2")] };
    let mut commands = vec![
        Command::Declare(spec.clone()),
        Command::Remove,
        Command::Wake { due: AT },
        Command::ReportRemovals { told: vec![(name("web-1"), true)] },
        Command::ReportBatch { failed: 1 },
        Command::ReportEmpty,
        Command::ReportMachines { machines: 8, room: Some(4) },
        Command::Thaw,
        Command::Hold { reason: "audit".into(), until: Some(AT) },
        Command::Unhold,
        Command::RemoveOwned,
        Command::Protect { on: true },
    ];
    commands.extend(changes().map(begin));
    let mut all = forms("command", commands);
    let mut events = vec![
        Event::Declared { spec: spec.clone() },
        Event::SpecChanged { spec },
        Event::RemovalBegan,
        Event::Removed,
        Event::Named { names: vec![name("web-2")] },
        Event::Pass(pass::Event::PassBegan(plan(Change::Nothing))),
        Event::Pass(pass::Event::RemovalAccepted { name: "web-1".into() }),
        Event::Pass(pass::Event::RemovalFailed { name: "web-1".into() }),
        Event::Pass(pass::Event::ChangeBegan(Change::Create(1))),
        Event::Pass(pass::Event::BatchMade { failed: 1 }),
        Event::Pass(pass::Event::PassEnded { has_failed: true }),
        Event::Resting { until: AT },
        Event::Rested,
        Event::Frozen { machines: 8, bound: 8, at: AT },
        Event::Thawed { spares: 8 },
        Event::Held { reason: "audit".into(), until: Some(AT), at: AT },
        Event::HoldEnded,
        Event::Protected { on: true },
    ];
    events.extend(changes().map(|change| Event::Pass(pass::Event::ChangeBegan(change))));
    all.extend(forms("event", events));
    let rejections = vec![
        Rejection::NotDeclared,
        Rejection::Leaving { life: Life::Dying },
        Rejection::TooMany { most: 7 },
        Rejection::BadTemplate,
        Rejection::Owned { deployment: name("shop") },
        Rejection::BadHold,
        Rejection::HoldOver,
        Rejection::Held { reason: "audit".into() },
        Rejection::Protected,
    ];
    drop(forms("rejection", rejections.clone()));
    all.extend(verdicts::<machine_set::State>(Reason::ALL, rejections));
    all
}
