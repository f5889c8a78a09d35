//! Sender laws, one a file, in the order of the registry.

pub mod cubic;
pub mod newreno;
pub mod reno;
pub mod sack;
pub mod vcp;
