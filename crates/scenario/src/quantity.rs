//! Quantities as text: a number and a unit, such as `150 Mbps`, `80 ms`, `1 BDP`.

use crate::nearest::nearest;
use knee_laws::quantities::{BitRate, Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// What kind of quantity a text gives: its units, its range and an example.
pub(crate) struct Measure {
    /// With an article: "a rate".
    pub noun: &'static str,
    /// Unit names with their size in the base unit.
    pub units: &'static [(&'static str, f64)],
    /// Smallest allowed value in the base unit.
    pub min: f64,
    /// Largest allowed value in the base unit.
    pub max: f64,
    /// The range in words.
    pub range: &'static str,
    /// How to write one.
    pub example: &'static str,
    /// A word that stands for no amount at all, if any.
    pub word: Option<&'static str>,
}

const RATE_UNITS: &[(&str, f64)] =
    &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)];
const TIME_UNITS: &[(&str, f64)] =
    &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];
const SIZE_UNITS: &[(&str, f64)] =
    &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];

/// A day, the longest time there is.
const DAY: f64 = 86_400.0;

pub(crate) const RATE: Measure = Measure {
    noun: "a rate",
    units: RATE_UNITS,
    min: 1.0,
    max: 1e14,
    range: "1 bps to 100 Tbps",
    example: "150 Mbps",
    word: None,
};
pub(crate) const DELAY: Measure = Measure {
    noun: "a time",
    units: TIME_UNITS,
    min: 0.0,
    max: DAY,
    range: "0 s to 24 h",
    example: "80 ms",
    word: None,
};
pub(crate) const PERIOD: Measure = Measure {
    noun: "a time",
    units: TIME_UNITS,
    min: 1e-12,
    max: DAY,
    range: "more than 0 s and at most 24 h",
    example: "80 ms",
    word: None,
};
pub(crate) const SIZE: Measure = Measure {
    noun: "a size",
    units: SIZE_UNITS,
    min: 1.0,
    max: 1e12,
    range: "1 B to 1 TB",
    example: "1000 B",
    word: None,
};
pub(crate) const BUFFER: Measure = Measure {
    noun: "a buffer",
    units: &[
        ("BDP", 1.0),
        ("packets", 1.0),
        ("packet", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
    ],
    min: 1e-9,
    max: 1e12,
    range: "more than 0 and at most 1 TB",
    example: "1 BDP",
    word: Some("unlimited"),
};
pub(crate) const FLOW_SIZE: Measure = Measure {
    noun: "a flow's size",
    units: &[
        ("packets", 1.0),
        ("packet", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
    ],
    min: 1e-9,
    max: 1e12,
    range: "more than 0 and at most 1 TB",
    example: "30 packets",
    word: Some("endless"),
};

/// The length of the number that `text` begins with; a sign and an exponent belong to it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count()
    };
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        end += digits(end);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

impl Measure {
    fn unit_names(&self) -> String {
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        self.word.map_or_else(|| names.clone(), |word| format!("{names}, or \"{word}\""))
    }

    /// The number (in the base unit) and the unit of `text`, or what is wrong with it.
    pub fn parse(&self, text: &str) -> Result<(f64, &'static str), String> {
        let (value, name) = self.split(text)?;
        if !(self.min..=self.max).contains(&value) {
            return Err(format!("{} must be {}", self.noun, self.range));
        }
        Ok((value, name))
    }

    /// The number alone, of whatever size.
    pub fn number(&self, text: &str) -> Result<f64, String> {
        self.split(text).map(|(value, _)| value)
    }

    fn split(&self, text: &str) -> Result<(f64, &'static str), String> {
        let text = text.trim();
        let (number, unit) = text.split_at(number_length(text));
        let unit = unit.trim_start();
        let Ok(number) = number.replace('_', "").parse::<f64>() else {
            return Err(format!(
                "{} is a number and a unit ({}), such as \"{}\"",
                self.noun,
                self.unit_names(),
                self.example
            ));
        };
        if unit.is_empty() {
            return Err(format!(
                "{} needs a unit ({}), such as \"{}\"",
                self.noun,
                self.unit_names(),
                self.example
            ));
        }
        let spelled = if unit == "µs" || unit == "μs" { "us" } else { unit };
        let Some((name, scale)) = self.units.iter().find(|(name, _)| *name == spelled) else {
            let hint = nearest(unit, self.units.iter().map(|(name, _)| *name));
            return Err(format!(
                "unknown unit \"{unit}\"; units of {} are {}{hint}",
                self.noun,
                self.unit_names()
            ));
        };
        Ok((number * scale, name))
    }
}

/// `value` in the largest of `units` (smallest first) that leaves at least one.
fn show(value: f64, units: &[(&str, f64)]) -> String {
    let unit = units.iter().rev().find(|(_, scale)| value >= *scale).or(units.first());
    unit.map_or_else(String::new, |(name, scale)| format!("{} {name}", value / scale))
}

/// A type that is written as one string.
pub(crate) trait Written: Sized {
    /// How schemas call it.
    const NAME: &'static str;
    /// What is allowed, in a line.
    fn help() -> String;
    /// From its text; the error says what is allowed.
    fn read(text: &str) -> Result<Self, String>;
    /// Its text.
    fn write(&self) -> String;
}

/// Reads a string; numbers without unit get the same message as strings without.
struct WrittenVisitor<T>(std::marker::PhantomData<T>);

impl<T: Written> de::Visitor<'_> for WrittenVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&T::help())
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::read(text).map_err(E::custom)
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        T::read(&number.to_string()).map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        T::read(&number.to_string()).map_err(E::custom)
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        T::read(&number.to_string()).map_err(E::custom)
    }
}

macro_rules! written {
    ($($Type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any(WrittenVisitor(std::marker::PhantomData))
            }
        }
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.write())
            }
        }
        impl JsonSchema for $Type {
            fn schema_name() -> Cow<'static, str> {
                <$Type as Written>::NAME.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "description": <$Type as Written>::help() })
            }
        }
    )*};
}

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate(pub BitRate);
/// A time, possibly zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Delay(pub Span);
/// A time above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Period(pub Span);
/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Size(pub u64);

/// How much a link's queue holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BufferSize {
    /// Multiples of rate x mean RTT.
    Bdp(f64),
    /// Packets of whatever size.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// Everything.
    Unlimited,
}

/// How much a flow has to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FlowSize {
    /// It never runs out of data.
    Endless,
    /// Data packets.
    Packets(f64),
    /// Bytes on the wire.
    Bytes(f64),
}

fn help(measure: &Measure) -> String {
    format!("{} ({}), such as \"{}\"", measure.noun, measure.unit_names(), measure.example)
}

impl Written for Rate {
    const NAME: &'static str = "Rate";
    fn help() -> String {
        help(&RATE)
    }
    fn read(text: &str) -> Result<Self, String> {
        RATE.parse(text).map(|(bps, _)| Self(BitRate::from_bps(bps)))
    }
    fn write(&self) -> String {
        show(self.0.bps(), RATE_UNITS)
    }
}

/// Units in picoseconds: dividing whole picoseconds keeps decimals short.
const SHOWN_TIME_UNITS: &[(&str, f64)] = &[("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)];

fn show_time(span: Span) -> String {
    if span == Span::ZERO {
        return "0 s".to_owned();
    }
    show(span.ps() as f64, SHOWN_TIME_UNITS)
}

impl Written for Delay {
    const NAME: &'static str = "Delay";
    fn help() -> String {
        help(&DELAY)
    }
    fn read(text: &str) -> Result<Self, String> {
        DELAY.parse(text).map(|(seconds, _)| Self(Span::from_seconds(seconds)))
    }
    fn write(&self) -> String {
        show_time(self.0)
    }
}

impl Written for Period {
    const NAME: &'static str = "Period";
    fn help() -> String {
        help(&PERIOD)
    }
    fn read(text: &str) -> Result<Self, String> {
        PERIOD.parse(text).map(|(seconds, _)| Self(Span::from_seconds(seconds)))
    }
    fn write(&self) -> String {
        show_time(self.0)
    }
}

impl Written for Size {
    const NAME: &'static str = "Size";
    fn help() -> String {
        help(&SIZE)
    }
    fn read(text: &str) -> Result<Self, String> {
        let (bytes, _) = SIZE.parse(text)?;
        Ok(Self(whole(bytes, "bytes")?))
    }
    fn write(&self) -> String {
        show(self.0 as f64, SIZE_UNITS)
    }
}

/// A whole number of `what`.
fn whole(value: f64, what: &str) -> Result<u64, String> {
    let rounded = value.round();
    if (value - rounded).abs() > 1e-6 * value.max(1.0) || rounded < 1.0 {
        return Err(format!("{what} are whole numbers of at least 1"));
    }
    Ok(rounded as u64)
}

impl Written for BufferSize {
    const NAME: &'static str = "Buffer";
    fn help() -> String {
        "a buffer: \"1 BDP\", \"1500 packets\", \"1.5 MB\" or \"unlimited\"".to_owned()
    }
    fn read(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        match BUFFER.parse(text)? {
            (bdp, "BDP") if bdp > 1e6 => Err("a buffer must be at most 1000000 BDP".to_owned()),
            (bdp, "BDP") => Ok(Self::Bdp(bdp)),
            (packets, "packets" | "packet") => Ok(Self::Packets(whole(packets, "packets")?)),
            (bytes, _) => Ok(Self::Bytes(whole(bytes, "bytes")?)),
        }
    }
    fn write(&self) -> String {
        match self {
            Self::Bdp(bdp) => format!("{bdp} BDP"),
            Self::Packets(packets) => format!("{packets} packets"),
            Self::Bytes(bytes) => Size(*bytes).write(),
            Self::Unlimited => "unlimited".to_owned(),
        }
    }
}

impl Written for FlowSize {
    const NAME: &'static str = "FlowSize";
    fn help() -> String {
        "a flow's size: \"endless\", \"30 packets\" or \"300 kB\"".to_owned()
    }
    fn read(text: &str) -> Result<Self, String> {
        if text.trim() == "endless" {
            return Ok(Self::Endless);
        }
        match FLOW_SIZE.parse(text)? {
            (packets, "packets" | "packet") => Ok(Self::Packets(packets)),
            (bytes, _) => Ok(Self::Bytes(bytes)),
        }
    }
    fn write(&self) -> String {
        match self {
            Self::Endless => "endless".to_owned(),
            Self::Packets(packets) => format!("{packets} packets"),
            Self::Bytes(bytes) => show(*bytes, SIZE_UNITS),
        }
    }
}

impl Delay {
    /// The instant so long after the start.
    pub fn after_start(self) -> Time {
        Time::ZERO + self.0
    }
}

written!(Rate, Delay, Period, Size, BufferSize, FlowSize);
