//! The MIAIMD model on a network of equal RTTs.
//!
//! Y. Xia et al., 2008 (see [`crate::miaimd`]), equations (9) and (15), Theorem 2: each flow follows the greatest
//! load factor on its path. Solved for the logarithm of each window. With one link it is (9)-(11) flow by flow.
//!
//! The equilibrium in closed form: on a link that n flows follow, and that F packets of other flows cross,
//! `rho K = n alpha rho / (kappa (rho - 1)) + F`, so rho is the greater root of
//! `K rho^2 - (K + n alpha / kappa + F) rho + F = 0`. Links are taken from the highest load down, as
//! progressive filling does; so the rates are max-min fair for links of capacity `rho_l gamma C_l`.

use crate::dde::{Delayed, Past, Solver, Tolerance, sampled};
use crate::effort::{Effort, Unsolved};
use crate::max_min::{Share, Topology};

/// Links, flows, and the law's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct MiaimdNetwork {
    /// Capacities in packets a second, and each flow's links.
    pub topology: Topology,
    /// T, seconds, the same for all.
    pub rtt: f64,
    /// kappa, the gain of the multiplicative increase.
    pub kappa: f64,
    /// alpha, packets an RTT.
    pub alpha: f64,
    /// gamma, the target utilisation.
    pub gamma: f64,
    /// Window of each flow until time 0, packets.
    pub initial_windows: Vec<f64>,
}

impl MiaimdNetwork {
    /// `gamma C_l T`, packets.
    fn target(&self, link: usize) -> f64 {
        self.gamma * self.topology.capacities[link] * self.rtt
    }

    /// `r_i* = alpha / (kappa T (1 - 1 / max rho))` and the link of the greatest load factor, for each flow;
    /// packets a second.
    ///
    /// # Errors
    /// If it takes too much work.
    pub fn equilibrium(&self, effort: &Effort) -> Result<Vec<Share>, Unsolved> {
        self.topology.fill(effort, |link, open, taken| {
            let target = self.target(link);
            let fixed = taken * self.rtt;
            let half = (target + open * self.alpha / self.kappa + fixed) / 2.0;
            let root = (half * half - target * fixed).max(0.0).sqrt();
            let load = (half + root) / target;
            // The window that is left for a flow: (rho K - F) / n, which also is alpha rho / (kappa (rho - 1)).
            (load * target - fixed) / (open * self.rtt)
        })
    }

    /// The load factor of each link if flow i sends `rates[i]` packets a second.
    pub fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.topology.capacities.len()];
        for (rate, route) in rates.iter().zip(&self.topology.routes) {
            for &link in route {
                loads[link] += rate / (self.gamma * self.topology.capacities[link]);
            }
        }
        loads
    }

    /// Solves (9) with (15); a row of windows for each of `samples` instants, the first at 0.
    ///
    /// # Errors
    /// If a window is no longer a finite number, or the solution takes too much work.
    pub fn run(
        &self,
        duration: f64,
        samples: usize,
        effort: &Effort,
    ) -> Result<Vec<(f64, Vec<f64>)>, Unsolved> {
        let mut solver = Solver::new(Windows::new(self), Tolerance::default(), effort);
        sampled((duration, samples), |time| {
            solver.advance(time)?;
            let windows: Vec<f64> = solver.state().iter().map(|&log| libm::exp(log)).collect();
            let is_finite = windows.iter().all(|window| window.is_finite());
            Ok(is_finite.then_some((time, windows)))
        })
    }
}

/// The logarithms of the windows.
struct Windows<'a> {
    network: &'a MiaimdNetwork,
    /// Flows that cross each link.
    crossing: Vec<Vec<usize>>,
}

impl<'a> Windows<'a> {
    fn new(network: &'a MiaimdNetwork) -> Self {
        Self { network, crossing: network.topology.crossing() }
    }

    /// `ln rho_l (t)`: a sum of exponentials, with the greatest factored out.
    fn log_load(&self, link: usize, earlier: &[f64]) -> f64 {
        let logs = || self.crossing[link].iter().map(|&flow| earlier[flow]);
        let greatest = logs().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs().map(|log| libm::exp(log - greatest)).sum();
        greatest + libm::log(sum / self.network.target(link))
    }
}

impl Delayed for Windows<'_> {
    fn start(&self) -> Vec<f64> {
        self.network.initial_windows.iter().map(|&window| libm::log(window)).collect()
    }

    fn delays(&self) -> Vec<f64> {
        vec![self.network.rtt]
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]) {
        let MiaimdNetwork { topology, rtt, kappa, alpha, .. } = self.network;
        let earlier: Vec<f64> = (0..state.len()).map(|flow| past.at(time - rtt, flow)).collect();
        let links = 0..topology.capacities.len();
        let loads: Vec<f64> = links.map(|link| self.log_load(link, &earlier)).collect();
        for (flow, route) in topology.routes.iter().enumerate() {
            let greatest = route.iter().map(|&link| loads[link]).fold(f64::NEG_INFINITY, f64::max);
            let xi = kappa * (libm::exp(-greatest) - 1.0);
            slope[flow] = (xi + alpha * libm::exp(-state[flow])) / rtt;
        }
    }

    fn work(&self) -> usize {
        self.network.topology.routes.iter().map(|route| 1 + route.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::miaimd::Miaimd;

    /// Three links, a flow over all, one over each; the second link is the tightest.
    fn lot() -> MiaimdNetwork {
        MiaimdNetwork {
            topology: Topology {
                capacities: vec![1000.0, 400.0, 800.0],
                routes: vec![vec![0, 1, 2], vec![0], vec![1], vec![2], vec![2]],
            },
            rtt: 0.1,
            kappa: 0.5,
            alpha: 0.1,
            gamma: 0.9,
            initial_windows: vec![1.0, 5.0, 20.0, 3.0, 9.0],
        }
    }

    #[test]
    fn flows_come_to_rest_where_theorem_2_says() {
        let network = lot();
        let shares = network.equilibrium(&Effort::free()).unwrap();
        let rates: Vec<f64> = shares.iter().map(|share| share.rate).collect();
        let loads = network.loads(&rates);
        let (_, windows) = network.run(600.0, 2, &Effort::free()).unwrap().pop().unwrap();
        for (flow, route) in network.topology.routes.iter().enumerate() {
            let greatest = route.iter().map(|&link| loads[link]).fold(0.0, f64::max);
            assert_eq!(greatest, loads[shares[flow].bottleneck]);
            let stated = 0.1 / (0.5 * 0.1 * (1.0 - 1.0 / greatest));
            assert!((rates[flow] / stated - 1.0).abs() < 1e-9, "{flow} {} {stated}", rates[flow]);
            let reached = windows[flow] / 0.1;
            assert!((reached / stated - 1.0).abs() < 1e-4, "{flow} {reached} {stated}");
        }
    }

    #[test]
    fn rates_are_max_min_fair_for_what_the_links_carry() {
        let network = lot();
        let rates: Vec<f64> =
            network.equilibrium(&Effort::free()).unwrap().iter().map(|share| share.rate).collect();
        let loads = network.loads(&rates);
        let scaled = |(load, capacity): (&f64, &f64)| load * network.gamma * capacity;
        let capacities = loads.iter().zip(&network.topology.capacities).map(scaled).collect();
        let carried =
            Topology { capacities, ..network.topology.clone() }.max_min(&Effort::free()).unwrap();
        for (rate, share) in rates.iter().zip(carried) {
            assert!((rate / share.rate - 1.0).abs() < 1e-9, "{rate} {}", share.rate);
        }
    }

    #[test]
    fn one_link_is_the_aggregate_model() {
        let network = MiaimdNetwork {
            topology: Topology { capacities: vec![1000.0], routes: vec![vec![0]; 4] },
            initial_windows: vec![2.0; 4],
            ..lot()
        };
        let aggregate = Miaimd {
            capacity: 1000.0,
            rtt: 0.1,
            flows: 4.0,
            kappa: 0.5,
            alpha: 0.1,
            gamma: 0.9,
            initial_window: 2.0,
        };
        let flows = network.run(5.0, 20, &Effort::free()).unwrap();
        let sums = aggregate.run((5.0, 20), None, &Effort::free()).unwrap();
        for ((_, windows), sum) in flows.iter().zip(sums) {
            assert!((windows.iter().sum::<f64>() / sum.window - 1.0).abs() < 1e-6);
        }
        let share = network.equilibrium(&Effort::free()).unwrap()[0].rate;
        assert!((share / aggregate.equilibrium().flow_rate - 1.0).abs() < 1e-12);
    }
}
