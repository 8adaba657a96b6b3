//! Takes the place of `served` in a build without the feature `server`: nobody is let in, and what cannot be done is
//! refused before anything is opened.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use bailiwick_actors::{ports::Clock, shell::Providers, vocab::Name};
use bailiwick_journal::LocalJournal;

use super::{StartError, wanted::of_server};
use crate::{
    config::Config,
    handle::Handle,
    providers::{enrolment::Enrolments, machine_storage::Desk},
};

/// No ways in.
pub(super) struct Listening {
    pub network: Option<(SocketAddr, Option<String>)>,
}

impl Listening {
    pub(super) async fn stop(&mut self) {}
}

/// Whether this program can do what is wanted.
pub(super) fn check(config: &Config) -> Result<(), StartError> {
    match of_server(config) {
        None => Ok(()),
        Some(wanted) => Err(StartError::NotBuilt { wanted, feature: "server" }),
    }
}

/// Nothing is signed.
pub(super) struct Heads;

impl Heads {
    pub(super) fn note(&self, _: &LocalJournal) {}
}

pub(super) fn heads(_: &Config, _: &Arc<LocalJournal>) -> Result<Arc<Heads>, StartError> {
    Ok(Arc::new(Heads))
}

pub(super) fn listen(
    _: &Config,
    _: &Handle,
    _: [u8; 32],
    _: Arc<Enrolments>,
    _: &Heads,
) -> Result<Listening, StartError> {
    Ok(Listening { network: None })
}

pub(super) fn tell_sinks(_: &Config, _: &Handle) -> Result<(), StartError> {
    Ok(())
}

pub(super) fn local_machines(
    _: &Config,
    _: &Arc<dyn Clock>,
    _: [u8; 32],
    _: &Arc<Desk>,
    _: &mut Providers,
) -> Result<BTreeMap<Name, Vec<String>>, StartError> {
    Ok(BTreeMap::new())
}
