//! The congestion window of RFC 5681, for TCPs that differ in congestion avoidance and cuts.
//!
//!   slow start:  cwnd grows by the rule of [`Rule`] while cwnd < ssthresh
//!   on loss:     ssthresh = max(what the law keeps, 2); cwnd = min(cwnd, ssthresh)
//!   on timeout:  the same ssthresh; cwnd = 1
//!
//! In packets.

use crate::ack::{Ack, Loss};
use crate::sender::Opening;
use crate::slow_start::Rule;

/// The window after a loss, as in TCP Reno, for laws without slow start: half of what is in flight.
pub fn halved(window: f64, loss: &Loss) -> f64 {
    (f64::from(loss.in_flight) / 2.0).max(2.0).min(window)
}

/// A window and its slow-start threshold.
#[derive(Clone, Debug)]
pub struct TcpWindow {
    packets: f64,
    threshold: f64,
    rule: Rule,
}

impl TcpWindow {
    /// The initial window, in slow start below this threshold.
    pub fn new(threshold: f64, opening: &Opening) -> Self {
        Self { packets: opening.initial_window, threshold, rule: opening.slow_start.clone() }
    }

    /// The window (cwnd).
    #[inline]
    pub fn packets(&self) -> f64 {
        self.packets
    }

    /// The window at which slow start ends (ssthresh).
    #[inline]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Is it in slow start?
    #[inline]
    pub fn is_starting(&self) -> bool {
        self.packets < self.threshold
    }

    /// Grows by slow start.
    #[inline]
    pub fn start(&mut self, ack: &Ack) {
        let (added, goes_on) = self.rule.on_ack(self.packets, ack);
        if !goes_on {
            self.end(self.packets + added);
        }
        self.packets = (self.packets + added).min(self.threshold);
    }

    /// Grows by this many packets.
    #[inline]
    pub fn add(&mut self, packets: f64) {
        self.packets += packets;
    }

    /// Falls to what a loss leaves, at least two packets, and goes on in congestion avoidance.
    pub fn cut(&mut self, kept: f64) {
        self.end(kept.max(2.0));
        self.packets = self.packets.min(self.threshold);
    }

    /// Falls to one packet after a timeout, and begins slow start up to what a loss would leave.
    pub fn time_out(&mut self, kept: f64) {
        self.end(kept.max(2.0));
        self.packets = 1.0;
    }

    /// Sets the window.
    pub fn set(&mut self, packets: f64) {
        self.packets = packets;
    }

    /// The rule of slow start.
    #[cfg(test)]
    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Sets the threshold, and ends the first slow start.
    pub fn end(&mut self, threshold: f64) {
        self.threshold = threshold;
        self.rule.end();
    }
}
