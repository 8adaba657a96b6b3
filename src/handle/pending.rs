//! What is declared and not so yet, or not known to be so.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::Decider,
    machine::{self, Instance},
    shell::AskError,
    supervisor::machines::Unseen,
    supervisor::storage::Unsure,
    vocab::{Life, Name},
};
use bailiwick_journal::{ReadError, StreamId};

use super::{Handle, agents::wanted};
use crate::view::{self, Pending};

/// The provider whose machines have agents.
const LOCAL: &str = "local";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Handle {
    /// What differs from its declaration, and what the journal says is ready but this node has not seen yet: a machine may
    /// have died while no node was running.
    ///
    /// An empty list means that everything is as declared, and that the node has seen all of it since it started.
    ///
    /// # Errors
    /// If the node is stopping, or the journal cannot be read.
    pub async fn pending(&self) -> Result<Vec<Pending>, QuestionError> {
        // First what was seen, then the state. The other way round, a machine that is found dead between the two questions
        // would be neither unseen nor pending.
        let unseen = self.shared.machines.send(Unseen).await.map_err(|_| AskError::Stopping)?;
        let unsure = self.shared.storage.send(Unsure).await.map_err(|_| AskError::Stopping)?;
        let untold = self.untold()?;
        let mut pending = self.look(view::pending_by_clock)?;
        let of = |name: Name, status: &'static str, why: &str| Pending {
            entity: StreamId::new(machine::State::KIND, name.as_str()).expect("names are checked").to_string(),
            status,
            why: why.to_owned(),
        };
        let untold =
            untold.into_iter().map(|name| of(name, "untold", "its agent has not fetched the current state yet"));
        let unseen =
            unseen.into_iter().map(|name| of(name, "unseen", "its provider has not listed it since the node started"));
        let unsure = unsure.into_iter().map(|stream| Pending {
            entity: stream.to_string(),
            status: "unsure",
            why: "not yet verified as attached since the node started".into(),
        });
        let known: BTreeSet<String> = pending.iter().map(|open| open.entity.clone()).collect();
        let mut told = BTreeSet::new();
        let more = untold
            .chain(unseen)
            .chain(unsure)
            .filter(|open| !known.contains(&open.entity) && told.insert(open.entity.clone()));
        pending.extend(more);
        Ok(pending)
    }

    /// The local machines whose agents have not yet fetched their current state from this node. A change of workloads, or a
    /// new attachment, has no effect before they do; and after a start of the node, fetching it shows that the machine is
    /// still there.
    fn untold(&self) -> Result<Vec<Name>, ReadError> {
        let mut told = self.told();
        self.look(|fleet| {
            told.retain(|name, _| fleet.machines.get(name.as_str()).is_some());
            let running = fleet.machines.iter().filter_map(|(name, folded)| {
                let Instance::Running { instance, .. } = &folded.state.instance else { return None };
                let is_local = folded.state.spec.as_ref().is_some_and(|spec| spec.provider.as_str() == LOCAL);
                let name: Name = name.parse().ok().filter(|_| is_local && folded.state.life == Life::Alive)?;
                let wanted = wanted(fleet, &name, instance.effect);
                (told.get(&name) != wanted.as_ref()).then_some(name)
            });
            running.collect()
        })
    }
}
