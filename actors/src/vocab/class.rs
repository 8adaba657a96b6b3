//! What machines are made from.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Name, derived_uuid};

/// What a class of machines says. It names secrets, and holds none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassContent {
    /// Which provider understands the rest.
    pub provider: Name,
    /// Opaque to us: one JSON value, as it was written.
    pub provider_spec: String,
    /// The secret with the user data.
    pub secret: Option<Name>,
    /// The secret with the provider's credentials; where both have a key, this one counts.
    pub credentials: Option<Name>,
    /// What a node of this class has. Has to be complete if it is given.
    pub node_template: Option<NodeCapacity>,
}

/// What a node of a class has, for those who plan with nodes that do not exist yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCapacity {
    /// Amounts as Kubernetes writes them, by resource: `cpu`, `gpu`, `memory`.
    pub capacity: BTreeMap<String, String>,
    pub instance_type: String,
    pub region: String,
    pub zone: String,
}

/// A class as one machine was made from it: the machine's own copy, whatever becomes of the class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCopy {
    pub class: Name,
    /// Which content of the class it was, counted from 1 with every change.
    pub revision: u32,
    pub content: Box<ClassContent>,
}

/// What is wrong with a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ClassFlaw {
    /// What does not fit into the journal several times over cannot be refused in it either.
    #[error("it has {bytes} bytes of text; the limit is {}", ClassContent::BYTES_MAX)]
    TooLarge { bytes: u32 },
    #[error(
        "its node template is incomplete: it needs the capacity of cpu, gpu and memory, the instance type, the region and the zone"
    )]
    Incomplete,
}

/// The resources that a node template has to name.
const RESOURCES: [&str; 3] = ["cpu", "gpu", "memory"];

impl ClassContent {
    /// The most bytes of all texts in it together: half of what one body in the journal holds, so that it fits beside
    /// whatever else an order or a refusal says.
    pub const BYTES_MAX: usize = 32 * 1024;

    /// A class of this provider that says nothing beyond that.
    pub fn with_provider(provider: Name) -> Self {
        Self { provider, provider_spec: "{}".into(), secret: None, credentials: None, node_template: None }
    }

    /// The secrets that it names, the provider's credentials last.
    pub fn secrets(&self) -> impl Iterator<Item = &Name> {
        self.secret.iter().chain(&self.credentials)
    }

    /// What is wrong with it, if anything is.
    ///
    /// # Errors
    /// If it is too large, or has an incomplete node template.
    pub fn checked(&self) -> Result<&Self, ClassFlaw> {
        let bytes = self.bytes();
        if bytes > Self::BYTES_MAX {
            return Err(ClassFlaw::TooLarge { bytes: u32::try_from(bytes).unwrap_or(u32::MAX) });
        }
        if self.node_template.as_ref().is_some_and(|template| !template.is_complete()) {
            return Err(ClassFlaw::Incomplete);
        }
        Ok(self)
    }

    /// Tells apart what classes say: the same content gives the same digest, for ever.
    pub fn digest(&self) -> Uuid {
        let mut text = format!("class {} {:?} {:?}", self.provider, self.secret, self.credentials);
        for part in self.texts() {
            // Lengths keep apart what would run together.
            text.push_str(&format!(" {} {part}", part.len()));
        }
        derived_uuid(&text)
    }

    fn bytes(&self) -> usize {
        // A length is stored with every text.
        self.texts().map(|text| text.len() + 8).sum()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let of_template = self.node_template.iter().flat_map(|template| {
            let texts = [&template.instance_type, &template.region, &template.zone];
            texts.into_iter().chain(template.capacity.iter().flat_map(|(resource, amount)| [resource, amount]))
        });
        std::iter::once(&self.provider_spec).chain(of_template).map(String::as_str)
    }
}

impl NodeCapacity {
    /// Whether it says everything that somebody who plans with it has to know.
    pub fn is_complete(&self) -> bool {
        let has = |resource: &&str| self.capacity.contains_key(*resource);
        let texts = [&self.instance_type, &self.region, &self.zone];
        RESOURCES.iter().all(has) && texts.into_iter().all(|text| !text.is_empty())
    }
}

impl fmt::Display for ClassCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} revision {}", self.class, self.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class() -> ClassContent {
        ClassContent::with_provider("cloud".parse().expect("a name"))
    }

    fn complete() -> NodeCapacity {
        let capacity = RESOURCES.map(|resource| (resource.to_owned(), "1".to_owned())).into();
        NodeCapacity { capacity, instance_type: "large".into(), region: "eu".into(), zone: "a".into() }
    }

    #[test]
    fn what_is_too_large_or_incomplete_is_flawed() {
        let long = |bytes: usize| ClassContent { provider_spec: "x".repeat(bytes), ..class() };
        assert!(long(ClassContent::BYTES_MAX - 8).checked().is_ok());
        assert_eq!(long(ClassContent::BYTES_MAX).checked(), Err(ClassFlaw::TooLarge { bytes: 32_776 }));
        let with = |template| ClassContent { node_template: Some(template), ..class() };
        assert!(with(complete()).checked().is_ok());
        let mut lacking: Vec<NodeCapacity> = vec![
            NodeCapacity { instance_type: String::new(), ..complete() },
            NodeCapacity { region: String::new(), ..complete() },
            NodeCapacity { zone: String::new(), ..complete() },
        ];
        for resource in RESOURCES {
            let mut template = complete();
            template.capacity.remove(resource);
            lacking.push(template);
        }
        for template in lacking {
            assert_eq!(with(template).checked(), Err(ClassFlaw::Incomplete));
        }
    }

    #[test]
    fn another_content_has_another_digest() {
        let name = |text: &str| Some(text.parse::<Name>().expect("a name"));
        let all = [
            class(),
            ClassContent { provider_spec: "{\"a\":1}".into(), ..class() },
            ClassContent { secret: name("one"), ..class() },
            ClassContent { credentials: name("one"), ..class() },
            ClassContent { node_template: Some(complete()), ..class() },
            ClassContent { node_template: Some(NodeCapacity { region: "ue".into(), ..complete() }), ..class() },
        ];
        let digests: std::collections::BTreeSet<Uuid> = all.iter().map(ClassContent::digest).collect();
        assert_eq!(digests.len(), all.len());
        assert_eq!(class().digest(), class().digest());
    }
}
