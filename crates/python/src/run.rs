//! A run, watched: progress, warnings, and the order to stop.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use knee_scenario::{Control, MemoryLimit};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::exceptions::refused;
use crate::interrupt::watched;
use crate::scenario::Scenario;

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
    /// A row a protocol, seed and station of a wireless LAN.
    #[pyo3(get)]
    stations: Py<Columns>,
}

/// Run every variant with every seed, the GIL released.
///
/// `memory` is how many bytes the runs may take together, by default what there is. `progress` is called with the
/// fraction done, in [0, 1], and `warn` with a sentence where something is done otherwise than asked; an exception from
/// them, or Ctrl-C, stops the run and is raised.
#[pyfunction]
#[pyo3(signature = (scenario, *, threads=None, memory=None, progress=None, warn=None))]
pub fn run(
    py: Python<'_>,
    scenario: Bound<'_, Scenario>,
    threads: Option<usize>,
    memory: Option<u64>,
    progress: Option<Bound<'_, PyAny>>,
    warn: Option<Bound<'_, PyAny>>,
) -> PyResult<Results> {
    let done = AtomicU64::new(0);
    let warnings = Mutex::new(Vec::new());
    // Bits of positive floats sort as the floats do; reports of several threads may overtake.
    let note = |fraction: f64| {
        done.fetch_max(fraction.to_bits(), Ordering::Relaxed);
    };
    let heed = |warning: &knee_scenario::Warning| {
        if let Ok(mut warnings) = warnings.lock() {
            warnings.push(warning.to_string());
        }
    };
    let report = || {
        let said = warnings.lock().map(|mut warnings| std::mem::take(&mut *warnings));
        for sentence in said.unwrap_or_default() {
            warn.as_ref().map_or(Ok(()), |callback| callback.call1((sentence,)).map(drop))?;
        }
        let fraction = f64::from_bits(done.load(Ordering::Relaxed));
        progress.as_ref().map_or(Ok(()), |callback| callback.call1((fraction,)).map(drop))
    };
    let memory = memory.map_or(MemoryLimit::Available, MemoryLimit::Bytes);
    let scenario = &scenario.get().0;
    let work = |interrupt: knee_scenario::Interrupt| {
        let control = Control { progress: &note, warn: &heed, interrupt, threads, memory };
        knee_scenario::run(scenario, &control)
    };
    let tables = watched(py, work, report)?;
    report()?;
    Results::new(py, tables)
}

impl Results {
    /// As Python sees them.
    pub fn new(py: Python<'_>, tables: knee_scenario::Results) -> PyResult<Self> {
        Ok(Self {
            summary: Py::new(py, Columns::from(tables.summary))?,
            flows: Py::new(py, Columns::from(tables.flows))?,
            series: Py::new(py, Columns::from(tables.series))?,
            stations: Py::new(py, Columns::from(tables.stations))?,
        })
    }
}

/// Bytes of memory that runs may take as things are; None if the system does not tell.
#[pyfunction]
pub fn available_memory() -> Option<u64> {
    knee_scenario::available()
}

/// Bytes of a text such as `8 GB`.
#[pyfunction]
pub fn parse_memory(py: Python<'_>, text: &str) -> PyResult<u64> {
    match MemoryLimit::read(text).map_err(|problem| refused(py, &problem))? {
        MemoryLimit::Bytes(bytes) => Ok(bytes),
        MemoryLimit::Available => Ok(u64::MAX),
    }
}
