//! Where the values of secrets are: in files that the environment of the node names, or in the environment itself.
//!
//! Nothing of it stands in a manifest or in the journal. Secret `boot` is looked for anew for every call:
//!
//! | variable | what it says |
//! |---|---|
//! | `BAILIWICK_SECRET_BOOT_FILE` | a folder with one file for each key, as Kubernetes mounts secrets, or one file |
//! | `BAILIWICK_SECRET_BOOT` | the value itself, where there is no file |
//!
//! A file, or a value, is a JSON object of texts by key; anything else is the text of the key `userData`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use bailiwick_actors::{
    ports::{SecretData, Secrets},
    vocab::{Fault, FaultCode, Name},
};

use super::access::Environment;
use crate::manifest::secret_variable;

/// The most that one secret holds, in bytes.
const BYTES_MAX: u64 = 64 * 1024;
/// The most keys of one secret.
const KEYS_MAX: usize = 64;
/// The key of what has none.
const USER_DATA: &str = "userData";

/// Secrets that the environment leads to.
#[derive(Clone, Debug)]
pub struct EnvironmentSecrets(Environment);

impl EnvironmentSecrets {
    /// Those that this environment leads to.
    pub fn new(environment: Environment) -> Self {
        Self(environment)
    }
}

impl Secrets for EnvironmentSecrets {
    fn read(&self, name: &Name) -> Result<SecretData, Fault> {
        let variable = secret_variable(name);
        let of_file = format!("{variable}_FILE");
        let wrong = |what: String| Fault::new(FaultCode::FailedPrecondition, format!("secret {name}: {what}"));
        if let Some(path) = self.0.variable(&of_file) {
            let texts = from_path(&PathBuf::from(path));
            return texts.map(SecretData::new).map_err(|error| {
                // The kind alone: a text of somebody else's may hold what was read.
                wrong(format!("what {of_file} names cannot be read: {}", error.kind()))
            });
        }
        let Some(value) = self.0.variable(&variable) else {
            return Err(wrong(format!("neither {of_file} nor {variable} is set")));
        };
        let text = value.into_string().map_err(|_| wrong(format!("{variable} is not text")))?;
        Ok(SecretData::new(texts(text)))
    }
}

fn from_path(path: &Path) -> io::Result<BTreeMap<String, String>> {
    if !path.is_dir() {
        return Ok(texts(bounded(path)?));
    }
    let mut all = BTreeMap::new();
    for entry in path.read_dir()? {
        let entry = entry?;
        // Kubernetes keeps its own links there, which begin with two dots.
        let Ok(key) = entry.file_name().into_string() else { continue };
        if key.starts_with('.') || !entry.path().is_file() {
            continue;
        }
        if all.len() == KEYS_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        all.insert(key, bounded(&entry.path())?);
    }
    Ok(all)
}

/// The text of a file that is not too long; a line end at its end does not count.
fn bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Ok(text)
}

fn texts(text: String) -> BTreeMap<String, String> {
    serde_json::from_str(&text).unwrap_or_else(|_| BTreeMap::from([(USER_DATA.to_owned(), text)]))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn secrets(name: &'static str, value: OsString) -> EnvironmentSecrets {
        EnvironmentSecrets::new(Environment::new(move |asked| (asked == name).then(|| value.clone())))
    }

    fn read(name: &'static str, value: impl Into<OsString>) -> Result<BTreeMap<String, String>, Fault> {
        let found = secrets(name, value.into()).read(&"the-boot".parse().unwrap());
        found.map(|found| found.reveal().clone())
    }

    fn one(key: &str, text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(key.to_owned(), text.to_owned())])
    }

    #[test]
    fn a_secret_is_an_object_a_text_or_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        fs::write(&file, "hunter2\n").unwrap();
        fs::write(dir.path().join("..data"), "not mine").unwrap();
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT", r#"{"a":"b"}"#), Ok(one("a", "b")));
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT", "boot"), Ok(one("userData", "boot")));
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT_FILE", &file), Ok(one("userData", "hunter2")));
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT_FILE", dir.path()), Ok(one("token", "hunter2")));
    }

    #[test]
    fn what_is_not_there_is_named_and_what_is_read_is_not() {
        let nowhere = read("BAILIWICK_SECRET_THE_BOOT_FILE", "/nowhere/at/all").unwrap_err();
        assert_eq!(nowhere.code, FaultCode::FailedPrecondition);
        assert!(nowhere.text.contains("BAILIWICK_SECRET_THE_BOOT_FILE"), "{nowhere}");
        let unset = read("BAILIWICK_SECRET_OTHER", "x").unwrap_err();
        assert!(unset.text.contains("BAILIWICK_SECRET_THE_BOOT_FILE"), "{unset}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("long");
        fs::write(&file, "hunter2".repeat(10_000)).unwrap();
        let long = read("BAILIWICK_SECRET_THE_BOOT_FILE", &file).unwrap_err();
        assert!(!long.text.contains("hunter2"), "{long}");
        let found = secrets("BAILIWICK_SECRET_THE_BOOT", "hunter2".into()).read(&"the-boot".parse().unwrap()).unwrap();
        assert!(!format!("{found:?}").contains("hunter2"));
    }
}
