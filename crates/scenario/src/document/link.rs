//! Links of graphs and templates: keys, options, and what the simulator is given of them.

use crate::document::choice::{LawSpec, LossSpec, RateChange, Reorder};
use crate::document::defaults::{no, yes};
use crate::document::wlan::{CapacitySpec, CapacityWord};
use knee_input::problem::{Fault, KeyPath};
use knee_input::quantity::{BufferSize, Delay, Rate};
use knee_laws::quantities::{BitRate, Time};
use knee_sim::config::{Capacity, Estimate, LinkChange, LinkConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The template's bottleneck links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bottleneck {
    /// Capacity each way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Room in the queue; by default max(BDP at the mean RTT, 2 packets x all flows).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// What router laws take for its capacity; by default the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacitySpec>,
    /// Rates that follow the first, both ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<RateChange>,
    /// Random loss of transmitted packets; by default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Random delays that let others overtake; by default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
}

/// A link of a general graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// Its name.
    pub name: String,
    /// The node that it leaves.
    pub from: String,
    /// The node that it reaches.
    pub to: String,
    /// Capacity.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Delay,
    /// Room in the queue; by default max(BDP at the mean RTT, 2 packets x all flows that cross it).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// Its router law; by default the variant's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<LawSpec>,
    /// What its router law takes for the capacity; by default the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacitySpec>,
    /// Is it reported and probed?
    #[serde(default = "yes")]
    pub measured: bool,
    /// Makes its like in the other direction too, named `NAME-reverse`.
    #[serde(default = "no")]
    pub duplex: bool,
    /// Rates that follow the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<RateChange>,
    /// Random loss of transmitted packets; by default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Random delays that let others overtake; by default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
}

/// Options that links of graphs and of templates have in common, checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkOptions {
    pub buffer: Option<BufferSize>,
    pub capacity: Option<CapacitySpec>,
    pub rate_changes: Vec<(Time, BitRate)>,
    pub loss: Option<LossSpec>,
    pub reorder: Option<Reorder>,
}

macro_rules! optional {
    ($($Table:ident),*) => {$(
        impl $Table {
            /// Its options; `at` is its table.
            pub fn options(&self, at: &KeyPath) -> Result<LinkOptions, Fault> {
                Ok(LinkOptions {
                    buffer: self.buffer,
                    capacity: self.capacity,
                    rate_changes: rate_changes(&self.rate_changes, at)?,
                    loss: self.loss,
                    reorder: self.reorder,
                })
            }
        }
    )*};
}
optional!(Bottleneck, Link);

impl LinkOptions {
    /// A link of the simulator with these options, but for the buffer, whose default depends on the whole network.
    pub fn given(&self, link: LinkConfig) -> LinkConfig {
        let capacity = match self.capacity {
            None | Some(CapacitySpec::Way(CapacityWord::Rate)) => Capacity::Rate,
            Some(CapacitySpec::Fixed(rate)) => Capacity::Fixed(rate.0),
            Some(spec) => spec.estimate().map_or(Capacity::Rate, |estimate| {
                let (params, passive) = (estimate.params(), estimate.passive);
                Capacity::Estimated(Estimate { params, passive })
            }),
        };
        let changes = self.rate_changes.iter();
        LinkConfig {
            capacity,
            changes: changes.map(|(at, rate)| (*at, LinkChange::Rate(*rate))).collect(),
            loss: self.loss.map(LossSpec::model),
            reorder: self.reorder.map(|reorder| knee_sim::config::Reorder {
                probability: reorder.probability.0,
                delay: reorder.delay.0,
            }),
            ..link
        }
    }
}

/// A link's rate changes, checked to be in order of time.
pub(crate) fn rate_changes(
    changes: &[RateChange],
    at: &KeyPath,
) -> Result<Vec<(Time, BitRate)>, Fault> {
    let mut last = None;
    let mut checked = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        let time = Delay::after_start(change.at);
        if last.is_some_and(|last| time <= last) {
            let at = at.key("rate_changes").index(index).key("at");
            return Err(at.fault("rate changes come in order of time"));
        }
        last = Some(time);
        checked.push((time, change.rate.0));
    }
    Ok(checked)
}
