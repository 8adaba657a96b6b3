//! Whose word is taken for a node: the certificates of its CA, or for the first time the fingerprint of one.

use std::{fmt, str::FromStr, sync::Arc};

use bailiwick_actors::vocab::{Timestamp, hex};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, RootCertStore,
    crypto::{CryptoProvider, ring as cryptography},
    pki_types::{CertificateDer, UnixTime, pem::PemObject},
    version::TLS13,
};

/// The certificates that a node's own one is checked against. As text they are PEM, and nothing else that stood there.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Authority {
    certificates: Vec<CertificateDer<'static>>,
    pub(super) roots: Arc<RootCertStore>,
}

/// Why a text names no CA.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthority {
    #[error("there is no certificate in it (BEGIN CERTIFICATE)")]
    Empty,
    #[error("it is not PEM: {0}")]
    Pem(String),
    #[error("a certificate in it cannot be used: {0}")]
    Certificate(String),
}

impl Authority {
    pub(super) fn of(certificates: Vec<CertificateDer<'static>>) -> Result<Self, InvalidAuthority> {
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|error| InvalidAuthority::Certificate(error.to_string()))?;
        }
        if certificates.is_empty() {
            return Err(InvalidAuthority::Empty);
        }
        Ok(Self { certificates, roots: roots.into() })
    }

    /// By what people tell its certificates apart.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        self.certificates.iter().map(|certificate| Fingerprint::of(certificate)).collect()
    }

    /// TLS with nodes that it vouches for.
    pub(super) fn verified(&self) -> ClientConfig {
        modern(Arc::new(cryptography::default_provider()))
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth()
    }
}

pub(super) fn modern(provider: Arc<CryptoProvider>) -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    let builder = ClientConfig::builder_with_provider(provider);
    builder.with_protocol_versions(&[&TLS13]).expect("ring has ciphers for TLS 1.3")
}

impl FromStr for Authority {
    type Err = InvalidAuthority;

    fn from_str(text: &str) -> Result<Self, InvalidAuthority> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        Self::of(read.map_err(|error| InvalidAuthority::Pem(error.to_string()))?)
    }
}

impl TryFrom<String> for Authority {
    type Error = InvalidAuthority;

    fn try_from(text: String) -> Result<Self, InvalidAuthority> {
        text.parse()
    }
}

impl From<Authority> for String {
    fn from(authority: Authority) -> Self {
        authority.certificates.iter().map(|certificate| pem(certificate)).collect()
    }
}

impl PartialEq for Authority {
    fn eq(&self, other: &Self) -> bool {
        self.certificates == other.certificates
    }
}

impl Eq for Authority {}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authority").field(&self.fingerprints()).finish()
    }
}

fn pem(certificate: &[u8]) -> String {
    /// As RFC 7468 has it.
    const LINE: usize = 64;
    let text = STANDARD.encode(certificate);
    let lines = text.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", lines.collect::<String>())
}

/// The SHA-256 of a certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// Says that a text is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is a SHA-256: 64 hexadecimal digits, with or without colons")]
pub struct InvalidFingerprint;

impl Fingerprint {
    /// That of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Self(bytes)
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    /// Reads what programs print: openssl writes colons and capitals.
    fn from_str(text: &str) -> Result<Self, InvalidFingerprint> {
        let digits = text.replace(':', "").to_ascii_lowercase();
        // The hash has the same size; its reader is one that takes these digits and no others.
        blake3::Hash::from_hex(digits).map(|read| Self(read.into())).map_err(|_| InvalidFingerprint)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Why a node is not believed to be the one that was meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    #[error("another CA issued its certificate")]
    Unknown,
    #[error("its certificate expired{}", expired_at(.since))]
    Expired { since: Option<Timestamp> },
    #[error("its certificate is not valid yet{}", not_before(.from))]
    Early { from: Option<Timestamp> },
    #[error("its certificate is not for {host}")]
    Name { host: String },
    #[error("it presents no CA with this fingerprint")]
    Fingerprint,
    #[error("its certificate cannot be used ({0})")]
    Unusable(String),
}

fn expired_at(moment: &Option<Timestamp>) -> String {
    moment.map(|moment| format!(" at {moment}")).unwrap_or_default()
}

fn not_before(moment: &Option<Timestamp>) -> String {
    moment.map(|moment| format!(", but from {moment}")).unwrap_or_default()
}

impl Distrust {
    pub(super) fn of(error: &CertificateError, host: &str) -> Self {
        let moment = |time: &UnixTime| Some(Timestamp(time.as_secs().saturating_mul(1_000)));
        match error {
            // Two CAs of one name differ by their keys.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::Unknown,
            CertificateError::Expired => Self::Expired { since: None },
            CertificateError::ExpiredContext { not_after, .. } => Self::Expired { since: moment(not_after) },
            CertificateError::NotValidYet => Self::Early { from: None },
            CertificateError::NotValidYetContext { not_before, .. } => Self::Early { from: moment(not_before) },
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::Name { host: host.to_owned() }
            }
            CertificateError::ApplicationVerificationFailure => Self::Fingerprint,
            other => Self::Unusable(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
