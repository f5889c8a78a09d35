//! Work in a thread of its own, while Python's thread looks after signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use knee_scenario::{Interrupt, Stopped};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::exceptions::raised;

/// How long a Ctrl-C or a report waits at most.
const POLL: Duration = Duration::from_millis(50);

/// The outcome of `work`, the GIL released meanwhile. Now and then `report` is called; an exception from it, or
/// Ctrl-C, stops the work and is raised.
pub fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Interrupt) -> Result<T, Stopped> + Send,
    mut report: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let (stop, finished) = (AtomicBool::new(false), AtomicBool::new(false));
    let outcome = thread::scope(|scope| {
        let (wanted, finished, waiting) = (&stop, &finished, thread::current());
        let worker = scope.spawn(move || {
            let asked = || wanted.load(Ordering::Relaxed);
            let result = work(Interrupt::new(&asked));
            finished.store(true, Ordering::Release);
            waiting.unpark();
            result
        });
        let mut watch = Ok(());
        while watch.is_ok() && !finished.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(POLL));
            watch = py.check_signals().and_then(|()| report());
        }
        stop.store(watch.is_err(), Ordering::Relaxed);
        let result = py.detach(|| worker.join().map_err(drop));
        watch.map(|()| result)
    })?;
    match outcome {
        Ok(result) => result.map_err(|stopped| raised(py, &stopped)),
        Err(()) => Err(PyRuntimeError::new_err("a fault in the compiled part: it panicked")),
    }
}
