//! A packet-level simulator whose agenda holds links and flows, never packets.
//!
//! [`Simulation::new`] takes a [`config::NetworkConfig`]; [`Simulation::run_until`] advances simulated
//! time; [`Simulation::report`] gives the numbers.
#![forbid(unsafe_code)]

pub mod config;
pub mod report;

use config::NetworkConfig;
use knee_laws::quantities::Time;
use report::Report;

/// A network in motion.
pub struct Simulation;

impl Simulation {
    /// Builds the network. The caller has checked the configuration.
    pub fn new(_config: NetworkConfig) -> Self {
        Self
    }
    /// Runs every event up to and including `until`.
    pub fn run_until(&mut self, _until: Time) {}
    /// The numbers so far; meant for the end of the run.
    pub fn report(&mut self) -> Report {
        Report::default()
    }
}
