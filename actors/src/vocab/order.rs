//! Sorting, with one body for all types.
//!
//! The standard library's stable sort weighs five to six kilobytes for each type and each comparison. What is sorted with
//! these is short, so all of it is sorted by its places, which weighs that once.

use std::cmp::Ordering;

/// As `slice::sort_by`: stable.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut to = places(items.len(), &|one, other| compare(&items[one], &items[other]));
    for at in 0..items.len() {
        while to[at] != at {
            let target = to[at];
            items.swap(at, target);
            to.swap(at, target);
        }
    }
}

/// As `slice::sort_by_key`: stable.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// Where each of so many belongs.
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..count).collect();
    sorted.sort_by(|one, other| compare(*one, *other));
    let mut to = vec![0; count];
    for (place, item) in sorted.into_iter().enumerate() {
        to[item] = place;
    }
    to
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(mut items in proptest::collection::vec((0_u8..8, any::<u16>()), 0..40)) {
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_by_key(&mut items, |(key, _)| *key);
            prop_assert_eq!(items, expected);
        }
    }
}
