//! How etcd's servers are reached: plainly, or with TLS; as nobody, or as somebody.

use std::{fmt, sync::Arc};

use bailiwick_actors::{
    ports::replica_set::Contact,
    vocab::{Fault, FaultCode},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

use crate::providers::access::{Access, Credentials, Environment, Tls};

/// A connection that bytes go through.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// What the servers of one set are reached with.
#[derive(Clone, Default)]
pub(super) struct Reach {
    access: Access,
    tls: Option<TlsConnector>,
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").field("access", &self.access).finish_non_exhaustive()
    }
}

impl Reach {
    /// Follows the references as they stand now.
    ///
    /// # Errors
    /// If one leads nowhere, or to something else than it should.
    pub(super) fn of(environment: &Environment, contact: &Contact) -> Result<Self, Fault> {
        let access = environment.access("etcd", &contact.set)?;
        let tls = access.tls.as_ref().map(connector).transpose()?;
        Ok(Self { access, tls })
    }

    pub(super) fn credentials(&self) -> Option<&Credentials> {
        self.access.credentials.as_ref()
    }

    pub(super) fn scrub(&self, text: &str) -> String {
        self.access.scrub(text)
    }

    /// Connects to `host:port`.
    ///
    /// # Errors
    /// Why it cannot be reached, or is not who it should be.
    pub(super) async fn connect(&self, address: &str) -> std::io::Result<Box<dyn Connection>> {
        let stream = TcpStream::connect(address).await?;
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let (host, _) = address.rsplit_once(':').unwrap_or((address, ""));
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(std::io::Error::other)?;
        Ok(Box::new(tls.connect(name, stream).await?))
    }
}

fn connector(tls: &Tls) -> Result<TlsConnector, Fault> {
    let wrong = |what: &str, why: &dyn fmt::Display| {
        let text = format!("the {what} for TLS cannot be used: {why}");
        Fault::new(FaultCode::FailedPrecondition, text)
    };
    let certificates = |path, what| {
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        read.map_err(|error| wrong(what, &error))
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&tls.ca_file, "CA_FILE")? {
        roots.add(certificate).map_err(|error| wrong("CA_FILE", &error))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("protocol", &error))?
        .with_root_certificates(roots);
    let config = match &tls.own {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong("KEY_FILE", &error))?;
            let chain = certificates(certificate, "CERT_FILE")?;
            config.with_client_auth_cert(chain, key).map_err(|error| wrong("CERT_FILE", &error))?
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}
