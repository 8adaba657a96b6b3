//! Juju's Provisioner facade: its own clients talk to a node.
//!
//! JSON objects over a WebSocket at `/model/UUID/api`, over the TLS of the API. A client logs in, asks, and watches; many
//! requests of one connection run at the same time.
//!
//! ```text
//! socket      messages in, one task for each request, replies out     connection   a client, its watchers and calls
//! envelope    requests and replies as JSON              tag, fault, wire   names, errors, structures
//! identity    who a client is, and what it may see      login              how it says so
//! call        which facade and method                   read, write, watchers, containers
//! changes     what watchers are told                    network, provisioning, config   pure rules over what is seen
//! ```
//!
//! What changes something is a command to a machine ([`machine::juju`](bailiwick_actors::machine::juju)): decided there, and
//! journaled with the client as its principal. Everything else is read off the fleet. May not do: decide anything by itself.
//! Source of protocol, names, messages and codes: Juju's API server.

mod call;
mod changes;
pub(super) mod common;
mod config;
mod connection;
mod containers;
mod defaults;
mod envelope;
mod fault;
mod identity;
mod login;
mod network;
mod provisioning;
mod read;
mod seen;
mod socket;
mod tag;
#[cfg(feature = "testing")]
pub mod testing;
mod volumes;
mod watchers;
mod wire;
mod write;

use std::time::Duration;

use actix_web::{guard, web};
use tokio::time::sleep;

use super::shared::Shared;

/// How often clients are told to try again what failed. Source: Juju.
const ERROR_RETRY: Duration = Duration::from_secs(60);

/// Adds the ways in.
pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/model/{model}/api", web::get().to(socket::of_model))
        .route("/api", web::get().to(socket::of_controller))
        // What is no WebSocket there is answered as anything else that is not there.
        .route("/", web::get().guard(guard::fn_guard(socket::is_upgrade)).to(socket::of_controller));
}

/// Tells watchers what there is, for as long as the server runs.
pub(super) async fn feed(shared: Shared) {
    #[cfg(feature = "testing")]
    testing::begin(shared.node.journal().id(), shared.facade.clone());
    let minutes = async {
        loop {
            sleep(ERROR_RETRY).await;
            shared.facade.changes.minute();
        }
    };
    tokio::join!(changed(&shared), minutes);
}

/// Takes in what is decided; nothing before the first client watches.
async fn changed(shared: &Shared) {
    let mut growth = shared.node.follow();
    loop {
        growth.grown().await;
        let changes = &shared.facade.changes;
        if changes.is_watched()
            && let Err(error) = changes.catch_up(&shared.node)
        {
            tracing::warn!(%error, "clients of the facade are not told of changes");
        }
    }
}
