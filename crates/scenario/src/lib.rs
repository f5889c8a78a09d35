//! Scenarios: text is parsed and checked into a [`Scenario`], [`run`] turns it into columns.
//!
//! Every default of knee lives in this crate, once; the JSON Schema ([`schema`]) comes from the same types.

mod compare;
mod document;
mod network;
mod plan;
mod run;
mod scenario;
#[cfg(test)]
mod tests;
mod warning;

pub use compare::{CompareOptions, compare};
pub use document::catalogue::{catalogue, schema};
pub use knee_input::interrupt::{Interrupt, Stopped};
pub use knee_input::problem::Problem;
pub use knee_input::source::{Format, Source};
pub use knee_input::text::MOST_TEXT;
pub use knee_laws::laws::Laws;
pub use run::memory::{MemoryLimit, available};
pub use run::results::Results;
pub use run::runs::{Control, run};
pub use run::session::Session;
pub use scenario::Scenario;
pub use warning::Warning;

/// The examples of CONTRIBUTING.md, compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;
