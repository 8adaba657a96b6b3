//! The cases that do not hold for us by design: one list, with the reason of each, and where ours is better, the test that
//! shows it.
//!
//! An entry names cases by what they say (cases of other folders have other names). It is checked that every entry is about
//! a case, and that the test it names is there.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

/// A case, or some, that do not hold for us.
pub(super) struct Aside {
    pub file: &'static str,
    pub group: &'static str,
    pub when: When,
    /// Why not.
    pub why: &'static str,
    /// The test, or the file of tests, that shows what we do instead; blank where we do nothing like it.
    pub shown_by: &'static str,
}

/// Which cases of a group are meant.
pub(super) enum When {
    /// The field at this place has a text that begins so.
    Says(&'static str, &'static str),
    /// The field at this place is there.
    Has(&'static str),
    /// A field of this name is there, somewhere.
    Mentions(&'static str),
    /// A text in this list begins so.
    Lists(&'static str, &'static str),
}

impl When {
    fn holds(&self, case: &Value) -> bool {
        let text = |place: &str| case.pointer(place).and_then(Value::as_str);
        match self {
            Self::Says(place, begins) => text(place).is_some_and(|text| text.starts_with(begins)),
            Self::Has(place) => case.pointer(place).is_some_and(|value| !value.is_null()),
            Self::Mentions(name) => mentions(case, name),
            Self::Lists(place, begins) => {
                let items = case.pointer(place).and_then(Value::as_array).into_iter().flatten();
                items.filter_map(Value::as_str).any(|text| text.starts_with(begins))
            }
        }
    }
}

fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| key == name || mentions(value, name)),
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        _ => false,
    }
}

/// All that are set aside.
fn all() -> impl Iterator<Item = &'static Aside> {
    super::provisioner::ASIDE.iter().chain(super::reconcile::ASIDE)
}

/// Why a case does not hold for us, if it does not.
pub(super) fn reason(file: &str, group: &str, case: &Value) -> Option<&'static str> {
    let is_meant = |aside: &&Aside| aside.file == file && aside.group == group && aside.when.holds(case);
    all().find(is_meant).map(|aside| aside.why)
}

#[test]
fn every_reason_to_set_a_case_aside_is_about_a_case_and_names_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = ["actors", "journal", "src", "tests"].map(|folder| sources(&root.join(folder))).concat();
    for aside in all() {
        let file = super::FILES.iter().find(|file| file.name == aside.file).expect("a file of cases");
        let text =
            fs::read_to_string(root.join("tests/cases").join(aside.file).with_extension("json")).expect("it is there");
        let groups = (file.groups)(&serde_json::from_str(&text).expect("JSON"));
        let cases = groups.iter().filter(|(group, _)| group == aside.group).flat_map(|(_, cases)| cases);
        assert!(cases.into_iter().any(|(_, case)| aside.when.holds(case)), "no case of {}: {}", aside.group, aside.why);
        let is_there = tests.contains(&format!("fn {}()", aside.shown_by));
        assert!(aside.shown_by.is_empty() || is_there, "there is no test {}", aside.shown_by);
    }
    let reasons: BTreeSet<&str> = all().map(|aside| aside.why).collect();
    assert!(reasons.iter().all(|why| why.len() > 20), "a reason says something");
}

fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            text += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &fs::read_to_string(&path).expect("a source");
        }
    }
    text
}
