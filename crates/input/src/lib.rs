//! Input that people write: TOML or JSON with quantities that carry their unit. Also the messages about mistakes in it.
//!
//! [`text::Text`] reads a text into types and finds the place of a mistake; [`quantity`] and [`number`] have the types
//! of values; [`problem::Problem`] is a mistake as a value; [`interrupt`] stops long work.
#![forbid(unsafe_code)]

pub mod fields;
pub mod interrupt;
pub mod measure;
pub mod nearest;
pub mod number;
pub mod problem;
pub mod quantity;
pub mod source;
pub mod text;
