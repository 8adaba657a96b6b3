//! Which entities are meant, by their labels: `tier=front,role!=writer`.

use std::{collections::BTreeMap, fmt, str::FromStr};

/// What labels have to be like: all of its parts hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Has(String),
    HasNot(String),
    Is(String, String),
    /// Also where there is no such label.
    IsNot(String, String),
}

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} selects nothing: write KEY=VALUE, KEY!=VALUE, KEY or !KEY, with commas between them")]
pub struct InvalidSelector {
    part: String,
}

/// Whether entities of a kind have labels: those of their machines, where they make some.
pub fn has_labels(kind: &str) -> bool {
    matches!(kind, "machine" | "machine-set" | "machine-deployment")
}

impl Selector {
    /// Whether it says nothing, so that everything is meant.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether something with these labels is meant.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| requirement.holds(labels))
    }
}

impl Requirement {
    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Has(key) => labels.contains_key(key),
            Self::HasNot(key) => !labels.contains_key(key),
            Self::Is(key, value) => labels.get(key) == Some(value),
            Self::IsNot(key, value) => labels.get(key) != Some(value),
        }
    }

    fn parse(part: &str) -> Option<Self> {
        let key = |text: &str| {
            let is_key = !text.is_empty() && !text.contains(['=', '!']) && !text.contains(char::is_whitespace);
            is_key.then(|| text.to_owned())
        };
        let Some(at) = part.find(['=', '!']) else { return key(part).map(Self::Has) };
        let (name, rest) = part.split_at(at);
        if let Some(name) = rest.strip_prefix('!').filter(|_| name.is_empty()) {
            return key(name).map(Self::HasNot);
        }
        let name = key(name)?;
        if let Some(value) = rest.strip_prefix("!=") {
            return Some(Self::IsNot(name, value.to_owned()));
        }
        // As in other tools, one sign or two.
        let value = rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))?;
        Some(Self::Is(name, value.to_owned()))
    }
}

impl FromStr for Selector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, InvalidSelector> {
        let parts = text.split(',').map(str::trim);
        let read = |part: &str| Requirement::parse(part).ok_or_else(|| InvalidSelector { part: part.to_owned() });
        parts.map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Has(key) => write!(f, "{key}"),
            Self::HasNot(key) => write!(f, "!{key}"),
            Self::Is(key, value) => write!(f, "{key}={value}"),
            Self::IsNot(key, value) => write!(f, "{key}!={value}"),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        selector.parse::<Selector>().expect("a selector").selects(&labels)
    }

    #[test]
    fn all_parts_have_to_hold() {
        let front = [("tier", "front"), ("app.io/of", "a=b")];
        for meant in [
            "tier=front",
            "tier==front",
            "tier",
            "tier!=back",
            "zone!=a",
            "!zone",
            "tier=front , !zone",
            "app.io/of=a=b",
        ] {
            assert!(selects(meant, &front), "{meant}");
        }
        for other in ["tier=back", "tier=", "tier!=front", "zone", "!tier", "zone=a", "tier=front,zone=a"] {
            assert!(!selects(other, &front), "{other}");
        }
        assert!(selects("tier=", &[("tier", "")]) && Selector::default().selects(&BTreeMap::new()));
    }

    #[test]
    fn a_selector_is_printed_as_it_is_read_and_anything_else_is_refused() {
        let text = "tier=front,role!=writer,zone,!gone,x=";
        assert_eq!(text.parse::<Selector>().map(|selector| selector.to_string()).as_deref(), Ok(text));
        for wrong in ["", ",", "tier=front,", "=front", "!=front", "!", "tier!front", "my tier=front", "!tier=front"] {
            assert!(wrong.parse::<Selector>().is_err(), "{wrong:?}");
        }
    }
}
