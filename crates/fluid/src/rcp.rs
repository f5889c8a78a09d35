//! RCP, QI-RCP and PIQI-RCP on one link, as difference equations of step T, and their stability bounds.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and analysis of rate-based explicit congestion control", IWQoS 2007:
//! (1), (4)-(6) and Theorem 1, (18)-(20) and Theorem 2, (35). Delays are whole multiples of T.
//!
//! At the paper's tau_1 = 0.005 and tau_2 = 0.5, Theorem 2's bound is sufficient but not necessary, equal RTTs or not:
//! (34) takes (31) at w = 0, but at the crossover w is far above tau_1, where (31) is near 1 instead of 2.
//!
//! `exact` bounds are knee's own: with `z = exp(-j w)` the loop gain is `kappa L(w)`, its poles lie on or inside of
//! the unit circle, and the least kappa with `kappa L = -1` at some w is the bound of the linearised system.

use crate::effort::{Effort, Unsolved};
use crate::polar::polar;
use crate::roots::bisect;
use knee_laws::routers::piqi_rcp::{self, Bound};
use knee_laws::routers::qi_rcp;
use num_complex::Complex64;
use std::f64::consts::PI;

/// Which law sets the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// (1), with its gains and the router's mean RTT in steps.
    Rcp {
        /// Gain of the spare capacity.
        alpha: f64,
        /// Gain of the queue.
        beta: f64,
        /// d, in steps.
        delay: f64,
    },
    /// (4).
    QiRcp {
        /// kappa.
        kappa: f64,
    },
    /// (18) with kappa_1 = kappa_2, and (19).
    PiqiRcp {
        /// kappa.
        kappa: f64,
        /// tau_1, the share of the error that a source corrects in a step.
        tau1: f64,
        /// tau_2, the share of the rate's change that it follows at once.
        tau2: f64,
    },
}

/// (6), for the longest RTT in steps of T.
pub fn qi_bound(longest: u32) -> f64 {
    qi_rcp::kappa_star(f64::from(longest), 1.0)
}

/// (20), for the longest RTT in steps of T.
pub fn piqi_bound(longest: u32) -> f64 {
    piqi_rcp::kappa_star(f64::from(longest), 1.0, Bound::Sine)
}

/// (35), for an interval and the longest RTT in the same unit.
pub fn piqi_simple_bound(interval: f64, longest: f64) -> f64 {
    piqi_rcp::kappa_star(longest, interval, Bound::Simple)
}

/// A polynomial in `exp(-j w)`, given as powers and coefficients.
fn polynomial(terms: &[(f64, f64)], w: f64) -> Complex64 {
    terms.iter().map(|&(power, factor)| polar(factor, -power * w)).sum()
}

/// `(1/N) sum z^D_i / (1 - z)`.
fn integrator(delays: &[u32], w: f64) -> Complex64 {
    let share = 1.0 / delays.len() as f64;
    let terms: Vec<_> = delays.iter().map(|&delay| (f64::from(delay), share)).collect();
    polynomial(&terms, w) / polynomial(&[(0.0, 1.0), (1.0, -1.0)], w)
}

/// The least kappa with `kappa loop(w) = -1` at some w in (0, pi].
fn gain_margin(
    delays: &[u32],
    effort: &Effort,
    gain: impl Fn(f64) -> Complex64,
) -> Result<f64, Unsolved> {
    let longest = delays.iter().copied().max().unwrap_or(1);
    let steps = 400 * longest.max(10);
    let at = |i: u32| PI * f64::from(i) / f64::from(steps);
    let mut least = f64::INFINITY;
    for i in 1..steps {
        effort.spend(10 * delays.len())?;
        let (low, high) = (at(i), at(i + 1));
        if (gain(low).im > 0.0) != (gain(high).im > 0.0) {
            let re = gain(bisect(low, high, |w| gain(w).im)).re;
            if re < 0.0 {
                least = least.min(-1.0 / re);
            }
        }
    }
    // At pi the gain is real; its imaginary part there is only a rounding error.
    let end = gain(PI).re;
    Ok(if end < 0.0 { least.min(-1.0 / end) } else { least })
}

/// The bound of (5), linearised, for these RTTs in steps of T.
///
/// # Errors
/// If it takes too much work.
pub fn qi_exact(delays: &[u32], effort: &Effort) -> Result<f64, Unsolved> {
    gain_margin(delays, effort, |w| integrator(delays, w))
}

/// The bound of (18)-(19), linearised with (27) as printed, for these RTTs in steps of T.
///
/// # Errors
/// If it takes too much work.
pub fn piqi_exact(
    delays: &[u32],
    (tau1, tau2): (f64, f64),
    effort: &Effort,
) -> Result<f64, Unsolved> {
    let source = |w: f64| {
        let above = polynomial(&[(0.0, tau1 + tau2), (1.0, tau1), (2.0, -tau2)], w);
        above / polynomial(&[(0.0, 1.0), (1.0, tau1 - 1.0)], w)
    };
    gain_margin(delays, effort, |w| source(w) * integrator(delays, w))
}

/// A link and its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The law.
    pub law: Law,
    /// RTTs in steps of T, at least 1 each.
    pub delays: Vec<u32>,
    /// gamma, the target utilisation; RCP's is 1.
    pub gamma: f64,
    /// R before the start, as a multiple of its equilibrium.
    pub start: f64,
}

/// A row of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// R / R*: the control rate, relative to its equilibrium.
    pub rate: f64,
    /// y / (gamma C): arrivals.
    pub load: f64,
    /// The queue, as a multiple of what the link sends in a step.
    pub queue: f64,
}

impl Link {
    /// Solves `steps` steps of T.
    ///
    /// # Errors
    /// If a number is no longer finite, or it takes too much work.
    pub fn run(&self, steps: usize, effort: &Effort) -> Result<Vec<Sample>, Unsolved> {
        let share = 1.0 / self.delays.len() as f64;
        let mut rates: Vec<f64> = Vec::with_capacity(steps);
        let mut flows = vec![self.start; self.delays.len()];
        let mut samples: Vec<Sample> = Vec::with_capacity(steps);
        let (mut error, mut queue) = (1.0 - self.start, 0.0_f64);
        let earlier = |rates: &[f64], step: usize, back: u32| {
            step.checked_sub(back as usize).map_or(self.start, |i| rates[i])
        };
        for step in 0..steps {
            effort.spend(self.delays.len())?;
            for (flow, &delay) in flows.iter_mut().zip(&self.delays) {
                let told = earlier(&rates, step, delay);
                *flow = match self.law {
                    Law::PiqiRcp { tau1, tau2, .. } => {
                        let change = told - earlier(&rates, step, delay + 1);
                        *flow + tau1 * (told - *flow) + tau2 * change
                    }
                    _ => told,
                };
            }
            let load = share * flows.iter().sum::<f64>();
            queue = (queue + self.gamma * load - 1.0).max(0.0);
            let previous = samples.last().map_or(self.start, |sample| sample.rate);
            let now = 1.0 - load;
            let factor = match self.law {
                Law::Rcp { alpha, beta, delay } => (alpha * now - beta * queue / delay) / delay,
                Law::QiRcp { kappa } => kappa * now,
                Law::PiqiRcp { kappa, .. } => kappa * (now + error),
            };
            error = now;
            let rate = (previous * (1.0 + factor)).max(0.0);
            if !(rate.is_finite() && load.is_finite() && queue.is_finite()) {
                return Err(Unsolved::Diverged { time: step as f64 });
            }
            rates.push(rate);
            samples.push(Sample { rate, load, queue });
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greatest deviation of the last fifth over that of the second fifth.
    fn growth(law: Law, delays: &[u32]) -> f64 {
        let link = Link { law, delays: delays.to_vec(), gamma: 0.95, start: 1.0 + 1e-4 };
        let samples = link.run(20_000, &Effort::free()).unwrap();
        let peak = |range: std::ops::Range<usize>| {
            samples[range].iter().map(|sample| (sample.rate - 1.0).abs()).fold(0.0, f64::max)
        };
        peak(16_000..20_000) / peak(4_000..8_000)
    }

    #[test]
    fn theorem_1_is_exact_for_equal_rtts() {
        assert_eq!(qi_bound(1), 2.0);
        for delay in [2, 12, 31, 71] {
            let ratio = qi_exact(&[delay, delay], &Effort::free()).unwrap() / qi_bound(delay);
            assert!((ratio - 1.0).abs() < 1e-9, "{delay} {ratio}");
        }
        assert!(growth(Law::QiRcp { kappa: 0.99 * qi_bound(12) }, &[12, 12]) < 0.1);
        assert!(growth(Law::QiRcp { kappa: 1.01 * qi_bound(12) }, &[12, 12]) > 10.0);
    }

    #[test]
    fn unequal_rtts_leave_a_margin() {
        // Fig. 5: 122 and 306 ms, unstable only near eta = 1.8.
        let margin = qi_exact(&[13, 31], &Effort::free()).unwrap() / qi_bound(31);
        println!("QI-RCP, 122 and 306 ms: unstable from eta = {margin:.4}");
        assert!((1.5..1.9).contains(&margin), "{margin}");
        let kappa = margin * qi_bound(31);
        assert!(growth(Law::QiRcp { kappa: 0.99 * kappa }, &[13, 31]) < 0.5);
        assert!(growth(Law::QiRcp { kappa: 1.01 * kappa }, &[13, 31]) > 2.0);
    }

    #[test]
    fn the_simple_bound_is_the_lower_one() {
        for delay in 1..1000 {
            let simple = piqi_simple_bound(0.01, 0.01 * f64::from(delay));
            assert!(simple < piqi_bound(delay), "{delay}");
        }
    }

    #[test]
    fn piqi_rcp_has_more_room_than_theorem_2_says() {
        let other: Vec<u32> = [12].into_iter().chain([30; 9]).collect();
        for delays in [vec![12; 10], other] {
            let longest = *delays.iter().max().unwrap();
            let margin =
                piqi_exact(&delays, (0.005, 0.5), &Effort::free()).unwrap() / piqi_bound(longest);
            println!("PIQI-RCP, {delays:?}: unstable from eta = {margin:.4}");
            let law = |eta: f64| {
                let kappa = eta * piqi_bound(longest);
                Law::PiqiRcp { kappa, tau1: 0.005, tau2: 0.5 }
            };
            assert!(growth(law(0.99 * margin), &delays) < 0.5);
            assert!(growth(law(1.01 * margin), &delays) > 2.0);
        }
    }
}
