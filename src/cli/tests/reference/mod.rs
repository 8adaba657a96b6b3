//! The reference pages of the guide are written from the code, and what they say is tried: every field of every kind is one that
//! is read, with this example, this default, and nothing else beside it. `BLESS=1` writes the pages anew.

mod account;
mod errors;
mod invariants;
mod juju;
mod kinds;
mod policy;

use std::{collections::BTreeSet, env, fs, path::Path};

use serde_json::{Value, json};

use crate::manifest::{self, Code, Manifest, ManifestError, Source};

/// The fields of one mapping.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub title: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// The least document that has this mapping; every required field is in it.
    pub least: Value,
    /// The way to the mapping in it, as a JSON pointer.
    pub at: &'static str,
    pub rows: Vec<Row>,
}

/// One field.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub name: &'static str,
    /// What it holds, with its unit.
    pub holds: &'static str,
    pub absent: Absent,
    /// A value, as YAML, that is good and says something else than none.
    pub example: &'static str,
    pub says: &'static str,
}

/// What holds where a field is left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Absent {
    Required,
    /// The same as this value, as YAML.
    Default(&'static str),
    /// What no value says, in words.
    None(&'static str),
}

/// A row, in the order in which the page shows it.
const fn row(
    name: &'static str,
    holds: &'static str,
    absent: Absent,
    example: &'static str,
    says: &'static str,
) -> Row {
    Row { name, holds, absent, example, says }
}

/// What may hold anything, so that no value is of a wrong type.
const ANYTHING: &str = "anything";

fn sections() -> Vec<Section> {
    kinds::sections().into_iter().chain(juju::sections()).chain(account::sections()).chain(policy::sections()).collect()
}

impl Section {
    /// The least document, with another mapping.
    fn with(&self, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Result<Manifest, ManifestError> {
        let mut document = self.least.clone();
        let mapping = document.pointer_mut(self.at).and_then(Value::as_object_mut).expect("the mapping is there");
        change(mapping);
        manifest::parse_open(&[Source::new("least.yaml", document.to_string())])
    }

    fn with_field(&self, name: &str, yaml: &str) -> Result<Manifest, ManifestError> {
        let value: Value = serde_saphyr::from_str(yaml).expect("an example is YAML");
        // What excludes the field is left out.
        self.with(|fields| {
            for other in excluded(self.title, name) {
                fields.remove(*other);
            }
            fields.insert(name.to_owned(), value);
        })
    }

    fn path_of(&self, name: &str) -> String {
        let path = self.at.trim_start_matches('/').replace('/', ".");
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    }
}

/// Fields of the least document that cannot stand beside this one.
fn excluded(title: &str, name: &str) -> &'static [&'static str] {
    match (title, name) {
        ("Volume" | "Filesystem", "pool") => &["provider"],
        ("Filesystem", "volume") => &["provider"],
        ("ReplicaSet: a seat", "addresses") => &["address"],
        ("storage of a machine", "volume") => &["filesystem"],
        _ => &[],
    }
}

#[test]
fn every_section_begins_with_a_good_document() {
    for section in sections() {
        let title = section.title;
        let manifest = section.with(|_| ()).unwrap_or_else(|error| panic!("{title}: {error}"));
        assert!(!manifest.documents.is_empty(), "{title}");
    }
}

fn hold_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_reference_names_all_fields_and_no_other() {
    let mut wrong = Vec::new();
    for section in sections() {
        let error = section.with(|fields| drop(fields.insert("q".repeat(40), json!(1)))).expect_err("an unknown field");
        let problem = error.problems.iter().find(|problem| problem.code == Code::UnknownField);
        let next = problem.and_then(|problem| problem.next.clone()).unwrap_or_default();
        let known: BTreeSet<&str> = next.trim_start_matches("known here: ").split(", ").collect();
        let named: BTreeSet<&str> = section.rows.iter().map(|row| row.name).collect();
        if named != known {
            wrong.push(format!("{}: {named:?} named, {known:?} known", section.title));
        }
    }
    hold_none(&wrong);
}

#[test]
fn every_example_in_the_reference_is_taken_and_a_mapping_of_nonsense_is_not() {
    let mut wrong = Vec::new();
    for section in sections() {
        for row in &section.rows {
            let what = format!("{}: {}", section.title, row.name);
            if let Err(error) = section.with_field(row.name, row.example) {
                wrong.push(format!("{what}: {}: {error}", row.example));
            }
            let nonsense = section.with_field(row.name, "{qqqq qqqq: {qqqq: {}}}");
            if nonsense.is_ok() != row.holds.starts_with(ANYTHING) {
                wrong.push(format!("{what}: nonsense is taken: {}", nonsense.is_ok()));
            }
        }
    }
    hold_none(&wrong);
}

#[test]
fn what_the_reference_calls_required_is_missed_and_nothing_else() {
    let mut wrong = Vec::new();
    for section in sections() {
        for row in &section.rows {
            let without = section.with(|fields| drop(fields.remove(row.name)));
            let path = section.path_of(row.name);
            let is_missed = without.is_err_and(|error| {
                let plain = |field: &str| field.replace('[', ".").replace(']', "");
                error.problems.iter().any(|it| it.code == Code::MissingField && plain(&it.field) == path)
            });
            if is_missed != matches!(row.absent, Absent::Required) {
                wrong.push(format!("{path}: missed where it is left out: {is_missed}"));
            }
        }
    }
    hold_none(&wrong);
}

#[test]
fn a_default_in_the_reference_is_what_is_read_where_nothing_is_said() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let wishes = |manifest: Result<Manifest, ManifestError>| {
        let documents = manifest.map_err(|error| error.to_string())?.documents;
        Ok::<_, String>(documents.into_iter().map(|document| document.wish).collect::<Vec<_>>())
    };
    for section in sections() {
        for row in &section.rows {
            let Absent::Default(default) = row.absent else { continue };
            count += 1;
            let what = format!("{}: {}: {default}", section.title, row.name);
            let without = wishes(section.with(|fields| {
                for other in excluded(section.title, row.name) {
                    fields.remove(*other);
                }
                fields.remove(row.name);
            }));
            match (wishes(section.with_field(row.name, default)), without) {
                (Err(error), _) | (_, Err(error)) => wrong.push(format!("{what}: {error}")),
                (Ok(said), Ok(without)) if said != without => wrong.push(format!("{what} is another one")),
                (_, Ok(without)) if wishes(section.with_field(row.name, row.example)).is_ok_and(|it| it == without) => {
                    wrong.push(format!("{what}: the example says nothing new"));
                }
                _ => (),
            }
        }
    }
    hold_none(&wrong);
    assert!(count > 60, "{count} defaults");
}

/// The words that a field holds one of, if that is all that is said of it: "`a`, `b` or `c`".
fn words(holds: &str) -> Vec<&str> {
    let pieces: Vec<&str> = holds.split('`').collect();
    let is_only_words = pieces.iter().step_by(2).all(|between| matches!(*between, "" | ", " | " or " | "list of "));
    let words = pieces.into_iter().skip(1).step_by(2).filter(|_| is_only_words);
    words.filter(|word| !word.contains([',', '='])).collect()
}

#[test]
fn every_word_in_the_reference_is_taken() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for section in sections() {
        for row in &section.rows {
            for word in words(row.holds) {
                count += 1;
                let yaml = if row.holds.starts_with("list") { format!("[{word}]") } else { word.to_owned() };
                if let Err(error) = section.with_field(row.name, &yaml) {
                    wrong.push(format!("{}: {}: {error}", section.title, row.name));
                }
            }
        }
    }
    hold_none(&wrong);
    assert!(count > 40, "{count} words");
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn manifest_reference() -> String {
    let mut page = String::from(
        "# Manifest reference\n\nGenerated from the code. Every document has `apiVersion: bailiwick/v1`, a `kind`, `metadata` and a `spec`; \
         `metadata.name` is required except for attachments, which are named by what they connect. Names have 1 to 63 lower-case \
         letters, digits and hyphens. Sizes are MiB, or have a unit: `64M`, `1.5G`, `2T`, \
         also written `64MB`, `64Mi` or `64MiB`; all of them are binary. Periods have a unit: `500ms`, `10s`, `3m`, \
         `1h30m`. Times are written `2027-01-01T00:00:00Z`. Unknown fields are refused.\n",
    );
    for section in sections() {
        page += &format!(
            "\n## {}\n\n{}\n\n| field | value | default | meaning |\n|---|---|---|---|\n",
            section.title, section.about
        );
        for row in &section.rows {
            let absent = match row.absent {
                Absent::Required => "required".to_owned(),
                Absent::Default(yaml) => format!("`{}`", cell(yaml)),
                Absent::None(text) => cell(text),
            };
            page += &format!("| `{}` | {} | {absent} | {} |\n", row.name, cell(row.holds), cell(row.says));
        }
    }
    page
}

/// The committed page is the written one.
fn hold(topic: &str, written: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/guide/{topic}.md"));
    if env::var_os("BLESS").is_some() {
        return fs::write(path, written).expect("a writable page");
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    let new: Vec<&str> = written.lines().filter(|line| !committed.lines().any(|known| known == *line)).collect();
    assert!(committed == written, "{topic}.md is not as the code says (BLESS=1 writes it):\n{}", new.join("\n"));
}

#[test]
fn the_manifest_reference_is_as_the_code_says() {
    hold("manifest-reference", &manifest_reference());
}

#[test]
fn the_page_of_invariants_is_as_the_code_says() {
    hold("invariants", &invariants::page());
}

#[test]
fn the_page_of_errors_is_as_the_code_says() {
    hold("errors", &errors::page());
}
