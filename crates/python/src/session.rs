//! A run that Python steps, samples and changes.

use std::sync::Mutex;

use knee_scenario::{Interrupt, Stopped};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::exceptions::{raised, refused};
use crate::interrupt::watched;
use crate::run::Results;
use crate::scenario::Scenario;

/// One variant with one seed, in motion.
#[pyclass(frozen, module = "knee._core")]
pub struct Session(Mutex<Option<knee_scenario::Session>>);

#[pymethods]
impl Session {
    /// The only run of a scenario, at its beginning.
    #[new]
    fn new(py: Python<'_>, scenario: Bound<'_, Scenario>) -> PyResult<Self> {
        let scenario = scenario.get().0.clone();
        let work = |interrupt: Interrupt| knee_scenario::Session::open(scenario, interrupt);
        watched(py, work, || Ok(())).map(|session| Self(Mutex::new(Some(session))))
    }

    /// Simulated time, seconds.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |session| Ok(session.now()))
    }

    /// Run all that happens before an instant, such as `10 s`; the GIL is released, Ctrl-C stops it.
    fn run_until(&self, py: Python<'_>, instant: &str) -> PyResult<()> {
        let work = |interrupt: Interrupt| {
            let mut held = self.0.lock().map_err(|_| broken())?;
            held.as_mut().ok_or_else(over)?.run_until(instant, interrupt)
        };
        watched(py, work, || Ok(()))
    }

    /// Change something now; key and value are as in a scenario.
    fn change(&self, py: Python<'_>, key: &str, value: &str) -> PyResult<()> {
        let outcome = self.with(py, |session| Ok(session.change(key, value)))?;
        outcome.map_err(|problem| refused(py, &problem))
    }

    /// Samples since they were last taken, in the columns of `series`.
    fn samples(&self, py: Python<'_>) -> PyResult<Columns> {
        self.with(py, knee_scenario::Session::samples).map(Columns::from)
    }

    /// Run to the end: the tables of the run. The session is over then.
    fn finish(&self, py: Python<'_>) -> PyResult<Results> {
        let work = |interrupt: Interrupt| {
            let session = self.0.lock().map_err(|_| broken())?.take().ok_or_else(over)?;
            session.finish(interrupt)
        };
        let results = watched(py, work, || Ok(()))?;
        Results::new(py, results)
    }
}

impl Session {
    fn with<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut knee_scenario::Session) -> Result<T, Stopped>,
    ) -> PyResult<T> {
        let mut held = self.0.lock().map_err(|_| PyRuntimeError::new_err("a session broke"))?;
        let session = held.as_mut().ok_or_else(|| raised(py, &over()))?;
        work(session).map_err(|stopped| raised(py, &stopped))
    }
}

fn over() -> Stopped {
    Stopped::Ended("the session is over".to_owned())
}

fn broken() -> Stopped {
    Stopped::Failed("an earlier call broke the session".to_owned())
}
