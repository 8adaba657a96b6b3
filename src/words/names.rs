//! Which entity a person means.

use bailiwick_journal::{Journal, StreamId};

/// The kinds, with what else people call them.
const KINDS: [(&str, &[&str]); 17] = [
    ("machine", &["machines", "m"]),
    ("machine-set", &["machine-sets", "machineset", "machinesets", "ms"]),
    ("machine-class", &["machine-classes", "machineclass", "machineclasses", "mc"]),
    ("volume", &["volumes", "vol", "v"]),
    (
        "volume-attachment",
        &["volume-attachments", "volumeattachment", "volumeattachments", "attachment", "attachments", "va"],
    ),
    ("filesystem", &["filesystems", "fs"]),
    ("filesystem-attachment", &["filesystem-attachments", "filesystemattachment", "filesystemattachments", "fa"]),
    ("policy", &["policies"]),
    ("replica-set", &["replica-sets", "replicaset", "replicasets", "rs"]),
    ("member", &["members"]),
    ("supervisor", &["supervisors"]),
    ("space", &["spaces"]),
    ("subnet", &["subnets"]),
    ("image-metadata", &["imagemetadata", "images", "image"]),
    ("agent-binary", &["agent-binaries", "agentbinary", "agentbinaries"]),
    ("application", &["applications", "app", "apps"]),
    ("model", &["models"]),
];

/// Says that a text names no entity that has a history here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} not found{}", hint(.near))]
pub struct UnknownEntity {
    /// What was asked for, cut to 80 characters.
    pub text: String,
    /// What may have been meant, best first.
    pub near: Vec<StreamId>,
}

fn hint(near: &[StreamId]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = near.iter().map(StreamId::as_str).collect();
    format!("; did you mean {}?", names.join(" or "))
}

/// The kind that a word means: `machines` is `machine`.
pub fn kind_of(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    KINDS.iter().find(|(kind, others)| *kind == word || others.contains(&word.as_str())).map(|(kind, _)| *kind)
}

/// The entity that a text means: `machine/0`, `volume data`, `attachments/web:data`, or a bare name that only one has.
///
/// # Errors
/// If no entity of that name has a history in this journal; the error names what may have been meant.
pub fn find_entity(journal: &dyn Journal, text: &str) -> Result<StreamId, UnknownEntity> {
    let text = text.trim();
    let asked = text.split_once(['/', ' ']).and_then(|(kind, name)| Some((kind_of(kind)?, name.trim())));
    if let Some((kind, name)) = asked
        && let Ok(stream) = StreamId::new(kind, name)
        && journal.streams(stream.as_str()).first() == Some(&stream)
    {
        return Ok(stream);
    }
    let streams = journal.streams("");
    let mut same_name = streams.iter().filter(|stream| stream.name() == text || stream.as_str() == text);
    if let (Some(only), None) = (same_name.next(), same_name.next()) {
        return Ok(only.clone());
    }
    let wanted = asked.map_or_else(|| text.to_owned(), |(kind, name)| format!("{kind}/{name}"));
    Err(UnknownEntity { text: text.chars().take(80).collect(), near: near(streams.iter(), &wanted) })
}

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
    near.sort();
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

    #[test]
    fn kinds_have_the_names_that_people_use() {
        assert_eq!(kind_of("Machines"), Some("machine"));
        assert_eq!(kind_of("attachment"), Some("volume-attachment"));
        assert_eq!(kind_of("pod"), None);
    }
}
