//! Trouble that is alike, told once: a thousand machines fit on one screen.

use std::collections::BTreeMap;

use bailiwick_actors::vocab::sort_by;
use schemars::JsonSchema;
use serde::Serialize;

/// An entity in trouble, or on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    pub entity: String,
    pub status: &'static str,
    pub why: String,
    /// Since when it is so, in milliseconds since 1970.
    pub since_ms: u64,
    /// When the next attempt begins; none if nothing happens by itself.
    pub next_try_ms: Option<u64>,
}

/// As many of a group are told by name; more are counted.
pub const NAMED_MAX: usize = 3;

/// Entities of one kind that are in the same trouble for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    pub kind: String,
    pub status: &'static str,
    pub count: usize,
    /// What is in the way; `…` stands for the times, numbers and ids in which they differ.
    pub why: String,
    /// The first of them, by name.
    pub entities: Vec<String>,
    /// When the first attempt among them begins; none if nothing happens by itself.
    pub next_try_ms: Option<u64>,
}

/// The groups, the largest first.
pub fn groups(trouble: &[Trouble]) -> Vec<Group> {
    let mut groups: BTreeMap<(String, &'static str, String), Group> = BTreeMap::new();
    for one in trouble {
        let kind = one.entity.split('/').next().unwrap_or_default().to_owned();
        let key = (kind.clone(), one.status, shape(&one.why));
        let group = groups.entry(key).or_insert_with(|| Group {
            kind,
            status: one.status,
            count: 0,
            why: one.why.clone(),
            entities: Vec::new(),
            next_try_ms: None,
        });
        group.why = common(&group.why, &one.why);
        group.count += 1;
        if group.entities.len() < NAMED_MAX {
            group.entities.push(one.entity.clone());
        }
        group.next_try_ms = [group.next_try_ms, one.next_try_ms].into_iter().flatten().min();
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    sort_by(&mut groups, |a, b| (b.count, &a.entities).cmp(&(a.count, &b.entities)));
    groups
}

/// What two texts of the same shape have in common.
fn common(one: &str, other: &str) -> String {
    let word = |(one, other): (&str, &str)| if one == other { one.to_owned() } else { without_core(one, "…") };
    one.split(' ').zip(other.split(' ')).map(word).collect::<Vec<_>>().join(" ")
}

/// A text without what differs between things that are alike: words with a digit in them (times, ids, counts).
fn shape(why: &str) -> String {
    let has_digit = |word: &str| word.contains(|letter: char| letter.is_ascii_digit());
    let word = |word: &str| if has_digit(word) { without_core(word, "#") } else { word.to_owned() };
    why.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A word with something else between its brackets and commas.
fn without_core(word: &str, instead: &str) -> String {
    let core = word.trim_matches(['(', ')', ',', ';', ':']);
    word.replacen(core, instead, usize::from(!core.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(entity: &str, status: &'static str, why: &str) -> Trouble {
        Trouble { entity: entity.to_owned(), status, why: why.to_owned(), since_ms: 0, next_try_ms: None }
    }

    #[test]
    fn what_differs_only_in_times_and_numbers_is_alike() {
        let silent = |number: u32| {
            let why = format!("its agent is silent since 2026-01-01T00:00:{:02}.000Z", number % 60);
            trouble(&format!("machine/m-{number:04}"), "stale", &why)
        };
        let mut all: Vec<Trouble> = (0..1000).map(silent).collect();
        all.push(trouble("machine/z", "failed", "given up after attempt 3: no"));
        all.push(trouble("volume/z", "failed", "given up after attempt 3: no"));
        let groups = groups(&all);
        let counts: Vec<(&str, usize)> = groups.iter().map(|group| (group.kind.as_str(), group.count)).collect();
        assert_eq!(counts, [("machine", 1000), ("machine", 1), ("volume", 1)]);
        assert_eq!(groups[0].why, "its agent is silent since …");
        assert_eq!(groups[1].why, "given up after attempt 3: no", "nobody else is like it");
        assert_eq!(groups[0].entities, ["machine/m-0000", "machine/m-0001", "machine/m-0002"]);
    }

    #[test]
    fn brackets_and_commas_stay_where_what_is_between_them_differs() {
        let waits = |minute: u32| {
            let why = format!(
                "draining until 10:{minute}:00 UTC (in 1h{minute}m); refused 1 time, again in 9s (at 08:{minute})"
            );
            trouble(&format!("machine/m-{minute}"), "draining", &why)
        };
        let groups = groups(&[waits(20), waits(21), waits(22)]);
        assert_eq!(groups[0].why, "draining until … UTC (in …); refused 1 time, again in 9s (at …)");
    }
}
