//! What is done next for a machine in a certain state, and what harvesting does with its instance.

use bailiwick::{
    actors::{
        machine::{Command, Removal},
        policy::WhenLost,
        testing::{Answer, name},
        vocab::{FaultCode, HarvestMode, Life},
    },
    manifest::{self, Known, Manifest, Source, Wish},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{
        lab::{Lab, fails, is_over, stranger},
        read,
    },
    policy, same,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassCase {
    machine_id: String,
    life: String,
    instance_id: String,
    status: String,
    instance_status: Option<String>,
    expect: ExpectedClass,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ExpectedClass {
    class: String,
    ensure_dead_called: bool,
    error: Option<String>,
}

/// What had become of a machine's instance.
#[derive(Clone, Copy)]
enum Past {
    Runs,
    IsMade,
    GivenUp,
    /// It ran, and has gone.
    Lost,
}

/// What the original knows (an instance, the agent's status, the instance's status) as a machine's past; blank is any.
const PASTS: [(&str, &str, &str, Past); 6] = [
    ("present", "", "", Past::Runs),
    ("not_provisioned", "pending", "", Past::IsMade),
    ("not_provisioned", "", "provisioning", Past::IsMade),
    ("not_provisioned", "error", "", Past::GivenUp),
    ("not_provisioned", "started", "", Past::Lost),
    ("not_provisioned", "down", "", Past::Lost),
];

pub(super) fn class(case: &Value) -> Result<(), String> {
    let case: ClassCase = read(case)?;
    let told = |row: &str, value: &str| row.is_empty() || row == value;
    let instance_status = case.instance_status.as_deref().unwrap_or_default();
    let past = PASTS.iter().find(|(instance, status, made, _)| {
        *instance == case.instance_id && told(status, &case.status) && told(made, instance_status)
    });
    let (.., past) = past.ok_or("the runner does not know this past")?;
    let (mut lab, machine) = (lab_with(*past, &case.machine_id), Lab::name(&case.machine_id));
    match case.life.as_str() {
        "alive" => (),
        // Whoever has an instance and is dying has something inside that has not ended.
        "dying" => {
            if lab.state(&machine).running_effect().is_some() {
                lab.desk.machine(&machine, Command::ReserveAttachment { volume: name("inside") });
            }
        }
        "dead" => drop(lab.desk.machine(&machine, Command::Remove)),
        other => return Err(format!("the runner does not know the life {other:?}")),
    }
    let was_over = is_over(&lab.state(&machine));
    if case.life == "dying" {
        lab.desk.machine(&machine, Command::Remove);
    }
    let state = lab.state(&machine);
    let class = match state.life {
        Life::Dead | Life::Removed => "Dead",
        _ if lab.owes_a_create(&machine) => "Pending",
        _ => "None",
    };
    let ensure_dead_called = is_over(&state) && !was_over;
    same("class", case.expect, ExpectedClass { class: class.into(), ensure_dead_called, error: None })
}

/// A lab in which a machine has this past.
fn lab_with(past: Past, id: &str) -> Lab {
    let (mut lab, machine) = (Lab::new(policy(0, 10)), Lab::name(id));
    let answer = match past {
        Past::Runs | Past::Lost => Answer::Done,
        Past::IsMade => Answer::Late,
        Past::GivenUp => fails(FaultCode::InvalidArgument, "no"),
    };
    lab.creates(&machine, [answer]);
    lab.declare(&machine, |_| ());
    lab.desk.settle();
    if matches!(past, Past::Lost) {
        assert_eq!(lab.desk.policy().machines.when_lost, WhenLost::Keep, "nothing is made in its place");
        lab.desk.lose(&machine);
        lab.desk.settle();
    }
    lab
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ModeRow {
    mode: String,
    stops_dead_machines_instances: bool,
    stops_unknown_instances: bool,
    removes_dead_machines: bool,
}

pub(super) fn mode(text: &str) -> Result<HarvestMode, String> {
    text.parse().map_err(|error| format!("{error}"))
}

pub(super) fn harvest_mode(case: &Value) -> Result<(), String> {
    let case: ModeRow = read(case)?;
    let mut policy = policy(0, 10);
    policy.harvest.mode = mode(&case.mode)?;
    let mut lab = Lab::new(policy);
    lab.declare("1", |_| ());
    lab.desk.settle();
    let own = lab.state("1").running_effect().ok_or("it runs")?;
    let unknown = stranger("999", "i-999");
    lab.desk.provider.instances.insert(unknown.effect, unknown.clone());
    lab.search();
    let stops_unknown_instances = !lab.desk.provider.instances.contains_key(&unknown.effect);
    lab.desk.machine("1", Command::RemoveWith(Removal::default()));
    lab.desk.settle();
    let got = ModeRow {
        mode: lab.desk.policy().harvest.mode.to_string(),
        stops_dead_machines_instances: !lab.desk.provider.instances.contains_key(&own),
        stops_unknown_instances,
        removes_dead_machines: lab.state("1").life == Life::Removed,
    };
    same("row", case, got)
}

pub(super) fn harvest_mode_name(case: &Value) -> Result<(), String> {
    let (text, expected): (String, String) = read(case)?;
    let document = json!({"apiVersion": "bailiwick/v1", "kind": "Policy", "metadata": {"name": "default"},
        "spec": {"harvest": {"mode": text}}});
    let got = match manifest::parse(&[Source::new("case.yaml", document.to_string())], &Known::default()) {
        Err(_) => "error".to_owned(),
        Ok(manifest) => in_force(manifest)?.to_string(),
    };
    same("mode", expected, got)
}

/// The mode that is in force when a policy was applied.
fn in_force(manifest: Manifest) -> Result<HarvestMode, String> {
    let document = manifest.documents.into_iter().find_map(|document| match document.wish {
        Wish::Policy { document, .. } => Some(*document),
        _ => None,
    });
    Ok(Lab::new(document.ok_or("it declares no policy")?).desk.policy().harvest.mode)
}
