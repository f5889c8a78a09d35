//! The scenario as it is written: the types behind TOML, JSON and the JSON Schema.

use crate::document::choice::{LawSpec, Nodes, PathSpec, Seeds, Spread};
use crate::document::link::{Bottleneck, Link};
use crate::document::transport::Transport;
use crate::document::wlan::WlanSpec;
use knee_input::number::{ArrivalRate, Count, Factor, Links, ParetoShape, Share};
use knee_input::quantity::{BufferSize, Delay, FlowSize, Period, Rate, Size};
use knee_sim::config::Quantity;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;

/// A knee scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "knee scenario")]
pub(crate) struct Document {
    /// Its name; by default the file's. Results go to `results/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it shows, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Version of knee that wrote it; not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<String>,
    /// Length of a run.
    pub duration: Period,
    /// Beginning of a run that no statistics count; by default 20 % of the duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Delay>,
    /// Seeds of the runs: a list, or n for 1 to n; by default 1.
    #[serde(default)]
    pub seeds: Seeds,
    /// Of the only variant: sender law, or `sender/router`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Of the only variant: its sender law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<LawSpec>,
    /// Of the only variant: its router law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<LawSpec>,
    /// `none` switches the default probes off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbeSwitch>,
    /// One bottleneck each way between flows with access links of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// Links in a row, long flows over all and cross flows over each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parking_lot: Option<ParkingLot>,
    /// A base station with its clients; or `[[wlan]]`: channels of a general graph.
    #[serde(default, skip_serializing_if = "WlanSpec::is_empty")]
    pub wlan: WlanSpec,
    /// The template's bottleneck links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// Transport options of all flows.
    #[serde(default, skip_serializing_if = "Transport::is_empty")]
    pub transport: Transport,
    /// What is compared; variants share the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<Variant>,
    /// Links of a general graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// Flows that carry others over a part of the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aggregate: Vec<Aggregate>,
    /// Groups of flows, on a graph or besides a template's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Group>,
    /// What is sampled; naming any replaces the default probes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<ProbeSpec>,
}

/// One bottleneck each way; every flow has access links of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dumbbell {
    /// Propagation RTT.
    pub rtt: Period,
    /// Forward flow i (from 0) has `rtt + i * rtt_step`.
    #[serde(default = "no_delay")]
    pub rtt_step: Delay,
    /// Forward flows, group `forward`.
    pub flows: Count,
    /// Reverse flows, group `reverse`.
    #[serde(default = "no_flows")]
    pub reverse: Count,
    /// Part of the propagation delay that lies on the bottleneck; access links share the rest.
    #[serde(default = "dumbbell_share")]
    pub bottleneck_share: Share,
    /// Access rate over bottleneck rate.
    #[serde(default = "access_factor")]
    pub access_factor: Factor,
    /// When flows start.
    #[serde(default = "Spread::first_second")]
    pub start: Spread,
}

/// Links in a row each way, named `link1`, `link2`, .. and `link1-reverse`, ..
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParkingLot {
    /// Links in a row.
    pub links: Links,
    /// Propagation RTT of the longest path.
    pub rtt: Period,
    /// Delay of each link; by default 87.5 % of the one-way delay is spread over the links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_delay: Option<Delay>,
    /// Long forward flows, group `forward`.
    pub flows: Count,
    /// Long reverse flows, group `reverse`.
    #[serde(default = "no_flows")]
    pub reverse: Count,
    /// Forward flows over each link alone, groups `cross1`, `cross2`, ..
    #[serde(default = "no_flows")]
    pub cross: Count,
    /// Rates of the links in order; by default `bottleneck.rate` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Rate>>,
    /// Access rate over the fastest link's rate.
    #[serde(default = "access_factor")]
    pub access_factor: Factor,
    /// When flows start.
    #[serde(default = "Spread::first_second")]
    pub start: Spread,
}

/// One of the things that are compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    /// Its name, in the column `protocol`; by default the sender, or `sender/router`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A sender law with its own router law, or `sender/router`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The sender law of every group without one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<LawSpec>,
    /// The router law of every link without one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<LawSpec>,
    /// `allow` lets senders cross routers whose feedback they do not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<Mismatch>,
    /// `false` leaves the aggregates out: flows cross their links as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregates: Option<bool>,
    /// Transport options of this variant.
    #[serde(default, skip_serializing_if = "Transport::is_empty")]
    pub transport: Transport,
}

/// What becomes of senders that cannot read what routers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mismatch {
    /// They are refused.
    Refuse,
    /// They run all the same.
    Allow,
}

/// A flow that carries packets of others from an ingress to an egress; to those, it is a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aggregate {
    /// Its name, as a link's; the carrying flow is called `NAME/0`.
    pub name: String,
    /// The ingress node; the way is the one of least delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The egress node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Way of the carrying flow, instead of `from` and `to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathSpec>,
    /// Way of its ACKs; by default back over the reverse links, or the way of least delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<PathSpec>,
    /// Law of the carrying flow; by default the variant's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<LawSpec>,
    /// Law of the ingress's queue; by default `droptail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<LawSpec>,
    /// Room in the ingress's queue; by default as of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// Bytes that carrying adds to a packet; by default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Size>,
    /// Makes its like in the other direction too, named `NAME-reverse`.
    #[serde(default = "yes")]
    pub duplex: bool,
    /// Is the ingress reported and probed as a link?
    #[serde(default = "yes")]
    pub measured: bool,
    /// Transport options of the carrying flow.
    #[serde(default, skip_serializing_if = "Transport::is_empty")]
    pub transport: Transport,
}

/// A group of flows that share way, law and meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    /// Its name; flows are called `NAME/0`, `NAME/1`, ..
    pub name: String,
    /// How many flows; for arrivals, how many pairs of access links they take in turn.
    #[serde(default = "one_flow")]
    pub count: Count,
    /// Sending node, or a list that flows take in turn; the way is the one of least delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Nodes>,
    /// Receiving node, or a list that flows take in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Nodes>,
    /// Way of the data, instead of `from` and `to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathSpec>,
    /// Way of the ACKs; by default back over the reverse links, or the way of least delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<PathSpec>,
    /// Its sender law; by default the variant's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<LawSpec>,
    /// `allow` lets it cross routers whose feedback it does not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<Mismatch>,
    /// Propagation RTT: access links of each flow make up for what the way lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Spread>,
    /// When flows start; by default uniform in [0 s, 1 s], arrivals at 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Spread>,
    /// When flows stop offering data; by default never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Spread>,
    /// What each flow has to send; by default `endless`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<FlowSize>,
    /// Access links of each flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Flows come at random instead of all being there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Transport options of this group.
    #[serde(default, skip_serializing_if = "Transport::is_empty")]
    pub transport: Transport,
}

/// The access links of each flow: one each way at either end, DropTail, unlimited, not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Access {
    /// Capacity; by default twice the fastest rate on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Delay of each of the four, instead of `rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Spread>,
}

/// Poisson arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arrivals {
    /// Mean arrivals a second.
    pub per_second: ArrivalRate,
    /// What each has to send.
    pub size: ArrivalSize,
}

/// Sizes of arriving flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ArrivalSize {
    /// All the same.
    Fixed(FlowSize),
    /// Exponential with this mean.
    Exponential(FlowSize),
    /// Pareto.
    Pareto(Pareto),
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pareto {
    /// Mean size.
    pub mean: FlowSize,
    /// Shape alpha; by default 1.4.
    #[serde(default = "pareto_shape")]
    pub shape: ParetoShape,
}

/// A sampled quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeSpec {
    /// What is sampled.
    pub quantity: QuantityName,
    /// How often.
    pub interval: Period,
}

/// What a probe samples, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QuantityName(pub Quantity);

impl Serialize for QuantityName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for QuantityName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Quantity::named(&name).map(Self);
        known.ok_or_else(|| D::Error::unknown_variant(&name, Quantity::NAMES))
    }
}

impl JsonSchema for QuantityName {
    fn schema_name() -> Cow<'static, str> {
        "QuantityName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |quantity: &Quantity| {
            let of = if quantity.is_of_links() { "measured link" } else { "flow" };
            let description = format!("Of a {of}: {}", quantity.help());
            json!({ "const": quantity.name(), "type": "string", "description": description })
        };
        let all: Vec<_> = Quantity::ALL.iter().map(one).collect();
        json_schema!({ "description": "What a probe samples.", "oneOf": all })
    }
}

/// Are the default probes on?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProbeSwitch {
    /// Queue, utilisation, throughput and window.
    Default,
    /// Nothing is sampled.
    None,
}

use crate::document::defaults::{
    access_factor, dumbbell_share, no_delay, no_flows, one_flow, pareto_shape, yes,
};
