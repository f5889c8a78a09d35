//! A dumbbell scenario from a few options.

use crate::{Problem, Scenario};

/// Options of `knee compare`, as typed by the user; `None` is the default.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Protocols, such as `vcp` or `sack/red` (sender/router).
    pub protocols: Vec<String>,
    /// Rate of the bottleneck, such as `150 Mbps`.
    pub rate: Option<String>,
    /// Propagation RTT.
    pub rtt: Option<String>,
    /// Number of forward flows.
    pub flows: Option<String>,
    /// Number of reverse flows.
    pub reverse: Option<String>,
    /// Length of a run.
    pub duration: Option<String>,
    /// A number of seeds, or a list such as `[1, 5]`.
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

/// A dumbbell on which the named protocols are compared.
pub fn compare(_options: &CompareOptions) -> Result<Scenario, Problem> {
    Scenario::parse(&crate::Source {
        text: "",
        name: "compare",
        format: crate::Format::Toml,
        overrides: &[],
    })
}
