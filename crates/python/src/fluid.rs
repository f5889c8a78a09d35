//! Fluid models, by name.

use pyo3::prelude::*;

use crate::columns::Columns;
use crate::interrupt::watched;

/// Solve the fluid model called `model`; `settings` is a JSON object. The GIL is released meanwhile; Ctrl-C stops it.
#[pyfunction]
pub fn fluid(py: Python<'_>, model: &str, settings: &str) -> PyResult<Columns> {
    let work = |interrupt: knee_scenario::Interrupt| knee_models::fluid(model, settings, interrupt);
    watched(py, work, || Ok(())).map(Columns::from)
}
