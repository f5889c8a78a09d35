//! Scalable laws on one link: equilibrium, loop gain, and the nonlinear delay equations.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A new TCP/AQM for stable operation in fast networks", INFOCOM 2003:
//! price (5), sources (15)-(16) with `U = K ln x`, loop gain (14), Theorems 2 and 4, Proposition 3.

use crate::dde::{Delayed, Diverged, Past, Solver, Tolerance};

/// One bottleneck and its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalable {
    /// c_0, the virtual capacity, packets a second.
    pub capacity: f64,
    /// tau_i, seconds.
    pub rtts: Vec<f64>,
    /// alpha.
    pub alpha: f64,
    /// M, the bound on the number of bottlenecks; with one link stability needs no more than 1.
    pub bottlenecks: f64,
    /// K, packets a second: `U'(x) = K / x`.
    pub utility: f64,
    /// eta, of which `z = eta / tau_max`; none: the static law (6), whose rate is that of the equilibrium.
    pub eta: Option<f64>,
}

/// `lambda(j w)` of (14) for one source, its pole at `z kappa / nu`; (re, im). Without lead or lag `ratio` is 1.
///
/// `ratio` is nu / kappa.
pub fn loop_gain(w: f64, rtt: f64, alpha: f64, zero: f64, ratio: f64) -> (f64, f64) {
    // alpha e^{-j w tau} / (j w tau) x (j w + z) / (j w + z / ratio)
    let pole = zero / ratio;
    let size = alpha / (w * rtt) * ((w * w + zero * zero) / (w * w + pole * pole)).sqrt();
    let phase =
        -w * rtt - std::f64::consts::FRAC_PI_2 + libm::atan2(w, zero) - libm::atan2(w, pole);
    (size * libm::cos(phase), size * libm::sin(phase))
}

/// The greatest stable factor on `alpha`: -1 / (where the plot first meets the negative real axis from the right).
///
/// The phase falls from below -pi/2; each crossing lies where it is an odd multiple of pi.
pub fn gain_margin(rtt: f64, alpha: f64, zero: f64, ratio: f64) -> f64 {
    let gain = |w: f64| loop_gain(w, rtt, alpha, zero, ratio);
    let grid = crate::roots::log_grid(1e-6 * zero.min(1.0 / rtt), 20.0 / rtt, 20_000);
    let mut least = f64::INFINITY;
    for pair in grid.windows(2) {
        let (low, high) = (gain(pair[0]), gain(pair[1]));
        if (low.1 > 0.0) != (high.1 > 0.0) {
            let re = gain(crate::roots::bisect(pair[0], pair[1], |w| gain(w).1)).0;
            if re < 0.0 {
                least = least.min(-1.0 / re);
            }
        }
    }
    least
}

impl Scalable {
    /// Rates at rest, each `c_0 / N`, and the price `N K / c_0`, seconds.
    pub fn equilibrium(&self) -> (f64, f64) {
        let share = self.capacity / self.rtts.len() as f64;
        (share, self.utility / share)
    }

    /// z = eta / tau_max.
    fn zero(&self) -> f64 {
        self.eta.map_or(0.0, |eta| eta / self.rtts.iter().copied().fold(0.0, f64::max))
    }

    /// `alpha / (M tau)` of flow i.
    fn slope_of(&self, rtt: f64) -> f64 {
        self.alpha / (self.bottlenecks * rtt)
    }

    /// Solves from `start` times the equilibrium's rates; rows of time, price and the sum of rates over c_0.
    ///
    /// # Errors
    /// If the state is no longer finite.
    pub fn run(
        &self,
        start: f64,
        duration: f64,
        samples: usize,
    ) -> Result<Vec<[f64; 3]>, Diverged> {
        let mut solver = Solver::new(Loop { law: self, start }, Tolerance::default());
        (0..samples)
            .map(|i| {
                let time = duration * i as f64 / (samples.max(2) - 1) as f64;
                solver.advance(time)?;
                let price = solver.state()[0];
                let load = solver.model.load(time, solver.past());
                Ok([time, price, load])
            })
            .collect()
    }
}

/// The price, and xi of each flow less what it is at rest.
struct Loop<'a> {
    law: &'a Scalable,
    start: f64,
}

impl Loop<'_> {
    /// The rate of flow i, which hears the price of an RTT before; all of the delay lies on the way back.
    fn rate(&self, i: usize, price: f64, xi: f64) -> f64 {
        let (share, rest) = self.law.equilibrium();
        share * libm::exp(xi - self.law.slope_of(self.law.rtts[i]) * (price - rest))
    }

    /// y / c_0: what arrives at the link.
    fn load(&self, time: f64, past: &Past) -> f64 {
        let rate = |(i, rtt): (usize, &f64)| {
            // The source sent an instant ago what it had heard of a price one RTT old.
            self.rate(i, past.at(time - rtt, 0), past.at(time, i + 1))
        };
        self.law.rtts.iter().enumerate().map(rate).sum::<f64>() / self.law.capacity
    }
}

impl Delayed for Loop<'_> {
    fn start(&self) -> Vec<f64> {
        // The flows begin at `start` times their share, the price at rest.
        let (_, rest) = self.law.equilibrium();
        let mut state = vec![libm::log(self.start); self.law.rtts.len() + 1];
        state[0] = rest;
        state
    }

    fn delays(&self) -> Vec<f64> {
        self.law.rtts.clone()
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]) {
        let zero = self.law.zero();
        let mut arrivals = 0.0;
        for (i, &rtt) in self.law.rtts.iter().enumerate() {
            let heard = past.at(time - rtt, 0);
            let rate = self.rate(i, heard, state[i + 1]);
            arrivals += rate;
            // (15) with beta = z alpha / M; xi moves only where eta is given.
            let beta = zero * self.law.alpha / self.law.bottlenecks;
            slope[i + 1] = beta / rtt * (self.law.utility / rate - heard);
        }
        let excess = arrivals / self.law.capacity - 1.0;
        slope[0] = if state[0] > 0.0 || excess > 0.0 { excess } else { 0.0 };
    }

    fn confine(&self, state: &mut [f64]) {
        state[0] = state[0].max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    /// The static law is alpha e^{-s tau} / (s tau): stable up to pi/2.
    #[test]
    fn theorem_2_for_one_source() {
        for rtt in [0.001, 0.08, 1.0] {
            let margin = gain_margin(rtt, 1.0, 1.0, 1.0);
            assert!((margin / FRAC_PI_2 - 1.0).abs() < 1e-6, "{rtt} {margin}");
        }
    }

    #[test]
    fn the_static_law_is_stable_below_half_pi_and_only_there() {
        let deviation = |alpha: f64| {
            let law = Scalable {
                capacity: 1000.0,
                rtts: vec![0.1; 3],
                alpha,
                bottlenecks: 1.0,
                utility: 50.0,
                eta: None,
            };
            let rows = law.run(1.001, 60.0, 6001).unwrap();
            let peak =
                |rows: &[[f64; 3]]| rows.iter().map(|row| (row[2] - 1.0).abs()).fold(0.0, f64::max);
            peak(&rows[5000..]) / peak(&rows[200..1200])
        };
        assert!(deviation(0.97 * FRAC_PI_2) < 0.1, "{}", deviation(0.97 * FRAC_PI_2));
        assert!(deviation(1.03 * FRAC_PI_2) > 2.0, "{}", deviation(1.03 * FRAC_PI_2));
    }

    #[test]
    fn proposition_3_keeps_the_low_frequencies_clear() {
        // For w < 1 / tau_max and eta < 1 / tan(1) the phase stays above -pi, whatever nu / kappa.
        let eta = 0.99 / libm::tan(1.0);
        for ratio in [0.1, 1.0, 10.0, 100.0, 1000.0, 1e6] {
            for step in 1..1000 {
                let w = f64::from(step) / 1000.0;
                let (_, im) = loop_gain(w, 1.0, 1.0, eta, ratio);
                assert!(im < 0.0, "{ratio} {w} {im}");
            }
        }
        // And -1 is left out with the figure's z = 0.2, alpha = 1, for all its RTTs and ratios.
        for ratio in [0.1, 1.0, 10.0, 100.0, 1000.0] {
            for rtt in [0.001, 0.01, 0.1, 1.0] {
                let margin = gain_margin(rtt, 1.0, 0.2, ratio);
                assert!(margin > 1.2 && margin < PI, "{rtt} {ratio} {margin}");
            }
        }
    }

    #[test]
    fn theorem_4_matches_the_demand_curves_with_unequal_rtts() {
        let law = Scalable {
            capacity: 1000.0,
            rtts: vec![0.04, 0.08, 0.2],
            alpha: 0.37,
            bottlenecks: 1.0,
            utility: 50.0,
            eta: Some(0.5),
        };
        let last = *law.run(0.5, 400.0, 101).unwrap().last().unwrap();
        assert!((last[1] / (3.0 * 50.0 / 1000.0) - 1.0).abs() < 1e-3, "{last:?}");
        assert!((last[2] - 1.0).abs() < 1e-4, "{last:?}");
    }
}
