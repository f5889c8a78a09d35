//! A model: its settings, its columns, and the errors that stand in their place.

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use knee_fluid::effort::{Effort, Unsolved};
use knee_fluid::max_min::Topology;
use knee_input::interrupt::Stopped;
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{Rate, Size};
use knee_input::text::Text;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and values of columns.
pub(crate) type Columns = Vec<(&'static str, ArrayRef)>;

/// The settings of a model; a pair has those that it shares with other models, and its own.
pub(crate) trait Model: Sized {
    /// Checks what types cannot check, and solves the model.
    fn solve(self, effort: &Effort) -> Result<Columns, NoColumns>;
}

/// A column of numbers.
pub(crate) fn numbers(values: impl IntoIterator<Item = f64>) -> ArrayRef {
    Arc::new(values.into_iter().map(Some).collect::<Float64Array>())
}

/// A column of numbers; NaN becomes null.
pub(crate) fn gaps(values: impl IntoIterator<Item = f64>) -> ArrayRef {
    let known = values.into_iter().map(|value| (!value.is_nan()).then_some(value));
    Arc::new(known.collect::<Float64Array>())
}

/// A column of whole numbers.
pub(crate) fn wholes<T: Into<Option<u64>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<UInt64Array>())
}

/// A column of words.
pub(crate) fn words<'a, T: Into<Option<&'a str>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<StringArray>())
}

/// An error unless `value` is in `[low, high]`.
pub(crate) fn within(key: &str, value: f64, low: f64, high: f64) -> Result<(), Fault> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(KeyPath::root().key(key).fault(format!("must be from {low} to {high}")))
}

/// Why a model has no columns.
pub(crate) enum NoColumns {
    /// A setting is wrong.
    Fault(Fault),
    /// It has no solution.
    Unsolved(Unsolved),
}

impl NoColumns {
    /// As an error of the text with the settings.
    pub fn told(self, text: &Text) -> Stopped {
        match self {
            Self::Unsolved(Unsolved::Stopped) => Stopped::Interrupted,
            Self::Unsolved(error) => text.problem(&KeyPath::root().fault(error.to_string())).into(),
            Self::Fault(fault) => text.problem(&fault).into(),
        }
    }
}

impl From<Fault> for NoColumns {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Unsolved> for NoColumns {
    fn from(error: Unsolved) -> Self {
        Self::Unsolved(error)
    }
}

/// Why there is no solution; unless it was stopped, with what may help.
pub(crate) fn unsolved(error: Unsolved, remedy: impl FnOnce() -> String) -> NoColumns {
    match error {
        Unsolved::Stopped => error.into(),
        _ => KeyPath::root().fault(format!("{error}; {}", remedy())).into(),
    }
}

/// Packets a second.
pub(crate) fn packets(rate: Rate, packet: Size) -> f64 {
    rate.0.bps() / (8.0 * packet.0 as f64)
}

/// Links by name, and the names of each flow's links.
pub(crate) struct Links {
    /// Names of the links, sorted.
    pub names: Vec<String>,
    /// Capacities in packets a second.
    pub topology: Topology,
}

impl Links {
    /// Of links by name, and routes of their names.
    pub fn new(
        links: &BTreeMap<String, Rate>,
        routes: &[Vec<String>],
        packet: Size,
    ) -> Result<Self, Fault> {
        let names: Vec<String> = links.keys().cloned().collect();
        let key = KeyPath::root().key("routes");
        if routes.is_empty() {
            return Err(key.fault("needs a flow at least, such as [[\"a\", \"b\"]]"));
        }
        let find = |flow: usize, hop: usize, name: &String| {
            names.binary_search(name).map_err(|_| {
                let fault = key.index(flow).index(hop).fault("there is no such link");
                fault.among("there are", name, names.iter().map(String::as_str))
            })
        };
        let mut indices = Vec::new();
        for (flow, route) in routes.iter().enumerate() {
            if route.is_empty() {
                return Err(key.index(flow).fault("a flow crosses a link at least"));
            }
            let hops = route.iter().enumerate().map(|(hop, name)| find(flow, hop, name));
            indices.push(hops.collect::<Result<Vec<_>, _>>()?);
        }
        let capacities = links.values().map(|rate| packets(*rate, packet)).collect();
        Ok(Self { names, topology: Topology { capacities, routes: indices } })
    }
}
