//! Sender laws, one a file; the registry lists them in reading order.

pub mod cubic;
pub mod newreno;
pub mod reno;
pub mod sack;
pub mod vcp;
pub mod xcp;
