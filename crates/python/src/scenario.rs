//! Checked scenarios, the catalogue of laws, and the schema.

use knee_scenario::{CompareOptions, Format, Interrupt, Laws, Source};
use pyo3::prelude::*;

use crate::interrupt::watched;

/// A checked scenario: it can be run.
#[pyclass(frozen, module = "knee._core")]
pub struct Scenario(pub knee_scenario::Scenario);

#[pymethods]
impl Scenario {
    /// Parse and check TOML text; `name` is its file's name, for messages.
    #[staticmethod]
    #[pyo3(signature = (text, *, name, overrides))]
    fn from_toml(
        py: Python<'_>,
        text: &str,
        name: &str,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Self> {
        Self::parse(py, &Source { text, name, format: Format::Toml, overrides: &overrides })
    }

    /// Parse and check JSON text with the same keys as the TOML format.
    #[staticmethod]
    #[pyo3(signature = (text, *, name, overrides))]
    fn from_json(
        py: Python<'_>,
        text: &str,
        name: &str,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Self> {
        Self::parse(py, &Source { text, name, format: Format::Json, overrides: &overrides })
    }

    /// The scenario as run: every default and seed written out, with knee's version.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// Capacities of links and ways of flows, a network a variant, as JSON text.
    fn ways(&self) -> String {
        self.0.ways().to_string()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Names of its variants, in order.
    #[getter]
    fn variants(&self) -> Vec<String> {
        self.0.variants()
    }

    /// Its seeds, in order.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.0.seeds()
    }

    /// The laws that each variant runs, in order of variant: `sender NAME HASH` and `router NAME HASH`, sorted. A hash
    /// changes when the law does.
    #[getter]
    fn laws(&self) -> Vec<Vec<String>> {
        self.0.laws()
    }

    /// Sentences about what it says that may be meant, but likely is not.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().iter().map(ToString::to_string).collect()
    }

    /// About how many bytes of memory its runs take at their peak, so many at a time.
    fn memory(&self, threads: usize) -> u64 {
        self.0.memory(threads)
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {}>", self.0.name())
    }
}

impl Scenario {
    fn parse(py: Python<'_>, source: &Source) -> PyResult<Self> {
        let work = |interrupt: Interrupt| {
            knee_scenario::Scenario::parse_with(source, Laws::shipped(), interrupt)
        };
        watched(py, work, || Ok(())).map(Self)
    }
}

/// A dumbbell on which protocols are compared; what is not given has its default.
#[pyfunction]
#[pyo3(signature = (
    protocols, *, rate=None, rtt=None, flows=None, reverse=None, duration=None, seeds=None,
    buffer=None, rtt_step=None, warmup=None, overrides=Vec::new(),
))]
#[allow(clippy::too_many_arguments)]
pub fn compare(
    py: Python<'_>,
    protocols: Vec<String>,
    rate: Option<String>,
    rtt: Option<String>,
    flows: Option<String>,
    reverse: Option<String>,
    duration: Option<String>,
    seeds: Option<String>,
    buffer: Option<String>,
    rtt_step: Option<String>,
    warmup: Option<String>,
    overrides: Vec<(String, String)>,
) -> PyResult<Scenario> {
    let options = CompareOptions {
        protocols,
        rate,
        rtt,
        flows,
        reverse,
        duration,
        seeds,
        buffer,
        rtt_step,
        warmup,
        overrides,
    };
    let work = |interrupt: Interrupt| knee_scenario::compare(&options, Laws::shipped(), interrupt);
    watched(py, work, || Ok(())).map(Scenario)
}

/// Laws with their parameters, codecs, and quantities that probes sample, as JSON text.
#[pyfunction]
pub fn catalogue() -> String {
    knee_scenario::catalogue(Laws::shipped()).to_string()
}

/// The JSON Schema of a scenario, as JSON text.
#[pyfunction]
pub fn schema() -> String {
    knee_scenario::schema()
}
