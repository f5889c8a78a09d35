//! The order to stop, watched: how much CPU time passes between two looks at it.
#![allow(dead_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// CPU time that may pass between two looks: a second, in a build for tests.
const MOST_SECONDS: f64 = 1.0;

thread_local! {
    static LAST: Cell<f64> = const { Cell::new(f64::NAN) };
}

/// CPU time of this thread, seconds.
pub fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Looks at the order to stop, which is given at the last of so many.
pub struct Looks {
    most: u64,
    count: AtomicU64,
    /// The longest time between two of a thread's, nanoseconds.
    longest: AtomicU64,
}

impl Looks {
    /// Nobody has looked yet; this thread's time counts from now.
    pub fn new(most: u64) -> Self {
        LAST.set(thread_seconds());
        Self { most, count: AtomicU64::new(0), longest: AtomicU64::new(0) }
    }

    /// A look: is it time to stop?
    pub fn look(&self) -> bool {
        self.note();
        self.count.fetch_add(1, Ordering::Relaxed) + 1 >= self.most
    }

    fn note(&self) {
        let now = thread_seconds();
        let since = now - LAST.replace(now);
        if since > 0.0 {
            self.longest.fetch_max((since * 1e9) as u64, Ordering::Relaxed);
        }
    }

    /// Looks so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// No look was long in coming, nor was this thread's end after the last one.
    pub fn check(&self, what: &str) {
        self.note();
        let longest = self.longest.load(Ordering::Relaxed) as f64 * 1e-9;
        assert!(longest < MOST_SECONDS, "{what}: {longest:.2} s of CPU time without a look");
    }
}
