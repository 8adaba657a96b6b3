//! `Admin`: how a client logs in. Before that there is nothing else.

use bailiwick_actors::document::Role;
use serde::Serialize;

use super::{
    connection::{Connection, Place},
    envelope::{Called, Request, body, nothing},
    fault::{Fault, NOT_FOUND, NOT_IMPLEMENTED, NOT_SUPPORTED},
    identity::{Identity, identify},
    seen::Seen,
    wire::Login,
};
use crate::juju::HostPort;

/// The version that clients take this server for: that of the Juju whose facades these are.
const SERVER_VERSION: &str = "3.6.1";

#[derive(Serialize)]
struct Facade {
    name: &'static str,
    versions: &'static [u64],
}

const NOTIFY_WATCHER: Facade = Facade { name: "NotifyWatcher", versions: &[1] };
const PINGER: Facade = Facade { name: "Pinger", versions: &[1] };
const PROVISIONER: Facade = Facade { name: "Provisioner", versions: &[9, 10, 11] };
const STRINGS_WATCHER: Facade = Facade { name: "StringsWatcher", versions: &[1] };

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct LoggedIn {
    controller_tag: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_tag: Option<String>,
    server_version: &'static str,
    servers: Vec<Vec<HostPort>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_info: Option<UserInfo>,
    facades: Vec<Facade>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct UserInfo {
    identity: String,
    display_name: String,
    controller_access: &'static str,
    model_access: &'static str,
}

/// Answers what is asked before the login.
pub(super) fn call(connection: &Connection, request: &Request) -> Called {
    let Request { facade, version, method, .. } = request;
    if facade != "Admin" {
        return Err(unknown_facade(facade, *version));
    }
    if !request.id.is_empty() {
        return Err(Fault::new(NOT_FOUND, "id not found"));
    }
    if *version != 3 {
        return Err(Fault::new(NOT_SUPPORTED, "this version of Juju does not support login from old clients"));
    }
    match method.as_str() {
        "Login" => login(connection, &request.params()?),
        "RedirectInfo" => Err(Fault::plain("not redirected")),
        _ => Err(unknown_method(facade, *version, method)),
    }
}

pub(super) fn unknown_facade(facade: &str, version: u64) -> Fault {
    let message = match version {
        0 => format!("unknown facade type {facade:?}"),
        _ => format!("unknown version {version} for facade type {facade:?}"),
    };
    Fault::new(NOT_IMPLEMENTED, message)
}

pub(super) fn unknown_method(facade: &str, version: u64, method: &str) -> Fault {
    Fault::new(NOT_IMPLEMENTED, format!("unknown method {method:?} at version {version} for facade type {facade:?}"))
}

fn login(connection: &Connection, login: &Login) -> Called {
    let shared = &connection.shared;
    let Login { auth_tag, credentials, nonce } = login;
    let identified = identify(shared, connection.peer, auth_tag, credentials, nonce);
    let identity = identified.inspect_err(|fault| {
        let who = connection.peer.to_string();
        shared.denials.count(&who, "a login to the facade", fault.code, shared.node.now());
    })?;
    let told = shared.node.look(|fleet| {
        let seen = Seen::of(fleet);
        let is_model = connection.place == Place::Model;
        LoggedIn {
            controller_tag: format!("controller-{}", seen.controller_uuid()),
            model_tag: is_model.then(|| format!("model-{}", seen.model_uuid())),
            server_version: SERVER_VERSION,
            servers: shared.facade.host_ports(&seen),
            user_info: user_info(&identity),
            facades: if is_model {
                vec![NOTIFY_WATCHER, PINGER, PROVISIONER, STRINGS_WATCHER]
            } else {
                vec![NOTIFY_WATCHER, PINGER]
            },
        }
    })?;
    connection.identity.replace(Some(identity));
    body(&told)
}

fn user_info(identity: &Identity) -> Option<UserInfo> {
    let Identity::User { name, role, .. } = identity else { return None };
    let (controller_access, model_access) = match role {
        Role::View => ("login", "read"),
        Role::Operate => ("login", "write"),
        Role::Admin => ("superuser", "admin"),
    };
    Some(UserInfo { identity: format!("user-{name}"), display_name: String::new(), controller_access, model_access })
}

/// Answers a client that shows that it is still there.
pub(super) fn ping(request: &Request) -> Called {
    match request.method.as_str() {
        "Ping" | "Stop" => nothing(),
        method => Err(unknown_method("Pinger", 1, method)),
    }
}
