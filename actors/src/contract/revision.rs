//! What is written down by people and kept with revisions: policies, and documents.

use bailiwick_journal::digest;

use super::Stored;

/// Whether what is wanted is another revision: the first always is.
pub fn is_news<T: PartialEq>(in_force: Option<&T>, wanted: &T) -> bool {
    in_force != Some(wanted)
}

/// The hash of a stored form, in the form in which it is stored: decisions cite it. Zeros for what is too large to be
/// stored, which was refused before.
pub fn stored_digest(document: &impl Stored) -> [u8; 16] {
    document.store().map(|body| digest(&body.bytes)).unwrap_or_default()
}
