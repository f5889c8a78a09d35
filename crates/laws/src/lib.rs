//! Congestion-control laws, each written once. A law computes only from the events that it is told of.
//!
//! A law has no clock, no I/O, no randomness of its own, and allocates nothing after construction. `senders/` and
//! `routers/` have a file for each law, `codecs/` one for each kind of feedback. [`registry`] lists the shipped laws;
//! [`laws`] has those that scenarios may name.
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
