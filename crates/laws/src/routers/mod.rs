//! Router laws, one a file, in the order of the registry.

pub mod droptail;
pub mod red;
pub mod vcp;
