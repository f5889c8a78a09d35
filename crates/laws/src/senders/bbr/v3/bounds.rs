//! What losses do to BBRv3: bounds of the short term and of the long.

use super::{Bbr3, MIN_WINDOW, State};
use crate::quantities::Time;
use crate::sender::RateSample;

impl Bbr3 {
    /// Do losses in this state tell of the probe, and not of the path?
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    pub(super) fn with_headroom(&self) -> f64 {
        let room = (self.params.headroom * self.inflight_hi).max(1.0);
        if room.is_finite() { (self.inflight_hi - room).max(MIN_WINDOW) } else { f64::INFINITY }
    }

    pub(super) fn is_too_high(&self, sample: &RateSample) -> bool {
        f64::from(sample.lost) > f64::from(sample.prior_in_flight) * self.params.loss_threshold
    }

    /// Short-term bounds follow rounds with losses; what was delivered is always allowed.
    pub(super) fn take_losses(&mut self, sample: &RateSample) {
        let volume = sample.delivered.saturating_sub(sample.prior_delivered) as f64;
        self.latest = (self.latest.0.max(sample.rate), self.latest.1.max(volume));
        if sample.newly_lost > 0 && !self.lossy {
            (self.lossy, self.loss_round_ends) = (true, self.rounds.delivered);
        }
        if sample.prior_delivered < self.loss_round_ends {
            return;
        }
        self.loss_round_ends = sample.delivered;
        if self.lossy && !self.is_probing() {
            let beta = self.params.beta;
            let unless_set =
                |bound: f64, else_at: f64| if bound.is_finite() { bound } else { else_at };
            let (bw_lo, inflight_lo) = (
                unless_set(self.bw_lo, self.max_bw.max()),
                unless_set(self.inflight_lo, self.window),
            );
            self.bw_lo = self.latest.0.max(beta * bw_lo);
            self.inflight_lo = self.latest.1.max(beta * inflight_lo);
        }
        (self.lossy, self.latest) = (false, (sample.rate, volume));
    }

    pub(super) fn forget_short_term(&mut self) {
        (self.bw_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }

    /// Long-term bound: lowered when a probe loses too much, raised by what did not.
    pub(super) fn adapt_inflight_hi(
        &mut self,
        sample: &RateSample,
        now: Time,
        begins: bool,
        acked: f64,
    ) {
        if self.is_too_high(sample) {
            if self.probing {
                self.probing = false;
                if !sample.app_limited {
                    let flight = f64::from(sample.prior_in_flight);
                    self.inflight_hi = flight.max(self.params.beta * self.target());
                }
                if self.state == State::Up {
                    self.go_down(now);
                }
            }
            return;
        }
        if self.inflight_hi.is_finite() {
            self.inflight_hi = self.inflight_hi.max(f64::from(sample.prior_in_flight));
            if self.state == State::Up && self.window_limited && self.window >= self.inflight_hi {
                let (_, acks, each) = self.up;
                self.up.1 = acks + acked;
                self.inflight_hi += self.up.1 / each;
                self.up.1 = 0.0;
                if begins {
                    self.raise_slope();
                }
            }
        }
    }

    /// inflight_hi grows by 1, 2, 4... packets a round.
    pub(super) fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.up.0);
        self.up.0 = (self.up.0 + 1).min(30);
        self.up.2 = (self.window / growth).max(1.0);
    }
}
