//! What is due when, by key.

use std::collections::BTreeMap;

use crate::vocab::Timestamp;

/// Values with a key and a due time, taken out in the order of time.
///
/// Two values due at the same time come out in the order in which they were added, so the same calls give the same
/// order for ever. Every operation costs the logarithm of the number of entries.
///
/// ```
/// use bailiwick_actors::{schedule::Timetable, vocab::Timestamp};
/// let mut timetable = Timetable::default();
/// timetable.add("machine/0", "retry", Timestamp(2_000));
/// timetable.add("machine/1", "retry", Timestamp(1_000));
/// assert_eq!(timetable.next_due(), Some(Timestamp(1_000)));
/// assert_eq!(timetable.ready(Timestamp(1_500)), [("machine/1", "retry")]);
/// assert_eq!(timetable.next_due(), Some(Timestamp(2_000)));
/// ```
#[derive(Clone, Debug)]
pub struct Timetable<K, V> {
    /// Where each key's entry stands in `entries`.
    places: BTreeMap<K, Place>,
    entries: BTreeMap<Place, (K, V)>,
    /// How many entries were ever added.
    added: u64,
}

/// The due time, and the number of the addition to tell apart what is due together.
type Place = (Timestamp, u64);

impl<K: Ord + Clone, V> Timetable<K, V> {
    /// Adds a value under a key. If the key has an entry already, that one stays as it is and the answer is false.
    pub fn add(&mut self, key: K, value: V, due: Timestamp) -> bool {
        if self.places.contains_key(&key) {
            return false;
        }
        let place = (due, self.added);
        self.added += 1;
        self.places.insert(key.clone(), place);
        self.entries.insert(place, (key, value));
        true
    }

    /// Takes the key's entry out; none if it has none.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.places.remove(key)?;
        let (_, value) = self.entries.remove(&place).expect("every place holds an entry");
        Some(value)
    }

    /// When the key's entry is due.
    pub fn due(&self, key: &K) -> Option<Timestamp> {
        self.places.get(key).map(|(due, _)| *due)
    }

    /// When the earliest entry is due; none if there is none.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.entries.keys().next().map(|(due, _)| *due)
    }

    /// Takes out everything that is due at `now` or was due before: in the order of time, then of addition.
    pub fn ready(&mut self, now: Timestamp) -> Vec<(K, V)> {
        let mut taken = Vec::new();
        while let Some(entry) = self.entries.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let (key, value) = entry.remove();
            self.places.remove(&key);
            taken.push((key, value));
        }
        taken
    }

    /// All entries with their due times, in the order in which they would be taken out.
    #[cfg(feature = "testing")]
    pub fn iter(&self) -> impl Iterator<Item = (Timestamp, &K, &V)> {
        self.entries.iter().map(|((due, _), (key, value))| (*due, key, value))
    }
}

impl<K, V> Default for Timetable<K, V> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), entries: BTreeMap::new(), added: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn keys<V>(taken: Vec<(u8, V)>) -> Vec<u8> {
        taken.into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_key_that_is_there_keeps_its_entry() {
        let mut timetable = Timetable::default();
        assert!(timetable.add(1, "first", Timestamp(10)));
        assert!(!timetable.add(1, "second", Timestamp(5)));
        assert_eq!(timetable.due(&1), Some(Timestamp(10)));
        assert_eq!(timetable.ready(Timestamp(10)), [(1, "first")]);
    }

    #[test]
    fn a_key_that_was_taken_out_can_come_again() {
        let mut timetable = Timetable::default();
        timetable.add(1, (), Timestamp(10));
        assert_eq!(timetable.remove(&1), Some(()));
        assert_eq!(timetable.remove(&1), None);
        assert!(timetable.add(1, (), Timestamp(3)));
        assert_eq!(keys(timetable.ready(Timestamp(3))), [1]);
        assert_eq!(timetable.next_due(), None);
    }

    #[test]
    #[ignore = "takes long"]
    fn a_million_entries_are_a_normal_day() {
        let mut timetable = Timetable::default();
        for number in 0..1_000_000u64 {
            timetable.add(number, (), Timestamp(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40));
        }
        let mut taken = 0;
        let mut last = Timestamp(0);
        while let Some(due) = timetable.next_due() {
            assert!(due >= last);
            last = due;
            taken += timetable.ready(Timestamp(due.0 + 100_000)).len();
        }
        assert_eq!(taken, 1_000_000);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(u8, u64),
        Remove(u8),
        Ready(u64),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0u8..20, 0u64..50).prop_map(|(key, due)| Step::Add(key, due)),
            1 => (0u8..20).prop_map(Step::Remove),
            1 => (0u64..60).prop_map(Step::Ready),
        ]
    }

    proptest! {
        /// The timetable against the plainest thing that could be right: a list, sorted stably when asked.
        #[test]
        fn it_does_what_a_sorted_list_does(steps in vec(any_step(), 0..120)) {
            let mut timetable = Timetable::default();
            let mut list: Vec<(u8, u64)> = Vec::new();
            for step in steps {
                match step {
                    Step::Add(key, due) => {
                        let is_new = list.iter().all(|(known, _)| *known != key);
                        if is_new {
                            list.push((key, due));
                        }
                        prop_assert_eq!(timetable.add(key, (), Timestamp(due)), is_new);
                    }
                    Step::Remove(key) => {
                        let was_there = list.iter().any(|(known, _)| *known == key);
                        list.retain(|(known, _)| *known != key);
                        prop_assert_eq!(timetable.remove(&key).is_some(), was_there);
                    }
                    Step::Ready(now) => {
                        let mut due: Vec<(u8, u64)> = list.iter().copied().filter(|(_, due)| *due <= now).collect();
                        due.sort_by_key(|(_, due)| *due);
                        list.retain(|(_, due)| *due > now);
                        let due: Vec<u8> = due.into_iter().map(|(key, _)| key).collect();
                        prop_assert_eq!(keys(timetable.ready(Timestamp(now))), due);
                    }
                }
                prop_assert_eq!(timetable.next_due(), list.iter().map(|(_, due)| Timestamp(*due)).min());
            }
        }
    }
}
