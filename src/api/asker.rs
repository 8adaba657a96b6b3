//! Who asks: the system says it of the other end of a socket.

use std::{
    any::Any,
    future::{Ready, ready},
};

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::StatusCode, rt::net::UnixStream, web};

use super::{errors::Failure, server::Shared};
use crate::handle::{Handle, user};

/// The user id of the process at the other end of a connection, if the system tells it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(Option<u32>);

impl Peer {
    pub(super) fn of(connection: &dyn Any) -> Self {
        let stream = connection.downcast_ref::<UnixStream>();
        Self(stream.and_then(|stream| stream.peer_cred().ok()).map(|peer| peer.uid()))
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
        let uid = request.conn_data::<Peer>().and_then(|peer| peer.0);
        let node = request.app_data::<web::Data<Shared>>().map(|shared| &shared.node);
        ready(match (node, uid) {
            (Some(node), Some(uid)) => Ok(Self { node: node.in_the_name_of(user(uid)) }),
            _ => {
                let message = "the system does not tell who is connected; changes are refused";
                Err(Failure::new(StatusCode::FORBIDDEN, "unknown-principal", message))
            }
        })
    }
}
