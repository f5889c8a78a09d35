//! Fuzz targets for input from outside, as bytes. A target panics if a promise of knee is broken.
//!
//! `make fuzz` runs them with inputs that reach more and more of the code (libFuzzer). The tests replay its finds
//! (`corpus/`), and the repository's own files of each kind.
#![forbid(unsafe_code)]

mod packets;
mod scenario;
mod vectors;

pub use packets::packets;
pub use scenario::scenario;
pub use vectors::vectors;
