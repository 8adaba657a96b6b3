//! Names that become parts of paths and operands of commands. Each is checked once, here, and cannot be wrong afterwards.

use std::{fmt, str::FromStr};

use bailiwick_actors::vocab::EffectId;
use serde::{Deserialize, Serialize};

use super::StorageError;

/// What a tag names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TagKind {
    Volume,
    Filesystem,
}

/// The name of a volume or filesystem as its files and mounts bear it: `volume-3`, `filesystem-0-1`, `volume-<uuid>`.
///
/// It holds letters, digits and hyphens, begins with its kind, and so is never a path, an option or a hidden file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag {
    kind: TagKind,
    key: String,
}

impl TagKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Volume => "volume-",
            Self::Filesystem => "filesystem-",
        }
    }
}

impl Tag {
    /// The tag of what was made under this effect id.
    pub fn of(kind: TagKind, effect: EffectId) -> Self {
        Self { kind, key: effect.to_string() }
    }

    /// Reads a tag of this kind: a number, a machine's id and a number (`0-1`, `0-lxd-2-1`), or an effect id in the form
    /// that we write.
    pub fn parse(kind: TagKind, text: &str) -> Option<Self> {
        let key = text.strip_prefix(kind.prefix())?;
        let is_effect = key.parse::<EffectId>().is_ok_and(|effect| effect.to_string() == key);
        (is_effect || is_numbered(key)).then(|| Self { kind, key: key.to_owned() })
    }

    /// The tag without its kind.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Numbers with hyphens between them, and maybe a word between two numbers.
fn is_numbered(key: &str) -> bool {
    let is_number = |part: &str| {
        (1..=10).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    };
    let is_word = |part: &str| (1..=16).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let parts: Vec<&str> = key.split('-').collect();
    let ends_right =
        parts.first().is_some_and(|part| is_number(part)) && parts.last().is_some_and(|part| is_number(part));
    let words_apart = parts.windows(2).all(|pair| is_number(pair[0]) || is_number(pair[1]));
    ends_right && words_apart && parts.len() <= 12 && parts.iter().all(|part| is_number(part) || is_word(part))
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.prefix(), self.key)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// An absolute path in its one form: no `.`, no `..`, no doubled or trailing slash, no control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AbsPath(String);

impl AbsPath {
    /// The longest path that system calls take, and the longest part of one.
    const BYTES_MAX: usize = 4_095;
    const PART_BYTES_MAX: usize = 255;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of something in this directory.
    ///
    /// # Panics
    /// If the name is no single part of a path: names come from [`Tag`]s and from code.
    pub fn join(&self, name: &str) -> Self {
        assert!(is_part(name), "{name:?} is not a single path component");
        Self(if self.0 == "/" { format!("/{name}") } else { format!("{}/{name}", self.0) })
    }

    /// The directory that it is in; none for the root.
    pub fn parent(&self) -> Option<Self> {
        let (parent, _) = self.0.rsplit_once('/').filter(|_| self.0 != "/")?;
        Some(Self(if parent.is_empty() { "/".to_owned() } else { parent.to_owned() }))
    }

    /// The last part; none for the root.
    pub fn name(&self) -> Option<&str> {
        self.parts().last()
    }

    /// The parts from the root on.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// Whether it is this directory or lies beneath it.
    pub fn is_within(&self, directory: &Self) -> bool {
        let rest = self.0.strip_prefix(directory.as_str());
        directory.0 == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

fn is_part(part: &str) -> bool {
    let fits = (1..=AbsPath::PART_BYTES_MAX).contains(&part.len()) && part != "." && part != "..";
    fits && !part.contains('/') && !part.chars().any(char::is_control)
}

impl FromStr for AbsPath {
    type Err = StorageError;
    fn from_str(text: &str) -> Result<Self, StorageError> {
        let parts = text.strip_prefix('/').filter(|_| text.len() <= Self::BYTES_MAX);
        let is_good = text == "/" || parts.is_some_and(|parts| parts.split('/').all(is_part));
        if is_good { Ok(Self(text.to_owned())) } else { Err(StorageError::BadPath { text: cut(text) }) }
    }
}

impl fmt::Display for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// The kernel's name of a block device, without `/dev/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeviceName(String);

impl DeviceName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `/dev/<name>`.
    pub fn path(&self) -> AbsPath {
        AbsPath(format!("/dev/{}", self.0))
    }

    /// The first partition, if this looks like the name of a whole disk.
    ///
    /// A name that ends in a digit is not taken for a disk, though `nvme0n1` is one: a filesystem straight on the device
    /// serves as well, and the two readings cannot be told apart by the name. Source: Juju.
    pub fn first_partition(&self) -> Option<Self> {
        let is_disk = !self.0.ends_with(|letter: char| letter.is_ascii_digit());
        is_disk.then(|| Self(format!("{}1", self.0)))
    }
}

impl FromStr for DeviceName {
    type Err = StorageError;
    fn from_str(text: &str) -> Result<Self, StorageError> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let goes_on = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if begins && goes_on && text.len() <= 32 {
            return Ok(Self(text.to_owned()));
        }
        Err(StorageError::BadDeviceName { text: cut(text) })
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl TryFrom<String> for Tag {
    type Error = StorageError;
    fn try_from(text: String) -> Result<Self, StorageError> {
        let found = [TagKind::Volume, TagKind::Filesystem].into_iter().find_map(|kind| Self::parse(kind, &text));
        found.ok_or_else(|| StorageError::InvalidVolumeId { text: cut(&text) })
    }
}

impl TryFrom<String> for AbsPath {
    type Error = StorageError;
    fn try_from(text: String) -> Result<Self, StorageError> {
        text.parse()
    }
}

impl TryFrom<String> for DeviceName {
    type Error = StorageError;
    fn try_from(text: String) -> Result<Self, StorageError> {
        text.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.to_string()
    }
}

impl From<AbsPath> for String {
    fn from(path: AbsPath) -> Self {
        path.0
    }
}

impl From<DeviceName> for String {
    fn from(device: DeviceName) -> Self {
        device.0
    }
}

/// Text from outside, short enough for an error.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_forms_are_tags() {
        let effect = "6b8cbd0e-0f0b-5d5e-9f68-2a3f5a1e6c11";
        for key in ["0", "12", "0-1", "0-lxd-2-1", "10-lxd-0-kvm-3-2", effect] {
            let text = format!("volume-{key}");
            assert_eq!(Tag::parse(TagKind::Volume, &text).map(|tag| tag.to_string()), Some(text));
        }
        for text in [
            "",
            "volume-",
            "volume",
            "filesystem-0",
            "volume-0/..",
            "../volume-0",
            "volume-..",
            "volume-0-",
            "volume--0",
            "volume-00",
            "volume-0-lxd",
            "volume-lxd-0",
            "volume-0-lxd-kvm-1",
            "volume-a",
            "volume-0\n",
            "volume-0\0",
            "/volume-0",
            "volume-99999999999",
            "volume-٣",
        ] {
            assert_eq!(Tag::parse(TagKind::Volume, text), None, "{text:?}");
        }
        assert_eq!(Tag::parse(TagKind::Volume, &format!("volume-{}", effect.to_uppercase())), None);
    }

    #[test]
    fn paths_have_one_form() {
        for text in ["/", "/srv", "/in/the/place", "/a b/ü", "/-rf"] {
            assert_eq!(text.parse::<AbsPath>().unwrap().as_str(), text);
        }
        let (long_part, long_path) = (format!("/{}", "x".repeat(256)), "/x".repeat(2_048));
        for text in [
            "", "srv", "./srv", "../srv", "/srv/", "//srv", "/srv//x", "/srv/.", "/srv/..", "/..", "/a\nb", "/a\0b",
            "/a\u{7f}", "-o", &long_part, &long_path,
        ] {
            assert!(text.parse::<AbsPath>().is_err(), "{text:?}");
        }
        let path: AbsPath = "/srv/x".parse().unwrap();
        assert_eq!(path.parent().unwrap().parent().unwrap().as_str(), "/");
        assert_eq!(path.parent().unwrap().parent().unwrap().parent(), None);
        assert!(path.is_within(&"/srv".parse().unwrap()) && path.is_within(&"/".parse().unwrap()));
        assert!(!path.is_within(&"/sr".parse().unwrap()));
    }

    #[test]
    fn device_names_are_no_paths() {
        for text in ["", "/dev/sda", "../sda", "sda/1", "-d", "sda 1", "sd\na", &"x".repeat(33)] {
            assert!(text.parse::<DeviceName>().is_err(), "{text:?}");
        }
        let first = |text: &str| text.parse::<DeviceName>().unwrap().first_partition().map(|name| name.to_string());
        assert_eq!(first("sda"), Some("sda1".to_owned()));
        assert_eq!([first("sda1"), first("nvme0n1"), first("loop3")], [None, None, None]);
    }
}
