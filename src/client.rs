//! Asking a running node: over its socket, or over the network with TLS.
//!
//! One connection per call: a Unix socket costs next to nothing, and nothing has to notice that a node went away.
//! Every call has a time-out and a bound on what it reads, because the other side may be anything.

mod address;
mod error;
mod hook;
mod introduction;
mod lines;
mod remote;
mod trust;
mod url;

#[cfg(test)]
pub(crate) mod lab;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::UnixStream,
    task::JoinHandle,
    time::timeout,
};

pub use address::{SocketPath, socket_address};
pub use error::ClientError;
pub use hook::{Hook, HookError, InvalidHook};
pub use introduction::authority_at;
pub use lines::Lines;
pub use remote::Remote;
pub use trust::{Authority, Distrust, Fingerprint, InvalidAuthority, InvalidFingerprint};
pub use url::{InvalidToken, InvalidUrl, NodeUrl, TOKEN_BYTES_MAX, Token, Whereabouts};

use remote::Reach;

use crate::{api::wire::problem::Problem, ownership::is_trusted};

/// Bounds of one call.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From connecting to the last byte of the answer; for [`Client::get_lines`] to the head of the answer.
    pub time: Duration,
    /// The longest answer, in bytes; for [`Client::get_lines`] the longest line.
    pub answer_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), answer_bytes_max: 64 * 1024 * 1024 }
    }
}

/// A node, ready to be asked. Works on any tokio runtime with I/O and time.
#[derive(Clone, Debug)]
pub struct Client {
    way: Way,
    limits: Limits,
}

/// How a node is reached.
#[derive(Clone, Debug)]
enum Way {
    Socket(PathBuf),
    Remote(Arc<Reach>),
}

/// A connection that bytes go through.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A problem's body is read up to this; the rest of a longer one is of no use to people.
const PROBLEM_BYTES_MAX: usize = 64 * 1024;

impl Client {
    /// A client of the node at this socket; nothing is opened yet.
    pub fn new(socket: PathBuf) -> Self {
        Self { way: Way::Socket(socket), limits: Limits::default() }
    }

    /// A client of a node elsewhere; nothing is opened yet. Every request proves itself with the token, unless it brings
    /// another.
    pub fn remote(remote: Remote) -> Self {
        Self { way: Way::Remote(Arc::new(Reach::of(remote))), limits: Limits::default() }
    }

    /// The same client with other bounds.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Reads `path` and decodes its JSON.
    pub async fn get_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let request = self.request(Method::GET, path, None, Bytes::new())?;
        self.within_time(self.whole_answer(request)).await
    }

    /// Sends a body as JSON and decodes the answer's JSON. An empty answer is read as `null`, which `()` takes.
    pub async fn send_json<B, T>(
        &self,
        method: Method,
        path: &str,
        body: &B,
        bearer: Option<&str>,
    ) -> Result<T, ClientError>
    where
        B: Serialize + ?Sized,
        T: DeserializeOwned,
    {
        let body = serde_json::to_vec(body).map_err(|error| ClientError::broken("cannot encode the request", error))?;
        let request = self.request(method, path, bearer, body.into())?;
        self.within_time(self.whole_answer(request)).await
    }

    /// Opens a stream of lines: the time-out covers everything up to the head of the answer, then lines may take as long
    /// as they take (a follower waits for whatever happens next).
    pub async fn get_lines(&self, path: &str) -> Result<Lines, ClientError> {
        let request = self.request(Method::GET, path, None, Bytes::new())?;
        let (answer, connection) = self.within_time(self.successful_answer(request)).await?;
        Ok(Lines::new(answer.into_body(), connection, self.limits.answer_bytes_max))
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        bearer: Option<&str>,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let invalid = |error: hyper::http::Error| ClientError::broken("cannot form the request", error);
        let (host, own) = match &self.way {
            Way::Socket(_) => ("bailiwick", None),
            Way::Remote(reach) => (reach.host.as_str(), reach.bearer.clone()),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, host)
            .header(ACCEPT, "application/json, application/x-ndjson");
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let given = bearer.map(|bearer| HeaderValue::try_from(format!("Bearer {bearer}")));
        if let Some(mut value) = given.transpose().map_err(|error| invalid(error.into()))?.or(own) {
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request.body(Full::new(body)).map_err(invalid)
    }

    async fn within_time<T>(&self, call: impl Future<Output = Result<T, ClientError>>) -> Result<T, ClientError> {
        timeout(self.limits.time, call).await.unwrap_or(Err(ClientError::TimedOut))
    }

    async fn whole_answer<T: DeserializeOwned>(&self, request: Request<Full<Bytes>>) -> Result<T, ClientError> {
        let (answer, _connection) = self.successful_answer(request).await?;
        let body = read_bounded(answer.into_body(), self.limits.answer_bytes_max).await?;
        let text: &[u8] = if body.is_empty() { b"null" } else { &body };
        serde_json::from_slice(text).map_err(|error| ClientError::broken("cannot read the answer", error))
    }

    async fn successful_answer(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Connection), ClientError> {
        let stream = self.connect().await?;
        let (mut sender, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| ClientError::broken("cannot talk to the node", error))?;
        let connection = Connection(tokio::spawn(async move {
            // Whatever ends the connection shows up in the request or the body; there is nobody else to tell.
            let _ = driver.await;
        }));
        let answer = sender
            .send_request(request)
            .await
            .map_err(|error| ClientError::broken("the connection to the node was lost", error))?;
        if answer.status().is_success() {
            return Ok((answer, connection));
        }
        Err(refusal(answer).await)
    }

    async fn connect(&self) -> Result<Box<dyn Stream>, ClientError> {
        Ok(match &self.way {
            Way::Socket(socket) => Box::new(connect(socket).await?),
            Way::Remote(reach) => Box::new(reach.connect().await?),
        })
    }
}

async fn connect(socket: &Path) -> Result<UnixStream, ClientError> {
    let not_running = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ClientError::NotRunning { socket: socket.to_owned() }
        }
        _ => ClientError::broken("cannot connect to the node", error),
    };
    let address = SocketPath::of(socket).map_err(not_running)?;
    let stream = UnixStream::connect(address.path()).await.map_err(not_running)?;
    // Tokens and whole environments are sent there: who listens counts, whatever the path is called.
    let user =
        stream.peer_cred().map_err(|error| ClientError::broken("cannot determine who owns the socket", error))?.uid();
    if is_trusted(user) { Ok(stream) } else { Err(ClientError::Stranger { socket: socket.to_owned(), user }) }
}

/// The task that moves the bytes; ends with its owner.
#[derive(Debug)]
struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn read_bounded(body: Incoming, bytes_max: usize) -> Result<Bytes, ClientError> {
    let whole = Limited::new(body, bytes_max).collect().await;
    Ok(whole.map_err(|error| ClientError::broken("cannot read the answer", error))?.to_bytes())
}

async fn refusal(answer: Response<Incoming>) -> ClientError {
    let status = answer.status();
    let body = match read_bounded(answer.into_body(), PROBLEM_BYTES_MAX).await {
        Ok(body) => body,
        Err(error) => return error,
    };
    let problem = serde_json::from_slice(&body).unwrap_or_else(|_| problem_of(status));
    ClientError::Refused { status: status.as_u16(), problem }
}

/// What a status says by itself, for answers that do not come from our handlers.
fn problem_of(status: StatusCode) -> Problem {
    let reason = status.canonical_reason().unwrap_or("unknown status");
    Problem { code: "unknown".to_owned(), message: format!("{} {reason}", status.as_u16()), ..Problem::default() }
}

#[cfg(test)]
mod tests;
