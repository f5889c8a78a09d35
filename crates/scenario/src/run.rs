//! Runs every variant with every seed.

use crate::{Results, Scenario};
use std::sync::atomic::AtomicBool;

/// How a run is watched and stopped.
pub struct Control<'a> {
    /// Told now and then how much is done, 0 to 1, over all runs; called from any thread.
    pub progress: &'a (dyn Fn(f64) + Sync),
    /// Set it to stop at once.
    pub cancelled: &'a AtomicBool,
    /// Threads to use; `None`: one a core.
    pub threads: Option<usize>,
}

/// Why a run yielded nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// [`Control::cancelled`] was set.
    #[error("cancelled")]
    Cancelled,
    /// Something broke that no scenario should be able to break.
    #[error("the run failed: {0}")]
    Failed(String),
}

/// Runs every variant with every seed, in parallel; rows are in order of variant, then seed.
pub fn run(_scenario: &Scenario, _control: &Control) -> Result<Results, Stopped> {
    Err(Stopped::Failed("not written yet".to_owned()))
}
