//! What is decided, and why, for embedders.

use std::{collections::VecDeque, sync::Arc};

use bailiwick_actors::shell::Follower;
use bailiwick_journal::{Entry, Filter, Position, ReadError, StreamId};

use super::Handle;
use crate::{
    audit::{About, Why, why},
    view::{WhyNot, why_not},
};

/// So many entries are read at once.
const AT_ONCE: u64 = 64;

/// Decisions as they become durable, none missing and none twice.
#[derive(Debug)]
pub struct Decisions {
    node: Handle,
    growth: Follower,
    last: Position,
    read: VecDeque<Arc<Entry>>,
}

impl Decisions {
    /// The next one; waits until there is one. A caller that gives up waiting loses none.
    ///
    /// # Errors
    /// If the journal cannot be read; asked again, it tries again.
    pub async fn next(&mut self) -> Result<Arc<Entry>, ReadError> {
        loop {
            if let Some(entry) = self.read.pop_front() {
                self.last = entry.header.position;
                return Ok(entry);
            }
            let head = self.node.head();
            if self.last >= head {
                self.growth.grown().await;
                continue;
            }
            let to = head.min(self.last.plus(AT_ONCE));
            self.read = self.node.journal().read(self.last.next(), to, &Filter::all()).collect::<Result<_, _>>()?;
        }
    }
}

impl Handle {
    /// Watches decisions, from the one after this entry on: [`Self::head`] begins with what is still to come. After a restart
    /// of the node, the last one that was seen is where to go on.
    pub fn watch(&self, after: Position) -> Decisions {
        Decisions { node: self.clone(), growth: self.follow(), last: after, read: VecDeque::new() }
    }

    /// What led to the last thing that mattered about an object, or to an entry; none if nothing was ever heard of it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn why(&self, about: &About) -> Result<Option<Why>, ReadError> {
        why::why(&*self.journal(), about, self.head())
    }

    /// What an object still needs to be like one of the goals of its kind, such as `ready`; none if nothing was ever heard of it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn why_not(&self, object: &StreamId, goal: &str) -> Result<Option<WhyNot>, ReadError> {
        self.look(|fleet| why_not(fleet, object, goal))
    }
}
