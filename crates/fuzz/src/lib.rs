//! What comes from outside, as bytes: each target panics where knee does not hold what it promises.
//!
//! `make fuzz` gives them inputs that reach ever more of the code (libFuzzer); the tests replay what it has found
//! (`corpus/`), and what the repository holds of each kind.
#![forbid(unsafe_code)]

mod packets;
mod scenario;
mod vectors;

pub use packets::packets;
pub use scenario::scenario;
pub use vectors::vectors;
