//! What there is to ask, who asks, and whether the node is well.

use actix_web::{http::StatusCode, web};
use bailiwick_actors::document::Role;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    access::Need,
    asker::Asker,
    described::{Plain, Sent},
    errors::Failure,
    openapi::document,
    questions::metrics,
    routes::{Route, Routes},
    shared::Shared,
};

pub(super) fn routes(routes: &mut Routes<'_>) {
    let view = Need::Role(Role::View);
    routes
        .get("/routes", view, "What there is to ask, and whom for", all_routes)
        .get("/openapi.json", view, "This API as OpenAPI 3.1", openapi)
        .get("/whoami", view, "Who asks, and what he may do", whoami);
}

/// For whatever starts and watches the node's process: no secret is needed, and none is told.
pub(super) fn health(routes: &mut Routes<'_>) {
    routes.get("/healthz", Need::Anyone, "Whether the process serves requests", healthz).get(
        "/readyz",
        Need::Anyone,
        "Whether the node decides and records",
        readyz,
    );
}

/// Where Prometheus looks unless it is told otherwise.
pub(super) fn metrics_at_root(routes: &mut Routes<'_>) {
    routes.get("/metrics", Need::Role(Role::View), "Gauges and counters for Prometheus, as under /v1", metrics);
}

async fn all_routes(routes: web::Data<Vec<Route>>) -> web::Json<Vec<Route>> {
    web::Json(routes.to_vec())
}

async fn openapi(routes: web::Data<Vec<Route>>) -> web::Json<Value> {
    web::Json(document(&routes))
}

/// Who asks, and what he may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WhoAmI {
    principal: String,
    role: &'static str,
    /// The kinds of objects that may be changed; left out if all may.
    #[serde(skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

async fn whoami(asker: Asker) -> web::Json<WhoAmI> {
    let caller = &asker.caller;
    web::Json(WhoAmI {
        principal: caller.principal.to_string(),
        role: caller.role.as_str(),
        kinds: caller.kinds.as_ref().map(|kinds| kinds.iter().cloned().collect()),
        expires: caller.expires.map(|expires| expires.to_string()),
    })
}

/// The process serves requests.
async fn healthz() -> Sent<Plain> {
    Sent::body("ok\n")
}

/// The node decides and records.
async fn readyz(shared: web::Data<Shared>) -> Result<Sent<Plain>, Failure> {
    match shared.node.readiness().await? {
        None => Ok(Sent::body(
            "ok
",
        )),
        Some(trouble) => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Err(Failure::new(status, "not-ready", trouble.why).next("`bailiwick status` says more"))
        }
    }
}
