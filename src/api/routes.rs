//! How routes are added: only with whom they are for, and how long a body they take.

use std::{collections::BTreeMap, sync::Arc};

use actix_web::{
    FromRequest, Handler, Responder,
    error::{JsonPayloadError, PayloadError},
    guard,
    http::{Method, StatusCode},
    middleware::from_fn,
    web,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    access::{Need, admit},
    described::{Answered, Described, Parts},
    errors::Failure,
};

/// The longest body of a request about a few objects, in bytes.
pub(super) const SMALL: usize = 256 * 1024;
/// The longest body of manifests: their own limit and some room.
pub(super) const MANIFESTS: usize = 16 * 1024 * 1024;

/// A route, as it is told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Route {
    pub method: &'static str,
    pub path: String,
    /// `anyone`, `agent`, or the role that it takes: `view`, `operate`, `admin`.
    pub needs: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    #[serde(skip)]
    pub(super) described: Described,
}

/// What routes are added to.
#[allow(missing_debug_implementations, reason = "neither has the configuration that it adds to")]
pub(super) struct Routes<'a> {
    pub(super) config: &'a mut web::ServiceConfig,
    /// What all paths begin with.
    pub(super) prefix: &'static str,
    pub(super) added: &'a mut Vec<Route>,
}

impl Routes<'_> {
    /// Adds a question.
    pub(super) fn get<F, Args>(&mut self, path: &str, need: Need, about: &'static str, handler: F) -> &mut Self
    where
        F: Handler<Args>,
        Args: FromRequest + Parts + 'static,
        F::Output: Responder + Answered + 'static,
    {
        let described = Described::of::<Args, F::Output>();
        self.add(Method::GET, path, need, SMALL, (about, described), web::get().to(handler))
    }

    /// Adds a request with a body of at most this many bytes.
    pub(super) fn post<F, Args>(
        &mut self,
        path: &str,
        need: Need,
        bytes_max: usize,
        about: &'static str,
        handler: F,
    ) -> &mut Self
    where
        F: Handler<Args>,
        Args: FromRequest + Parts + 'static,
        F::Output: Responder + Answered + 'static,
    {
        let described = Described::of::<Args, F::Output>();
        self.add(Method::POST, path, need, bytes_max, (about, described), web::post().to(handler))
    }

    fn add(
        &mut self,
        method: Method,
        path: &str,
        need: Need,
        bytes_max: usize,
        (about, described): (&'static str, Described),
        route: actix_web::Route,
    ) -> &mut Self {
        let told = if method == Method::GET { "GET" } else { "POST" };
        let whole = format!("{}{path}", self.prefix);
        let what: Arc<str> = format!("{told} {whole}").into();
        self.added.push(Route { method: told, path: whole, needs: need.as_str(), about, described });
        let json = web::JsonConfig::default().limit(bytes_max).error_handler(|error, _| unread(&error).into());
        let resource = web::resource(path)
            .app_data(json)
            .guard(guard::Method(method))
            .wrap(from_fn(move |request, next| admit(need, what.clone(), request, next)))
            .route(route);
        self.config.service(resource);
        self
    }

    /// Ends it: what is asked with another method than its path takes is told which it takes.
    pub(super) fn close(self) {
        let mut paths: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
        for route in self.added.iter() {
            if let Some(path) = route.path.strip_prefix(self.prefix) {
                paths.entry(path).or_default().push(route.method);
            }
        }
        for (path, methods) in paths {
            let takes = methods.join(" or ");
            self.config.service(web::resource(path).default_service(web::to(move || wrong_method(takes.clone()))));
        }
    }
}

async fn wrong_method(takes: String) -> Result<&'static str, Failure> {
    let message = format!("this path takes {takes}");
    Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", message))
}

/// Why a body was not read.
fn unread(error: &JsonPayloadError) -> Failure {
    match error {
        JsonPayloadError::Overflow { limit } | JsonPayloadError::OverflowKnownLength { limit, .. } => {
            let message = format!("the request is larger than {limit} bytes");
            Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message).next("split it into several requests")
        }
        JsonPayloadError::Payload(PayloadError::Io(error)) if error.kind() == std::io::ErrorKind::TimedOut => {
            Failure::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "the request did not arrive in time")
        }
        JsonPayloadError::ContentType => {
            let message = "the request is not declared as JSON";
            Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", message)
                .next("send it with the header `content-type: application/json`")
        }
        error => Failure::new(StatusCode::BAD_REQUEST, "bad-request", format!("cannot read the body: {error}")),
    }
}
