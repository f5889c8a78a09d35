//! Fluid models, by name.

use pyo3::prelude::*;

use crate::columns::Columns;
use crate::scenario::refused;

/// Solve the fluid model called `model`; `settings` is a JSON object. The GIL is released meanwhile.
#[pyfunction]
pub fn fluid(py: Python<'_>, model: &str, settings: &str) -> PyResult<Columns> {
    py.detach(|| knee_scenario::fluid(model, settings)).map(Columns::from).map_err(refused)
}
