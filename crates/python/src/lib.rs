//! `knee._core`: what Python sees of `knee-scenario`. Convert, call, convert back; no logic.

mod columns;
mod exceptions;
mod fluid;
mod interrupt;
mod quantity;
mod run;
mod scenario;
mod session;

use pyo3::prelude::*;

/// The compiled part of knee: scenarios are checked and run here.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::columns::Columns;
    #[pymodule_export]
    use crate::fluid::fluid;
    #[pymodule_export]
    use crate::quantity::{parse_rate, parse_time};
    #[pymodule_export]
    use crate::run::{Results, available_memory, parse_memory, run};
    #[pymodule_export]
    use crate::scenario::{Scenario, catalogue, compare, schema};

    #[pymodule_export]
    use crate::session::Session;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::exceptions::add_exceptions(module)?;
        module.add("MOST_TEXT", knee_scenario::MOST_TEXT)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("__fingerprint__", env!("KNEE_FINGERPRINT"))
    }
}
