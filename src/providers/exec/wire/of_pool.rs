//! The pool that something comes from.

use bailiwick_actors::storage_rules::{Attributes, FromPool, PoolName};
use serde::Serialize;

/// For what was declared from a pool; what names a provider says nothing of pools.
#[derive(Debug, Serialize)]
pub(super) struct OfPool<'a> {
    pool: &'a PoolName,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    attributes: &'a Attributes,
}

impl<'a> From<&'a FromPool> for OfPool<'a> {
    fn from(pool: &'a FromPool) -> Self {
        Self { pool: &pool.name, attributes: &pool.attributes }
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_actors::{
        ports::{CreateFilesystem, CreateVolume},
        vocab::{EffectId, SizeMib, Uid},
    };
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::{
        super::{NewFilesystem, NewVolume},
        *,
    };

    fn pool(attributes: &[(&str, &str)]) -> Option<FromPool> {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Some(FromPool { name: "gold".parse().unwrap(), attributes: attributes.collect() })
    }

    fn volume(pool: Option<FromPool>) -> Value {
        let (id, uid) = (EffectId(Uuid::nil()), Uid(Uuid::nil()));
        let wish =
            CreateVolume { id, volume: "data".parse().unwrap(), uid, size: SizeMib(1), pool, tags: Default::default() };
        serde_json::to_value(NewVolume::from(&wish)).unwrap()
    }

    #[test]
    fn a_program_is_told_the_pool_and_what_it_says() {
        let nobody = Uuid::nil();
        let plain = json!({ "effect": nobody, "volume": "data", "uid": nobody, "size_mib": 1 });
        assert_eq!(volume(None), plain, "as it ever was");
        let mut told = plain;
        told["pool"] = "gold".into();
        assert_eq!(volume(pool(&[])), told);
        told["attributes"] = json!({ "tier": "one" });
        assert_eq!(volume(pool(&[("tier", "one")])), told);
        let tags = [("team".to_owned(), "storage".to_owned())].into();
        let (id, uid, size) = (EffectId(nobody), Uid(nobody), SizeMib(1));
        let wish =
            CreateVolume { id, volume: "data".parse().unwrap(), uid, size, pool: pool(&[("tier", "one")]), tags };
        told["tags"] = json!({ "team": "storage" });
        assert_eq!(serde_json::to_value(NewVolume::from(&wish)).unwrap(), told);

        let (id, uid) = (EffectId(nobody), Uid(nobody));
        let (size, pool) = (SizeMib(1), pool(&[("tier", "one")]));
        let wish = CreateFilesystem {
            id,
            filesystem: "files".parse().unwrap(),
            uid,
            size,
            backing: None,
            pool,
            replaces: Vec::new(),
        };
        let told = serde_json::to_value(NewFilesystem::from(&wish)).unwrap();
        assert_eq!((&told["pool"], &told["attributes"]), (&json!("gold"), &json!({ "tier": "one" })));
    }
}
