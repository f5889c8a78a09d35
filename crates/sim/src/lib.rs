//! A packet-level simulator. Its agenda holds an event for a link or a flow, not for each packet.
//!
//! [`Simulation::new`] takes a [`config::NetworkConfig`]; [`Simulation::run_until`] advances simulated
//! time; [`Simulation::report`] gives the numbers.
#![forbid(unsafe_code)]

mod agenda;
mod aggregate;
pub mod config;
pub mod failure;
mod flow;
mod impairment;
mod late;
mod link;
mod medium;
mod meter;
mod numbering;
mod packet;
mod port;
mod profile;
mod quantity;
mod rates;
mod receiver;
pub mod report;
mod rtt;
mod scoreboard;
mod simulation;
mod source;

pub use agenda::MAX_INDEX;
pub use flow::MAX_PACKETS;
pub use knee_path::Stream;
pub use link::LINK_BYTES;
pub use simulation::{FLOW_BYTES, Simulation};
