//! What the handlers of requests share.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::Semaphore;

use super::{denials::Denials, feed::Feed, rates::Rates};
use crate::{handle::Handle, providers::enrolment::Enrolments};

/// What every request can use.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) node: Handle,
    pub(super) key: Arc<[u8; 32]>,
    pub(super) enrolments: Arc<Enrolments>,
    pub(super) denials: Arc<Denials>,
    /// What the node is called on the network, in lower case.
    pub(super) names: Arc<BTreeSet<String>>,
    /// What is told to those who watch.
    pub(super) feed: Arc<Feed>,
    /// Questions that read all of history: so many at once.
    pub(super) histories: Arc<Semaphore>,
    /// How often each may ask.
    pub(super) rates: Arc<Rates>,
}
