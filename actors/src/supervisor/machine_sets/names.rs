//! What the machines of a set are called.

use crate::vocab::Name;

/// The name of a set's machine: the set's, cut so that the number fits.
pub(super) fn member_name(set: &Name, number: u64) -> Name {
    let number = number.to_string();
    let room = Name::BYTES_MAX - 1 - number.len();
    let stem = set.as_str().get(..room).unwrap_or(set.as_str()).trim_end_matches('-');
    format!("{stem}-{number}").parse().expect("a name, a dash and a number are a name")
}
