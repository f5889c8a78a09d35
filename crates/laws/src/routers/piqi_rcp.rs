//! PIQI-RCP's router: a proportional-integral control of the rate, whose gain is bounded by the longest RTT.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and Analysis of Rate-Based Explicit Congestion Control", IV-C.
//! Every T, with e of QI-RCP's (3), and kappa_1 = kappa_2 = kappa as in Theorem 2:
//!   R = R [1 + kappa e(t) + kappa e(t - T)]                                                     (18)
//!   kappa = eta kappa*, kappa* = sin(pi / (2 (2 D' - 1))), D' = ceil(D / T)                     (20)
//!           or the simpler kappa_* = T / (2 (T + D)), which is smaller                          (35)
//! D is the longest RTT in the headers of the interval; an interval without RTTs leaves D as it is. V
//! simulates (35), and IV-D simulates (20) to test the theorem. Stable for eta < 1.

use super::qi_rcp::{Longest, error, half_kappa_star};
use super::rate_router::{Control, Measurement, RateBounds, RateRouter, Stamp};
use crate::codecs::Codec;
use crate::router::{LinkView, Needs, RouterSpec};
use crate::{choices, params, tunes};

choices! {
    /// What bounds kappa.
    pub enum Bound {
        /// (35), without a sine.
        Simple = "simple",
        /// (20), which is exact for equal RTTs.
        Sine = "sine",
    }
}

params! {
    /// The constants of V, then the bounds of the link's rate, as in RCP.
    pub struct Params {
        /// eta: the gain kappa as a share of its bound.
        pub eta: f64 = 0.95, in 0.001, 10.0;
        /// The bound of kappa.
        pub bound: Bound = Bound::Simple;
        /// Target utilisation gamma of the link.
        pub gamma: f64 = 0.95, in 0.1, 1.0;
        with bounds: RateBounds;
    }
}

/// (20) or (35) of the longest RTT D and T, in seconds.
pub fn kappa_star(longest: f64, interval: f64, bound: Bound) -> f64 {
    match bound {
        Bound::Sine => half_kappa_star(longest, interval),
        Bound::Simple => interval / (2.0 * (interval + longest)),
    }
}

/// (18): the next rate, given the errors of this interval and the one before.
pub fn control_step(rate: f64, (error, before): (f64, f64), kappa: f64) -> f64 {
    rate * (1.0 + kappa * error + kappa * before)
}

/// PIQI-RCP's control.
#[derive(Clone, Debug)]
pub struct PiqiRcp {
    params: Params,
    longest: Longest,
    /// e(t - T).
    before: f64,
}

impl Control for PiqiRcp {
    fn sample(&mut self, rtt: f64, _: &Stamp) {
        self.longest.sample(rtt);
    }

    fn step(&mut self, measured: &Measurement) -> f64 {
        let params = &self.params;
        let interval = params.bounds.interval.seconds();
        let kappa = params.eta * kappa_star(self.longest.end(), interval, params.bound);
        let error = error(measured.input, measured.capacity, params.gamma);
        let before = std::mem::replace(&mut self.before, error);
        control_step(measured.rate, (error, before), kappa)
    }

    fn rtt(&self) -> f64 {
        self.longest.known()
    }

    fn bounds(&self) -> &RateBounds {
        &self.params.bounds
    }

    tunes! {}
}

impl RouterSpec for PiqiRcp {
    type Law = RateRouter<Self>;
    type Params = Params;
    const NAME: &'static str = "piqi-rcp";
    const TITLE: &'static str =
        "PIQI-RCP: one rate for all flows, by a PI control of spare capacity";
    const SOURCE: &'static str = "Jain and Loguinov, PIQI-RCP, IV-C";
    const CODEC: Codec = Codec::Rate;
    const NEEDS: Needs = Needs::DEPARTURES;
    fn new(params: Params, link: &LinkView) -> RateRouter<Self> {
        let control =
            Self { params, longest: Longest::new(params.bounds.initial_rtt), before: 0.0 };
        RateRouter::new(control, link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simple_bound_is_the_smaller_one() {
        for ms in 1..2000 {
            let longest = f64::from(ms) / 1000.0;
            let [simple, sine] =
                [Bound::Simple, Bound::Sine].map(|bound| kappa_star(longest, 0.01, bound));
            assert!(simple <= sine, "{ms} ms");
        }
        assert!((kappa_star(0.12, 0.01, Bound::Simple) - 1.0 / 26.0).abs() < 1e-12);
        assert!((kappa_star(0.02, 0.01, Bound::Sine) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn both_errors_count_alike() {
        assert!((control_step(1e5, (0.5, -0.5), 0.1) - 1e5).abs() < 1e-6);
        assert!((control_step(1e5, (0.5, 0.25), 0.1) - 1.075e5).abs() < 1e-6);
    }

    #[test]
    fn the_error_of_an_interval_counts_in_the_next_as_well() {
        let control = |params: Params| PiqiRcp {
            params,
            longest: Longest::new(params.bounds.initial_rtt),
            before: 0.0,
        };
        let mut piqi = control(Params { eta: 1.0, bound: Bound::Sine, ..Params::default() });
        piqi.sample(0.02, &Stamp { size: 1000.0, sending: None }); // kappa = 0.5
        let measured =
            Measurement { rate: 100.0, input: 0.5 * 950.0, queue: 9e9, capacity: 1000.0 };
        assert!((piqi.step(&measured) - 125.0).abs() < 1e-9);
        assert!(
            (piqi.step(&Measurement { rate: 125.0, input: 950.0, ..measured }) - 156.25).abs()
                < 1e-9
        );
    }
}
