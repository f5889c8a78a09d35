//! Plain numbers with a range.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A number within a range.
pub trait Ranged: Sized {
    /// The range in words, such as "a whole number from 1 to 10".
    const WORDS: &'static str;
    /// From a number, if it is allowed.
    fn check(number: f64) -> Option<Self>;
}

struct RangedVisitor<T>(PhantomData<T>);

impl<T: Ranged> de::Visitor<'_> for RangedVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WORDS)
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_f64(number as f64)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_f64(number as f64)
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        T::check(number).ok_or_else(|| E::custom(format!("it must be {}", T::WORDS)))
    }
}

macro_rules! ranged {
    ($( #[doc = $doc:literal] $Name:ident: $type:ty, $kind:literal, $min:literal, $max:literal, $noun:literal; )*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        pub struct $Name(pub $type);

        impl Ranged for $Name {
            const WORDS: &'static str = concat!($noun, " from ", $min, " to ", $max);
            fn check(number: f64) -> Option<Self> {
                let typed = number as $type;
                let within = ($min as f64..=$max as f64).contains(&number) && typed as f64 == number;
                within.then_some(Self(typed))
            }
        }
        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any(RangedVisitor(PhantomData))
            }
        }
        impl JsonSchema for $Name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $kind, "minimum": $min, "maximum": $max, "description": Self::WORDS })
            }
        }
    )*};
}

ranged! {
    #[doc = "How many flows."]
    Count: u64, "integer", 0, 10_000_000, "a whole number";
    #[doc = "How many links a parking lot has in a row."]
    Links: u64, "integer", 1, 1000, "a whole number";
    #[doc = "A part of a whole."]
    Share: f64, "number", 0, 1, "a number";
    #[doc = "A probability."]
    Probability: f64, "number", 0, 1, "a probability";
    #[doc = "A ratio of two rates."]
    Factor: f64, "number", 0.001, 1_000_000, "a number";
    #[doc = "A window in packets."]
    Window: f64, "number", 1, 100_000_000, "a number of packets";
    #[doc = "Data packets an ACK."]
    PacketsPerAck: u32, "integer", 1, 1000, "a whole number";
    #[doc = "Flow arrivals a second."]
    ArrivalRate: f64, "number", 0.000001, 100_000_000, "a number a second";
    #[doc = "A Pareto distribution's shape."]
    ParetoShape: f64, "number", 1.001, 100, "a number";
    #[doc = "A contention window in slots."]
    Slots: u32, "integer", 1, 65535, "a whole number of slots";
    #[doc = "Transmissions of a frame."]
    Retries: u32, "integer", 1, 255, "a whole number";
    #[doc = "Packets of one transmission."]
    Packets: u32, "integer", 1, 64, "a whole number";
    #[doc = "A multiple of window / RTT."]
    PacingGain: f64, "number", 0.01, 100, "a number";
}
