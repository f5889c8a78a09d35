//! The names of a type's fields, as serde knows them.

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor, value};
use serde::forward_to_deserialize_any;

/// The names of the fields of a struct; empty for other types.
pub fn of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    let _ = T::deserialize(Asked(&mut names)); // an error: there is nothing to read
    names
}

/// Notes the fields for which a struct asks, and gives none.
struct Asked<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("only the fields are read"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[allow(dead_code)]
    struct Point {
        x: f64,
        y: Option<f64>,
    }

    #[derive(serde::Deserialize)]
    struct Nothing {}

    #[test]
    fn fields_are_those_of_a_struct() {
        assert_eq!(of::<Point>(), ["x", "y"]);
        assert!(of::<Nothing>().is_empty() && of::<f64>().is_empty());
    }
}
