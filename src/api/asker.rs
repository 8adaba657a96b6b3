//! The caller that was let in, as handlers see it.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::{
        StatusCode,
        header::{HeaderValue, IF_MATCH},
    },
    web,
};
use bailiwick_actors::document::{Kind, Role};
use bailiwick_journal::{StreamId, Version};

use super::{access::Caller, connection::HungUp, errors::Failure, shared::Shared};
use crate::handle::Handle;

/// A node that is asked in the name of the connected caller, who is the principal in the journal.
#[derive(Debug)]
pub(super) struct Asker {
    node: Handle,
    pub(super) caller: Caller,
    /// Whether he still waits for the answer.
    pub(super) hung_up: HungUp,
}

impl Asker {
    /// The node, to look at.
    pub(super) fn node(&self) -> &Handle {
        &self.node
    }

    /// The node, to change objects of these kinds.
    ///
    /// # Errors
    /// If the caller may not change one of them.
    pub(super) fn to_change<'a>(&self, kinds: impl IntoIterator<Item = &'a str>) -> Result<&Handle, Failure> {
        let Caller { principal, role, kinds: allowed, .. } = &self.caller;
        let forbidden = |message: String| {
            Err(Failure::new(StatusCode::FORBIDDEN, "forbidden", message)
                .next("ask an administrator of the node, who changes accounts with `bailiwick account`"))
        };
        for kind in kinds {
            // A caller that could make accounts could give itself any right.
            if kind == Kind::Account.as_str() && *role < Role::Admin {
                return forbidden(format!("{principal} has the role {role}; accounts need {}", Role::Admin));
            }
            if allowed.as_ref().is_some_and(|allowed| !allowed.contains(kind)) {
                return forbidden(format!("{principal} may not change a {kind}"));
            }
        }
        Ok(&self.node)
    }

    /// The node, to change one object, as it was when the caller saw it.
    ///
    /// # Errors
    /// If the caller may not change it.
    pub(super) fn to_change_one(&self, object: &StreamId, seen: Seen) -> Result<Handle, Failure> {
        let node = self.to_change([object.kind()])?;
        Ok(seen.0.map_or_else(|| node.clone(), |version| node.expecting(object.clone(), version)))
    }

    /// The node, to change objects of any kind.
    ///
    /// # Errors
    /// If the caller may change some kinds only.
    pub(super) fn to_change_all(&self) -> Result<&Handle, Failure> {
        if self.caller.kinds.is_none() {
            return Ok(&self.node);
        }
        let message =
            format!("{} may change some kinds of objects only, and this can concern all", self.caller.principal);
        Err(Failure::new(StatusCode::FORBIDDEN, "forbidden", message).next("name the objects that are meant"))
    }
}

/// The version of an object that the caller has seen: `If-Match: "7"`. If it is another one meanwhile, nothing is done, and
/// the answer is 412. Rows and descriptions tell the version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen(Option<Version>);

impl Seen {
    /// Whether the caller says which version it has seen.
    pub(super) fn is_given(self) -> bool {
        self.0.is_some()
    }
}

impl FromRequest for Seen {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let bad = || {
            Failure::new(StatusCode::BAD_REQUEST, "bad-request", "If-Match is no version")
                .next("send the version of the object: `If-Match: \"7\"`")
        };
        let read = |value: &HeaderValue| {
            let text = value.to_str().ok()?.trim().trim_matches('"');
            text.parse().ok().map(Version)
        };
        let value = request.headers().get(IF_MATCH);
        ready(value.map(|value| read(value).ok_or_else(bad)).transpose().map(Self))
    }
}

impl FromRequest for Asker {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = request.extensions().get::<Caller>().cloned();
        let node = request.app_data::<web::Data<Shared>>().map(|shared| &shared.node);
        let hung_up = request.conn_data::<HungUp>().cloned().unwrap_or_default();
        ready(match (node, caller) {
            (Some(node), Some(caller)) => {
                Ok(Self { node: node.in_the_name_of(caller.principal.clone()), caller, hung_up })
            }
            _ => Err(Failure::new(StatusCode::FORBIDDEN, "unknown-principal", "cannot determine who asks")),
        })
    }
}
