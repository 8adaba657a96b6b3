//! A scenario as it is written: what `simulate` reads, and what a run of chaos writes down to be run again.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use bailiwick_actors::{ports::CallBudget, vocab::Zone};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Expectations, Reader, Scenario, ScenarioError};
use crate::{
    manifest,
    providers::simulated::Faults,
    simulation::{CrashKind, DiskSpace},
};

/// The largest scenario file, in bytes.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A scenario, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScenarioFile {
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub start: Option<String>,
    pub until: String,
    /// Manifest documents, as text.
    #[serde(default)]
    pub manifest: Option<String>,
    /// Or files that have them, beside the scenario.
    #[serde(default)]
    pub manifests: Vec<PathBuf>,
    #[serde(default)]
    pub faults: BTreeMap<String, Faults>,
    /// The zones of each provider.
    #[serde(default)]
    pub zones: BTreeMap<String, Vec<Zone>>,
    /// How often each provider may be called.
    #[serde(default)]
    pub budgets: BTreeMap<String, CallBudget>,
    #[serde(default)]
    pub events: Vec<EventLine>,
    #[serde(default)]
    pub crashes: Vec<CrashLine>,
    #[serde(default)]
    pub expect: Expectations,
}

/// Something that happens at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventLine {
    pub at: String,
    #[serde(default)]
    pub apply: Option<String>,
    #[serde(default)]
    pub remove: Option<Vec<String>>,
    #[serde(default)]
    pub retry_failed: Option<bool>,
    #[serde(default)]
    pub hold: Option<HoldLine>,
    #[serde(default)]
    pub unhold: Option<String>,
    #[serde(default)]
    pub protect: Option<String>,
    #[serde(default)]
    pub unprotect: Option<String>,
    #[serde(default)]
    pub disown: Option<String>,
    #[serde(default)]
    pub adopt: Option<String>,
    #[serde(default)]
    pub remove_with: Option<RemovalLine>,
    #[serde(default)]
    pub stray: Option<StrayLine>,
    #[serde(default)]
    pub cling: Option<String>,
    #[serde(default)]
    pub dark: Option<For>,
    #[serde(default)]
    pub kill: Option<String>,
    #[serde(default)]
    pub vanish: Option<String>,
    #[serde(default)]
    pub silence: Option<For>,
    #[serde(default)]
    pub crash: Option<CrashKind>,
    #[serde(default)]
    pub outage: Option<For>,
    #[serde(default)]
    pub zone_outage: Option<OfZone>,
    #[serde(default)]
    pub kill_zone: Option<OfZone>,
    #[serde(default)]
    pub faults: Option<BTreeMap<String, Faults>>,
    #[serde(default)]
    pub calm: Option<bool>,
    #[serde(default)]
    pub jump: Option<String>,
    #[serde(default)]
    pub suspend: Option<String>,
    #[serde(default)]
    pub disk: Option<DiskSpace>,
}

/// Something that is held, perhaps for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HoldLine {
    pub of: String,
    pub reason: String,
    #[serde(default)]
    pub r#for: Option<String>,
}

/// A machine that is removed, and in which way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemovalLine {
    pub of: String,
    #[serde(default)]
    pub force: bool,
    #[serde(default)]
    pub keep_instance: bool,
}

/// Whose name an instance bears that nobody knows, and who makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StrayLine {
    pub of: String,
    pub provider: String,
}

/// Something about a machine or provider, for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct For {
    pub of: String,
    pub r#for: String,
}

/// Something about a zone of a provider, perhaps for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfZone {
    pub of: String,
    pub zone: Zone,
    #[serde(default)]
    pub r#for: Option<String>,
}

/// A crash at an exact point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CrashLine {
    pub point: u64,
    pub kind: CrashKind,
}

impl ScenarioFile {
    /// Reads a file; the manifests beside it are read as well, and stand in it from then on.
    ///
    /// # Errors
    /// With file, and line and column or field, of what is wrong.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let mut file = Self::parse(path, &text_of(path)?)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let beside = std::mem::take(&mut file.manifests).into_iter().map(|path| text_of(&folder.join(path)));
        let texts: Vec<String> = file.manifest.take().map(Ok).into_iter().chain(beside).collect::<Result<_, _>>()?;
        file.manifest = (!texts.is_empty()).then(|| texts.join("\n---\n"));
        Ok(file)
    }

    /// Reads a text; `path` is where it is from.
    ///
    /// # Errors
    /// With line and column of what is wrong.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ScenarioError> {
        serde_saphyr::from_str(text)
            .map_err(|error| ScenarioError::Yaml { path: path.to_owned(), problem: manifest::yaml_problem(&error) })
    }

    /// What it comes to; `path` is where it is from.
    ///
    /// # Errors
    /// With the field of what is wrong.
    pub fn scenario(&self, path: &Path) -> Result<Scenario, ScenarioError> {
        Reader { path }.scenario(self.clone())
    }

    /// The documents of its manifest, as texts.
    pub fn documents(&self) -> Vec<String> {
        let lines = self.manifest.iter().flat_map(|text| text.lines());
        let mut documents = vec![String::new()];
        for line in lines {
            match (line.trim_end() == "---", documents.last_mut()) {
                (false, Some(last)) => last.extend([line, "\n"]),
                _ => documents.push(String::new()),
            }
        }
        documents
            .retain(|text| text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')));
        documents
    }

    /// As JSON, which is YAML as well: what it says, without what is as it would be in any case.
    pub fn value(&self) -> Value {
        let usual = json!(Faults::default());
        said(json!(self), &usual)
    }
}

/// Without what is not said, and without what is usual for faults.
fn said(value: Value, usual: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_faults = usual.as_object().is_some_and(|usual| usual.keys().eq(fields.keys()));
            let says = |name: &str, value: &Value| {
                let goes_without_saying = if is_faults { usual[name] == *value } else { is_empty(value) };
                !value.is_null() && !goes_without_saying
            };
            let said = fields.into_iter().filter(|(name, value)| says(name, value));
            Value::Object(said.map(|(name, value)| (name, self::said(value, usual))).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(|item| said(item, usual)).collect(),
        other => other,
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

pub(super) fn text_of(path: &Path) -> Result<String, ScenarioError> {
    let cannot = |source| ScenarioError::Read { path: path.to_owned(), source };
    if fs::metadata(path).map_err(cannot)?.len() > BYTES_MAX {
        return Err(ScenarioError::TooLarge { path: path.to_owned() });
    }
    fs::read_to_string(path).map_err(cannot)
}
