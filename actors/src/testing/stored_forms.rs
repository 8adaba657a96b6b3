//! Every stored form, byte for byte: what keeps a journal readable when types change.
//!
//! `KIND.hex` in a directory of golden files holds one line per form: name, schema, bytes. A form that was written once never
//! changes: what reads otherwise needs a new schema number, and the old one stays readable. `BLESS=1` adds lines for new forms;
//! it never changes or removes one.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fmt, fs,
    path::Path,
};

use bailiwick_journal::Body;

use crate::{
    contract::{Part, Stored},
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

impl Form {
    /// The value, if it is of this place (`event`) and can be read as such.
    pub fn value<T: Stored>(&self, place: &str) -> Option<T> {
        let of_place = self.name.split('.').next() == Some(place);
        of_place.then(|| T::load(&self.body).ok()).flatten()
    }
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
    let variants = per_variant.into_keys().collect();
    is_whole(place, &variants, T::SCHEMA, |next| format!("{:?}", T::load(next)));
    forms
}

/// Holds that there is an example of every variant of something that stands in other forms.
///
/// # Panics
/// If a variant has no example.
pub fn whole<T: Part>(place: &str, values: impl IntoIterator<Item = T>) {
    let number = |value: &T| {
        let bytes = bailiwick_journal::encode(1, value).expect("small enough").bytes;
        u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
    };
    let variants = values.into_iter().map(|value| number(&value)).collect();
    is_whole(place, &variants, 1, |next| format!("{:?}", bailiwick_journal::decode::<T>(next)));
}

fn is_whole(place: &str, variants: &BTreeSet<u32>, schema: u16, read: impl Fn(&Body) -> String) {
    let count = u32::try_from(variants.len()).expect("few");
    assert!(variants.iter().copied().eq(0..count), "{place} has examples for {variants:?} only");
    let next = Body { schema, bytes: [&count.to_le_bytes()[..], &[0; 512]].concat() };
    assert!(read(&next).contains("variant index"), "{place} has no example of variant {count}");
}

/// Whether some bytes are read as what was written.
type Reads = Box<dyn Fn(&Body) -> Result<(), String>>;

/// What a form that is not written any more is read as.
pub struct Earlier {
    name: String,
    reads: Reads,
}

impl fmt::Debug for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// One value that was written in an earlier form, under this name.
pub fn earlier<T: Stored>(name: &str, value: T) -> Earlier {
    let reads = move |body: &Body| match T::load(body) {
        Ok(read) if read == value => Ok(()),
        Ok(read) => Err(format!("it is read as {read:?}, and was {value:?}")),
        Err(error) => Err(format!("{error:?}")),
    };
    Earlier { name: name.to_owned(), reads: Box::new(reads) }
}

/// Holds that every line of `KIND.earlier.hex` is read as what was written.
///
/// # Panics
/// If one is not, or if there is no value for it, or no line for a value.
pub fn check_earlier(golden_dir: &Path, kind: &str, values: &[Earlier]) {
    let path = golden_dir.join(format!("{kind}.earlier.hex"));
    let golden = fs::read_to_string(&path).expect("forms that were written once");
    let mut names = BTreeSet::new();
    for line in golden.lines() {
        let mut words = line.split(' ');
        let (Some(name), Some(schema), Some(bytes)) = (words.next(), words.next(), words.next()) else {
            panic!("{}: {line:?} is no form", path.display());
        };
        let body = Body { schema: schema.parse().expect("a schema number"), bytes: unhex(bytes).expect("hexadecimal") };
        let value = values.iter().find(|value| value.name == name);
        let value = value.unwrap_or_else(|| panic!("{kind} {name} was written once and is not known any more"));
        (value.reads)(&body).unwrap_or_else(|error| panic!("{kind} {name} {schema}: {error}"));
        names.insert(name);
    }
    let missing: Vec<_> = values.iter().filter(|value| !names.contains(value.name.as_str())).collect();
    assert!(missing.is_empty(), "{kind}: nobody wrote {missing:?}");
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
