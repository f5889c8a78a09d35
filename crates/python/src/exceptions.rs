//! The exceptions that Python sees.

use knee_scenario::{Problem, Stopped};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

create_exception!(
    knee._core,
    ScenarioError,
    PyValueError,
    "A scenario that knee refuses; the message is one sentence: where, what was given, what is allowed."
);

create_exception!(
    knee._core,
    ScenarioWarning,
    PyUserWarning,
    "Something of a scenario that is accepted, though it is likely not meant; the message is one sentence."
);

/// The exception for a problem, with its parts as attributes.
pub fn refused(py: Python<'_>, problem: &Problem) -> PyErr {
    let error = ScenarioError::new_err(problem.to_string());
    match attributes(error.value(py), problem) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn attributes(error: &Bound<'_, PyAny>, problem: &Problem) -> PyResult<()> {
    error.setattr("line", problem.line)?;
    error.setattr("path", problem.path.as_deref())?;
    error.setattr("given", problem.given.as_deref())?;
    error.setattr("allowed", PyTuple::new(error.py(), &problem.allowed)?)?;
    error.setattr("nearest", problem.nearest.as_deref())
}

/// Adds the exceptions; parts of a `ScenarioError` that is raised elsewhere are empty.
pub fn add_exceptions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let error = py.get_type::<ScenarioError>();
    attributes(&error, &Problem::default())?;
    module.add("ScenarioError", error)?;
    module.add("ScenarioWarning", py.get_type::<ScenarioWarning>())
}

/// The exception for work that yielded nothing.
pub fn raised(py: Python<'_>, stopped: &Stopped) -> PyErr {
    match stopped {
        Stopped::Interrupted => PyKeyboardInterrupt::new_err(()),
        Stopped::Refused(problem) => refused(py, problem),
        Stopped::Ended(_) => ScenarioError::new_err(stopped.to_string()),
        Stopped::Failed(_) => PyRuntimeError::new_err(stopped.to_string()),
    }
}
