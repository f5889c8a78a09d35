//! Values that are written in more than one way: a name or a table, a number or a list.

use crate::document::defaults::{pacing_avoidance, pacing_slow_start};
use knee_input::number::{PacingGain, Probability, Ranged};
use knee_input::quantity::{Delay, Period, Rate, Written};
use knee_laws::quantities::Span;
use knee_sim::config::RandomLoss;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::BTreeMap;
use std::fmt;

/// Seeds of the runs: a list, or n for 1 to n.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Seeds {
    /// 1 to this.
    Count(u64),
    /// These.
    List(Vec<u64>),
}

/// A time a flow: the same for all, spread at random, or in steps from flow to flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Spread {
    /// The same for all.
    Fixed(Delay),
    /// Differing.
    Shape(Shape),
}

/// How times differ from flow to flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    /// Uniform at random between two times.
    Uniform([Delay; 2]),
    /// Flow i (from 0) has `from + i * by`.
    Step(Step),
}

/// Steps from flow to flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Of flow 0.
    pub from: Delay,
    /// More for every further flow.
    pub by: Delay,
}

/// A way: links by name in order, or a template's `forward` or `reverse`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PathSpec {
    /// `forward` or `reverse` through the template.
    Direction(String),
    /// Links in order.
    Links(Vec<String>),
}

/// Is ECN negotiated (RFC 3168)?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Ecn {
    /// `true` or `false`.
    Set(bool),
    /// `auto`: when the law reads ECN and a router on the path marks with it.
    Auto(AutoWord),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AutoWord {
    /// As the scenario's laws suggest.
    Auto,
}

/// Are packets spread over the RTT?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Pacing {
    /// `true` is a gain of 1.
    Set(bool),
    /// At this multiple of window / RTT.
    Gain(PacingGain),
    /// At one multiple in slow start, at another after it.
    Gains(PacingGains),
}

/// Multiples of window / RTT, by default Linux's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PacingGains {
    /// While the window is below half of the slow-start threshold; by default 2.
    #[serde(default = "pacing_slow_start")]
    pub slow_start: PacingGain,
    /// Otherwise; by default 1.2.
    #[serde(default = "pacing_avoidance")]
    pub avoidance: PacingGain,
}

/// How slow start grows: a name, or a table of its name and parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct SlowStartSpec(pub LawSpec);

/// Random loss: the probability of each packet's, or a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LossSpec {
    /// Each packet with this probability.
    Each(Probability),
    /// As a model says.
    Model(LossModel),
}

impl LossSpec {
    /// Does nothing come through?
    pub fn loses_all(self) -> bool {
        match self.model() {
            RandomLoss::Bernoulli { probability } => probability >= 1.0,
            RandomLoss::GilbertElliott { good, bad, .. } => good >= 1.0 && bad >= 1.0,
        }
    }

    /// As the simulator takes it.
    pub fn model(self) -> RandomLoss {
        match self {
            Self::Each(probability) | Self::Model(LossModel::Probability(probability)) => {
                RandomLoss::Bernoulli { probability: probability.0 }
            }
            Self::Model(LossModel::GilbertElliott(chain)) => RandomLoss::GilbertElliott {
                enter: chain.enter.0,
                leave: chain.leave.0,
                good: chain.good.0,
                bad: chain.bad.0,
            },
        }
    }
}

/// A model of random loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LossModel {
    /// Each packet with this probability.
    Probability(Probability),
    /// In bursts (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliott),
}

/// A chain of a good and a bad state that takes a step a packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GilbertElliott {
    /// Probability of going from the good state to the bad one.
    pub enter: Probability,
    /// Probability of going back.
    pub leave: Probability,
    /// Probability of a loss in the good state; by default 0.
    #[serde(default = "never")]
    pub good: Probability,
    /// Probability of a loss in the bad state; by default 1.
    #[serde(default = "always")]
    pub bad: Probability,
}

fn never() -> Probability {
    Probability(0.0)
}

fn always() -> Probability {
    Probability(1.0)
}

/// A link's new rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateChange {
    /// From when on.
    pub at: Delay,
    /// The rate.
    pub rate: Rate,
}

/// Random delays of packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reorder {
    /// Probability of a delay.
    pub probability: Probability,
    /// It is uniform from 0 to this.
    pub delay: Period,
}

/// A node, or several that flows take in turn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Nodes {
    /// Its name.
    One(String),
    /// Their names.
    Several(Vec<String>),
}

impl Nodes {
    /// Their names; none where none are given.
    pub fn listed(given: &Option<Self>) -> Vec<&String> {
        match given {
            None => Vec::new(),
            Some(Self::One(name)) => vec![name],
            Some(Self::Several(names)) => names.iter().collect(),
        }
    }
}

/// A law by name, or a table of its name and parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LawSpec {
    /// Its name.
    Name(String),
    /// Its name and parameters.
    Table(LawTable),
}

/// A law with parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LawTable {
    /// Its name; by default the one of `protocol`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// Its parameters by name (`knee show LAW` lists them).
    #[serde(flatten)]
    pub params: BTreeMap<String, ParamValue>,
}

/// A parameter as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ParamValue {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A quantity with its unit.
    Text(String),
}

/// Declares how a type is read: what is expected, and the visitor's methods.
macro_rules! reads {
    ($Type:ident, $expected:literal, { $($method:item)* }) => {
        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Reader;
                impl<'de> de::Visitor<'de> for Reader {
                    type Value = $Type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    $($method)*
                }
                from.deserialize_any(Reader)
            }
        }
    };
}

reads!(Seeds, "a number of seeds or a list of seeds, such as [1, 2, 3]", {
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seeds, E> {
        u64::try_from(number)
            .map(Seeds::Count)
            .map_err(|_| E::custom("the number of seeds must be at least 1"))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Seeds, E> {
        Ok(Seeds::Count(number))
    }
    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Seeds, A::Error> {
        let mut seeds = Vec::new();
        while let Some(seed) = list.next_element::<i64>()? {
            let seed = u64::try_from(seed);
            seeds.push(seed.map_err(|_| de::Error::custom("a seed must not be negative"))?);
        }
        Ok(Seeds::List(seeds))
    }
});

reads!(
    Spread,
    "a time such as \"80 ms\", { uniform = [\"0 s\", \"1 s\"] } or { step = { from = \"40 ms\", by = \"2 ms\" } }",
    {
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Spread, E> {
            Delay::read(text).map(Spread::Fixed).map_err(E::custom)
        }
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Spread, E> {
            self.visit_str(&number.to_string())
        }
        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Spread, E> {
            self.visit_str(&number.to_string())
        }
        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Spread, A::Error> {
            Shape::deserialize(MapAccessDeserializer::new(map)).map(Spread::Shape)
        }
    }
);

reads!(PathSpec, "\"forward\", \"reverse\" or a list of link names", {
    fn visit_str<E: de::Error>(self, text: &str) -> Result<PathSpec, E> {
        Ok(PathSpec::Direction(text.to_owned()))
    }
    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<PathSpec, A::Error> {
        let mut links = Vec::new();
        while let Some(link) = list.next_element()? {
            links.push(link);
        }
        Ok(PathSpec::Links(links))
    }
});

reads!(Nodes, "a node's name or a list of them", {
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Nodes, E> {
        Ok(Nodes::One(name.to_owned()))
    }
    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Nodes, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element()? {
            names.push(name);
        }
        if names.is_empty() {
            return Err(de::Error::custom("a list of nodes has one at least"));
        }
        Ok(Nodes::Several(names))
    }
});

reads!(Ecn, "true, false or \"auto\"", {
    fn visit_bool<E: de::Error>(self, set: bool) -> Result<Ecn, E> {
        Ok(Ecn::Set(set))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ecn, E> {
        if text == "auto" {
            return Ok(Ecn::Auto(AutoWord::Auto));
        }
        Err(E::custom("it must be true, false or \"auto\""))
    }
});

reads!(
    SlowStartSpec,
    "\"standard\", \"limited\", \"hystart++\" or a table such as { law = \"limited\", max_ssthresh = 50 }",
    {
        fn visit_str<E: de::Error>(self, name: &str) -> Result<SlowStartSpec, E> {
            Ok(SlowStartSpec(LawSpec::Name(name.to_owned())))
        }
        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<SlowStartSpec, A::Error> {
            LawSpec::deserialize(MapAccessDeserializer::new(map)).map(SlowStartSpec)
        }
    }
);

reads!(
    Pacing,
    "true, false, a gain from 0.01 to 100 or a table such as { slow_start = 2, avoidance = 1.2 }",
    {
        fn visit_bool<E: de::Error>(self, set: bool) -> Result<Pacing, E> {
            Ok(Pacing::Set(set))
        }
        fn visit_i64<E: de::Error>(self, gain: i64) -> Result<Pacing, E> {
            self.visit_f64(gain as f64)
        }
        fn visit_f64<E: de::Error>(self, gain: f64) -> Result<Pacing, E> {
            PacingGain::check(gain)
                .map(Pacing::Gain)
                .ok_or_else(|| E::custom("it must be true, false or a gain from 0.01 to 100"))
        }
        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Pacing, A::Error> {
            PacingGains::deserialize(MapAccessDeserializer::new(map)).map(Pacing::Gains)
        }
    }
);

reads!(LossSpec, "a probability from 0 to 1, or a table such as { probability = 0.01 }", {
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<LossSpec, E> {
        self.visit_f64(number as f64)
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<LossSpec, E> {
        Probability::check(number)
            .map(LossSpec::Each)
            .ok_or_else(|| E::custom("it must be a probability from 0 to 1"))
    }
    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<LossSpec, A::Error> {
        LossModel::deserialize(MapAccessDeserializer::new(map)).map(LossSpec::Model)
    }
});

reads!(LawSpec, "a law's name or a table such as { law = \"red\", max_p = 0.1 }", {
    fn visit_str<E: de::Error>(self, name: &str) -> Result<LawSpec, E> {
        Ok(LawSpec::Name(name.to_owned()))
    }
    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<LawSpec, A::Error> {
        let mut table = LawTable::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == "law" {
                table.law = Some(map.next_value()?);
            } else {
                table.params.insert(key, map.next_value()?);
            }
        }
        Ok(LawSpec::Table(table))
    }
});

reads!(ParamValue, "a number, true, false or a quantity such as \"80 ms\"", {
    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<ParamValue, E> {
        Ok(ParamValue::Flag(flag))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<ParamValue, E> {
        Ok(ParamValue::Integer(number))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<ParamValue, E> {
        Ok(ParamValue::Number(number))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<ParamValue, E> {
        Ok(ParamValue::Text(text.to_owned()))
    }
});

impl Spread {
    /// Uniform over the first second: when flows start unless it is said.
    pub fn first_second() -> Self {
        Self::Shape(Shape::Uniform([Delay(Span::ZERO), Delay(Span::from_secs(1))]))
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl LawSpec {
    /// The law's name, if given.
    pub fn law(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Table(table) => table.law.as_deref(),
        }
    }
    /// Its parameters, if any.
    pub fn params(&self) -> impl Iterator<Item = (&String, &ParamValue)> {
        match self {
            Self::Name(_) => None,
            Self::Table(table) => Some(table.params.iter()),
        }
        .into_iter()
        .flatten()
    }
}

impl Pacing {
    /// Multiples of window / RTT, if packets are paced.
    pub fn gains(self) -> Option<knee_sim::config::Pacing> {
        let (slow_start, avoidance) = match self {
            Self::Set(false) => return None,
            Self::Set(true) => (1.0, 1.0),
            Self::Gain(gain) => (gain.0, gain.0),
            Self::Gains(gains) => (gains.slow_start.0, gains.avoidance.0),
        };
        Some(knee_sim::config::Pacing { slow_start, avoidance })
    }
}

impl Seeds {
    /// Written out as a list.
    pub fn listed(&self) -> Self {
        match self {
            Self::Count(count) => Self::List((1..=*count).collect()),
            Self::List(seeds) => Self::List(seeds.clone()),
        }
    }
    /// The seeds in order.
    pub fn list(&self) -> Vec<u64> {
        match self {
            Self::Count(count) => (1..=*count).collect(),
            Self::List(seeds) => seeds.clone(),
        }
    }
}
