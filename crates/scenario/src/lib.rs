//! Scenarios: text is parsed and checked into a [`Scenario`], [`run`] turns it into columns.
//!
//! Every default of knee lives in this crate, once; the JSON Schema ([`schema`]) comes from the same types.

mod catalogue;
mod compare;
mod problem;
mod results;
mod run;
mod scenario;

pub use catalogue::{catalogue, schema};
pub use compare::{CompareOptions, compare};
pub use problem::Problem;
pub use results::Results;
pub use run::{Control, Stopped, run};
pub use scenario::{Format, Scenario, Source};
