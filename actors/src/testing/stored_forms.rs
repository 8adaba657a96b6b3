//! Every stored form, byte for byte: what keeps a journal readable when types change.
//!
//! `KIND.hex` in a directory of golden files holds one line per form: name, schema, bytes. A form that was written once never
//! changes: what reads otherwise needs a new schema number, and the old one stays readable. `BLESS=1` adds lines for new forms;
//! it never changes or removes one.

use std::{collections::BTreeMap, env, fs, path::Path};

use bailiwick_journal::Body;

use crate::{
    contract::Stored,
    vocab::{hex, unhex},
};

/// One stored form with an example.
#[derive(Debug)]
pub struct Form {
    name: String,
    body: Body,
    /// Whether some bytes can be read as this form.
    loads: fn(&Body) -> Result<(), String>,
}

/// All forms of one kind.
pub type Forms = Vec<Form>;

/// One value of a type.
///
/// # Panics
/// If it does not come back as it was.
pub fn form<T: Stored>(name: String, value: &T) -> Form {
    let loads = |body: &Body| T::load(body).map(drop).map_err(|error| format!("{error:?}"));
    let body = value.store().expect("small enough");
    assert_eq!(T::load(&body).expect("readable"), *value, "{name} comes back");
    Form { name, body, loads }
}

/// Every variant of one type. Its variants are numbered by the first four bytes, so a missing one is noticed.
///
/// # Panics
/// If a variant has no example.
pub fn forms<T: Stored>(place: &str, values: impl IntoIterator<Item = T>) -> Forms {
    let mut per_variant: BTreeMap<u32, usize> = BTreeMap::new();
    let mut forms = Vec::new();
    for value in values {
        let bytes = value.store().expect("small enough").bytes;
        let variant = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        let number = per_variant.entry(variant).or_default();
        *number += 1;
        forms.push(form(format!("{place}.{variant}.{number}"), &value));
    }
    let count = u32::try_from(per_variant.len()).expect("few");
    assert!(per_variant.keys().copied().eq(0..count), "{place} has examples for {per_variant:?} only");
    let next = Body { schema: T::SCHEMA, bytes: [&count.to_le_bytes()[..], &[0; 512]].concat() };
    let error = format!("{:?}", T::load(&next).expect_err("no such variant"));
    assert!(error.contains("variant index"), "{place} has no example of variant {count}");
    forms
}

/// Compares the forms of a kind with its golden file.
///
/// # Panics
/// If the bytes of a form have changed, if an old one cannot be read any more, or if one is new and nobody blessed it.
pub fn check(golden_dir: &Path, kind: &str, forms: &Forms) {
    let path = golden_dir.join(format!("{kind}.hex"));
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let mut known: BTreeMap<(&str, u16), &str> = BTreeMap::new();
    for line in golden.lines() {
        let mut words = line.split(' ');
        let (Some(name), Some(schema), Some(bytes), None) = (words.next(), words.next(), words.next(), words.next())
        else {
            panic!("{}: {line:?} is no form", path.display());
        };
        known.insert((name, schema.parse().expect("a schema number")), bytes);
    }
    let mut added = String::new();
    for form in forms {
        let bytes = hex(&form.body.bytes);
        match known.get(&(form.name.as_str(), form.body.schema)) {
            Some(then) => assert_eq!(
                *then, bytes,
                "{kind} {}: the bytes of a form that was written have changed; it needs a new schema number",
                form.name
            ),
            None => added += &format!("{} {} {bytes}\n", form.name, form.body.schema),
        }
        for ((_, schema), bytes) in known.iter().filter(|((name, _), _)| *name == form.name) {
            let body = Body { schema: *schema, bytes: unhex(bytes).expect("hexadecimal") };
            (form.loads)(&body).unwrap_or_else(|error| panic!("{kind} {} {schema}: {error}", form.name));
        }
    }
    for (name, _) in known.keys() {
        assert!(
            forms.iter().any(|form| form.name == *name),
            "{kind} {name} was written once and is not known any more"
        );
    }
    if added.is_empty() {
        return;
    }
    assert!(env::var_os("BLESS").is_some(), "{kind}: new forms, BLESS=1 adds them:\n{added}");
    fs::write(&path, golden + &added).expect("a writable golden file");
}
