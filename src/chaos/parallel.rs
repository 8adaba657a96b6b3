//! Many runs, several at a time.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use tracing::dispatcher;

/// Told how many are done, of how many; answers whether to go on.
pub type Follow<'a> = &'a (dyn Fn(u64, u64) -> bool + Sync);

/// Does all of them, so many at a time, and answers in their order; none if whoever follows it ended it. `follow` is called
/// before the first and after each.
pub(super) fn in_parallel<T: Send>(
    count: usize,
    workers: NonZeroUsize,
    follow: Follow<'_>,
    one: &(dyn Fn(usize) -> T + Sync),
) -> Option<Vec<T>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_over = AtomicBool::new(!follow(0, count as u64));
    let found = Mutex::new(Vec::with_capacity(count));
    // What a simulated node logs goes where its caller's does.
    let log = dispatcher::get_default(Clone::clone);
    let work = || {
        dispatcher::with_default(&log, || {
            while !is_over.load(Ordering::SeqCst) {
                let at = next.fetch_add(1, Ordering::SeqCst);
                if count <= at {
                    break;
                }
                let answer = one(at);
                found.lock().unwrap_or_else(PoisonError::into_inner).push((at, answer));
                if !follow(done.fetch_add(1, Ordering::SeqCst) as u64 + 1, count as u64) {
                    is_over.store(true, Ordering::SeqCst);
                }
            }
        });
    };
    thread::scope(|scope| {
        for _ in 0..workers.get().min(count) {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    (!is_over.into_inner()).then(|| found.into_iter().map(|(_, answer)| answer).collect())
}
