//! What the node proves itself with on the network: a certificate of its own authority, or one that it is given.
//!
//! ```text
//! <data-dir>/tls/ca.key     0600; made once
//! <data-dir>/tls/ca.pem     what clients are given to trust; its fingerprint is told at every start
//! ```
//!
//! The certificate that the authority signs is made at each start, and again while the node runs, long before it expires; its
//! key is in memory only. Files that are given are read again when they change. Either way connections go on.

use std::{
    collections::BTreeSet,
    fmt, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use bailiwick_actors::vocab::Timestamp;
use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use time::OffsetDateTime;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
        server::{ClientHello, ResolvesServerCert},
        sign::CertifiedKey,
        version::TLS13,
    },
};
use uuid::Uuid;

use crate::{agent::files, client::Fingerprint};

/// How long the node's own authority lasts, in days.
const AUTHORITY_DAYS: i64 = 3_650;
/// How long a certificate lasts that it signs, and after how many days the next one is made.
const CERTIFICATE_DAYS: i64 = 90;
const RENEWED_AFTER_DAYS: u64 = 30;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Where the certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The node's own authority, below its data directory.
    Own { dir: PathBuf, journal: Uuid },
    /// PEM files of somebody else's: the chain, and its key.
    Given { certificate: PathBuf, key: PathBuf },
}

/// The certificate that is shown now.
pub struct Certificates {
    origin: Origin,
    names: BTreeSet<String>,
    shown: RwLock<Arc<CertifiedKey>>,
    seen: Mutex<Seen>,
}

/// What the certificate that is shown was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Made(Timestamp),
    Read([FileStamp; 2]),
}

/// What changes when a file is written or replaced: device, inode, length, seconds and nanoseconds of its last change.
type FileStamp = (u64, u64, u64, i64, i64);

impl Certificates {
    /// Makes or reads what is to be shown. `names` are host names and addresses that clients know the node by.
    ///
    /// # Errors
    /// If a file cannot be read or written, or holds something else.
    pub fn new(origin: Origin, names: BTreeSet<String>, now: Timestamp) -> io::Result<Self> {
        let (shown, seen) = load(&origin, &names, now)?;
        Ok(Self { origin, names, shown: RwLock::new(Arc::new(shown)), seen: Mutex::new(seen) })
    }

    /// Makes or reads it again if it is time for that, or the files have changed; says whether that was so. If it fails, what
    /// was shown is shown further.
    ///
    /// # Errors
    /// As [`Certificates::new`].
    pub fn refresh(&self, now: Timestamp) -> io::Result<bool> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good = match (&self.origin, *seen) {
            (_, Seen::Made(at)) => now.since(at) < RENEWED_AFTER_DAYS * DAY_MS,
            (Origin::Given { certificate, key }, Seen::Read(stamps)) => stamps == [stamp(certificate)?, stamp(key)?],
            (Origin::Own { .. }, Seen::Read(_)) => true,
        };
        if is_good {
            return Ok(false);
        }
        let (shown, read) = load(&self.origin, &self.names, now)?;
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shown);
        *seen = read;
        Ok(true)
    }

    /// The certificate of the authority that clients are to trust, as PEM: the last of the chain.
    pub(super) fn authority_pem(&self) -> String {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        let Some(authority) = shown.cert.last() else { return String::new() };
        let text = STANDARD.encode(authority);
        let lines: Vec<&str> =
            text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap_or_default()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    /// What clients compare before they trust the node for the first time: the SHA-256 of its authority's certificate; none
    /// if the certificate was given.
    pub fn fingerprint(&self) -> Option<String> {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        let authority = shown.cert.last().filter(|_| matches!(self.origin, Origin::Own { .. }))?;
        Some(Fingerprint::of(authority).to_string())
    }
}

/// What accepts connections with TLS 1.3 and nothing older, and shows these certificates.
///
/// # Errors
/// None in practice: the versions are fixed.
pub(super) fn acceptor(certificates: Arc<Certificates>) -> io::Result<TlsAcceptor> {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.shown.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Shows no key.
impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("origin", &self.origin).field("names", &self.names).finish_non_exhaustive()
    }
}

fn load(origin: &Origin, names: &BTreeSet<String>, now: Timestamp) -> io::Result<(CertifiedKey, Seen)> {
    match origin {
        Origin::Own { dir, journal } => Ok((own(dir, *journal, names, now)?, Seen::Made(now))),
        Origin::Given { certificate, key } => {
            // Before they are read: what is written meanwhile is read again.
            let stamps = [stamp(certificate)?, stamp(key)?];
            let named = |path: &Path, error: &dyn fmt::Display| invalid(format!("{}: {error}", path.display()));
            let chain = CertificateDer::pem_file_iter(certificate)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| named(certificate, &error))?;
            if chain.is_empty() {
                return Err(named(certificate, &"there is no certificate in it"));
            }
            let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| named(key, &error))?;
            let certified = CertifiedKey::from_der(chain, secret, &ring::default_provider());
            Ok((certified.map_err(|error| named(key, &error))?, Seen::Read(stamps)))
        }
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn stamp(path: &Path) -> io::Result<FileStamp> {
    let found =
        fs::metadata(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok((found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

/// A new certificate of the node's own authority, which is made if it is not there.
fn own(dir: &Path, journal: Uuid, names: &BTreeSet<String>, now: Timestamp) -> io::Result<CertifiedKey> {
    let (key_file, authority_file) = (dir.join("ca.key"), dir.join("ca.pem"));
    files::make_directory(dir)?;
    let key = match fs::read_to_string(&key_file) {
        Ok(pem) => KeyPair::from_pem(&pem).map_err(|error| invalid(format!("{}: {error}", key_file.display())))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = KeyPair::generate().map_err(io::Error::other)?;
            // An authority's certificate without its key is of no use any more.
            files::remove_file(&authority_file)?;
            files::replace(&key_file, key.serialize_pem().as_bytes())?;
            key
        }
        Err(error) => return Err(error),
    };
    let params = authority(journal, now)?;
    if !authority_file.exists() {
        let made = params.self_signed(&key).map_err(io::Error::other)?;
        files::replace(&authority_file, made.pem().as_bytes())?;
    }
    let authority = CertificateDer::from_pem_file(&authority_file)
        .map_err(|error| invalid(format!("{}: {error}", authority_file.display())))?;
    let secret = KeyPair::generate().map_err(io::Error::other)?;
    let mut wanted = CertificateParams::new(names.iter().cloned().collect::<Vec<_>>()).map_err(io::Error::other)?;
    (wanted.not_before, wanted.not_after) = (day(now, -1)?, day(now, CERTIFICATE_DAYS)?);
    wanted.distinguished_name = called(&format!("node {journal}"));
    wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    wanted.use_authority_key_identifier_extension = true;
    // Name and key of the authority are all that is taken of it.
    let signed = wanted.signed_by(&secret, &Issuer::new(params, key)).map_err(io::Error::other)?;
    let secret = PrivateKeyDer::try_from(secret.serialize_der()).map_err(io::Error::other)?;
    CertifiedKey::from_der(vec![signed.der().clone(), authority], secret, &ring::default_provider())
        .map_err(io::Error::other)
}

fn authority(journal: Uuid, now: Timestamp) -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    (params.not_before, params.not_after) = (day(now, -1)?, day(now, AUTHORITY_DAYS)?);
    params.distinguished_name = called(&format!("bailiwick {journal}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    Ok(params)
}

fn called(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}

/// Midnight so many days from now.
fn day(now: Timestamp, days: i64) -> io::Result<OffsetDateTime> {
    let at = i64::try_from(now.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let date = at.map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
    let day = jiff::Span::new().try_days(days).ok().zip(date).and_then(|(span, date)| date.checked_add(span).ok());
    let day = day.ok_or_else(|| invalid("the clock is at a time that no certificate can have".to_owned()))?;
    let number = |value: i8| u8::try_from(value).map_err(io::Error::other);
    Ok(date_time_ymd(i32::from(day.year()), number(day.month())?, number(day.day())?))
}
