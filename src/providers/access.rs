//! How servers are proved to and checked: references to credentials and certificates, looked up anew for every call.
//!
//! Nothing of it stands in a manifest or in the journal. The node's environment says where to look: for engine `mongodb` and
//! set `db` first in `BAILIWICK_MONGODB_DB_…`, then in `BAILIWICK_MONGODB_…`.
//!
//! | … | what it says |
//! |---|---|
//! | `USERNAME` | who we are |
//! | `PASSWORD_FILE` | the file with the password; a line end at its end does not count |
//! | `PASSWORD` | the password itself, where there is no file |
//! | `CA_FILE` | the certificates, as PEM, that the servers' ones are checked against; turns TLS on |
//! | `CERT_FILE` | our own certificate, as PEM |
//! | `KEY_FILE` | its key, as PEM; without this it stands in `CERT_FILE` |

use std::{
    ffi::OsString,
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_actors::vocab::{Fault, FaultCode, Name};

use super::known::KnownSecrets;

/// The engines that are proved to, as variables name them.
const ENGINES: [&str; 2] = ["ETCD", "MONGODB"];
/// A larger file is no password and no key.
const LEARNT_BYTES_MAX: u64 = 64 * 1024;

/// Looks up a variable by its name.
type LookUp = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// Names all variables.
type ListAll = dyn Fn() -> Vec<String> + Send + Sync;

/// Where references are looked up. What they lead to is known from then on, so that nobody is told.
#[derive(Clone)]
pub struct Environment {
    look_up: Arc<LookUp>,
    list_all: Arc<ListAll>,
    known: KnownSecrets,
}

/// What one set is asked with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub credentials: Option<Credentials>,
    /// None means without TLS.
    pub tls: Option<Tls>,
}

/// A name and its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub username: String,
    password: String,
}

/// The files that TLS needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    pub ca_file: PathBuf,
    /// Our own certificate and its key, which may be one file.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}

impl Default for Environment {
    /// One in which nothing is set: servers are asked without credentials and without TLS.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl Environment {
    /// Looked up like this.
    pub fn new(look_up: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self { look_up: Arc::new(look_up), list_all: Arc::new(Vec::new), known: KnownSecrets::default() }
    }

    /// The environment of this process.
    pub fn of_this_process() -> Self {
        let list_all = || std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        Self { list_all: Arc::new(list_all), ..Self::new(|name| std::env::var_os(name)) }
    }

    /// The names of all variables, where they can be listed.
    pub fn names(&self) -> Vec<String> {
        (self.list_all)()
    }

    /// What references have led to, and whatever else the node keeps to itself.
    pub fn known(&self) -> &KnownSecrets {
        &self.known
    }

    /// Takes in what stands behind all references now, before anybody asks for it: a program may have been told by an
    /// earlier node, and tell this one. What cannot be read is told when it is needed.
    pub fn learn(&self) {
        for name in self.names() {
            let is_ours = ENGINES.iter().any(|engine| name.starts_with(&format!("BAILIWICK_{engine}_")));
            let Some(value) = self.variable(&name).filter(|_| is_ours) else { continue };
            if name.ends_with("_PASSWORD") {
                self.known.add(&name, &value.to_string_lossy());
            } else if ["_PASSWORD_FILE", "_KEY_FILE", "_CERT_FILE"].iter().any(|what| name.ends_with(what)) {
                self.learn_file(&name, Path::new(&value));
            }
        }
    }

    /// A certificate may have its key behind it.
    fn learn_file(&self, name: &str, path: &Path) {
        // What is no plain file may be read only once.
        let is_plain = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LEARNT_BYTES_MAX);
        let Some(text) = is_plain.then(|| fs::read_to_string(path).ok()).flatten() else { return };
        if name.ends_with("_PASSWORD_FILE") || text.contains("PRIVATE KEY") {
            self.known.add(&format!("what {name} names"), text.trim_end_matches(['\r', '\n']));
        }
    }

    /// The value of a variable, if it says something.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        (self.look_up)(name).filter(|value| !value.is_empty())
    }

    /// What this set is asked with, as the references stand now.
    ///
    /// # Errors
    /// If a reference leads nowhere, or half of a pair is missing. The text names the reference, never what it leads to.
    pub fn access(&self, engine: &str, set: &Name) -> Result<Access, Fault> {
        let path = |what| Ok(self.value(engine, set, what)?.map(|(_, value)| PathBuf::from(value)));
        let missing = |what: &str, with: &str| {
            let text = format!("{} is set, and {what} is not", variable(engine, None, with));
            Err(Fault::new(FaultCode::FailedPrecondition, text))
        };
        let password = self.password(engine, set)?;
        password.iter().for_each(|password| self.known.add(&format!("the password of {engine} {set}"), password));
        let credentials = match (self.text(engine, set, "USERNAME")?, password) {
            (Some(username), Some(password)) => Some(Credentials { username, password }),
            (Some(_), None) => return missing("neither PASSWORD_FILE nor PASSWORD", "USERNAME"),
            (None, Some(_)) => return missing("USERNAME", "PASSWORD"),
            (None, None) => None,
        };
        let (certificate, key) = (path("CERT_FILE")?, path("KEY_FILE")?);
        let own = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (Some(certificate), None) => Some((certificate.clone(), certificate)),
            (None, Some(_)) => return missing("CERT_FILE", "KEY_FILE"),
            (None, None) => None,
        };
        let tls = match (path("CA_FILE")?, own) {
            (Some(ca_file), own) => Some(Tls { ca_file, own }),
            (None, Some(_)) => return missing("CA_FILE", "CERT_FILE"),
            (None, None) => None,
        };
        Ok(Access { credentials, tls })
    }

    /// The value of a variable, and its name.
    fn value(&self, engine: &str, set: &Name, what: &str) -> Result<Option<(String, OsString)>, Fault> {
        let names = [variable(engine, Some(set), what), variable(engine, None, what)];
        let mut found = names.into_iter().filter_map(|name| Some(((self.look_up)(&name)?, name)));
        Ok(found.find(|(value, _)| !value.is_empty()).map(|(value, name)| (name, value)))
    }

    fn text(&self, engine: &str, set: &Name, what: &str) -> Result<Option<String>, Fault> {
        let Some((name, value)) = self.value(engine, set, what)? else { return Ok(None) };
        let wrong = |_| Fault::new(FaultCode::FailedPrecondition, format!("{name} is not text"));
        value.into_string().map(Some).map_err(wrong)
    }

    fn password(&self, engine: &str, set: &Name) -> Result<Option<String>, Fault> {
        let Some((name, path)) = self.value(engine, set, "PASSWORD_FILE")? else {
            return self.text(engine, set, "PASSWORD");
        };
        let unreadable = |error: std::io::Error| {
            let text = format!("the file that {name} names cannot be read: {}", error.kind());
            Fault::new(FaultCode::FailedPrecondition, text)
        };
        let mut password = fs::read_to_string(path).map_err(unreadable)?;
        password.truncate(password.trim_end_matches(['\r', '\n']).len());
        Ok(Some(password))
    }
}

/// `BAILIWICK_MONGODB_DB_USERNAME`; everything but letters and digits becomes `_`.
fn variable(engine: &str, set: Option<&Name>, what: &str) -> String {
    let set = set.map(|set| format!("{set}_")).unwrap_or_default();
    let name = format!("BAILIWICK_{engine}_{set}{what}").to_ascii_uppercase();
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}

impl Credentials {
    /// The password, for whoever proves with it.
    pub fn password(&self) -> &str {
        &self.password
    }
}

impl Access {
    /// A text of somebody else's without our secrets, should it hold one.
    pub fn scrub(&self, text: &str) -> String {
        match &self.credentials {
            Some(credentials) if !credentials.password.is_empty() => text.replace(&credentials.password, "***"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), OsString::from(value));
        let variables: BTreeMap<String, OsString> = variables.iter().map(owned).collect();
        Environment::new(move |name| variables.get(name).cloned())
    }

    fn access(variables: &[(&str, &str)]) -> Result<Access, Fault> {
        environment(variables).access("mongodb", &"the-db".parse().unwrap())
    }

    #[test]
    fn what_is_said_of_the_set_counts_more_than_what_is_said_of_the_engine() {
        assert_eq!(access(&[("BAILIWICK_ETCD_USERNAME", "x")]), Ok(Access::default()));
        let found = access(&[
            ("BAILIWICK_MONGODB_USERNAME", "all"),
            ("BAILIWICK_MONGODB_THE_DB_USERNAME", "one"),
            ("BAILIWICK_MONGODB_PASSWORD", "hunter2"),
            ("BAILIWICK_MONGODB_CA_FILE", "/ca"),
            ("BAILIWICK_MONGODB_CERT_FILE", "/own"),
            ("BAILIWICK_MONGODB_KEY_FILE", ""),
        ]);
        let found = found.unwrap();
        let credentials = found.credentials.clone().unwrap();
        assert_eq!((credentials.username.as_str(), credentials.password()), ("one", "hunter2"));
        let own = Some((PathBuf::from("/own"), PathBuf::from("/own")));
        assert_eq!(found.tls, Some(Tls { ca_file: "/ca".into(), own }));
    }

    #[test]
    fn a_password_comes_from_its_file_and_is_never_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("password");
        fs::write(&file, "hunter2\n").unwrap();
        let found = access(&[
            ("BAILIWICK_MONGODB_USERNAME", "one"),
            ("BAILIWICK_MONGODB_PASSWORD_FILE", file.to_str().unwrap()),
            ("BAILIWICK_MONGODB_PASSWORD", "older"),
        ]);
        let found = found.unwrap();
        assert_eq!(found.credentials.as_ref().unwrap().password(), "hunter2");
        assert!(!format!("{found:?}").contains("hunter2"));
        assert_eq!(found.scrub("no user one with hunter2"), "no user one with ***");
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_named() {
        let nowhere = access(&[("BAILIWICK_MONGODB_PASSWORD_FILE", "/nowhere/at/all")]).unwrap_err();
        assert!(nowhere.text.contains("BAILIWICK_MONGODB_PASSWORD_FILE"), "{nowhere}");
        for half in ["USERNAME", "PASSWORD", "KEY_FILE", "CERT_FILE"] {
            let variable = format!("BAILIWICK_MONGODB_{half}");
            let fault = access(&[(&variable, "x")]).unwrap_err();
            assert!(fault.text.contains(&variable), "{fault}");
        }
    }
}
