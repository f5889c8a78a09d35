//! A run in threads of its own, while Python's main thread looks after signals and progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use knee_scenario::{Control, Stopped};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::scenario::Scenario;

/// How long a Ctrl-C or a progress report waits at most.
const POLL: Duration = Duration::from_millis(50);

/// The tables of a run.
#[pyclass(frozen, module = "knee._core")]
pub struct Results {
    /// A row a protocol, seed and measured link.
    #[pyo3(get)]
    summary: Py<Columns>,
    /// A row a protocol, seed and flow.
    #[pyo3(get)]
    flows: Py<Columns>,
    /// Samples of the probes, long form.
    #[pyo3(get)]
    series: Py<Columns>,
}

/// Run every variant with every seed, the GIL released.
///
/// `progress` is called with the fraction done, in [0, 1]; an exception from it, or Ctrl-C, stops
/// the run and is raised.
#[pyfunction]
#[pyo3(signature = (scenario, *, threads=None, progress=None))]
pub fn run(
    py: Python<'_>,
    scenario: Bound<'_, Scenario>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Results> {
    let cancelled = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    // Bits of positive floats sort as the floats do; reports of several threads may overtake.
    let note = |fraction: f64| {
        done.fetch_max(fraction.to_bits(), Ordering::Relaxed);
    };
    let report = || {
        py.check_signals()?;
        let fraction = f64::from_bits(done.load(Ordering::Relaxed));
        progress.as_ref().map_or(Ok(()), |callback| callback.call1((fraction,)).map(drop))
    };
    let scenario = &scenario.get().0;
    let finished = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        let (cancelled, finished, note, waiting) =
            (&cancelled, &finished, &note, thread::current());
        let worker = scope.spawn(move || {
            let control = Control { progress: note, cancelled, threads };
            let result = knee_scenario::run(scenario, &control);
            finished.store(true, Ordering::Release);
            waiting.unpark();
            result
        });
        let mut watch = Ok(());
        while watch.is_ok() && !finished.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(POLL));
            watch = report();
        }
        cancelled.store(watch.is_err(), Ordering::Relaxed);
        let result = py.detach(|| worker.join().map_err(drop));
        watch.map(|()| result)
    })?;
    let tables = match outcome {
        Ok(Ok(tables)) => tables,
        Ok(Err(Stopped::Cancelled)) => return Err(PyKeyboardInterrupt::new_err(())),
        Ok(Err(failed)) => return Err(PyRuntimeError::new_err(failed.to_string())),
        Err(_) => return Err(PyRuntimeError::new_err("the run failed: the simulator panicked")),
    };
    Ok(Results {
        summary: Py::new(py, Columns::from(tables.summary))?,
        flows: Py::new(py, Columns::from(tables.flows))?,
        series: Py::new(py, Columns::from(tables.series))?,
    })
}
