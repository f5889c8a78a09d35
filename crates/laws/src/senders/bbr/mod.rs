//! BBR in its versions, and what they share: rounds, the search for a full pipe, the window to return to.

pub mod v1;
pub mod v3;

use crate::quantities::Time;
use crate::sender::RateSample;

/// The least window, in packets: delayed ACKs still come.
const MIN_WINDOW: f64 = 4.0;
/// Growth of the bandwidth in a round that shows that the pipe is not full, and rounds without it.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

/// Rounds: one ends with the ACK of a packet sent when it had begun.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// Packets delivered so far, and how many when the round under way began.
    delivered: u64,
    began: u64,
}

impl Rounds {
    /// Counts what is delivered; does a round begin?
    fn on_sample(&mut self, sample: &RateSample) -> bool {
        self.delivered = sample.delivered;
        let begins = sample.prior_delivered >= self.began;
        if begins {
            self.began = sample.delivered;
        }
        begins
    }

    /// A round begins now.
    fn restart(&mut self) {
        self.began = self.delivered;
    }
}

/// Has the pipe been filled? It has after three rounds in which the bandwidth grew by less than a quarter.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    /// Bandwidth to outgrow, and rounds that have not.
    bandwidth: f64,
    rounds: u32,
    /// The verdict stays.
    is_full: bool,
}

impl FullPipe {
    fn on_round(&mut self, bandwidth: f64) {
        if bandwidth >= FULL_GROWTH * self.bandwidth {
            self.restart(bandwidth);
        } else {
            self.rounds += 1;
            self.is_full |= self.is_stalled();
        }
    }

    /// Growth counts from this bandwidth on.
    fn restart(&mut self, bandwidth: f64) {
        (self.bandwidth, self.rounds) = (bandwidth, 0);
    }

    fn is_stalled(&self) -> bool {
        self.rounds >= FULL_ROUNDS
    }
}

/// The window to return to after a recovery or ProbeRTT (BBRSaveCwnd, BBRRestoreCwnd).
#[derive(Clone, Copy, Debug, Default)]
struct Saved {
    window: f64,
    /// Of a recovery from a timeout: packets delivered when it ends.
    until: Option<u64>,
}

impl Saved {
    fn save(&mut self, window: f64) {
        if self.is_recovering() {
            self.save_larger(window);
        } else {
            self.window = window;
        }
    }

    /// Where the window is smaller than it should be already.
    fn save_larger(&mut self, window: f64) {
        self.window = self.window.max(window);
    }

    /// A timeout: all that was in flight is to be delivered again.
    fn begin(&mut self, until: u64) {
        self.until = self.until.max(Some(until));
    }

    fn is_recovering(&self) -> bool {
        self.until.is_some()
    }

    /// Does the recovery from a timeout end with so many delivered?
    fn is_over(&mut self, delivered: u64) -> bool {
        let over = self.until.is_some_and(|until| delivered >= until);
        if over {
            self.until = None;
        }
        over
    }
}

/// In place of random numbers, which laws do not draw (Fibonacci hashing).
fn hash(now: Time) -> u64 {
    now.ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
