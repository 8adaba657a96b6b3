//! What people write about storage, as a manifest: what is refused, and what volumes are recorded and made of the rest.

use bailiwick::{
    actors::{
        policy::{self, Document},
        storage_rules::{PoolSettings, ProviderType},
        vocab::{Name, SizeMib},
        volume,
    },
    api::wire::change::{ChangePool, PoolChange},
    manifest::{self, Known, Source, Wish},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{lab::Lab, read};

/// What a volume of a directive has that says no size.
const UNSAID_MIB: u64 = 1_024;

/// A node with a machine, whose policy says where storage comes from.
struct Node {
    lab: Lab,
}

/// A volume as it was recorded and made.
struct Made {
    /// The pool that it was asked for from; none if none was named.
    pool: Option<String>,
    size: SizeMib,
}

impl Node {
    fn new() -> Self {
        Self { lab: Lab::new(Document::default()) }
    }

    /// A pool is created, as the API takes it.
    fn create_pool(&mut self, name: &str) -> Result<(), String> {
        let settings = PoolSettings { provider: ProviderType::Simulated, attributes: [].into() };
        let asked = json!({"change": {"create": {"name": name, "settings": settings}}});
        let asked: ChangePool = serde_json::from_value(asked).map_err(|error| error.to_string())?;
        let PoolChange::Create { name, settings } = asked.change else { return Err("it is no pool".to_owned()) };
        self.lab.desk.ask_policy(policy::Command::CreatePool { name, settings });
        Ok(())
    }

    /// A document is applied: volumes are made of it, or it is refused, and then why.
    fn apply(&mut self, document: &Value) -> Result<Vec<Made>, String> {
        let known = Known { storage: self.lab.desk.pools(), ..Known::default() };
        let manifest = manifest::parse(&[Source::new("case.yaml", document.to_string())], &known);
        let manifest = manifest.map_err(|error| error.to_string())?;
        let mut volumes = Vec::new();
        for document in manifest.documents {
            if let Wish::Volume { name, spec, pool, .. } = document.wish {
                let pool = pool.filter(|pool| pool.is_named).map(|pool| pool.pool.name.to_string());
                self.lab.desk.volume(name.as_str(), volume::Command::declare(spec));
                volumes.push((name, pool));
            }
        }
        self.lab.desk.settle();
        volumes.into_iter().map(|(name, pool)| self.made(&name, pool)).collect()
    }

    fn made(&self, volume: &Name, pool: Option<String>) -> Result<Made, String> {
        let state = self.lab.desk.volume_state(volume.as_str()).ok_or("nobody knows the volume")?;
        match &state.storage {
            volume::Storage::Provisioned { made: volume, .. } => Ok(Made { pool, size: volume.size }),
            other => Err(format!("it is not made: {other:?}")),
        }
    }
}

fn document(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "bailiwick/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// `[text, MiB]` or `[text, "error"]`: the size of a volume.
pub(super) fn size(case: &Value) -> Result<(), String> {
    let (text, expected): (String, Value) = read(case)?;
    let asked = document("Volume", "v", &json!({"provider": "desk", "size": text}));
    match (Node::new().apply(&asked), expected.as_u64()) {
        (Ok(made), Some(mib)) if made.len() == 1 && made[0].size.0 == mib => Ok(()),
        (Err(_), None) if expected == "error" => Ok(()),
        (Ok(made), _) => {
            let got = made.first().map_or(0, |made| made.size.0);
            Err(format!("expected {expected} MiB, got {got}"))
        }
        (Err(error), _) => Err(format!("expected {expected} MiB, got the error: {error}")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Directive {
    text: String,
    ok: Option<Volumes>,
    error: Option<String>,
}

/// `pool` is "" where none is given, `size_mib` 0.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Volumes {
    pool: String,
    count: usize,
    size_mib: u64,
}

/// How a refusal says what the original has a word for.
const REFUSALS: [(&str, &str); 9] = [
    ("empty", "no pool, count or size is given"),
    ("count_not_positive", "a count must be at least 1"),
    ("count_too_big", "the count \""),
    ("size_negative", "a size cannot be negative"),
    ("size_too_big", "the size \""),
    ("pool_repeated", "the pool is named twice"),
    ("count_repeated", "the count is given twice"),
    ("size_repeated", "the size is given twice"),
    ("unknown_field", "is not a pool, count or size"),
];

/// What a machine asks for beside itself.
pub(super) fn directive(case: &Value) -> Result<(), String> {
    let case: Directive = read(case)?;
    let mut node = Node::new();
    if let Some(pool) = case.ok.as_ref().map(|ok| &ok.pool).filter(|pool| !pool.is_empty() && *pool != "loop") {
        node.create_pool(pool)?;
    }
    let asked = document("Machine", "m", &json!({"provider": "desk", "storage": {"data": case.text}}));
    match (node.apply(&asked), case.ok, case.error) {
        (Ok(made), Some(ok), None) => {
            let expected = (ok.count, if ok.size_mib == 0 { UNSAID_MIB } else { ok.size_mib });
            for volume in &made {
                let got = (made.len(), volume.size.0);
                if got != expected || volume.pool.clone().unwrap_or_default() != ok.pool {
                    return Err(format!("expected {ok:?}, got {got:?} from {:?}", volume.pool));
                }
            }
            if made.is_empty() { Err(format!("expected {ok:?}, got none")) } else { Ok(()) }
        }
        (Err(why), None, Some(error)) => {
            let says = |(word, text): &(&str, &str)| *word == error && why.contains(text);
            if REFUSALS.iter().any(says) { Ok(()) } else { Err(format!("expected {error}, got: {why}")) }
        }
        (Ok(_), _, error) => Err(format!("expected {error:?}, got volumes")),
        (Err(why), ..) => Err(format!("got the error: {why}")),
    }
}

/// `[text, whether it is a name]`, made from the two lists of the group: a pool is created, and a volume comes from it.
pub(super) fn pool_name(case: &Value) -> Result<(), String> {
    let (text, expected): (String, bool) = read(case)?;
    let mut node = Node::new();
    let is_created = node.create_pool(&text).is_ok();
    let asked = document("Volume", "v", &json!({"pool": text, "size": "64M"}));
    match (is_created, node.apply(&asked), expected) {
        (true, Ok(made), true) if made.len() == 1 && made[0].pool.as_deref() == Some(&text) => Ok(()),
        (false, Err(_), false) => Ok(()),
        (is_created, applied, _) => Err(format!(
            "expected it to be {}: its pool is {}created, its volume is {}",
            if expected { "a name" } else { "none" },
            if is_created { "" } else { "not " },
            applied.map_or_else(|error| error, |made| format!("made {} times", made.len())),
        )),
    }
}
