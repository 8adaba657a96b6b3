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
//!
//! What was read is known to the node from then on ([`KnownSecrets`](super::known::KnownSecrets)) and blotted out of
//! what providers say. A value of one to five bytes could not be told from other text, so it is refused, and so are two values
//! for one key.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    ffi::OsString,
    fmt, fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use bailiwick_actors::{
    ports::{SecretData, Secrets, TELLING_BYTES_MIN},
    vocab::{Fault, FaultCode, Name},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use super::access::Environment;
use crate::manifest::secret_variable;

/// How their variables begin.
const VARIABLE: &str = "BAILIWICK_SECRET_";
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

impl EnvironmentSecrets {
    /// Reads all secrets that the environment leads to now, so that they are known before a machine needs one. What
    /// is wrong with one is said now, and again by whoever needs it.
    pub fn learn(&self) {
        let all: BTreeSet<String> = self.0.names().into_iter().filter(|name| name.starts_with(VARIABLE)).collect();
        for variable in &all {
            let of_file = variable.strip_suffix("_FILE");
            // What is neither a file nor a folder may be read only once.
            let is_lasting = |path: OsString| Path::new(&path).is_file() || Path::new(&path).is_dir();
            if of_file.is_some() && !self.0.variable(variable).is_some_and(is_lasting) {
                continue;
            }
            if let Err(problem) = self.find(of_file.unwrap_or(variable)) {
                tracing::warn!(%variable, "machines of classes that name this secret will not be made: {problem}");
            }
        }
    }

    /// What these variables lead to. It is known from then on.
    fn find(&self, variable: &str) -> Result<SecretData, String> {
        let of_file = format!("{variable}_FILE");
        let texts = if let Some(path) = self.0.variable(&of_file) {
            // The kind alone: a text of somebody else's may hold what was read.
            let unreadable = |error: io::Error| format!("the file named by {of_file} cannot be read: {}", error.kind());
            from_path(&PathBuf::from(path)).map_err(unreadable)?
        } else {
            let value = self.0.variable(variable).ok_or(format!("neither {of_file} nor {variable} is set"))?;
            texts(value.into_string().map_err(|_| format!("{variable} is not text"))?)
        };
        let texts = texts.map_err(|key| format!("it has two values for the key `{key}`"))?;
        let data = SecretData::new(texts);
        self.0.known().add_secret(variable, &data);
        telling(&data)?;
        Ok(data)
    }
}

/// Refuses values that could not be found in what a provider says.
fn telling(data: &SecretData) -> Result<(), String> {
    let is_short = |(_, value): &(&String, &String)| (1..TELLING_BYTES_MIN).contains(&value.len());
    let Some((key, value)) = data.reveal().iter().find(is_short) else { return Ok(()) };
    Err(format!(
        "the value of its key `{key}` has {} bytes; one shorter than {TELLING_BYTES_MIN} cannot be recognised and hidden in \
         texts: make it longer, or if it is not secret, write it into the class's providerSpec",
        value.len()
    ))
}

impl Secrets for EnvironmentSecrets {
    fn read(&self, name: &Name) -> Result<SecretData, Fault> {
        let wrong = |what: String| Fault::new(FaultCode::FailedPrecondition, format!("secret {name}: {what}"));
        self.find(&secret_variable(name)).map_err(wrong)
    }
}

/// Texts by key, or the key that has two.
type Texts = Result<BTreeMap<String, String>, String>;

fn from_path(path: &Path) -> io::Result<Texts> {
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
    Ok(Ok(all))
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

fn texts(text: String) -> Texts {
    match serde_json::from_str(&text) {
        Ok(Pairs(pairs)) => by_key(pairs),
        Err(_) => Ok(BTreeMap::from([(USER_DATA.to_owned(), text)])),
    }
}

fn by_key(pairs: Vec<(String, String)>) -> Texts {
    let mut all = BTreeMap::new();
    for (key, text) in pairs {
        match all.entry(key) {
            Entry::Vacant(place) => drop(place.insert(text)),
            Entry::Occupied(place) => return Err(place.key().clone()),
        }
    }
    Ok(all)
}

/// The fields of a JSON object of texts as they stand there; a map would keep one of two with the same name.
struct Pairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with string values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = fields.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Fields)
    }
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
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT", r#"{"a":"sesame"}"#), Ok(one("a", "sesame")));
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT", "booted"), Ok(one("userData", "booted")));
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT", r#"{"a":""}"#), Ok(one("a", "")), "there is nothing to be hidden");
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT_FILE", &file), Ok(one("userData", "hunter2")));
        assert_eq!(read("BAILIWICK_SECRET_THE_BOOT_FILE", dir.path()), Ok(one("token", "hunter2")));
    }

    #[test]
    fn a_value_that_could_not_be_hidden_is_refused_without_being_told() {
        let short = read("BAILIWICK_SECRET_THE_BOOT", r#"{"pin":"97531","long":"sesame"}"#).unwrap_err();
        assert_eq!(short.code, FaultCode::FailedPrecondition);
        assert!(short.text.starts_with("secret the-boot: the value of its key `pin` has 5 bytes"), "{short}");
        assert!(!short.text.contains("97531"), "{short}");
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        let twice = read("BAILIWICK_SECRET_THE_BOOT", r#"{"a":"hunter2","a":"sesame"}"#).unwrap_err();
        assert_eq!(twice.text, "secret the-boot: it has two values for the key `a`");
    }

    #[test]
    fn what_was_read_is_known() {
        let secrets = secrets("BAILIWICK_SECRET_THE_BOOT", "hunter2".into());
        secrets.read(&"the-boot".parse().unwrap()).unwrap();
        assert_eq!(secrets.0.known().blot().out("so hunter2"), "so ***");
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
