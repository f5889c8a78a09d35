//! Scenarios: text is parsed and checked into a [`Scenario`], [`run`] turns it into columns.
//!
//! Every default of knee lives in this crate, once; the JSON Schema ([`schema`]) comes from the same types.

mod aggregate;
mod build;
mod catalogue;
mod check;
mod choice;
mod compare;
mod defaults;
mod doubts;
mod fluid;
mod format;
mod graph;
mod index;
mod interrupt;
mod law;
mod measure;
mod memory;
mod nearest;
mod network;
mod number;
mod plan;
mod problem;
mod quantity;
mod results;
mod run;
mod scenario;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod variant;
mod warning;
mod ways;

pub use catalogue::{catalogue, schema};
pub use compare::{CompareOptions, compare};
pub use fluid::fluid;
pub use interrupt::{Interrupt, Stopped};
pub use knee_laws::laws::Laws;
pub use memory::{MemoryLimit, available};
pub use problem::Problem;
pub use results::Results;
pub use run::{Control, run};
pub use scenario::{Format, Scenario, Source};
pub use text::MOST_TEXT;
pub use warning::Warning;
