//! What a timeline begins with.

use std::collections::BTreeMap;

use bailiwick::actors::vocab::Name;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What decides only whether a case applies is read, so that anything else is noticed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "see above")]
pub(super) struct Given {
    pub(super) scope: String,
    #[serde(default)]
    pub(super) providers: BTreeMap<String, Provider>,
    #[serde(default)]
    pub(super) machines: Map<String, Value>,
    #[serde(default)]
    pub(super) volumes: Map<String, Value>,
    #[serde(default)]
    pub(super) filesystems: Map<String, Value>,
    #[serde(default)]
    pub(super) volume_attachments: Map<String, Value>,
    #[serde(default)]
    pub(super) filesystem_attachments: Map<String, Value>,
    #[serde(default)]
    pub(super) block_devices: Map<String, Value>,
    #[serde(default)]
    pub(super) storage_dir: Option<String>,
    #[serde(default)]
    pub(super) config_at: f64,
    #[serde(default)]
    pub(super) invalid: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) script: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "as above")]
pub(super) struct Provider {
    pub(super) dynamic: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Volume {
    #[serde(default = "alive")]
    pub(super) life: String,
    #[serde(default)]
    pub(super) provider: String,
    #[serde(default)]
    pub(super) size: u64,
    #[serde(default)]
    pub(super) persistent: bool,
    #[serde(default)]
    pub(super) attach: Option<Attach>,
    #[serde(default)]
    pub(super) provisioned: Option<ProvisionedVolume>,
    #[serde(default)]
    pub(super) remove: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attach {
    pub(super) machine: String,
    pub(super) read_only: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProvisionedVolume {
    pub(super) volume_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filesystem {
    #[serde(default = "alive")]
    pub(super) life: String,
    #[serde(default)]
    pub(super) provider: String,
    #[serde(default)]
    pub(super) size: u64,
    #[serde(default)]
    pub(super) backing: Option<String>,
    #[serde(default)]
    pub(super) provisioned: Option<ProvisionedFilesystem>,
    #[serde(default)]
    pub(super) remove: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProvisionedFilesystem {
    pub(super) filesystem_id: String,
    #[serde(default)]
    pub(super) size: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attachment {
    #[serde(default = "alive")]
    pub(super) life: String,
    #[serde(default)]
    pub(super) read_only: bool,
    #[serde(default)]
    pub(super) provisioned: bool,
    #[serde(default)]
    pub(super) path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    pub(super) device_name: String,
    pub(super) size: u64,
}

fn alive() -> String {
    "alive".to_owned()
}

/// The store: what it holds, by kind and then by tag or key.
pub(super) struct Store(Map<String, Value>);

pub(super) const KINDS: [&str; 6] =
    ["machines", "volumes", "filesystems", "volume_attachments", "filesystem_attachments", "block_devices"];

impl Store {
    pub(super) fn new(given: &Given) -> Self {
        let all = [
            &given.machines,
            &given.volumes,
            &given.filesystems,
            &given.volume_attachments,
            &given.filesystem_attachments,
            &given.block_devices,
        ];
        Self(KINDS.into_iter().zip(all).map(|(kind, map)| (kind.to_owned(), map.clone().into())).collect())
    }

    /// Changes what it holds, at every depth; nothing in the place of an entry takes it out.
    pub(super) fn set(&mut self, changes: BTreeMap<String, Value>) -> Result<(), String> {
        for (kind, changes) in changes {
            let Some(present) = self.0.get_mut(&kind) else {
                return Err(format!("the runner does not know what it is to set {kind:?}"));
            };
            let Some(present) = present.as_object_mut() else { continue };
            for (key, change) in changes.as_object().into_iter().flatten() {
                if change.is_null() {
                    present.remove(key);
                } else {
                    merge(present.entry(key).or_insert(Value::Null), change);
                }
            }
        }
        Ok(())
    }

    pub(super) fn entries(&self, kind: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.0.get(kind).and_then(Value::as_object).into_iter().flatten()
    }

    /// What it holds under a key.
    pub(super) fn get<'s, T: Deserialize<'s>>(&'s self, kind: &str, key: &str) -> Result<Option<T>, String> {
        let found = self.0.get(kind).and_then(|entries| entries.get(key));
        found.map(|value| T::deserialize(value).map_err(|error| format!("{kind} {key}: {error}"))).transpose()
    }

    pub(super) fn remove(&mut self, kind: &str, key: &str) {
        if let Some(entries) = self.0.get_mut(kind).and_then(Value::as_object_mut) {
            entries.remove(key);
        }
    }
}

fn merge(present: &mut Value, change: &Value) {
    match (present, change) {
        (Value::Object(present), Value::Object(change)) => {
            for (key, change) in change {
                merge(present.entry(key).or_insert(Value::Null), change);
            }
        }
        (present, change) => *present = change.clone(),
    }
}

/// The name that stands in a tag: `0-3` for `volume-0-3`.
pub(super) fn name(tag: &str) -> Result<Name, String> {
    let kinds = ["machine-", "volume-", "filesystem-"];
    let bare = kinds.iter().find_map(|kind| tag.strip_prefix(kind));
    let bare = bare.ok_or_else(|| format!("{tag:?} is no tag that the runner knows"))?;
    bare.parse().map_err(|error| format!("{error}"))
}

/// The names that stand in the key of an attachment.
pub(super) fn pair(key: &str) -> Result<(Name, Name), String> {
    let (machine, other) = key.split_once(':').ok_or_else(|| format!("{key:?} is no key of an attachment"))?;
    Ok((name(machine)?, name(other)?))
}
