//! What becomes of what a case gives.

use bailiwick::actors::{
    machine::{
        reconcile::{CallError, Import, NodeSeen, Operation, OperationKind, OperationState, Record, State},
        rules::{
            NodeCondition, Overrides, Taint,
            class::{ClassSeen, MachineClass, NodeCapacity},
            removal::{Removal, RemovalReason},
            template::{LastWritten, NodeTemplate, RECORD},
        },
    },
    policy::Reconciliation,
    vocab::{FaultCode, Timestamp},
};

use super::{
    CLASS, Class, Condition, Driver, DriverError, Given, GivenTaint, LastOperation, Machine, Map, NOW, Node, Template,
    ago, phase,
};

impl Machine {
    pub(crate) fn label(&self, key: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
    }

    pub(crate) fn class_name(&self) -> &str {
        self.class.as_deref().unwrap_or(CLASS)
    }

    pub(crate) fn conditions(&self) -> Vec<NodeCondition> {
        conditions(self.conditions.as_deref())
    }

    pub(crate) fn template(&self) -> NodeTemplate {
        self.node_template.clone().unwrap_or_default().template()
    }

    pub(crate) fn created_age_s(&self) -> u64 {
        self.created_age_s
    }

    pub(crate) fn phase_age_s(&self) -> u64 {
        self.phase_age_s
    }

    /// The step of its removal that comes next, as the case says it.
    pub(crate) fn next_step(&self) -> Option<&str> {
        self.last_operation.next_step.as_deref()
    }

    pub(crate) fn is_going(&self) -> bool {
        self.deleted_age_s.is_some()
    }

    pub(crate) fn created(&self) -> Timestamp {
        ago(self.created_age_s)
    }

    pub(crate) fn overrides(&self) -> Overrides {
        let ms = |seconds: Option<u64>| seconds.map(|seconds| seconds * 1000);
        let watched = self.config.node_conditions.as_deref();
        Overrides {
            creation_timeout_ms: ms(self.config.creation_timeout_s),
            health_timeout_ms: ms(self.config.health_timeout_s),
            drain_timeout_ms: ms(self.config.drain_timeout_s),
            evictions_max: self.config.max_evict_retries,
            node_conditions: watched.map(|text| text.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }

    /// The machine's record, as one would be taken over from a Gardener control plane.
    pub(crate) fn import(&self, given: &Given) -> Result<Import, String> {
        let named = |text: &Option<String>, absent: &str| match text.as_deref() {
            None => absent.to_owned(),
            Some("-") => String::new(),
            Some(text) => text.to_owned(),
        };
        let record = Record {
            name: self.name.clone(),
            created: self.created(),
            class_kind: named(&self.class_kind, "MachineClass"),
            class: named(&self.class, CLASS),
            recorded_class: given.params.class_snapshot.then(|| given.machine_class.class()),
            is_held: self.finalizer,
            labels: self.labels.clone().unwrap_or_default(),
            annotations: self.annotations.clone().unwrap_or_default(),
            provider_id: self.provider_id.clone(),
            template: self.template(),
            overrides: self.overrides(),
            conditions: self.conditions(),
            last_known_state: self.last_known_state.clone(),
            token: None,
        };
        let reason = match given.params.delete_reason.as_deref() {
            None => None,
            Some("Unhealthy") => Some(RemovalReason::Unhealthy),
            Some("ScaleDown") => Some(RemovalReason::ScaleDown),
            Some(other) => return Err(format!("there is no reason {other:?}")),
        };
        let removal = self.deleted_age_s.map(|age| Removal { asked: ago(age), reason, force: given.params.force });
        Ok(Import {
            record,
            phase: phase(&self.phase)?,
            phase_since: ago(self.phase_age_s),
            operation: self.last_operation.operation()?,
            next_step: self.last_operation.next_step,
            removal,
        })
    }
}

impl LastOperation {
    fn operation(&self) -> Result<Operation, String> {
        let kind = match self.r#type.as_str() {
            "" => None,
            "Create" => Some(OperationKind::Create),
            "HealthCheck" => Some(OperationKind::HealthCheck),
            "Delete" => Some(OperationKind::Delete),
            other => return Err(format!("there is no operation {other:?}")),
        };
        let state = match self.state.as_str() {
            "" => None,
            "Processing" => Some(OperationState::Processing),
            "Failed" => Some(OperationState::Failed),
            "Successful" => Some(OperationState::Successful),
            other => return Err(format!("there is no state {other:?}")),
        };
        Ok(Operation { kind, state, error: None })
    }
}

impl Template {
    pub(crate) fn template(self) -> NodeTemplate {
        NodeTemplate {
            labels: self.labels.unwrap_or_default(),
            annotations: self.annotations.unwrap_or_default(),
            taints: taints(self.taints.as_deref()),
        }
    }
}

fn taints(given: Option<&[GivenTaint]>) -> Vec<Taint> {
    let taint = |taint: &GivenTaint| Taint { key: taint.key.clone(), value: taint.value.clone(), effect: taint.effect };
    given.unwrap_or_default().iter().map(taint).collect()
}

fn conditions(given: Option<&[Condition]>) -> Vec<NodeCondition> {
    let condition = |condition: &Condition| NodeCondition {
        kind: condition.r#type.clone(),
        status: condition.status,
        since: ago(condition.age_s),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    };
    given.unwrap_or_default().iter().map(condition).collect()
}

impl Node {
    /// What was applied to it last.
    pub(crate) fn last_applied(&self) -> NodeTemplate {
        self.last_applied.clone().unwrap_or_default().template()
    }

    /// The node as it would be seen; and the text of a record that nobody can read.
    pub(crate) fn seen(&self) -> (NodeSeen, Option<String>) {
        let mut annotations = self.annotations.clone().unwrap_or_default();
        let unreadable = annotations.remove(RECORD);
        let last_written = match (&self.last_applied, &unreadable) {
            (_, Some(_)) => LastWritten::Unreadable,
            (Some(last), None) => LastWritten::Known(last.clone().template()),
            (None, None) => LastWritten::Nothing,
        };
        let seen = NodeSeen {
            name: self.name.clone(),
            labels: self.labels.clone().unwrap_or_default(),
            annotations,
            taints: taints(self.taints.as_deref()),
            conditions: conditions(self.conditions.as_deref()),
            is_cordoned: self.unschedulable,
            last_written,
        };
        (seen, unreadable)
    }
}

/// How a call to the provider went.
pub(crate) type CallResult = Result<(), CallError>;

impl Driver {
    /// What a call answers, by the errors of the case.
    pub(crate) fn error(&self, call: &str) -> Result<CallResult, String> {
        match self.errors.get(call) {
            None => Ok(Ok(())),
            Some(error) => error.error().map(Err),
        }
    }

    /// Whether it answers a call with an error.
    pub(crate) fn fails(&self, call: &str) -> bool {
        self.errors.contains_key(call)
    }

    /// Whether it has an instance.
    pub(crate) fn is_there(&self) -> CallResult {
        let missing = || CallError::new(Some(FaultCode::NotFound), "no instance");
        self.exists.then_some(()).ok_or_else(missing)
    }
}

impl DriverError {
    pub(crate) fn error(&self) -> Result<CallError, String> {
        if let Some(raw) = &self.raw {
            return Ok(CallError::new(None, raw));
        }
        let name = self.code.as_deref().unwrap_or_default();
        // Ours are spelled with hyphens: `resource-exhausted`.
        let spelled: String = name
            .char_indices()
            .flat_map(|(at, letter)| {
                let hyphen = (letter.is_ascii_uppercase() && at > 0).then_some('-');
                hyphen.into_iter().chain(letter.to_lowercase())
            })
            .collect();
        let code = FaultCode::ALL.into_iter().find(|code| code.as_str() == spelled);
        let code = code.ok_or_else(|| format!("there is no code {name:?}"))?;
        Ok(CallError::new(Some(code), self.message.as_deref().unwrap_or("provider says no")))
    }
}

/// A code as the original spells it.
pub(crate) fn spelled(code: FaultCode) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    code.as_str().split('-').map(word).collect()
}

impl Class {
    pub(crate) fn class(&self) -> MachineClass {
        MachineClass {
            name: CLASS.to_owned(),
            provider: "provider".to_owned(),
            provider_spec: String::new(),
            secret: Some("secret".to_owned()),
            credentials: self.credentials.as_ref().map(|_| "credentials".to_owned()),
            node_template: self.node_template.clone().map(|template| NodeCapacity {
                capacity: template.capacity,
                instance_type: template.instance_type,
                region: template.region,
                zone: template.zone,
            }),
            is_kept: !self.no_finalizer,
            is_leaving: self.deleting,
        }
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.deleting
    }

    /// The parts of its node template: capacity, instance type, region and zone.
    pub(crate) fn capacity(&self) -> Option<(Map, String, String, String)> {
        let template = self.node_template.clone()?;
        Some((template.capacity, template.instance_type, template.region, template.zone))
    }

    /// What is seen of the class of this name.
    pub(crate) fn seen(&self, name: &str) -> ClassSeen {
        if self.missing || name != CLASS { ClassSeen::Missing } else { ClassSeen::Found(Box::new(self.class())) }
    }

    /// What is in its secret, if there is one.
    pub(crate) fn secret(&self) -> Option<Map> {
        let absent = || Map::from([("userData".to_owned(), "boot <<BOOTSTRAP_TOKEN>>".to_owned())]);
        (!self.secret_missing).then(|| self.secret.clone().unwrap_or_else(absent))
    }
}

/// The state of a machine that was taken over like this.
pub(crate) fn state(given: &Given, policy: &Reconciliation) -> Result<State, String> {
    use bailiwick::{
        actors::machine::reconcile::{Command, Facts, decide},
        journal::Version,
    };
    let machine = given.machine.as_ref().ok_or("it gives no machine")?;
    let import = Command::Import(Box::new(machine.import(given)?));
    let facts = Facts { now: NOW, policy, next: Version(1) };
    let decision = decide(&State::default(), &import, &facts).map_err(|rejection| rejection.to_string())?;
    let mut state = State::default();
    decision.events.iter().for_each(|event| state.evolve(Version(1), event));
    Ok(state)
}
