//! What operators ask of one object, beside declaring and removing it: the same for embedders, and over its API.

use bailiwick_actors::{
    contract::Decider,
    machine, machine_set,
    ports::{InstanceStatus, MachineInstance},
    provider,
    shell::{Answer, AnyCommand, AskError},
    supervisor::machines::SightingStatus,
    vocab::{Name, Timestamp},
};
use bailiwick_journal::{ReadError, StreamId};
use uuid::Uuid;

use super::Handle;
use crate::{
    api::wire::change::Verb,
    plan::{protecting, retrying},
    view::{Fleet, on_node_time},
};

/// Why an order was not given to anybody. A refusal is an answer, and no error.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    #[error("only {works_for} can be used here, not a {kind}")]
    Misdirected { works_for: &'static str, kind: String },
    #[error("a {kind} cannot be retried")]
    NotRetried { kind: String },
    #[error("{0} not found")]
    NotFound(StreamId),
    #[error("no provider lists an unmanaged instance for {0}")]
    NoInstance(StreamId),
    #[error("this node has no provider named {name}; it has {known}")]
    NoProvider { name: String, known: String },
    #[error("several instances have the name of {object}: {}", names.join(", "))]
    Ambiguous { object: StreamId, names: Vec<String> },
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Handle {
    /// Carries out what an operator orders. The same id again gets the first answer.
    ///
    /// # Errors
    /// As [`OperateError`].
    pub async fn operate(&self, object: &StreamId, verb: Verb, id: Uuid) -> Result<Answer, OperateError> {
        let command = self.look(|fleet| match command(fleet, object, verb) {
            Ok(command) => self.has_provider(fleet, object).map(|()| command),
            Err(error) => Err(error),
        })??;
        Ok(self.ask(object.clone(), command, id).await?)
    }

    /// Whether a provider that is meant is one of this node, or was held before.
    fn has_provider(&self, fleet: &Fleet, object: &StreamId) -> Result<(), OperateError> {
        let name = object.name();
        if object.kind() != provider::State::KIND || fleet.exists(object) {
            return Ok(());
        }
        let all = self.shared.offer.names();
        if all.iter().any(|known| known.as_str() == name) {
            return Ok(());
        }
        let known = all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Err(OperateError::NoProvider { name: name.to_owned(), known })
    }

    /// Has the node do nothing by itself to a machine, or to a machine set, or begin no call to a provider, until this moment by the host's clock, or until
    /// somebody ends it.
    ///
    /// # Errors
    /// As [`OperateError`].
    pub async fn hold(
        &self,
        object: &StreamId,
        reason: &str,
        until: Option<Timestamp>,
        id: Uuid,
    ) -> Result<Answer, OperateError> {
        let until_ms = until.map(|until| until.0);
        self.operate(object, Verb::Hold { reason: reason.to_owned(), until_ms, for_ms: None }, id).await
    }

    /// Has a machine take over an instance that bears its name and is nobody's: the one that its provider calls this, or the
    /// only one.
    ///
    /// # Errors
    /// As [`OperateError`].
    pub async fn adopt(&self, machine: &StreamId, instance: Option<&str>, id: Uuid) -> Result<Answer, OperateError> {
        self.operate(machine, Verb::Adopt { instance: instance.map(str::to_owned) }, id).await
    }

    /// Begins a fresh series of attempts at what failed, or waits, for one object.
    ///
    /// # Errors
    /// As [`OperateError`].
    pub async fn retry(&self, object: &StreamId, id: Uuid) -> Result<Answer, OperateError> {
        let Some(command) = retrying(object) else {
            return Err(OperateError::NotRetried { kind: object.kind().to_owned() });
        };
        if !self.look(|fleet| fleet.exists(object))? {
            return Err(OperateError::NotFound(object.clone()));
        }
        Ok(self.ask(object.clone(), command, id).await?)
    }
}

/// What an order comes to.
fn command(fleet: &Fleet, entity: &StreamId, verb: Verb) -> Result<AnyCommand, OperateError> {
    let (is_machine, is_set) = (entity.kind() == machine::State::KIND, entity.kind() == machine_set::State::KIND);
    let is_provider = entity.kind() == provider::State::KIND;
    let (works_for, is_meant) = match verb {
        Verb::Protect | Verb::Unprotect => {
            let kinds = "machines, volumes, filesystems, machine sets, machine deployments and replica sets";
            (kinds, protecting(entity, true).is_some())
        }
        Verb::Hold { .. } | Verb::Unhold => {
            ("machines, machine sets and providers", is_machine || is_set || is_provider)
        }
        Verb::Thaw => ("machine sets", is_set),
        Verb::Adopt { .. } | Verb::Disown | Verb::Keep { .. } | Verb::Unkeep => ("machines", is_machine),
    };
    if !is_meant {
        return Err(OperateError::Misdirected { works_for, kind: entity.kind().to_owned() });
    }
    if !is_provider && !fleet.exists(entity) {
        return Err(OperateError::NotFound(entity.clone()));
    }
    let of_machine = |command: machine::Command| AnyCommand::from(command);
    Ok(match verb {
        Verb::Hold { reason, until_ms, for_ms } => {
            let until = end_of_hold(fleet, until_ms, for_ms);
            match () {
                () if is_provider => AnyCommand::from(provider::Command::Hold { reason, until }),
                () if is_set => AnyCommand::from(machine_set::Command::Hold { reason, until }),
                () => of_machine(machine::Command::Hold { reason, until }),
            }
        }
        Verb::Unhold if is_provider => AnyCommand::from(provider::Command::Unhold),
        Verb::Unhold if is_set => AnyCommand::from(machine_set::Command::Unhold),
        Verb::Unhold => of_machine(machine::Command::Unhold),
        Verb::Protect | Verb::Unprotect => {
            let on = matches!(verb, Verb::Protect);
            protecting(entity, on).expect("it was looked whether it can be")
        }
        Verb::Thaw => AnyCommand::from(machine_set::Command::Thaw),
        Verb::Disown => of_machine(machine::Command::Disown),
        Verb::Keep { for_ms } => of_machine(machine::Command::Keep { until: fleet.time.after(for_ms) }),
        Verb::Unkeep => of_machine(machine::Command::Unkeep),
        Verb::Adopt { instance } => {
            let (provider, instance) = found(fleet, entity, instance.as_deref())?;
            of_machine(machine::Command::Adopt { provider, instance })
        }
    })
}

/// When a hold ends by the node's time; none if an operator ends it.
fn end_of_hold(fleet: &Fleet, until_ms: Option<u64>, for_ms: Option<u64>) -> Option<Timestamp> {
    let clock = fleet.clock.unwrap_or(fleet.time);
    let at = until_ms.map(|ms| on_node_time(Timestamp(ms), fleet.time, clock));
    for_ms.map(|ms| fleet.time.after(ms)).or(at)
}

/// The instance that is meant: of this machine's name, seen last as being there, and not the machine's own.
fn found(fleet: &Fleet, entity: &StreamId, wanted: Option<&str>) -> Result<(Name, MachineInstance), OperateError> {
    let own = fleet.machines.get(entity.name()).and_then(|state| state.own(fleet.journal, entity));
    let mut candidates: Vec<(Name, MachineInstance)> = Vec::new();
    for (effect, sighting) in &fleet.seen.sightings {
        let (Some(instance), SightingStatus::Running | SightingStatus::Stopped) = (&sighting.instance, sighting.status)
        else {
            continue;
        };
        let is_named = wanted.is_none_or(|wanted| instance.instance.0 == wanted || effect.to_string() == wanted);
        let is_meant = is_named && sighting.machine.as_str() == entity.name();
        if is_meant && (wanted.is_some() || own != Some(*effect)) {
            let status = match sighting.status {
                SightingStatus::Running => InstanceStatus::Running,
                SightingStatus::Stopped | SightingStatus::Gone => InstanceStatus::Stopped,
            };
            candidates.push((sighting.provider.clone(), MachineInstance { status, ..instance.clone() }));
        }
    }
    match <[_; 1]>::try_from(candidates) {
        Ok([one]) => Ok(one),
        Err(none) if none.is_empty() => Err(OperateError::NoInstance(entity.clone())),
        Err(several) => {
            let names = several.iter().map(|(_, instance)| instance.instance.to_string()).collect();
            Err(OperateError::Ambiguous { object: entity.clone(), names })
        }
    }
}
