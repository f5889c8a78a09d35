//! A part of what runs need.

/// When memory is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// By each run, while it goes.
    Run,
    /// From the end of a run to the end of all.
    Kept,
    /// When all runs are over: to save and to draw what they yielded.
    After,
}

/// A part of what is needed.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub bytes: f64,
    pub phase: Phase,
    /// The key that it follows from.
    pub at: String,
    /// What it is for.
    pub what: String,
    /// What to change to need less.
    pub remedy: &'static str,
}
