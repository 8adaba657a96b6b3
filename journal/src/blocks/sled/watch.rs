//! Wakes threads that wait inside of sled for a write that has failed.
//!
//! sled 0.34.7 keeps the error of a failed write, and mostly wakes all who wait for it. Not where the last one to fill a
//! buffer hands it on to be written (`exit_reservation` in its `pagecache/logger.rs`): there the error is kept and nobody is
//! woken. What begins a batch goes that way. A thread that waits by then waits for ever, unless somebody else comes upon the
//! error: then sled does wake all. So a thread of ours looks for one every now and then, while something is being done.
//! (Of an error that sled does not keep it knows nothing, nor of a panic in one of sled's own threads.)

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

/// How often it is looked; nobody waits for longer than that.
const INTERVAL: Duration = Duration::from_secs(1);
/// A tree that nobody has: after an error it cannot be made either, and sled notices on the way.
const NO_TREE: &str = "none";

/// Looks after what is being done in one database.
#[derive(Debug)]
pub(super) struct Watch {
    calls: Arc<Calls>,
    thread: Thread,
    handle: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Calls {
    begun: AtomicU64,
    ended: AtomicU64,
    /// The thread sleeps until it is woken: nothing was being done.
    is_asleep: AtomicBool,
    is_over: AtomicBool,
}

impl Watch {
    pub(super) fn start(database: sled::Db) -> std::io::Result<Self> {
        let calls = Arc::new(Calls::default());
        let seen = calls.clone();
        let handle = thread::Builder::new().name("journal-watch".into()).spawn(move || seen.look(&database))?;
        Ok(Self { calls, thread: handle.thread().clone(), handle: Mutex::new(Some(handle)) })
    }

    /// Does something that may wait for a write.
    pub(super) fn during<T>(&self, act: impl FnOnce() -> T) -> T {
        self.calls.begun.fetch_add(1, SeqCst);
        if self.calls.is_asleep.swap(false, SeqCst) {
            self.thread.unpark();
        }
        let _call = Call(&self.calls);
        act()
    }

    /// Lets go of the database.
    pub(super) fn end(&self) {
        self.calls.is_over.store(true, SeqCst);
        self.thread.unpark();
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle {
            // If it panicked, so did sled, and its next caller will say so.
            let _ = handle.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Something that is being done; over as well when sled panics.
struct Call<'a>(&'a Calls);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, SeqCst);
    }
}

impl Calls {
    fn is_idle(&self) -> bool {
        self.ended.load(SeqCst) == self.begun.load(SeqCst)
    }

    fn look(&self, database: &sled::Db) {
        while !self.is_over.load(SeqCst) {
            if self.is_idle() {
                self.is_asleep.store(true, SeqCst);
                // Looked at again: what began before that did not see that somebody is asleep.
                if self.is_idle() && !self.is_over.load(SeqCst) {
                    thread::park();
                }
                self.is_asleep.store(false, SeqCst);
                continue;
            }
            thread::park_timeout(INTERVAL);
            if let Err(error) = database.context.global_error() {
                tracing::debug!(%error, "a write of the block store failed; its waiters are woken");
                let _ = database.open_tree(NO_TREE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn it_sleeps_while_nothing_is_being_done_and_ends_at_once() {
        let database = sled::Config::new().temporary(true).flush_every_ms(None).open().unwrap();
        let watch = Watch::start(database).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| watch.during(thread::yield_now)));
            }
        });
        let (calls, (send, slept)) = (watch.calls.clone(), mpsc::channel());
        thread::spawn(move || {
            while !calls.is_asleep.load(SeqCst) {
                thread::yield_now();
            }
            // The waiter may have given up.
            let _ = send.send(());
        });
        slept.recv_timeout(Duration::from_secs(20)).expect("it sleeps, and does not go on looking");
        assert!(watch.calls.is_idle());
        // What panics is over as well.
        let panicked = thread::scope(|scope| scope.spawn(|| watch.during(|| panic!("inside of sled"))).join());
        assert!(panicked.is_err() && watch.calls.is_idle());
        watch.end();
        assert!(watch.handle.lock().unwrap().is_none());
        assert_eq!(watch.during(|| 7), 7, "what comes later is done without it");
    }
}
