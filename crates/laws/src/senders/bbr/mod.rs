//! BBR's versions, and what they share: rounds, the detection of a full pipe, the saved window.

pub mod v1;
pub mod v3;

use crate::quantities::Time;
use crate::sender::RateSample;

/// The least window, in packets: large enough for delayed ACKs.
const MIN_WINDOW: f64 = 4.0;
/// Growth of the bandwidth in a round from which the pipe is not full; below, rounds without it after which it is.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

/// Rounds. A round ends with the ACK of a packet that was sent after it began.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// Packets delivered so far; below, the count when the current round began.
    delivered: u64,
    began: u64,
}

impl Rounds {
    /// Counts delivered packets. Returns whether a round begins.
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

/// Detects a full pipe: three rounds in which the bandwidth grew by less than a quarter.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    /// The bandwidth from which growth counts; below, rounds without growth.
    bandwidth: f64,
    rounds: u32,
    /// Once true, it remains true.
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
    /// In a recovery from a timeout: the count of delivered packets at which it ends.
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

    /// Saves the window if it is larger than the saved one.
    fn save_larger(&mut self, window: f64) {
        self.window = self.window.max(window);
    }

    /// A timeout: recovery ends when all packets in flight have been delivered.
    fn begin(&mut self, until: u64) {
        self.until = self.until.max(Some(until));
    }

    fn is_recovering(&self) -> bool {
        self.until.is_some()
    }

    /// Does the recovery from a timeout end with this count of delivered packets?
    fn is_over(&mut self, delivered: u64) -> bool {
        let over = self.until.is_some_and(|until| delivered >= until);
        if over {
            self.until = None;
        }
        over
    }
}

/// A hash of the time (Fibonacci hashing), since laws draw no random numbers.
fn hash(now: Time) -> u64 {
    now.ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
