//! Who may ask what: decided here for every route, before its body is read.
//!
//! A route can only be added with what it [needs](Need) ([`super::routes`]), so one that nobody thought about does not compile.
//! A caller that is not let in is answered with 401 or 403, [counted](super::denials), and noted in the journal.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use actix_web::{
    Error, HttpMessage, HttpRequest,
    body::BoxBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType, Method, StatusCode,
        header::{self, HeaderMap},
    },
    middleware::Next,
    web,
};
use bailiwick_actors::{
    document::{Account, InForce, Role},
    vocab::Timestamp,
};
use rustix::process::geteuid;

use super::{
    body::timed,
    connection::{Brought, Peer},
    errors::{Code, Failure},
    rates::Asked,
    shared::Shared,
};
use crate::{handle::user, view::Fleet};

/// Whom a route is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Any client that can connect: it tells nothing.
    Anyone,
    /// The agent of one machine, which its handler recognises by the token in the request.
    Agent,
    /// An account that may do this much.
    Role(Role),
}

impl Need {
    /// As it is told.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Anyone => "anyone",
            Self::Agent => "agent",
            Self::Role(role) => role.as_str(),
        }
    }
}

/// Somebody who was let in.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// As it stands in the journal: `uid:1000`, `account:ada`.
    pub principal: Arc<str>,
    pub role: Role,
    /// The kinds of objects that it may change; none means all.
    pub kinds: Option<Arc<BTreeSet<String>>>,
    /// When what it proved itself with ends.
    pub expires: Option<Timestamp>,
    /// Whether it may ask only so often.
    is_counted: bool,
}

impl Caller {
    /// A user of the node's own machine who owns it.
    fn owner(id: u32) -> Self {
        Self { principal: user(id).into(), role: Role::Admin, kinds: None, expires: None, is_counted: false }
    }

    fn of(account: &InForce<'_, Account>, expires: Option<Timestamp>) -> Self {
        let kinds = &account.says.kinds;
        Self {
            principal: format!("account:{}", account.name).into(),
            role: account.says.role,
            kinds: (!kinds.is_empty()).then(|| Arc::new(kinds.clone())),
            expires,
            is_counted: true,
        }
    }
}

/// What every request goes through. `what` is its method and route.
pub(super) async fn admit(
    need: Need,
    what: Arc<str>,
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let shared = request.app_data::<web::Data<Shared>>().cloned();
    let Some(shared) = shared else { return Err(Failure::internal("the server has no node").into()) };
    let (mut answer, who) = match let_in(need, &shared, request.request()) {
        Ok(caller) => {
            let who = caller.as_ref().map(|caller| caller.principal.clone());
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            let payload = request.take_payload();
            request.set_payload(timed(payload));
            let answer = next.call(request).await?;
            let answer = match &who {
                Some(who) => answer.map_body(|_, body| shared.answers.unread(who, body)),
                None => answer,
            };
            (answer, who)
        }
        Err(Denied { failure, who }) => (request.error_response(failure), who),
    };
    if matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        let peer = || answer.request().conn_data::<Peer>().map_or_else(|| "somebody".to_owned(), Peer::to_string);
        let who = who.map_or_else(peer, |who| who.to_string());
        let why = answer.response().extensions().get::<Code>().map_or_else(String::new, |code| code.0.clone());
        shared.denials.count(&who, &what, &why, shared.node.now());
        if shared.denials.is_due(shared.node.now()) {
            let shared = shared.clone();
            // Nobody waits for the disk to hear that he is denied.
            drop(web::block(move || shared.denials.note(&shared.node, false)));
        }
    }
    let connection = answer.request();
    let peer = connection.conn_data::<Peer>().copied();
    if connection.conn_data::<Brought>().zip(peer).is_some_and(|(brought, peer)| brought.is_last(peer)) {
        answer.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok(answer)
}

/// Who was not let in, as far as that is known, and why.
struct Denied {
    failure: Failure,
    who: Option<Arc<str>>,
}

impl From<Failure> for Denied {
    fn from(failure: Failure) -> Self {
        Self { failure, who: None }
    }
}

/// Who asks, if that is known and he may.
fn let_in(need: Need, shared: &Shared, request: &HttpRequest) -> Result<Option<Caller>, Denied> {
    let peer = request.conn_data::<Peer>().copied().unwrap_or(Peer::Local(None));
    let headers = request.headers();
    // No page has anything to do with this API: a browser that asks does so for a page of somebody else's.
    if headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site") {
        let message = "this API does not answer pages in browsers";
        let failure = Failure::new(StatusCode::FORBIDDEN, "cross-origin", message);
        return Err(failure.next("leave out the header Origin").into());
    }
    if matches!(peer, Peer::Remote(_)) && !is_asked_by_name(headers, &shared.names) {
        let message = "the Host header does not name this node";
        let next = "ask by its address, or by a name that `serve --tls-name` was given";
        return Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, "other-host", message).next(next).into());
    }
    let Need::Role(needed) = need else { return Ok(None) };
    let caller = caller(shared, peer, bearer(headers))?;
    if caller.role < needed {
        let message = format!("{} has the role {}; this needs {needed}", caller.principal, caller.role);
        let failure = Failure::new(StatusCode::FORBIDDEN, "forbidden", message)
            .next("ask an administrator of the node, who changes roles with `bailiwick account`");
        return Err(Denied { failure, who: Some(caller.principal) });
    }
    if caller.is_counted {
        let asked = if request.method() == Method::GET { Asked::Question } else { Asked::Change };
        within_rate(shared, &caller.principal, asked)?;
    }
    Ok(Some(caller))
}

/// Refuses a principal who asks too often, and says when to come back.
///
/// # Errors
/// If he does.
pub(super) fn within_rate(shared: &Shared, principal: &Arc<str>, asked: Asked) -> Result<(), Failure> {
    shared.rates.take(principal, asked, shared.node.now()).map_err(|wait_ms| {
        let message = format!("{principal} asks too often");
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "too-often", message)
            .next(&format!("retry in {wait_ms} ms"))
            .retry_after(wait_ms)
    })
}

/// Who is at the other end, with this token.
///
/// # Errors
/// If nobody is, or not any more.
pub(super) fn caller(shared: &Shared, peer: Peer, bearer: Option<&str>) -> Result<Caller, Failure> {
    match (bearer, peer) {
        // Whoever may read the data directory, which has the keys to all of this. No account is asked about him.
        (None, Peer::Local(Some(id))) if id == 0 || id == geteuid().as_raw() => Ok(Caller::owner(id)),
        _ => shared.node.look(|fleet| identify(fleet, peer, bearer, shared.node.now()))?,
    }
}

/// The token that is presented.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Against pages that had a name of their own resolve to this node: an address cannot be made to mean another one, and a name
/// has to be this node's.
fn is_asked_by_name(headers: &HeaderMap, names: &BTreeSet<String>) -> bool {
    let mut hosts = headers.get_all(header::HOST);
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else { return false };
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    bare.parse::<IpAddr>().is_ok() || names.contains(&bare.to_ascii_lowercase())
}

/// Whose token this is, or whose user.
fn identify(fleet: &Fleet, peer: Peer, bearer: Option<&str>, now: Timestamp) -> Result<Caller, Failure> {
    let denied = |code: &str, message: &str| {
        Failure::new(StatusCode::UNAUTHORIZED, code, message).next("`bailiwick login` with a token that is in force")
    };
    match (bearer, peer) {
        (Some(presented), _) => {
            // Compared with every token, each in the same time whether it fits or not: how long it takes tells nothing.
            let hash = blake3::hash(presented.as_bytes());
            let mut found = None;
            for account in fleet.documents.accounts() {
                for token in &account.says.tokens {
                    if blake3::Hash::from_bytes(token.hash) == hash {
                        found = Some(Caller::of(&account, token.expires));
                    }
                }
            }
            let caller = found.ok_or_else(|| denied("unknown-token", "the token is unknown or was revoked"))?;
            match caller.expires.filter(|expires| *expires <= now) {
                // Only a caller with the token learns that.
                Some(expires) => Err(denied("expired-token", &format!("the token expired at {expires}"))),
                None => Ok(caller),
            }
        }
        (None, Peer::Local(Some(id))) => {
            let mut accounts = fleet.documents.accounts();
            let account = accounts.find(|account| account.says.users.contains(&id));
            account.map(|account| Caller::of(&account, None)).ok_or_else(|| {
                let message = format!("no account is for {}", user(id));
                Failure::new(StatusCode::FORBIDDEN, "unknown-principal", message)
                    .next("name the user in an account: `bailiwick account create NAME --user ID`")
            })
        }
        (None, Peer::Local(None)) => {
            let message = "cannot determine which user is connected";
            Err(Failure::new(StatusCode::FORBIDDEN, "unknown-principal", message))
        }
        (None, Peer::Remote(_)) => Err(denied("no-token", "a token is needed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(hosts: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, header::HeaderValue::from_str(host).expect("a value"));
        }
        is_asked_by_name(&headers, &BTreeSet::from(["lab.example".to_owned(), "localhost".to_owned()]))
    }

    #[test]
    fn a_node_answers_to_its_names_and_to_addresses_alone() {
        for host in
            ["lab.example", "LAB.example:8443", "localhost:1", "127.0.0.1:8443", "10.0.0.7", "[::1]:8443", "[fd00::7]"]
        {
            assert!(asked(&[host]), "{host}");
        }
        for hosts in
            [&["evil.example"] as &[&str], &["lab.example.evil"], &[""], &[], &["lab.example", "lab.example"], &["[x"]]
        {
            assert!(!asked(hosts), "{hosts:?}");
        }
    }
}
