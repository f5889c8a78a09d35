//! Router laws, one a file; the registry lists them in reading order.

pub mod droptail;
pub mod red;
pub mod vcp;
pub mod xcp;
