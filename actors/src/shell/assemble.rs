//! Puts the actors of one node together. The same for the real node, the simulator and tests: what differs is the
//! journal's disk, the clock and the providers.

use std::{rc::Rc, sync::Arc};

use actix::{Actor, Addr};
use bailiwick_journal::{Journal, StreamId};

use super::{
    AnyCommand, Ask, AskError, Limits, Origin, Providers, RebuildError, Registry, Services, StartAll, rebuild,
};
use crate::{
    contract::{Decider, PolicyInForce},
    policy,
    ports::Clock,
    schedule::{ScheduleActor, StartSchedule},
    supervisor::{Supervisors, start_supervisors},
    vocab::derived_uuid,
};

/// The actors of one node, running.
#[derive(Clone, Debug)]
pub struct Running {
    pub services: Rc<Services>,
    pub registry: Addr<Registry>,
    pub schedule: Addr<ScheduleActor>,
    pub supervisors: Supervisors,
    /// What was found to be owed when the node started.
    pub resumed: Resumed,
}

/// What an earlier run left to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Entities whose work in the outside world may have been begun: the provider is asked by id first.
    pub busy: Vec<StreamId>,
    /// Entities that wait for a due time.
    pub waiting: usize,
    /// The last entry of the earlier run.
    pub position: bailiwick_journal::Position,
}

/// Why a node could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    #[error("the state cannot be rebuilt from the journal")]
    Rebuild(#[from] RebuildError),
    #[error("the first policy could not be recorded")]
    Policy(#[source] AskError),
}

/// Rebuilds the state from the journal and starts the actors on the current arbiter.
///
/// # Errors
/// If the journal cannot be understood, or takes nothing.
pub async fn assemble(
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    providers: Providers,
    limits: Limits,
) -> Result<Running, AssembleError> {
    let rebuilt = rebuild(&*journal)?;
    let policy =
        PolicyInForce { reference: rebuilt.policy.reference.clone(), document: rebuilt.policy.document.clone() };
    let first_start = policy.reference.is_none();
    let services = Rc::new(Services::new(
        journal,
        clock,
        providers,
        limits,
        policy,
        rebuilt.taken_over.clone(),
        rebuilt.held.clone(),
    ));
    let schedule = ScheduleActor::new(services.clone()).start();
    let registry = Registry::new(services.clone(), schedule.clone()).start();
    if first_start {
        record_first_policy(&services, &registry).await?;
    }
    let resumed = Resumed { busy: rebuilt.busy.clone(), waiting: rebuilt.waiting.len(), position: rebuilt.position };
    let waiting = rebuilt.waiting.clone();
    let supervisors = start_supervisors(rebuilt, &services, &registry);
    let stopping = |_| AssembleError::Policy(AskError::Stopping);
    schedule.send(StartSchedule { registry: registry.downgrade(), waiting }).await.map_err(stopping)?;
    registry.send(StartAll(resumed.busy.clone())).await.map_err(stopping)?;
    Ok(Running { services, registry, schedule, supervisors, resumed })
}

/// The settings that come with this release go into the journal once: what a decision was made under must be in the
/// journal itself, not in some release.
async fn record_first_policy(services: &Services, registry: &Addr<Registry>) -> Result<(), AssembleError> {
    let name = policy::default_name();
    let stream = StreamId::new(policy::State::KIND, name.as_str()).expect("a valid name");
    let command = AnyCommand::from(policy::Command::Revise(Box::default()));
    let id = derived_uuid(&format!("first policy of {}", services.journal_id()));
    let origin =
        Origin { id, principal: "node".into(), cause: None, cites: Vec::new(), routine: false, expected: None };
    match registry.send(Ask { stream, command, origin }).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(AssembleError::Policy(error)),
        Err(_) => Err(AssembleError::Policy(AskError::Stopping)),
    }
}
