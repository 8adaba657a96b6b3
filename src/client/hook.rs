//! A URL of somebody else's that is told something: `http://`, or `https://` with the certificates that vouch for it.

use std::{fmt, io, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, StatusCode, Uri,
    body::Bytes,
    client::conn::http1,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::{Authority, Connection, Stream, Token, remote::connector};

/// From the first packet to the head of the answer.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Where something is told.
#[derive(Clone)]
pub struct Hook {
    host: String,
    port: u16,
    /// Host and port as they stand in the URL, for the header.
    authority: String,
    path: String,
    secure: Option<(TlsConnector, ServerName<'static>)>,
    bearer: Option<HeaderValue>,
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("authority", &self.authority).field("path", &self.path).finish_non_exhaustive()
    }
}

/// Why nothing can be told there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHook {
    #[error("it does not begin with http:// or https://")]
    Scheme,
    #[error("it names no host, or not in a form that a certificate can have")]
    Host,
    #[error("a user or password in a URL would be in every log; use a token file")]
    Credentials,
    #[error("https:// needs the certificates that vouch for it: `ca=FILE`")]
    NoAuthority,
}

/// Why it was not told.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("it cannot be reached: {0}")]
    Unreachable(#[source] io::Error),
    #[error("the connection broke: {0}")]
    Broken(#[source] hyper::Error),
    #[error("it answered {0}")]
    Refused(StatusCode),
    #[error("it did not answer in time")]
    TimedOut,
}

impl Hook {
    /// Where this URL leads; nothing is opened yet.
    ///
    /// # Errors
    /// If it is no such URL.
    pub fn new(url: &str, ca: Option<&Authority>, token: Option<&Token>) -> Result<Self, InvalidHook> {
        let uri: Uri = url.parse().map_err(|_| InvalidHook::Host)?;
        let (is_secure, port) = match uri.scheme_str() {
            Some("http") => (false, 80),
            Some("https") => (true, 443),
            _ => return Err(InvalidHook::Scheme),
        };
        let authority = uri.authority().ok_or(InvalidHook::Host)?;
        if authority.as_str().contains('@') {
            return Err(InvalidHook::Credentials);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host.clone()).map_err(|_| InvalidHook::Host)?;
        let secure = match (is_secure, ca) {
            (false, _) => None,
            (true, Some(ca)) => Some((connector(ca.verified()), name)),
            (true, None) => return Err(InvalidHook::NoAuthority),
        };
        Ok(Self {
            host,
            port: authority.port_u16().unwrap_or(port),
            authority: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            secure,
            bearer: token.and_then(Token::header),
        })
    }

    /// Tells it this JSON. Nothing is known of an answer that is lost: it may have been told.
    ///
    /// # Errors
    /// If it does not answer that it was told.
    pub async fn post(&self, json: Vec<u8>, header: (&'static str, &str)) -> Result<(), HookError> {
        timeout(TIME_MAX, self.told(json, header)).await.unwrap_or(Err(HookError::TimedOut))
    }

    async fn told(&self, json: Vec<u8>, (name, value): (&'static str, &str)) -> Result<(), HookError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(HookError::Unreachable)?;
        let stream: Box<dyn Stream> = match &self.secure {
            None => Box::new(stream),
            Some((tls, name)) => Box::new(tls.connect(name.clone(), stream).await.map_err(HookError::Unreachable)?),
        };
        let (mut sender, driver) = http1::handshake(TokioIo::new(stream)).await.map_err(HookError::Broken)?;
        let _connection = Connection(tokio::spawn(async move {
            // What ends the connection shows up in the request.
            let _ = driver.await;
        }));
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.path)
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/json")
            .header(name, value);
        if let Some(bearer) = &self.bearer {
            request = request.header(AUTHORIZATION, bearer);
        }
        let invalid = |error: hyper::http::Error| HookError::Unreachable(io::Error::other(error));
        let request = request.body(Full::new(Bytes::from(json))).map_err(invalid)?;
        let answer = sender.send_request(request).await.map_err(HookError::Broken)?;
        if answer.status().is_success() { Ok(()) } else { Err(HookError::Refused(answer.status())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_a_url_that_can_be_told_something_without_a_secret_in_it() {
        let of = |url: &str| Hook::new(url, None, None).map(|hook| (hook.host, hook.port, hook.path));
        assert_eq!(of("http://127.0.0.1:9000/in?a=b"), Ok(("127.0.0.1".into(), 9_000, "/in?a=b".into())));
        assert_eq!(of("http://[::1]"), Ok(("::1".into(), 80, "/".into())));
        assert_eq!(of("ftp://x/"), Err(InvalidHook::Scheme));
        assert_eq!(of("x"), Err(InvalidHook::Scheme));
        assert_eq!(of("http://ada:secret@x/"), Err(InvalidHook::Credentials));
        assert_eq!(of("https://x/"), Err(InvalidHook::NoAuthority));
    }
}
