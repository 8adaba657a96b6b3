//! Who asks: the system says it of the other end of a socket.

use std::{
    any::Any,
    future::{Ready, ready},
    sync::Arc,
};

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::StatusCode, rt::net::UnixStream, web};

use super::{errors::Failure, shared::Shared};
use crate::handle::{Handle, user};

/// The user of the process at the other end of a connection, as a principal, if the system tells it.
#[derive(Clone, Debug)]
pub(super) struct Peer(Option<Arc<str>>);

impl Peer {
    pub(super) fn of(connection: &dyn Any) -> Self {
        let stream = connection.downcast_ref::<UnixStream>();
        let peer = stream.and_then(|stream| stream.peer_cred().ok());
        Self(peer.map(|peer| user(peer.uid()).into()))
    }
}

/// A node that is asked in the name of whoever is connected: their user id stands in the journal as the principal.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) node: Handle,
}

impl FromRequest for Asker {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let principal = request.conn_data::<Peer>().and_then(|peer| peer.0.clone());
        let node = request.app_data::<web::Data<Shared>>().map(|shared| &shared.node);
        ready(match (node, principal) {
            (Some(node), Some(principal)) => Ok(Self { node: node.in_the_name_of(principal) }),
            _ => {
                let message = "cannot determine which user is connected; changes are refused";
                Err(Failure::new(StatusCode::FORBIDDEN, "unknown-principal", message))
            }
        })
    }
}
