//! Fluid models by name. Settings are JSON with units; they are checked, the model is solved, and columns come out.
//!
//! The types of settings have the defaults of every model.

mod closed;
mod model;
mod rcp;
mod scalable;
mod vcp;
mod wlan;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, RecordBatch};
use knee_fluid::effort::Effort;
use knee_input::interrupt::{Interrupt, Stopped};
use knee_input::problem::{KeyPath, Problem};
use knee_input::source::{Format, Source};
use knee_input::text::Text;
use model::{Columns, Model};
use serde::de::DeserializeOwned;

/// The most work of a solution: some ten seconds.
const MOST_WORK: u64 = 1_000_000_000;

/// A model's name, and the function from its settings to columns.
type Entry = (&'static str, fn(&Text, &Effort) -> Result<Columns, Stopped>);

fn entry<M>(text: &Text, effort: &Effort) -> Result<Columns, Stopped>
where
    M: Model + DeserializeOwned,
{
    text.typed::<M>()?.solve(effort).map_err(|error| error.told(text))
}

fn pair<S, M>(text: &Text, effort: &Effort) -> Result<Columns, Stopped>
where
    S: DeserializeOwned,
    M: DeserializeOwned,
    (S, M): Model,
{
    text.typed_parts::<S, M>()?.solve(effort).map_err(|error| error.told(text))
}

const MODELS: &[Entry] = &[
    ("bmcc_detection", entry::<closed::BmccDetection>),
    ("bmcc_epochs", entry::<closed::BmccEpochs>),
    ("bmcc_startup", entry::<closed::BmccStartup>),
    ("max_min", entry::<vcp::MaxMin>),
    ("miaimd", pair::<vcp::LawSettings, vcp::Aggregate>),
    ("miaimd_equilibrium", pair::<vcp::LawSettings, vcp::Rest>),
    ("miaimd_network", pair::<vcp::LawSettings, vcp::Network>),
    ("miaimd_network_equilibrium", pair::<vcp::LawSettings, vcp::NetworkRest>),
    ("miaimd_sweep", entry::<vcp::Sweep>),
    ("mlcp_rtts", entry::<closed::MlcpRtts>),
    ("rcp", entry::<rcp::Rates>),
    ("rcp_bounds", entry::<rcp::Bounds>),
    ("scalable", pair::<scalable::Prices, scalable::Course>),
    ("scalable_delay", pair::<scalable::Queue, scalable::Course>),
    ("scalable_delay_rest", pair::<scalable::Queue, scalable::Rest>),
    ("scalable_margin", pair::<scalable::OneSource, scalable::Margins>),
    ("scalable_network", pair::<scalable::Routes, scalable::Course>),
    ("scalable_network_loci", pair::<scalable::Routes, scalable::Frequencies>),
    ("scalable_network_margin", pair::<scalable::Routes, scalable::Margins>),
    ("scalable_network_rest", pair::<scalable::Routes, scalable::Rest>),
    ("scalable_nyquist", pair::<scalable::OneSource, scalable::Frequencies>),
    ("wlan_capacity", entry::<wlan::Capacity>),
    ("wlan_saturation", entry::<wlan::Saturation>),
];

/// Solves the fluid model called `model`; `settings` is a JSON object. Numbers are finite, or
/// null where they have no meaning.
pub fn fluid(model: &str, settings: &str, interrupt: Interrupt) -> Result<RecordBatch, Stopped> {
    let Some((_, solve)) = MODELS.iter().find(|(name, _)| *name == model) else {
        let fault = KeyPath::root().fault(format!("there is no fluid model `{model}`"));
        let names = MODELS.iter().map(|(name, _)| *name);
        return Err(Problem::from(fault.among("there are", model, names)).into());
    };
    let source = Source { text: settings, name: model, format: Format::Json, overrides: &[] };
    let stop = || interrupt.is_wanted();
    let columns = solve(&Text::read(&source)?, &Effort::new(MOST_WORK, &stop))?;
    if let Some((name, row)) = columns.iter().find_map(boundless) {
        let said =
            format!("{model}: no finite solution: {name} is beyond all numbers in row {row}");
        return Err(Problem::new(said).into());
    }
    let nullable = columns.into_iter().map(|(name, values)| {
        let number = values.data_type() == &arrow_schema::DataType::Float64;
        let missing = values.null_count() > 0;
        (name, values, number || missing)
    });
    RecordBatch::try_from_iter_with_nullable(nullable)
        .map_err(|error| Stopped::Failed(error.to_string()))
}

/// The first row of a column with a number that is not finite.
fn boundless((name, values): &(&'static str, ArrayRef)) -> Option<(&'static str, usize)> {
    let values = values.as_primitive_opt::<Float64Type>()?;
    let row = values.iter().position(|value| value.is_some_and(|value| !value.is_finite()))?;
    Some((name, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK_OF_TWO_RTTS: &str =
        r#"{"links": {"a": "1 Mbps"}, "routes": [["a"]], "rtts": ["1 ms", "2 ms"]}"#;

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("miamd", "{}", "did you mean `miaimd`?"),
            ("miaimd", "{}", "capacity"),
            ("miaimd", r#"{"capacity": 150, "rtt": "80 ms", "flows": 3}"#, "capacity = 150"),
            ("miaimd", r#"{"capacity": "1 Mbps", "rtt": "80 ms", "flows": 0}"#, "flows = 0"),
            ("miaimd", r#"{"capacity": "1 Mbps", "rtt": "80 ms", "flow": 1}"#, "`flows`"),
            ("max_min", r#"{"links": {"ab": "1 Mbps"}, "routes": [["abc"]]}"#, "mean `ab`"),
            ("max_min", r#"{"links": {"ab": "1 Mbps"}, "routes": [[]]}"#, "routes"),
            ("rcp", r#"{"law": "rpc", "capacity": "1 Mbps", "rtts": ["1 ms"]}"#, "mean `rcp`"),
            ("rcp_bounds", r#"{"rtts": []}"#, "rtts"),
            ("bmcc_epochs", r#"{"bdp": 0, "flows": 2}"#, "bdp = 0"),
            ("scalable_network", NETWORK_OF_TWO_RTTS, "has 2 RTTs for 1 flows"),
            (
                "scalable_delay",
                r#"{"capacity": "1 Mbps", "rtts": ["1 ms"], "exponent": "wndow"}"#,
                "mean `window`",
            ),
            ("mlcp_rtts", r#"{"capacity": "1 Gbps", "rtt": "1 s", "bits": [1]}"#, "bits"),
        ];
        for (model, settings, part) in cases {
            let message = fluid(model, settings, Interrupt::NEVER).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
