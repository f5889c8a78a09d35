//! The work of a solution: it is counted and bounded, and may be stopped at every step.

use std::cell::Cell;
use std::fmt;

/// The work that is left, and a function that says whether to stop.
pub struct Effort<'a> {
    left: Cell<u64>,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Effort<'a> {
    /// At most this much work; a unit takes some nanoseconds. `stop` is called at every step.
    pub fn new(most: u64, stop: &'a dyn Fn() -> bool) -> Self {
        Self { left: Cell::new(most), stop }
    }

    /// No bound.
    pub fn free() -> Effort<'static> {
        Effort { left: Cell::new(u64::MAX), stop: &|| false }
    }

    /// Counts work that is about to be done.
    ///
    /// # Errors
    /// If less work is left, or the work is to stop.
    pub fn spend(&self, work: usize) -> Result<(), Unsolved> {
        if (self.stop)() {
            return Err(Unsolved::Stopped);
        }
        let left = self.left.get().checked_sub(work as u64).ok_or(Unsolved::TooMuch)?;
        self.left.set(left);
        Ok(())
    }
}

impl fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Why a model has no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsolved {
    /// The state is no longer finite.
    Diverged {
        /// When, in seconds.
        time: f64,
    },
    /// The state changes so fast that the solution would take too many steps.
    Crawling {
        /// When, in seconds.
        time: f64,
        /// The last step, in seconds.
        step: f64,
    },
    /// No equilibrium was found.
    NoRest,
    /// It would take too much work.
    TooMuch,
    /// It was told to stop.
    Stopped,
}

impl fmt::Display for Unsolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { time } => {
                write!(f, "the solution grows beyond all numbers after {time} s")
            }
            Self::Crawling { time, step } => write!(
                f,
                "after {time} s the solution changes within {step:.1e} s, too fast to be followed"
            ),
            Self::NoRest => f.write_str("no equilibrium was found in finite numbers"),
            Self::TooMuch => f.write_str("the solution takes too much work"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Unsolved {}
