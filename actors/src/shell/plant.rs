//! Planted panics: the bugs that we do not have.

use std::{cell::RefCell, collections::BTreeMap};

use bailiwick_journal::StreamId;

/// Where an actor shall panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plant {
    /// In its core, where it is caught.
    Core,
    /// In its handler, which takes the actor down.
    Handler,
}

thread_local! {
    static PLANTED: RefCell<BTreeMap<(Plant, StreamId), u32>> = const { RefCell::new(BTreeMap::new()) };
}

/// The next `times` times that the actor of this stream comes there on this thread, it panics.
pub fn plant(what: Plant, stream: &StreamId, times: u32) {
    PLANTED.with(|planted| planted.borrow_mut().insert((what, stream.clone()), times));
}

pub(crate) fn trip(what: Plant, stream: &StreamId) {
    let trips = PLANTED.with(|planted| {
        let mut planted = planted.borrow_mut();
        let left = planted.get_mut(&(what, stream.clone())).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    });
    assert!(!trips, "a planted bug in {stream}");
}
