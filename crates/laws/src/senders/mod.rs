//! Sender laws, each in a file; the registry lists them in reading order. `tcp` and `tcp_window` are shared by several laws.

pub mod bbr;
pub mod bic;
pub mod bmcc;
pub mod cbr;
pub mod cubic;
pub mod dctcp;
pub mod fast;
pub mod hstcp;
pub mod htcp;
pub mod mlcp;
pub mod newreno;
pub mod piqi_rcp;
pub mod prague;
pub mod price;
pub mod rcp;
pub mod reno;
pub mod sack;
pub mod scalable;
pub mod tcp;
pub mod tcp_window;
pub mod vcp;
pub mod vcp_e2e;
pub mod vegas;
pub mod westwood;
pub mod xcp;
