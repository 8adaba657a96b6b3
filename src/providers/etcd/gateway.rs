//! One call to one etcd server, within its time and with bounds on what is read: the other side may be anything.

use std::{sync::Arc, time::Duration};

use bailiwick_actors::vocab::{Fault, FaultCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request,
    body::Bytes,
    client::conn::http1,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    reach::Reach,
    wire::{Refusal, Token},
};

/// How long a server may take to be reached. Source: what users of Juju waited for without such a limit.
const CONNECT_TIME: Duration = Duration::from_secs(2);
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The gateway of one server.
#[derive(Clone, Debug)]
pub(super) struct Gateway {
    /// `host:port`.
    address: String,
    reach: Arc<Reach>,
    /// What the server knows us by, once we have said who we are.
    token: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(super) enum Broken {
    /// The server was never asked.
    NotSent(Fault),
    /// It says no.
    Refused(Fault),
    /// It was asked, and nobody knows what came of it.
    Unclear(Fault),
}

impl Broken {
    pub(super) fn into_fault(self) -> Fault {
        match self {
            Self::NotSent(fault) | Self::Refused(fault) | Self::Unclear(fault) => fault,
        }
    }
}

impl Gateway {
    pub(super) fn new(address: &str, reach: Arc<Reach>) -> Self {
        Self { address: address.to_owned(), reach, token: None }
    }

    /// The same, after we have said who we are, if we are anybody.
    ///
    /// # Errors
    /// If the server does not take the credentials, or does not answer.
    pub(super) async fn authenticated(mut self, time: Duration) -> Result<Self, Fault> {
        let Some(credentials) = self.reach.credentials() else { return Ok(self) };
        let body = serde_json::json!({ "name": credentials.username, "password": credentials.password() });
        match self.call::<Token>("/v3/auth/authenticate", &body, time).await {
            Ok(Token { token }) => self.token = Some(token),
            // Where nobody has to say who they are, we need not.
            Err(Broken::Refused(fault)) if fault.text.contains("authentication is not enabled") => (),
            Err(Broken::Refused(_)) => return Err(self.fault(FaultCode::Unauthenticated, "it refuses the credentials")),
            Err(broken) => return Err(broken.into_fault()),
        }
        Ok(self)
    }

    /// Posts a body and reads the answer.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        time: Duration,
    ) -> Result<T, Broken> {
        let not_sent = |problem: String| Broken::NotSent(self.fault(FaultCode::Unavailable, &problem));
        let mut request = Request::post(path).header(HOST, &self.address).header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let request =
            request.body(Full::new(Bytes::from(body.to_string()))).map_err(|error| not_sent(error.to_string()))?;
        let connected = timeout(CONNECT_TIME, self.reach.connect(&self.address)).await;
        let stream = match connected {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(not_sent(error.to_string())),
            Err(_) => return Err(not_sent("it cannot be reached in time".into())),
        };
        let (mut sender, driver) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| not_sent(error.to_string()))?;
        // From here on the request may have arrived, whatever goes wrong.
        let exchange = async {
            let answer = async {
                let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
                let status = answer.status();
                let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
                Ok((status, body.map_err(|error| error.to_string())?.to_bytes()))
            };
            let (driver, mut answer) = (std::pin::pin!(driver), std::pin::pin!(answer));
            tokio::select! {
                biased;
                answer = &mut answer => answer,
                // It may hang up right after its last byte; whether that byte came, the answer knows.
                _ = driver => answer.await,
            }
        };
        let unclear = |problem: String| Broken::Unclear(self.fault(FaultCode::Unknown, &problem));
        let (status, bytes) = match timeout(time, exchange).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(problem)) => return Err(unclear(problem)),
            Err(_) => {
                return Err(Broken::Unclear(self.fault(FaultCode::DeadlineExceeded, "it did not answer in time")));
            }
        };
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|error| unclear(format!("its answer is strange: {error}")));
        }
        let plainly = || Refusal { message: String::from_utf8_lossy(&bytes).chars().take(200).collect(), code: 0 };
        Err(self.refused(serde_json::from_slice(&bytes).unwrap_or_else(|_| plainly()), status.as_u16()))
    }

    /// What a refusal means. Some of etcd's errors come after it has begun: those are unclear.
    fn refused(&self, refusal: Refusal, status: u16) -> Broken {
        let Refusal { message, code } = refusal;
        let text = if message.is_empty() { format!("HTTP status {status}") } else { message };
        // Both are said before anything is proposed. Other errors of the same code (`request timed out`,
        // `leader changed`) say nothing of what was.
        let is_early = text.contains("unhealthy cluster") || text.contains("no leader");
        // The gRPC codes of a request that was looked at and not taken.
        match code {
            3 | 11 => Broken::Refused(self.fault(FaultCode::InvalidArgument, &text)),
            5 => Broken::Refused(self.fault(FaultCode::NotFound, &text)),
            6 => Broken::Refused(self.fault(FaultCode::AlreadyExists, &text)),
            7 | 16 => Broken::Refused(self.fault(FaultCode::PermissionDenied, &text)),
            8 => Broken::Refused(self.fault(FaultCode::ResourceExhausted, &text)),
            9 => Broken::Refused(self.fault(FaultCode::FailedPrecondition, &text)),
            12 => Broken::Refused(self.fault(FaultCode::Unimplemented, &text)),
            _ if is_early => Broken::Refused(self.fault(FaultCode::Unavailable, &text)),
            _ => Broken::Unclear(self.fault(FaultCode::Unknown, &text)),
        }
    }

    fn fault(&self, code: FaultCode, problem: &str) -> Fault {
        Fault::new(code, self.reach.scrub(&format!("{}: {problem}", self.address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str, code: u32) -> Broken {
        Gateway::new("a:1", Arc::default()).refused(Refusal { message: message.into(), code }, 503)
    }

    #[test]
    fn what_was_refused_before_it_was_proposed_is_refused_and_the_rest_is_unclear() {
        for (message, code) in [
            ("etcdserver: unhealthy cluster", 14),
            ("etcdserver: no leader", 14),
            ("etcdserver: can only promote a learner member which is in sync with leader", 9),
            ("etcdserver: member not found", 5),
        ] {
            assert!(matches!(refused(message, code), Broken::Refused(_)), "{message}");
        }
        for (message, code) in [
            ("etcdserver: request timed out", 14),
            ("etcdserver: leader changed", 14),
            ("etcdserver: request timed out, possibly due to connection lost", 14),
            ("context deadline exceeded", 4),
            ("", 0),
        ] {
            assert!(matches!(refused(message, code), Broken::Unclear(_)), "{message}");
        }
    }
}
