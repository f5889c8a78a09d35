//! Wireless LANs as they are written: the template `[wlan]`, and `[[wlan]]` on a graph.

use crate::document::choice::{LawSpec, LossSpec, RateChange, Spread};
use crate::document::defaults::{no_flows, yes};
use knee_input::number::{Count, Packets, Retries, Slots};
use knee_input::quantity::{BufferSize, Delay, Period, Rate, Size};
use knee_laws::capacity;
use knee_sim::config::{STANDARDS, Standard};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;
use std::borrow::Cow;
use std::fmt;

/// Channels that stations share.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WlanSpec {
    /// `[wlan]`: a template.
    Template(Box<WlanTemplate>),
    /// `[[wlan]]`: channels of a graph.
    List(Vec<Wlan>),
}

impl Default for WlanSpec {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl WlanSpec {
    /// The template, if it is one.
    pub fn template(&self) -> Option<&WlanTemplate> {
        match self {
            Self::Template(template) => Some(template),
            Self::List(_) => None,
        }
    }

    /// The channels of a graph.
    pub fn list(&self) -> &[Wlan] {
        match self {
            Self::Template(_) => &[],
            Self::List(list) => list,
        }
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.template().is_none() && self.list().is_empty()
    }
}

impl<'de> Deserialize<'de> for WlanSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> de::Visitor<'de> for Reader {
            type Value = WlanSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table `[wlan]` or tables `[[wlan]]`")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<WlanSpec, A::Error> {
                let template = WlanTemplate::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WlanSpec::Template(Box::new(template)))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<WlanSpec, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(WlanSpec::List)
            }
        }
        from.deserialize_any(Reader)
    }
}

/// A base station with clients around it and a server behind it, linked by wire. Nodes are `server`, `base`, `client1`,
/// `client2`, ..; links `wired` and `wired-reverse`, and those that stations send on, `wlan/base`, `wlan/client1`, ..
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WlanTemplate {
    /// Frame times and constants; by default those of 802.11b.
    #[serde(default)]
    pub standard: StandardName,
    /// Constants that differ from the standard's.
    #[serde(default, skip_serializing_if = "Mac::is_empty")]
    pub mac: Mac,
    /// Clients; by default as many as the larger group of flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<Count>,
    /// Flows from the server to the clients, which take these in turn: group `download`.
    #[serde(default = "no_flows")]
    pub download: Count,
    /// Flows from the clients to the server: group `upload`.
    #[serde(default = "no_flows")]
    pub upload: Count,
    /// Physical rate of frames from and to each client; by default the standard's highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Physical rates of the clients in order, instead of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Rate>>,
    /// Errors of data frames from and to each client, in each transmission; by default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<LossSpec>,
    /// Has the base station one queue for all, or one a client; by default one for all.
    #[serde(default)]
    pub queues: Queues,
    /// Room in each station's queue; by default 64 packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// What router laws of stations take for their capacity; by default the physical rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacitySpec>,
    /// Rate of the wired link; by default 100 Mbps.
    #[serde(default = "wired_rate")]
    pub wired_rate: Rate,
    /// Propagation delay of the wired link, one way; by default 10 ms.
    #[serde(default = "wired_delay")]
    pub wired_delay: Delay,
    /// When flows start; by default uniform in [0 s, 1 s].
    #[serde(default = "Spread::first_second")]
    pub start: Spread,
}

fn wired_rate() -> Rate {
    Rate(knee_laws::quantities::BitRate::from_mbps(100.0))
}

fn wired_delay() -> Delay {
    Delay(knee_laws::quantities::Span::from_millis(10))
}

/// A channel that a base station and others share. What a station sends goes over its link `NAME/STATION` to the base
/// station; the base station sends over `NAME/BASE`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wlan {
    /// Its name.
    pub name: String,
    /// The node that is its base station.
    pub base: String,
    /// Frame times and constants; by default those of 802.11b.
    #[serde(default)]
    pub standard: StandardName,
    /// Constants that differ from the standard's.
    #[serde(default, skip_serializing_if = "Mac::is_empty")]
    pub mac: Mac,
    /// Physical rate of frames of stations that name none; by default the standard's highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Errors of data frames of stations that name none; by default there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<LossSpec>,
    /// Has the base station one queue for all, or one a client; by default one for all.
    #[serde(default)]
    pub queues: Queues,
    /// Room in the queues of the base station, and of stations that name none; by default 64 packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// Router law of the base station's queues, and of stations that name none; by default the variant's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<LawSpec>,
    /// What router laws of the base station, and of stations that say nothing, take for their capacity; by default the
    /// physical rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacitySpec>,
    /// Are its queues reported and probed?
    #[serde(default = "yes")]
    pub measured: bool,
    /// Its stations besides the base station.
    #[serde(default)]
    pub station: Vec<WlanStation>,
}

/// A station that is no base station.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WlanStation {
    /// The node that it is.
    pub name: String,
    /// Physical rate of frames from and to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Errors of data frames from and to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<LossSpec>,
    /// Room in its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// Its router law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<LawSpec>,
    /// What its router law takes for the capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacitySpec>,
    /// Rates that follow the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<RateChange>,
}

/// A physical layer of IEEE 802.11 with its medium access, by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StandardName(pub Standard);

impl Default for StandardName {
    fn default() -> Self {
        Self(STANDARDS[0])
    }
}

impl Serialize for StandardName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for StandardName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const NAMES: [&str; STANDARDS.len()] = {
            let mut names = [""; STANDARDS.len()];
            let mut place = 0;
            while place < names.len() {
                names[place] = STANDARDS[place].name;
                place += 1;
            }
            names
        };
        let name = String::deserialize(from)?;
        let known = Standard::named(&name).map(Self);
        known.ok_or_else(|| de::Error::unknown_variant(&name, &NAMES))
    }
}

impl JsonSchema for StandardName {
    fn schema_name() -> Cow<'static, str> {
        "Standard".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |standard: &Standard| json!({ "const": standard.name, "type": "string", "description": standard.rates() });
        let all: Vec<_> = STANDARDS.iter().map(one).collect();
        json_schema!({ "description": "A physical layer of IEEE 802.11.", "oneOf": all })
    }
}

/// Queues of a base station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Queues {
    /// One for all stations.
    #[default]
    Shared,
    /// One for each station, served in turn.
    PerStation,
}

/// The length of 802.11b's preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Preamble {
    /// 192 us.
    Long,
    /// 96 us.
    Short,
}

/// Constants of a physical layer and its medium access; each by default as the standard has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mac {
    /// Preamble of 802.11b.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Preamble>,
    /// Time of preamble and PLCP header before every frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble_time: Option<Delay>,
    /// aSlotTime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Period>,
    /// Short interframe space; DIFS is SIFS and two slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sifs: Option<Period>,
    /// Rate of ACKs, RTS and CTS where the standard has no other below the data's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_rate: Option<Rate>,
    /// Bytes that the MAC adds to a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Size>,
    /// CWmin: the first contention window is 0 to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<Slots>,
    /// CWmax.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<Slots>,
    /// Transmissions of a frame, or of its RTS, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_retry_limit: Option<Retries>,
    /// Transmissions of a frame that follows an RTS, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retry_limit: Option<Retries>,
    /// Larger packets are announced by an RTS; by default none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Size>,
    /// Packets of one transmission at most (A-MPDU).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate_packets: Option<Packets>,
    /// Bytes of one transmission at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate_size: Option<Size>,
    /// Is the window drawn from without its last value, as in ns-2?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_window: Option<bool>,
    /// More silence after a collision than EIFS: DIFS in ns-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_collision: Option<Delay>,
    /// Does a station send without backoff that finds the channel idle? Not in ns-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immediate_access: Option<bool>,
}

impl Mac {
    /// Does it leave everything at its default?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a router law takes for its link's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum CapacitySpec {
    /// An estimate by name.
    Way(CapacityWord),
    /// This rate, whatever the link's is.
    Fixed(Rate),
    /// An estimate with its parameters.
    Estimate(EstimateSpec),
}

/// Ways to know a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CapacityWord {
    /// The link's rate.
    Rate,
    /// Estimated from how long packets take.
    Estimated,
    /// Estimated from what a station sees of its channel.
    Passive,
}

/// An estimate of a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EstimateSpec {
    /// From what a station sees of its channel, rather than from how long packets take?
    #[serde(default = "crate::document::defaults::no")]
    pub passive: bool,
    /// Measurement interval; by default 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Period>,
    /// Weight of earlier estimates; by default 0.875.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Are times brought to the average packet size; by default they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalise: Option<bool>,
}

impl CapacitySpec {
    /// How it is estimated, if it is.
    pub fn estimate(&self) -> Option<EstimateSpec> {
        let passive = match self {
            Self::Way(CapacityWord::Rate) | Self::Fixed(_) => return None,
            Self::Estimate(estimate) => return Some(*estimate),
            Self::Way(word) => *word == CapacityWord::Passive,
        };
        Some(EstimateSpec { passive, interval: None, weight: None, normalise: None })
    }
}

impl EstimateSpec {
    /// Its parameters with their defaults.
    pub fn params(&self) -> capacity::Params {
        let default = capacity::Params::default();
        capacity::Params {
            interval: self.interval.map_or(default.interval, |interval| interval.0),
            weight: self.weight.unwrap_or(default.weight),
            normalise: self.normalise.unwrap_or(default.normalise),
        }
    }
}

impl<'de> Deserialize<'de> for CapacitySpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> de::Visitor<'de> for Reader {
            type Value = CapacitySpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "\"estimated\", \"passive\", \"rate\", a rate such as \"4 Mbps\" or a table such as \
                     { passive = true, interval = \"200 ms\" }",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<CapacitySpec, E> {
                use knee_input::quantity::Written;
                match text {
                    "rate" => Ok(CapacitySpec::Way(CapacityWord::Rate)),
                    "estimated" => Ok(CapacitySpec::Way(CapacityWord::Estimated)),
                    "passive" => Ok(CapacitySpec::Way(CapacityWord::Passive)),
                    _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                        Err(E::unknown_variant(text, &["estimated", "passive", "rate"]))
                    }
                    _ => Rate::read(text).map(CapacitySpec::Fixed).map_err(E::custom),
                }
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<CapacitySpec, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<CapacitySpec, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<CapacitySpec, A::Error> {
                EstimateSpec::deserialize(MapAccessDeserializer::new(map))
                    .map(CapacitySpec::Estimate)
            }
        }
        from.deserialize_any(Reader)
    }
}
