//! The MIAIMD model of VCP: N synchronous flows over one link.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One more bit is enough", IEEE/ACM Trans. Netw. 16(6),
//! 2008, section V, equations (9)-(14) and Theorem 1. With `K = gamma C T` the aggregate window obeys
//!
//! ```text
//! w'(t) = (kappa w(t) [K / w(t - T) - 1] + N alpha) / T                                   (13)
//! ```
//!
//! Solved for `ln w`: windows stay positive, and an overshoot of `exp(kappa K / N)` stays finite. The bound on kappa
//! is knee's own, from (13) linearised at its equilibrium; the paper proves that kappa <= 1/2 is sufficient.

use crate::dde::{Delayed, Past, Solver, Tolerance, sampled};
use crate::effort::{Effort, Unsolved};
use crate::roots::bisect;

/// One link and its flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miaimd {
    /// C, packets a second.
    pub capacity: f64,
    /// T, seconds.
    pub rtt: f64,
    /// N.
    pub flows: f64,
    /// kappa, the gain of the multiplicative increase.
    pub kappa: f64,
    /// alpha, packets an RTT.
    pub alpha: f64,
    /// gamma, the target utilisation.
    pub gamma: f64,
    /// The window of each flow until time 0, packets; the paper's is 1.
    pub initial_window: f64,
}

/// The equilibrium of (13).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// `w* = gamma C T + N alpha / kappa`, packets.
    pub window: f64,
    /// `r* = gamma C / N + alpha / (kappa T)`, packets a second.
    pub flow_rate: f64,
    /// `w* / (C T)`; above 1 the queue grows without bound.
    pub utilisation: f64,
}

impl Miaimd {
    /// `gamma C T`, packets.
    fn target(&self) -> f64 {
        self.gamma * self.capacity * self.rtt
    }

    /// Theorem 1's equilibrium.
    pub fn equilibrium(&self) -> Equilibrium {
        let window = self.target() + self.flows * self.alpha / self.kappa;
        Equilibrium {
            window,
            flow_rate: window / (self.flows * self.rtt),
            utilisation: window / (self.capacity * self.rtt),
        }
    }

    /// The kappa at which (13), linearised at its equilibrium, loses its stability.
    ///
    /// With `u = K / w*` and time in RTTs the deviation obeys `x' = -kappa [(1 - u) x(t) + u x(t - 1)]`. A root
    /// crosses the imaginary axis at `kappa = arccos(-(1 - u) / u) / sqrt(2 u - 1)`; u itself grows with kappa.
    /// The bound is pi/2 for infinite windows (u = 1) and greater for all others.
    pub fn kappa_bound(&self) -> f64 {
        let share = |kappa: f64| {
            let increase = self.flows * self.alpha / kappa;
            self.target() / (self.target() + increase)
        };
        let crossing = |u: f64| {
            if u <= 0.5 {
                f64::INFINITY
            } else {
                libm::acos(1.0 - 1.0 / u) / (2.0 * u - 1.0).sqrt()
            }
        };
        // u exceeds 1/2 where kappa K > N alpha; the crossing falls from infinity there to pi/2.
        let half = self.flows * self.alpha / self.target();
        let high = (2.0 * half).max(4.0);
        bisect(half.max(1.0), high, |kappa| kappa - crossing(share(kappa)))
    }

    /// RTTs after which a stable model is at rest: the decay of the overshoot, then 40 time constants.
    pub fn settling_rtts(&self) -> f64 {
        let climb = (self.target() / (self.flows * self.initial_window)).max(1.0);
        let share = self.target() / self.equilibrium().window;
        // Near the bound the slowest oscillation decays by about kappa_bound - kappa an RTT.
        let margin = (self.kappa_bound() - self.kappa).abs().min(self.kappa).max(1e-3);
        10.0 + 1.5 * climb + 40.0 / (margin * share.max(0.25))
    }

    /// Solves (13), and also (14) if there is an adaptation.
    ///
    /// # Errors
    /// If a window is no longer a finite number, or the solution takes too much work.
    pub fn run(
        &self,
        length: (f64, usize),
        adaptation: Option<&Adaptation>,
        effort: &Effort,
    ) -> Result<Vec<Sample>, Unsolved> {
        let law = Aggregate::new(*self, adaptation);
        let mut solver = Solver::new(law, Tolerance::default(), effort);
        let mut next_change = 1.0;
        sampled(length, |time| {
            if let Some(law) = adaptation {
                while next_change * law.period <= time {
                    solver.advance(next_change * law.period)?;
                    let utilisation = solver.state()[1];
                    solver.model.flow.gamma = law.step(solver.model.flow.gamma, utilisation);
                    next_change += 1.0;
                }
            }
            solver.advance(time)?;
            let sample = solver.model.sample(&solver, time);
            let is_finite = sample.window.is_finite() && sample.load.is_finite();
            Ok(is_finite.then_some(sample))
        })
    }

    /// The greatest `|w - w*| / w*` over the last ten of `rtts` RTTs.
    ///
    /// # Errors
    /// If the window is no longer a finite number, or the solution takes too much work.
    pub fn final_deviation(&self, rtts: f64, effort: &Effort) -> Result<f64, Unsolved> {
        let mut solver = Solver::new(Aggregate::new(*self, None), Tolerance::default(), effort);
        let rest = self.equilibrium().window;
        let mut greatest = 0.0_f64;
        for tick in 0..=200 {
            solver.advance(self.rtt * (rtts - 10.0 + f64::from(tick) * 0.05))?;
            greatest = greatest.max((libm::exp(solver.state()[0]) / rest - 1.0).abs());
        }
        if greatest.is_infinite() {
            return Err(Unsolved::Diverged { time: solver.time() });
        }
        Ok(greatest)
    }
}

/// The slow adaptation of gamma to a target utilisation, (14).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// gamma*, the utilisation wanted.
    pub target: f64,
    /// delta gamma, the step.
    pub step: f64,
    /// T_gamma, seconds, much more than an RTT.
    pub period: f64,
    /// Time constant of the filter of the measured utilisation, seconds.
    pub filter: f64,
}

impl Adaptation {
    /// gamma after a period of which the filtered utilisation was `utilisation`; kept in [step, 1].
    pub fn step(&self, gamma: f64, utilisation: f64) -> f64 {
        let sign = match self.target - utilisation {
            below if below > 0.0 => 1.0,
            above if above < 0.0 => -1.0,
            _ => 0.0,
        };
        (gamma + sign * self.step).clamp(self.step, 1.0)
    }
}

/// A row of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds.
    pub time: f64,
    /// w, all flows together, packets.
    pub window: f64,
    /// The share of the capacity that is used: `min(1, w / (C T))`.
    pub utilisation: f64,
    /// rho (11), as the sources know it at this time.
    pub load: f64,
    /// gamma.
    pub gamma: f64,
}

/// `ln w`, and the filtered utilisation if gamma adapts.
struct Aggregate {
    flow: Miaimd,
    filter: Option<f64>,
}

impl Aggregate {
    fn new(flow: Miaimd, adaptation: Option<&Adaptation>) -> Self {
        Self { flow, filter: adaptation.map(|law| law.filter) }
    }

    fn utilisation(&self, log_window: f64) -> f64 {
        (libm::exp(log_window) / (self.flow.capacity * self.flow.rtt)).min(1.0)
    }

    fn sample(&self, solver: &Solver<'_, Self>, time: f64) -> Sample {
        let log_window = solver.state()[0];
        let earlier = solver.past().at(time - self.flow.rtt, 0);
        Sample {
            time,
            window: libm::exp(log_window),
            utilisation: self.utilisation(log_window),
            load: libm::exp(earlier) / self.flow.target(),
            gamma: self.flow.gamma,
        }
    }
}

impl Delayed for Aggregate {
    fn start(&self) -> Vec<f64> {
        let log_window = libm::log(self.flow.flows * self.flow.initial_window);
        match self.filter {
            Some(_) => vec![log_window, self.utilisation(log_window)],
            None => vec![log_window],
        }
    }

    fn delays(&self) -> Vec<f64> {
        vec![self.flow.rtt]
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]) {
        let flow = &self.flow;
        let inverse_load = flow.target() * libm::exp(-past.at(time - flow.rtt, 0));
        let additive = flow.flows * flow.alpha * libm::exp(-state[0]);
        slope[0] = (flow.kappa * (inverse_load - 1.0) + additive) / flow.rtt;
        if let Some(filter) = self.filter {
            slope[1] = (self.utilisation(state[0]) - state[1]) / filter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    /// 150 Mbps of 1000-byte packets, 80 ms, 30 flows: a BDP of 1500, 50 a flow.
    const BASE: Miaimd = Miaimd {
        capacity: 18750.0,
        rtt: 0.08,
        flows: 30.0,
        kappa: 0.25,
        alpha: 1.0,
        gamma: 0.98,
        initial_window: 1.0,
    };

    #[test]
    fn theorem_1_by_hand() {
        let rest = BASE.equilibrium();
        assert!((rest.window - (1470.0 + 120.0)).abs() < 1e-9);
        assert!((rest.flow_rate - (612.5 + 50.0)).abs() < 1e-9);
        assert!((rest.utilisation - 1.06).abs() < 1e-12);
    }

    #[test]
    fn the_first_rtt_is_exponential() {
        // While w(t - T) = N: w' = (a w + N alpha) / T with a = kappa (K / N - 1) = 0.25 * 48 = 12.
        let sample = BASE.run((0.04, 2), None, &Effort::free()).unwrap()[1];
        let exact = 30.0 * ((1.0 + 1.0 / 12.0) * libm::exp(12.0 * 0.5) - 1.0 / 12.0);
        assert!((sample.window / exact - 1.0).abs() < 1e-7, "{} {exact}", sample.window);
    }

    #[test]
    fn it_comes_to_rest_at_theorem_1() {
        let last = *BASE.run((60.0, 100), None, &Effort::free()).unwrap().last().unwrap();
        assert!((last.window / 1590.0 - 1.0).abs() < 1e-6, "{}", last.window);
        assert!((last.load - 1590.0 / 1470.0).abs() < 1e-6);
    }

    #[test]
    fn half_is_stable_over_decades() {
        for (capacity, rtt, flows) in
            [(62.5, 0.001, 1.0), (62.5, 1.5, 1000.0), (6.25e5, 0.08, 30.0), (18750.0, 1.5, 2.0)]
        {
            for kappa in [0.05, 0.25, 0.5] {
                let model = Miaimd { capacity, rtt, flows, kappa, ..BASE };
                let off = model.final_deviation(model.settling_rtts(), &Effort::free()).unwrap();
                assert!(off < 1e-4, "{model:?} {off:e}");
            }
        }
    }

    #[test]
    fn beyond_the_bound_it_swings() {
        let large = Miaimd { flows: 1.0, capacity: 1e6, initial_window: 78000.0, ..BASE };
        assert!((large.kappa_bound() / FRAC_PI_2 - 1.0).abs() < 1e-3, "{}", large.kappa_bound());
        for model in [large, Miaimd { initial_window: 52.0, ..BASE }] {
            let bound = model.kappa_bound();
            assert!(bound > FRAC_PI_2, "{bound}");
            let start =
                Miaimd { initial_window: 1.01 * model.equilibrium().window / model.flows, ..model };
            let below = Miaimd { kappa: 0.97 * bound, ..start }
                .final_deviation(600.0, &Effort::free())
                .unwrap();
            let above = Miaimd { kappa: 1.03 * bound, ..start }
                .final_deviation(600.0, &Effort::free())
                .unwrap();
            assert!(below < 1e-3 && above > 0.1, "{bound} {below} {above}");
        }
    }

    #[test]
    fn without_delay_in_the_loop_there_is_no_bound_below_half_the_load() {
        // P = gamma C T / N = 0.1: kappa must exceed 10 before the delayed term outweighs the other.
        let small = Miaimd { capacity: 100.0, rtt: 0.03, flows: 29.4, ..BASE };
        assert!(small.kappa_bound() > 10.0, "{}", small.kappa_bound());
    }

    #[test]
    fn gamma_finds_the_utilisation_wanted() {
        let law = Adaptation { target: 0.95, step: 0.01, period: 1.6, filter: 0.4 };
        let samples = BASE.run((400.0, 2001), Some(&law), &Effort::free()).unwrap();
        let tail = &samples[1000..];
        let mean = tail.iter().map(|s| s.utilisation).sum::<f64>() / tail.len() as f64;
        assert!((mean - 0.95).abs() < 0.01, "{mean}");
        let gamma = tail.iter().map(|s| s.gamma).sum::<f64>() / tail.len() as f64;
        assert!((gamma - (0.95 - 1.0 / (0.25 * 50.0))).abs() < 0.01, "{gamma}");
    }
}
