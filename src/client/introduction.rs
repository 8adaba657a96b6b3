//! How a node elsewhere is met for the first time, when only a fingerprint is known of it.

use std::sync::{Arc, OnceLock};

use tokio::io::AsyncWriteExt;
use tokio_rustls::rustls::{
    self, CertificateError, DigitallySignedStruct, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring as cryptography, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use super::{
    ClientError,
    remote::{connect, connector},
    trust::{Authority, Distrust, Fingerprint, modern},
    url::{NodeUrl, Whereabouts},
};

/// Connects to a node of which only the fingerprint of its CA is known, and takes that CA from what it presents. Its own
/// certificate then has to be one of this CA's, for this name; nothing is asked or sent.
///
/// # Errors
/// If it cannot be reached, presents no such CA, or does not belong to it.
pub async fn authority_at(url: &NodeUrl, wanted: Fingerprint) -> Result<Authority, ClientError> {
    let provider = Arc::new(cryptography::default_provider());
    let pinned = Arc::new(Pinned { wanted, provider: provider.clone(), found: OnceLock::new() });
    let config = modern(provider).dangerous().with_custom_certificate_verifier(pinned.clone()).with_no_client_auth();
    let node = Whereabouts { url: url.clone(), context: None };
    let mut stream = connect(&node, &connector(config)).await?;
    // It was asked nothing, and is told that nothing comes.
    drop(stream.shutdown().await);
    pinned.found.get().cloned().ok_or(ClientError::Untrusted { node, why: Distrust::Fingerprint })
}

/// Checks a node against the one certificate with this fingerprint.
#[derive(Debug)]
struct Pinned {
    wanted: Fingerprint,
    provider: Arc<CryptoProvider>,
    found: OnceLock<Authority>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let ca = intermediates.iter().find(|presented| Fingerprint::of(presented) == self.wanted);
        let ca = ca.ok_or(CertificateError::ApplicationVerificationFailure)?.clone().into_owned();
        let authority = Authority::of(vec![ca]).map_err(|_| CertificateError::BadEncoding)?;
        let roots = authority.roots.clone();
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, self.provider.clone()).build();
        let verifier = verifier.map_err(|error| rustls::Error::General(error.to_string()))?;
        let verified = verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
        // There is one handshake; whatever came first is the same.
        self.found.set(authority).ok();
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::ServerDoesNotSupportTls12Or13.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
