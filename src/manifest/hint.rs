//! "Did you mean …?"

use crate::text::cut;

/// The candidate that is nearest to a text, if any is near enough to be meant.
pub(crate) fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance costs the product of the lengths; nobody mistypes a name into one five times as long.
    let text = plain(&cut(text, 80));
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&text, &plain(candidate)), candidate))
        // A third of the shorter one: otherwise a few letters would be near to any word that has some of them.
        .filter(|(distance, candidate)| *distance <= candidate.len().min(text.len()).div_ceil(3).min(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters and digits alone: `read_only`, `read-only` and `readonly` all mean `readOnly`.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const FIELDS: [&str; 4] = ["provider", "size", "readOnly", "command"];

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert_eq!(nearest("sise", FIELDS), Some("size"));
        assert_eq!(nearest("comand", FIELDS), Some("command"));
        assert_eq!(nearest("read_only", FIELDS), Some("readOnly"));
        assert_eq!(nearest("Provider", FIELDS), Some("provider"));
    }

    #[test]
    fn another_word_is_another_word() {
        assert_eq!(nearest("replicas", FIELDS), None);
        assert_eq!(nearest("", FIELDS), None);
        assert_eq!(nearest(&"x".repeat(100_000), FIELDS), None);
    }
}
