//! What the handlers of requests share.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    answers::Answers, denials::Denials, facade::common::Facade, feed::Feed, jobs::kept::Jobs, rates::Rates,
    turns::Turns,
};
use crate::{config::CrashSweep, handle::Handle, providers::enrolment::Enrolments, signing::Signer};

/// What every request can use.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) node: Handle,
    pub(super) key: Arc<[u8; 32]>,
    pub(super) signer: Arc<Signer>,
    pub(super) enrolments: Arc<Enrolments>,
    pub(super) denials: Arc<Denials>,
    /// What the node is called on the network, in lower case.
    pub(super) names: Arc<BTreeSet<String>>,
    /// What is told to those who watch.
    pub(super) feed: Arc<Feed>,
    /// Who may read all of history now.
    pub(super) turns: Arc<Turns>,
    /// Whose crash sweep may go on now: one takes far longer than any question, which must not wait for it.
    pub(super) sweeps: Arc<Turns>,
    /// Long questions.
    pub(super) jobs: Arc<Jobs>,
    /// What sweeps the node's journal.
    pub(super) crash_sweep: Option<CrashSweep>,
    /// What answers take up until they are read.
    pub(super) answers: Arc<Answers>,
    /// What clients of the Provisioner facade share.
    pub(super) facade: Arc<Facade>,
    /// How often each may ask.
    pub(super) rates: Arc<Rates>,
}
