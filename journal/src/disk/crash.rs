//! Numbered points at which a test ends the process, or looks at what a crash would leave.
//!
//! With the feature `crash-points`, the process kills itself at the n-th point that it reaches if `BAILIWICK_CRASH_AT=n`
//! is set, and a thread can watch its own points with `with_hook`. Without the feature nothing is compiled in.

#[cfg(feature = "crash-points")]
pub use on::{count, point, with_hook};

/// Marks a point where a crash is worth trying.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_name: &'static str) {}

/// How many points this process has reached; without the feature, none.
#[cfg(not(feature = "crash-points"))]
pub fn count() -> u64 {
    0
}

#[cfg(feature = "crash-points")]
mod on {
    use std::{
        cell::RefCell,
        sync::{
            OnceLock,
            atomic::{AtomicU64, Ordering},
        },
    };

    static REACHED: AtomicU64 = AtomicU64::new(0);
    static CRASH_AT: OnceLock<u64> = OnceLock::new();

    type Hook = Box<dyn FnMut(&'static str)>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Marks a point where a crash is worth trying.
    pub fn point(name: &'static str) {
        let number = REACHED.fetch_add(1, Ordering::SeqCst) + 1;
        if number == *CRASH_AT.get_or_init(crash_at) {
            let this = rustix::process::getpid();
            let _ = rustix::process::kill_process(this, rustix::process::Signal::KILL);
        }
        // Taken out while it runs, so that a point inside the hook is no second call.
        let hook = HOOK.with(|hook| hook.borrow_mut().take());
        if let Some(mut hook) = hook {
            hook(name);
            HOOK.with(|place| *place.borrow_mut() = Some(hook));
        }
    }

    /// How many points this process has reached.
    pub fn count() -> u64 {
        REACHED.load(Ordering::SeqCst)
    }

    /// Calls `hook` at every point that this thread reaches during `act`.
    pub fn with_hook<T>(hook: impl FnMut(&'static str) + 'static, act: impl FnOnce() -> T) -> T {
        struct Removed;
        impl Drop for Removed {
            fn drop(&mut self) {
                HOOK.with(|place| place.borrow_mut().take());
            }
        }
        HOOK.with(|place| *place.borrow_mut() = Some(Box::new(hook)));
        let _removed = Removed;
        act()
    }

    fn crash_at() -> u64 {
        std::env::var("BAILIWICK_CRASH_AT").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}
