//! Runs: from plans and seeds to the simulator, and from its reports to columns; and what memory that takes.

pub(crate) mod build;
pub(crate) mod memory;
pub(crate) mod results;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod ways;
