//! Congestion-control laws, each written once as a pure function of what it is told.
//!
//! No clock, no I/O, no randomness of its own, no allocation after construction. `senders/` and
//! `routers/` hold one law a file; `codecs/` what travels between them; [`registry`] lists what is shipped, [`laws`]
//! is what scenarios choose from.
#![forbid(unsafe_code)]

pub mod ack;
pub mod capacity;
pub mod codecs;
pub mod filters;
pub mod interval;
pub mod laws;
pub mod params;
pub mod presets;
pub mod quantities;
pub mod registry;
pub mod round;
pub mod router;
pub mod routers;
#[cfg(test)]
mod script;
pub mod sender;
pub mod senders;
pub mod slow_start;

/// The worked example of CONTRIBUTING.md, compiled and run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;
