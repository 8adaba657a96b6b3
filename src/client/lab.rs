//! A server with TLS on this host, and a CA for it: what tests of clients talk to.

use std::{net::TcpListener, sync::mpsc, thread};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::oneshot,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig, SupportedProtocolVersion,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer},
        version::{TLS12, TLS13},
    },
};

use super::{Authority, Fingerprint, NodeUrl};

/// Issues certificates.
pub(crate) struct Ca {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key and the CA behind it.
pub(crate) struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Ca {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    pub(crate) fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub(crate) fn authority(&self) -> Authority {
        self.pem().parse().unwrap()
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.authority().fingerprints()[0]
    }

    /// A certificate for this name, which expires at the beginning of that year.
    pub(crate) fn issue(&self, name: &str, until: i32) -> Identity {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let chain = vec![leaf.der().clone(), self.certificate.der().clone()];
        Identity { chain, key: PrivateKeyDer::try_from(key.serialize_der()).unwrap() }
    }
}

impl Identity {
    /// The same with another CA behind it.
    pub(crate) fn presenting(mut self, ca: &Ca) -> Self {
        self.chain.truncate(1);
        self.chain.push(ca.certificate.der().clone());
        self
    }
}

/// Gives every caller the same answer, until it is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    /// The head of each request, in the order in which they came.
    asked: mpsc::Receiver<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// One that proves itself with this, and answers so.
    pub(crate) fn start(identity: Identity, answer: &'static str) -> Self {
        Self::speaking(&[&TLS13], identity, answer)
    }

    /// One that is older.
    pub(crate) fn old(identity: Identity, answer: &'static str) -> Self {
        Self::speaking(&[&TLS12], identity, answer)
    }

    fn speaking(versions: &[&'static SupportedProtocolVersion], identity: Identity, answer: &'static str) -> Self {
        let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(identity.chain, identity.key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(std::sync::Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, asked) = mpsc::channel();
        let (stop, mut stopped) = oneshot::channel();
        let serve = async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let stream = tokio::select! {
                    biased;
                    _ = &mut stopped => return,
                    stream = listener.accept() => stream.unwrap().0,
                };
                // Whoever does not trust it goes away again.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let (mut head, mut piece) = (Vec::new(), [0; 4096]);
                while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                    match stream.read(&mut piece).await {
                        Ok(0) | Err(_) => break,
                        Ok(read) => head.extend_from_slice(&piece[..read]),
                    }
                }
                if !head.is_empty() {
                    tell.send(String::from_utf8_lossy(&head).into_owned()).unwrap();
                    stream.write_all(answer.as_bytes()).await.ok();
                }
                stream.shutdown().await.ok();
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let thread = Some(thread::spawn(move || runtime.block_on(serve)));
        Self { port, asked, stop: Some(stop), thread }
    }

    pub(crate) fn url(&self) -> NodeUrl {
        format!("https://localhost:{}", self.port).parse().unwrap()
    }

    /// Ends it; what it was asked.
    pub(crate) fn asked(mut self) -> Vec<String> {
        self.end();
        self.asked.try_iter().collect()
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
