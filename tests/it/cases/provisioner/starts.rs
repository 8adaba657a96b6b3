//! Starting machines, one and many, and what is tried again.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::actors::{
    document::{Application, Content, ImageMetadata, Model, Space},
    machine::{Base, Command, Spec},
    ports::Operation,
    testing::{Answer, Asked, name},
    vocab::{FaultCode, SpaceWish},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        lab::{Lab, Making, fails, making},
        read,
    },
    policy, same,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartCase {
    retry_count: u32,
    retry_delay: u64,
    outcomes: Vec<String>,
    worker_stops_at: Option<u64>,
    expect: ExpectedStart,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedStart {
    start_calls_at: Vec<u64>,
    status: String,
    message: String,
    instance_recorded: bool,
    #[serde(default)]
    stop_calls: Vec<String>,
    #[serde(default)]
    orphan_journaled: bool,
}

/// The classes of the original's errors, as what a provider answers here.
const CODES: [(&str, FaultCode); 2] = [("retryable", FaultCode::Internal), ("fatal", FaultCode::InvalidArgument)];

/// How far it is, as the original says it.
const STATUSES: [(Making, &str); 3] =
    [(Making::Pending, "pending"), (Making::Started, "started"), (Making::Error, "error")];

fn answer(outcome: &str) -> Result<Answer, String> {
    if outcome == "ok" {
        return Ok(Answer::Done);
    }
    let (class, text) = outcome.split_once(':').unwrap_or((outcome, ""));
    let code = CODES.iter().find(|(known, _)| *known == class).map(|(_, code)| *code);
    Ok(fails(code.ok_or_else(|| format!("the runner does not know the outcome {outcome:?}"))?, text))
}

/// When it was started, in seconds.
fn starts_at(lab: &Lab, machine: &str) -> Vec<u64> {
    let (stream, asked) = (Lab::stream(machine), Asked::Operation(Operation::CreateMachine));
    let calls = lab.desk.provider.calls.iter();
    let starts = calls.filter(|call| call.asked == asked && call.stream.as_ref() == Some(&stream));
    starts.map(|call| lab.seconds(call.at)).collect()
}

pub(super) fn start_retry(case: &Value) -> Result<(), String> {
    let case: StartCase = read(case)?;
    let mut lab = Lab::new(policy(case.retry_count, case.retry_delay));
    lab.creates("1", case.outcomes.iter().map(|outcome| answer(outcome)).collect::<Result<Vec<_>, _>>()?);
    lab.declare("1", |_| ());
    match case.worker_stops_at {
        Some(seconds) => lab.run_until(lab.desk.now.after(seconds * 1_000)),
        None => lab.run_attempts(),
    }
    let state = lab.state("1");
    let fault = state.effort().and_then(|effort| effort.fault()).filter(|_| making(&state) == Making::Error);
    let status = STATUSES.iter().find(|(known, _)| *known == making(&state)).map(|(_, status)| *status);
    let got = ExpectedStart {
        start_calls_at: starts_at(&lab, "1"),
        status: status.unwrap_or_default().to_owned(),
        message: fault.map(|fault| fault.text.clone()).unwrap_or_default(),
        instance_recorded: making(&state) == Making::Started,
        stop_calls: Vec::new(),
        orphan_journaled: !state.strays.is_empty(),
    };
    same("start", case.expect, got)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransientCase {
    #[serde(rename = "api")]
    _api: String,
    machines: Vec<TransientMachine>,
    expect: ExpectedTransient,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransientMachine {
    id: String,
    status: String,
    #[serde(default)]
    transient: bool,
    instance: Option<String>,
    life: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedTransient {
    reset_to_pending_and_started: Vec<String>,
}

/// How often the original looks who failed so that it may pass.
const WATCH_MS: u64 = 60_000;

/// What failed so that it may pass, and what is not, after the time of the original's watch: who is started by that?
pub(super) fn transient_retry(case: &Value) -> Result<(), String> {
    let case: TransientCase = read(case)?;
    let mut lab = Lab::new(policy(0, 10));
    for machine in &case.machines {
        let first = match (&machine.instance, machine.status.as_str()) {
            (Some(_), _) => Answer::Done,
            (None, "error") if machine.transient => fails(FaultCode::Internal, "no"),
            (None, "error") => fails(FaultCode::InvalidArgument, "no"),
            (None, _) => Answer::Late,
        };
        lab.creates(&machine.id, [first]);
        lab.declare(&machine.id, |_| ());
        lab.desk.settle();
        if machine.life.as_deref().is_some_and(|life| life != "alive") {
            lab.desk.machine(&machine.id, Command::Remove);
            lab.desk.settle();
        }
    }
    let from = lab.desk.provider.calls.len();
    lab.run_until(lab.desk.now.after(WATCH_MS + 1));
    let asked = lab.desk.provider.calls[from..].iter();
    let starts = asked.filter(|call| call.asked == Asked::Operation(Operation::CreateMachine));
    let started = starts.filter_map(|call| Some(call.stream.as_ref()?.name().to_owned())).collect();
    same("transient", case.expect, ExpectedTransient { reset_to_pending_and_started: started })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchCase {
    pending: Vec<String>,
    fails: BTreeMap<String, String>,
    then: Option<String>,
    expect: ExpectedBatch,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedBatch {
    error_status: BTreeSet<String>,
    started: BTreeSet<String>,
    machine_2_start_at: Option<u64>,
}

/// What is missing for a machine, or how its provider answers, where a step of the original fails.
enum Lack {
    /// It is declared like this, and what it names is not there.
    Spec(fn(&mut Spec)),
    /// It hosts a unit of an application that is bound to a space which is not there.
    Unit,
    Answers(&'static [&'static str]),
}

const LACKS: [(&str, Lack); 7] = [
    ("provisioning_info", Lack::Spec(no_space)),
    ("instance_config", Lack::Spec(no_image)),
    ("find_tools", Lack::Spec(no_agent)),
    ("start_params", Lack::Spec(excluded_space)),
    ("distribution_group", Lack::Unit),
    ("start_fatal", Lack::Answers(&["fatal:no"])),
    ("start_retryable_for_30s", Lack::Answers(&["retryable:no", "retryable:no", "retryable:no", "retryable:no"])),
];

fn space(of: &str, is_excluded: bool) -> SpaceWish {
    SpaceWish { space: name(of), is_excluded }
}

fn base(channel: &str) -> Option<Base> {
    Some(Base { os: "ubuntu".into(), channel: channel.into() })
}

fn no_space(spec: &mut Spec) {
    spec.constraints.spaces = [space("nowhere", false)].into();
}

fn excluded_space(spec: &mut Spec) {
    spec.constraints.spaces = [space("here", false), space("here", true)].into();
}

fn no_image(spec: &mut Spec) {
    spec.base = base("none");
}

/// The base has an image, and no binary of the agent that the model wants.
fn no_agent(spec: &mut Spec) {
    spec.base = base("22.04");
}

/// The documents that there are: what a step lacks is not among them.
fn documents(lab: &mut Lab) {
    let image = ImageMetadata {
        base: base("22.04").expect("a base"),
        arch: "amd64".into(),
        region: None,
        stream: ImageMetadata::STREAM.into(),
        image: "image-1".into(),
        priority: 0,
        root_storage: None,
        virtualisation: None,
    };
    let bindings = [("db".to_owned(), name("nowhere"))].into();
    lab.desk.declare_document("here", Content::Space(Space::default()));
    lab.desk.declare_document("jammy", Content::ImageMetadata(image));
    lab.desk
        .declare_document("default", Content::Model(Model { agent_version: Some("4.0".into()), ..Model::default() }));
    lab.desk.declare_document("bound", Content::Application(Application { bindings, ..Application::default() }));
}

pub(super) fn batch_isolation(case: &Value) -> Result<(), String> {
    let case: BatchCase = read(case)?;
    let mut lab = Lab::new(policy(3, 10));
    documents(&mut lab);
    for id in &case.pending {
        let step = case.fails.get(id).map(String::as_str);
        let known = |step: &str| LACKS.iter().find(|(known, _)| *known == step).map(|(_, lack)| lack);
        match step
            .map(|step| known(step).ok_or_else(|| format!("the runner does not know the step {step:?}")))
            .transpose()?
        {
            None => lab.declare(id, |_| ()),
            Some(Lack::Spec(change)) => lab.declare(id, change),
            Some(Lack::Unit) => {
                lab.declare(id, |_| ());
                lab.desk.machine(id, Command::Assign { application: name("bound") });
            }
            Some(Lack::Answers(outcomes)) => {
                let answers: Vec<Answer> = outcomes.iter().map(|outcome| answer(outcome)).collect::<Result<_, _>>()?;
                lab.creates(id, answers);
                lab.declare(id, |_| ());
            }
        }
    }
    lab.run_attempts();
    match case.then.as_deref() {
        None => (),
        // After a restart everything is looked at once more.
        Some("restart") => lab.run_attempts(),
        Some(other) => return Err(format!("the runner does not know what {other:?} is")),
    }
    let is = |wanted: Making| move |id: &&String, lab: &Lab| making(&lab.state(id)) == wanted;
    let those = |wanted: Making| {
        let is = is(wanted);
        case.pending.iter().filter(|id| is(id, &lab)).cloned().collect::<BTreeSet<_>>()
    };
    let second = case.expect.machine_2_start_at.and_then(|_| starts_at(&lab, "2").first().copied());
    let (error_status, started) = (those(Making::Error), those(Making::Started));
    same("batch", &case.expect, &ExpectedBatch { error_status, started, machine_2_start_at: second })
}
