//! Which entity a person means.

use bailiwick_actors::vocab::sort_by;
use bailiwick_journal::StreamId;

/// The streams that may have been meant by a text, best first, at most three.
pub fn near<'a>(streams: impl Iterator<Item = &'a StreamId>, wanted: &str) -> Vec<StreamId> {
    let (kind, name) = wanted.split_once('/').unwrap_or(("", wanted));
    let mut near: Vec<(usize, &StreamId)> = streams
        .map(|stream| {
            // The same name of another kind is as near as one wrong letter.
            let by_name = distance(stream.name(), name) + usize::from(!kind.is_empty());
            (distance(stream.as_str(), wanted).min(by_name), stream)
        })
        .filter(|(steps, _)| *steps <= 2)
        .collect();
    sort_by(&mut near, Ord::cmp);
    near.into_iter().take(3).map(|(_, stream)| stream.clone()).collect()
}

/// How many letters have to be changed, added or left out to come from one text to the other; long texts are not looked
/// at to their ends.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().take(80).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().take(80).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_letters() {
        assert_eq!(distance("machine/0", "machine/0"), 0);
        assert_eq!(distance("data", "date"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("web", "we"), 1);
    }
}
