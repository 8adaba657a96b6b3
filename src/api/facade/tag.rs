//! Tags, by which clients name things, and the ids of machines. Source: Juju's names.

use std::fmt;

use bailiwick_actors::vocab::Name;

/// The id of a machine: `0`, or `0/lxd/1` for a container in it.
///
/// Here a machine has such an id if its name is one, with `-` for `/`: `0-lxd-1`. Other machines are not seen by clients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct MachineId(String);

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

impl MachineId {
    /// Reads `0/lxd/1`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::of_parts(text.split('/'))
    }

    /// Reads the name of a machine: `0-lxd-1`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::of_parts(name.split('-'))
    }

    fn of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let parts: Vec<&str> = parts.collect();
        let is_number = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
        };
        let is_type = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
        let fits = |(at, part): (usize, &&str)| if at % 2 == 0 { is_number(part) } else { is_type(part) };
        (parts.len() % 2 == 1 && parts.iter().enumerate().all(fits)).then(|| Self(parts.join("/")))
    }

    /// Before all others.
    pub(super) fn least() -> Self {
        Self(String::new())
    }

    /// The name of its machine; none if that would be too long for one.
    pub(super) fn name(&self) -> Option<Name> {
        self.0.replace('/', "-").parse().ok()
    }

    /// The machine that it stands in; none for a machine of its own.
    pub(super) fn parent(&self) -> Option<Self> {
        let (rest, _) = self.0.rsplit_once('/')?;
        rest.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// What kind of container it is: `lxd`.
    pub(super) fn container_type(&self) -> Option<&str> {
        let (rest, _) = self.0.rsplit_once('/')?;
        rest.rsplit_once('/').map(|(_, kind)| kind)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Its tag: `machine-0-lxd-1`.
    pub(super) fn tag(&self) -> String {
        format!("machine-{}", self.0.replace('/', "-"))
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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

    #[test]
    fn a_container_has_a_parent_and_a_type() {
        let id = MachineId::parse("0/lxd/1/kvm/2").expect("an id");
        assert_eq!(id.parent(), MachineId::parse("0/lxd/1"));
        assert_eq!(id.container_type(), Some("kvm"));
        assert_eq!(id.name().expect("a name").as_str(), "0-lxd-1-kvm-2");
        assert_eq!(MachineId::of_name("0-lxd-1-kvm-2"), Some(id));
        assert_eq!(MachineId::parse("0").expect("an id").parent(), None);
        assert_eq!(MachineId::of_name("web"), None);
    }
}
