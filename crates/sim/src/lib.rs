//! A packet-level simulator whose agenda holds links and flows, never packets.
//!
//! [`Simulation::new`] takes a [`config::NetworkConfig`]; [`Simulation::run_until`] advances simulated
//! time; [`Simulation::report`] gives the numbers.
#![forbid(unsafe_code)]

mod agenda;
mod aggregate;
pub mod config;
mod flow;
mod held;
mod impairment;
mod link;
mod meter;
mod packet;
mod profile;
mod queue;
mod random;
mod rates;
mod receiver;
pub mod report;
mod ring;
mod rtt;
mod scoreboard;
mod simulation;
mod source;

pub use agenda::MAX_INDEX;
pub use link::room;
pub use random::Stream;
pub use simulation::Simulation;
