//! A dumbbell scenario from a few options.

use crate::scenario::Scenario;
use knee_input::interrupt::{Interrupt, Stopped};
use knee_input::problem::Problem;
use knee_input::source::{Format, Source};
use knee_input::text::Text;
use knee_laws::laws::Laws;

/// Options of `knee compare`, as typed by the user; `None` is the default.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Protocols, such as `vcp` or `sack/red` (sender/router).
    pub protocols: Vec<String>,
    /// Rate of the bottleneck; by default `150 Mbps`.
    pub rate: Option<String>,
    /// Propagation RTT; by default `80 ms`.
    pub rtt: Option<String>,
    /// Number of forward flows; by default 30.
    pub flows: Option<String>,
    /// Number of reverse flows; by default 30.
    pub reverse: Option<String>,
    /// Length of a run; by default `60 s`.
    pub duration: Option<String>,
    /// A number of seeds, or a list such as `[1, 5]`; by default 3.
    pub seeds: Option<String>,
    /// Buffer of the bottleneck.
    pub buffer: Option<String>,
    /// Forward flow i has `rtt + i * rtt_step`.
    pub rtt_step: Option<String>,
    /// Beginning of a run that no statistics count.
    pub warmup: Option<String>,
    /// Further settings, as `--set key=value`.
    pub overrides: Vec<(String, String)>,
}

/// The scenario that options change.
const BASE: &str = r#"
name = "compare"
duration = "60 s"
seeds = 3
[dumbbell]
rtt = "80 ms"
flows = 30
reverse = 30
[bottleneck]
rate = "150 Mbps"
"#;

/// A dumbbell on which the named protocols are compared.
pub fn compare(
    options: &CompareOptions,
    laws: &Laws,
    interrupt: Interrupt,
) -> Result<Scenario, Stopped> {
    if options.protocols.is_empty() {
        let message = "name at least one protocol to compare, such as vcp or sack/red";
        return Err(Problem::new(message.to_owned()).into());
    }
    let variants: String = options
        .protocols
        .iter()
        .map(|protocol| {
            format!("[[variant]]\nprotocol = {}\n", toml::Value::from(protocol.as_str()))
        })
        .collect();
    let base = format!("{BASE}{variants}");
    let source = Source { text: &base, name: "compare", format: Format::Toml, overrides: &[] };
    let mut text = Text::read(&source)?;
    let settings = [
        ("rate", "bottleneck.rate", &options.rate),
        ("rtt", "dumbbell.rtt", &options.rtt),
        ("flows", "dumbbell.flows", &options.flows),
        ("reverse", "dumbbell.reverse", &options.reverse),
        ("duration", "duration", &options.duration),
        ("seeds", "seeds", &options.seeds),
        ("buffer", "bottleneck.buffer", &options.buffer),
        ("rtt-step", "dumbbell.rtt_step", &options.rtt_step),
        ("warmup", "warmup", &options.warmup),
    ];
    for (option, key, value) in settings {
        if let Some(value) = value {
            text.set(key, value, format!("--{option} {value}"))?;
        }
    }
    for (index, protocol) in options.protocols.iter().enumerate() {
        let quoted = toml::Value::from(protocol.as_str()).to_string();
        text.set(&format!("variant.{index}.protocol"), &quoted, format!("protocol {protocol}"))?;
    }
    for (key, value) in &options.overrides {
        text.set(key, value, format!("--set {key}={value}"))?;
    }
    Scenario::from_text(&text, ("compare", laws), interrupt)
}
