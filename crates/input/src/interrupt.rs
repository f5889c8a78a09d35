//! The order to stop: asked for wherever work may take long, so that it ends within a moment.
//!
//! Whoever wants to stop work hands in a question; loops that may be long ask it at every turn, so it must cost no more
//! than a look at a flag. Checking, building, running and fluid models all ask the same one.

use crate::problem::{Fault, Problem};

/// The question whether to stop.
#[derive(Clone, Copy)]
pub struct Interrupt<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Interrupt<'a> {
    /// Nobody stops the work.
    pub const NEVER: Interrupt<'static> = Interrupt(&|| false);

    /// Work stops soon after `wanted` becomes true; it is asked often, from any thread.
    pub fn new(wanted: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(wanted)
    }

    /// Is the work to stop?
    #[inline]
    pub fn is_wanted(&self) -> bool {
        (self.0)()
    }

    /// Goes on, unless the work is to stop.
    #[inline]
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_wanted() { Err(Interrupted) } else { Ok(()) }
    }
}

/// The work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Why work yielded nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// What was asked for is refused.
    #[error("{0}")]
    Refused(Problem),
    /// A law could not go on, or a flow had no sequence numbers left.
    #[error("{0}")]
    Ended(String),
    /// Something broke that no scenario should be able to break.
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

/// Why a check did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Something is wrong.
    Fault(Fault),
    /// It was interrupted.
    Interrupted,
}

impl Halt {
    /// In the words of a text.
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
