//! Quantities as people write them, read by the one reader of units.

use knee_input::measure::{DELAY, Measure, RATE};
use knee_input::problem::Problem;
use pyo3::prelude::*;

use crate::exceptions::refused;

fn read(py: Python<'_>, measure: &Measure, text: &str) -> PyResult<f64> {
    let said = |message: String| refused(py, &Problem::new(format!("{text:?}: {message}")));
    measure.number(text).map_err(said)
}

/// Seconds of a time such as `80 ms`.
#[pyfunction]
pub fn parse_time(py: Python<'_>, text: &str) -> PyResult<f64> {
    read(py, &DELAY, text)
}

/// Bits a second of a rate such as `150 Mbps`.
#[pyfunction]
pub fn parse_rate(py: Python<'_>, text: &str) -> PyResult<f64> {
    read(py, &RATE, text)
}
