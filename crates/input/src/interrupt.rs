//! How long work is stopped from outside.
//!
//! The caller passes a function that says whether to stop. Long loops call it in every turn, so that work ends soon; it
//! must be as cheap as reading a flag. Checking, building, running and fluid models all use the same one.

use crate::problem::{Fault, Problem};

/// A function that says whether to stop.
#[derive(Clone, Copy)]
pub struct Interrupt<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Interrupt<'a> {
    /// Work is never stopped.
    pub const NEVER: Interrupt<'static> = Interrupt(&|| false);

    /// Work stops soon after `wanted` returns true. It is called often, from any thread.
    pub fn new(wanted: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(wanted)
    }

    /// Is the work to stop?
    #[inline]
    pub fn is_wanted(&self) -> bool {
        (self.0)()
    }

    /// An error if the work is to stop.
    #[inline]
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_wanted() { Err(Interrupted) } else { Ok(()) }
    }
}

/// The work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Why work has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The input is refused.
    #[error("{0}")]
    Refused(Problem),
    /// A law failed, or a flow had no sequence numbers left.
    #[error("{0}")]
    Ended(String),
    /// An error of knee itself, which no input should be able to cause.
    #[error("the run failed: {0}")]
    Failed(String),
}

impl From<Interrupted> for Stopped {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

/// Why a check ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The input has a fault.
    Fault(Fault),
    /// It was interrupted.
    Interrupted,
}

impl Halt {
    /// As an error of the text with the input.
    pub fn told(self, problem: impl FnOnce(&Fault) -> Problem) -> Stopped {
        match self {
            Self::Fault(fault) => Stopped::Refused(problem(&fault)),
            Self::Interrupted => Stopped::Interrupted,
        }
    }
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Interrupted> for Halt {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
