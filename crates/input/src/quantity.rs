//! Quantities in scenarios: types that are written as a number and a unit, such as `150 Mbps`.

use crate::measure::{
    BUFFER, DELAY, FLOW_SIZE, Measure, PERIOD, RATE, RATE_UNITS, SIZE, SIZE_UNITS,
};
use knee_laws::quantities::{BitRate, Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// `value` in the largest of `units` (smallest first) that leaves at least one.
fn show(value: f64, units: &[(&str, f64)]) -> String {
    let unit = units.iter().rev().find(|(_, scale)| value >= *scale).or(units.first());
    unit.map_or_else(String::new, |(name, scale)| format!("{} {name}", value / scale))
}

/// A type that is written as one string.
pub trait Written: Sized {
    /// Its name in schemas.
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
pub struct Rate(pub BitRate);
/// A time, possibly zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay(pub Span);
/// A time above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period(pub Span);
/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub u64);

/// How much a link's queue holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// Multiples of rate x mean RTT.
    Bdp(f64),
    /// Packets of any size.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// How much a flow has to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowSize {
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
    /// The instant at this time after the start.
    pub fn after_start(self) -> Time {
        Time::ZERO + self.0
    }
}

written!(Rate, Delay, Period, Size, BufferSize, FlowSize);
