//! Tags, by which clients name things. Source: Juju's names.

use crate::juju::MachineId;

/// What a tag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Machine(MachineId),
    Controller(String),
    User(String),
    Model(String),
    /// Of another kind: a unit, an application.
    Other,
}

/// The kinds of tags that are none of those above, as far as they are told from what is no tag.
const KINDS: [&str; 15] = [
    "unit",
    "application",
    "charm",
    "environment",
    "controllers",
    "volume",
    "filesystem",
    "storage",
    "space",
    "subnet",
    "relation",
    "action",
    "operation",
    "cloud",
    "cloudcred",
];

impl Tag {
    /// Reads a tag; none if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, id) = text.split_once('-').filter(|(_, id)| !id.is_empty())?;
        match kind {
            "machine" => MachineId::parse(&id.replace('-', "/")).map(Self::Machine),
            "controller" => Some(Self::Controller(id.to_owned())),
            "user" => Some(Self::User(id.to_owned())),
            "model" => Some(Self::Model(id.to_owned())),
            other if KINDS.contains(&other) => Some(Self::Other),
            _ => None,
        }
    }

    /// The machine that a tag names; none if it names something else, or nothing.
    pub(super) fn machine(text: &str) -> Option<MachineId> {
        match Self::parse(text) {
            Some(Self::Machine(id)) => Some(id),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_id_is_numbers_with_types_between_them() {
        for (tag, id) in [("machine-0", "0"), ("machine-10-lxd-1", "10/lxd/1"), ("machine-0/lxd/1", "0/lxd/1")] {
            assert_eq!(Tag::machine(tag).map(|id| id.to_string()).as_deref(), Some(id), "{tag}");
        }
        for tag in
            ["machine-", "machine-a", "machine-01", "machine-0-lxd", "machine-0-1-2", "machine", "", "unit-foo-0"]
        {
            assert_eq!(Tag::machine(tag), None, "{tag}");
        }
        assert_eq!(Tag::parse("unit-foo-0"), Some(Tag::Other));
        for text in ["nonsense", "bar", "not a tag", "", "-"] {
            assert_eq!(Tag::parse(text), None, "{text:?}");
        }
    }
}
