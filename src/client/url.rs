//! Where a node elsewhere is, and what a caller proves itself with: as they are written.

use std::{fmt, str::FromStr};

use hyper::{Uri, header::HeaderValue};
use serde::{Deserialize, Serialize};
use tokio_rustls::rustls::pki_types::ServerName;

/// The port of a URL that names none.
const PORT: u16 = 8443;

/// Where a node answers: `https://host:port`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NodeUrl {
    /// In lower case; an IPv6 address in brackets.
    host: String,
    pub(super) port: u16,
    pub(super) name: ServerName<'static>,
}

/// Why a text is no URL of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    #[error("it does not begin with https://")]
    Scheme,
    #[error("it names no host, or not in a form that a certificate can have")]
    Host,
    #[error("the part after the host is not a port from 1 to 65535")]
    Port,
    #[error("it has more than a host and a port")]
    More,
}

impl NodeUrl {
    /// The host alone, an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Host and port, as they stand in the URL.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl FromStr for NodeUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        if !text.starts_with("https://") {
            return Err(InvalidUrl::Scheme);
        }
        // The parser drops what stands behind it.
        if text.contains('#') {
            return Err(InvalidUrl::More);
        }
        let uri: Uri = text.parse().map_err(|_| InvalidUrl::Host)?;
        let authority = uri.authority().ok_or(InvalidUrl::Host)?;
        if authority.as_str().contains('@')
            || !matches!(uri.path_and_query().map(|path| path.as_str()), None | Some("/"))
        {
            return Err(InvalidUrl::More);
        }
        let rest = authority.as_str().strip_prefix(authority.host()).ok_or(InvalidUrl::Host)?;
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => PORT,
            Some(port) => port.parse().ok().filter(|port| *port != 0).ok_or(InvalidUrl::Port)?,
            None => return Err(InvalidUrl::Host),
        };
        let host = authority.host().to_ascii_lowercase();
        let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(name).map_err(|_| InvalidUrl::Host)?;
        Ok(Self { host, port, name })
    }
}

impl TryFrom<String> for NodeUrl {
    type Error = InvalidUrl;

    fn try_from(text: String) -> Result<Self, InvalidUrl> {
        text.parse()
    }
}

impl From<NodeUrl> for String {
    fn from(url: NodeUrl) -> Self {
        url.to_string()
    }
}

impl fmt::Display for NodeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}:{}", self.host, self.port)
    }
}

/// What a caller proves itself with. Whoever knows it is that caller, so nothing prints it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Token(String);

/// Why a text is no token. What it was is not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token is one word of up to {TOKEN_BYTES_MAX} letters, digits and signs")]
pub struct InvalidToken;

/// No token comes near this.
pub const TOKEN_BYTES_MAX: usize = 4096;

impl Token {
    /// What goes into a request; marked, so that nothing prints it either.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let is_word = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_word && (1..=TOKEN_BYTES_MAX).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidToken)
        }
    }
}

impl TryFrom<String> for Token {
    type Error = InvalidToken;

    fn try_from(text: String) -> Result<Self, InvalidToken> {
        text.parse()
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The node that an error is about: its URL, and what its user calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    pub url: NodeUrl,
    pub context: Option<String>,
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.context {
            Some(context) => write!(f, "{} (context {context})", self.url),
            None => write!(f, "{}", self.url),
        }
    }
}
