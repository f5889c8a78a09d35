//! QI-RCP's router: RCP without the queue, with a gain bounded by the longest RTT.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and Analysis of Rate-Based Explicit Congestion Control", IV-A.
//! Every T, in bytes and s:
//!   e = 1 - y / (gamma C)                                                                        (3)
//!   R = R [1 + kappa e]                                                                          (4)
//!   kappa = eta kappa*, kappa* = 2 sin(pi / (2 (2 D' - 1))), D' = ceil(D / T)                    (6)
//! D is the longest RTT in the headers of the interval; an interval without RTTs leaves D as it is. Stable for
//! eta < 1. The paper has no default for eta; this is the smaller value of its Figure 6.

use super::rate_router::{Control, Measurement, RateBounds, RateRouter, Stamp};
use crate::codecs::Codec;
use crate::quantities::Span;
use crate::router::{LinkView, Needs, RouterSpec};
use crate::{params, tunes};
use std::f64::consts::PI;

params! {
    /// The constants of IV-B, then the bounds of the link's rate, as in RCP.
    pub struct Params {
        /// eta: the gain kappa as a share of its bound.
        pub eta: f64 = 0.5, in 0.001, 10.0;
        /// Target utilisation gamma of the link.
        pub gamma: f64 = 0.95, in 0.1, 1.0;
        with bounds: RateBounds;
    }
}

/// (3): the distance of the input rate from its target, relative to the target.
pub fn error(input: f64, capacity: f64, gamma: f64) -> f64 {
    1.0 - input / (gamma * capacity)
}

/// (6), with D the longest RTT and T the interval, in seconds.
pub fn kappa_star(longest: f64, interval: f64) -> f64 {
    2.0 * half_kappa_star(longest, interval)
}

/// Half of (6), which is (20).
pub fn half_kappa_star(longest: f64, interval: f64) -> f64 {
    let steps = (longest / interval).ceil().max(1.0);
    libm::sin(PI / (2.0 * (2.0 * steps - 1.0)))
}

/// The longest RTT of each control interval.
#[derive(Clone, Copy, Debug)]
pub struct Longest {
    known: f64,
    fresh: f64,
}

impl Longest {
    /// `initial` is the RTT until there is a sample.
    pub fn new(initial: Span) -> Self {
        Self { known: initial.seconds(), fresh: 0.0 }
    }
    /// Takes the RTT of a packet, in seconds.
    pub fn sample(&mut self, rtt: f64) {
        self.fresh = self.fresh.max(rtt);
    }
    /// Ends the interval. Returns its longest RTT; without RTTs, that of an earlier interval.
    pub fn end(&mut self) -> f64 {
        if self.fresh > 0.0 {
            self.known = std::mem::take(&mut self.fresh);
        }
        self.known
    }
    /// The longest RTT of the last interval.
    pub fn known(&self) -> f64 {
        self.known
    }
}

/// QI-RCP's control.
#[derive(Clone, Debug)]
pub struct QiRcp {
    params: Params,
    longest: Longest,
}

impl Control for QiRcp {
    fn sample(&mut self, rtt: f64, _: &Stamp) {
        self.longest.sample(rtt);
    }

    /// (4).
    fn step(&mut self, measured: &Measurement) -> f64 {
        let params = &self.params;
        let kappa = params.eta * kappa_star(self.longest.end(), params.bounds.interval.seconds());
        measured.rate * (1.0 + kappa * error(measured.input, measured.capacity, params.gamma))
    }

    fn rtt(&self) -> f64 {
        self.longest.known()
    }

    fn bounds(&self) -> &RateBounds {
        &self.params.bounds
    }

    tunes! {}
}

impl RouterSpec for QiRcp {
    type Law = RateRouter<Self>;
    type Params = Params;
    const NAME: &'static str = "qi-rcp";
    const TITLE: &'static str = "QI-RCP: one rate for all flows, from spare capacity alone";
    const SOURCE: &'static str = "Jain and Loguinov, PIQI-RCP, IV-A";
    const CODEC: Codec = Codec::Rate;
    const NEEDS: Needs = Needs::DEPARTURES;
    fn new(params: Params, link: &LinkView) -> RateRouter<Self> {
        let control = Self { params, longest: Longest::new(params.bounds.initial_rtt) };
        RateRouter::new(control, link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_two_if_all_are_as_fast_as_the_router_and_falls_as_pi_t_over_2_d() {
        assert!((kappa_star(0.01, 0.01) - 2.0).abs() < 1e-12);
        assert!((kappa_star(0.02, 0.01) - 1.0).abs() < 1e-12); // sin 30 degrees
        assert_eq!(kappa_star(0.011, 0.01), kappa_star(0.02, 0.01));
        assert_eq!(kappa_star(1e-6, 0.01), kappa_star(0.01, 0.01));
        let ratio = kappa_star(10.0, 0.01) / (PI * 0.01 / (2.0 * 10.0));
        assert!((ratio - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_error_is_none_at_the_target_and_one_without_traffic() {
        assert!(error(9.5e5, 1e6, 0.95).abs() < 1e-12);
        assert_eq!(error(0.0, 1e6, 0.95), 1.0);
    }

    #[test]
    fn the_longest_rtt_is_that_of_the_last_interval_with_any() {
        let mut longest = Longest::new(Span::from_millis(200));
        assert_eq!(longest.end(), 0.2);
        longest.sample(0.12);
        longest.sample(0.3);
        longest.sample(0.05);
        assert_eq!(longest.end(), 0.3);
        assert_eq!(longest.end(), 0.3);
        longest.sample(0.05);
        assert_eq!((longest.end(), longest.known()), (0.05, 0.05));
    }
}
