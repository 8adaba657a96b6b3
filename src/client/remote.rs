//! A node on another machine: where it answers, whose word is taken for it, and who asks.

use std::{fmt, io, sync::Arc, time::Duration};

use hyper::header::HeaderValue;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{self, ClientConfig},
};

use super::{
    ClientError,
    trust::{Authority, Distrust},
    url::{NodeUrl, Token, Whereabouts},
};

/// From the first packet to a proven node. Shorter than a call may take: nothing has been sent by then, and that can be said.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// A node elsewhere, and the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub url: NodeUrl,
    /// What its user calls it; said beside the URL where something goes wrong.
    pub context: Option<String>,
    pub ca: Authority,
    pub token: Token,
}

/// What connects to one node elsewhere, and proves to it who asks.
pub(super) struct Reach {
    whereabouts: Whereabouts,
    tls: TlsConnector,
    pub(super) host: String,
    pub(super) bearer: Option<HeaderValue>,
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").field("whereabouts", &self.whereabouts).finish_non_exhaustive()
    }
}

impl Reach {
    pub(super) fn of(remote: Remote) -> Self {
        let Remote { url, context, ca, token } = remote;
        let (host, bearer) = (url.authority(), token.header());
        Self { tls: connector(ca.verified()), host, bearer, whereabouts: Whereabouts { url, context } }
    }

    pub(super) async fn connect(&self) -> Result<TlsStream<TcpStream>, ClientError> {
        connect(&self.whereabouts, &self.tls).await
    }
}

/// Speaks TLS 1.3 and nothing older, with HTTP/1.1 in it.
pub(super) fn connector(mut config: ClientConfig) -> TlsConnector {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// Connects, and has the node prove that it is the one. Nothing of ours is sent before that.
pub(super) async fn connect(node: &Whereabouts, tls: &TlsConnector) -> Result<TlsStream<TcpStream>, ClientError> {
    let unreachable = |source| ClientError::Unreachable { node: node.clone(), source };
    let connecting = async {
        let stream = TcpStream::connect((node.url.host(), node.url.port)).await.map_err(unreachable)?;
        // A request is one packet, and its answer is waited for.
        stream.set_nodelay(true).map_err(unreachable)?;
        tls.connect(node.url.name.clone(), stream).await.map_err(|error| not_proven(node, error))
    };
    let late = || io::Error::new(io::ErrorKind::TimedOut, "no answer in time");
    timeout(CONNECT_TIME_MAX, connecting).await.unwrap_or_else(|_| Err(unreachable(late())))
}

/// Why there is no connection, though somebody answered.
fn not_proven(node: &Whereabouts, error: io::Error) -> ClientError {
    let node = node.clone();
    let Some(tls) = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()) else {
        return ClientError::Unreachable { node, source: error };
    };
    match tls {
        rustls::Error::InvalidCertificate(why) => {
            let why = Distrust::of(why, node.url.host());
            ClientError::Untrusted { node, why }
        }
        other => ClientError::OtherProtocol { node, source: Box::new(other.clone()) },
    }
}

#[cfg(test)]
mod tests;
