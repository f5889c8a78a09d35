//! Links with prices (5) and sources (6) or (15)-(16), with routes, forward and backward delays.
//!
//! The equilibrium solves the convex problem whose dual variables are the prices: each link in turn takes the price
//! at which its load is its virtual capacity, or 0, until no price changes. The delay equations are nonlinear and
//! exact. Every hop has a state of its own for xi of its flow: xi when the packets that arrive there were sent. So the
//! delays of the state are round trips, plus or minus the delays between hops.

use super::Utility;
use crate::dde::{Delayed, Past, Solver, Tolerance, sampled};
use crate::effort::{Effort, Unsolved};
use crate::roots::try_bisect;

/// A link on a flow's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Its index.
    pub link: usize,
    /// tau^f_li, seconds from the source to it; tau^b_li is the rest of the RTT (3).
    pub forward: f64,
}

/// A source and its route.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its hops, at least one; forward delays are shorter than the RTT.
    pub hops: Vec<Hop>,
    /// tau_i, seconds.
    pub rtt: f64,
    /// M_i, the bound on the number of bottlenecks.
    pub bottlenecks: f64,
}

/// The law of the sources.
#[derive(Clone, Debug)]
pub enum Sources {
    /// (6), with x_max of each in packets a second.
    Static {
        /// x_max.
        max_rates: Vec<f64>,
    },
    /// (15)-(16), with beta = z alpha / M.
    Dynamic {
        /// U.
        utility: Utility,
        /// z, 1/s, the same for all.
        zero: f64,
    },
}

/// Links and sources.
#[derive(Clone, Debug)]
pub struct Network {
    /// c_0l, the virtual capacities, packets a second.
    pub capacities: Vec<f64>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// alpha.
    pub alpha: f64,
    /// The law of the sources.
    pub sources: Sources,
}

/// The equilibrium of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    /// x_i0, packets a second.
    pub rates: Vec<f64>,
    /// q_i0, the price of each flow's path, seconds.
    pub heard: Vec<f64>,
    /// p_l0, seconds.
    pub prices: Vec<f64>,
    /// y_l0 / c_0l.
    pub loads: Vec<f64>,
}

/// A network at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Seconds.
    pub time: f64,
    /// Rate of each flow as its first link sees it, packets a second.
    pub rates: Vec<f64>,
    /// Price of each link, seconds.
    pub prices: Vec<f64>,
    /// y_l / c_0l.
    pub loads: Vec<f64>,
}

/// The most sweeps over all links for the equilibrium.
const MOST_SWEEPS: usize = 5_000;
/// The work of a point of a demand curve, as [`Effort`] counts it.
const DEMAND: usize = 10;

impl Network {
    /// `alpha / (M tau)`, by which ln x falls with the price (6), (16).
    pub(super) fn steepness(&self, flow: &Flow) -> f64 {
        self.alpha / (flow.bottlenecks * flow.rtt)
    }

    /// The demand curve f_i (4).
    fn demand(&self, flow: usize, price: f64) -> f64 {
        match &self.sources {
            Sources::Static { max_rates } => {
                max_rates[flow] * libm::exp(-self.steepness(&self.flows[flow]) * price)
            }
            Sources::Dynamic { utility, .. } => utility.demand(price),
        }
    }

    /// The equilibrium.
    ///
    /// # Errors
    /// If there is none with finite prices, or finding it takes too much work.
    pub fn rest(&self, effort: &Effort) -> Result<Rest, Unsolved> {
        let mut prices = vec![1e-3; self.capacities.len()];
        let heard = |prices: &[f64], flow: &Flow| -> f64 {
            flow.hops.iter().map(|hop| prices[hop.link]).sum()
        };
        let mut sweeps = 0;
        loop {
            let mut moved = 0.0_f64;
            for link in 0..prices.len() {
                effort.spend(self.flows.len())?;
                let others: Vec<(usize, f64)> = (self.flows.iter().enumerate())
                    .filter(|(_, flow)| flow.hops.iter().any(|hop| hop.link == link))
                    .map(|(i, flow)| (i, heard(&prices, flow) - prices[link]))
                    .collect();
                let price = self.clearing(link, &others, effort)?;
                moved = moved.max((price - prices[link]).abs() / (price + 1e-9));
                prices[link] = price;
            }
            sweeps += 1;
            if moved < 1e-13 {
                break;
            }
            if sweeps == MOST_SWEEPS {
                return Err(Unsolved::NoRest);
            }
        }
        let heard: Vec<f64> = self.flows.iter().map(|flow| heard(&prices, flow)).collect();
        let rates: Vec<f64> = heard.iter().enumerate().map(|(i, &q)| self.demand(i, q)).collect();
        let mut loads = vec![0.0; prices.len()];
        for (flow, rate) in self.flows.iter().zip(&rates) {
            for hop in &flow.hops {
                loads[hop.link] += rate / self.capacities[hop.link];
            }
        }
        let all = rates.iter().chain(&heard).chain(&loads);
        if !all.clone().all(|value| value.is_finite()) {
            return Err(Unsolved::NoRest);
        }
        Ok(Rest { rates, heard, prices, loads })
    }

    /// The price at which a link's load is its capacity, or 0, given the prices of its flows at other links.
    fn clearing(
        &self,
        link: usize,
        flows: &[(usize, f64)],
        effort: &Effort,
    ) -> Result<f64, Unsolved> {
        let excess = |price: f64| {
            effort.spend(DEMAND * flows.len())?;
            let demand = |&(flow, other): &(usize, f64)| self.demand(flow, other.max(0.0) + price);
            Ok(flows.iter().map(demand).sum::<f64>() - self.capacities[link])
        };
        if excess(0.0)? <= 0.0 {
            return Ok(0.0);
        }
        let mut most = 1e-3;
        while excess(most)? > 0.0 {
            most *= 2.0;
        }
        if most.is_infinite() {
            return Err(Unsolved::NoRest);
        }
        try_bisect(0.0, most, excess)
    }

    /// Solves from `start` times the rates at rest, with the prices at rest, at `samples` instants from 0. The static law,
    /// whose rates follow from the prices, starts with `start` times these.
    ///
    /// # Errors
    /// If there is no equilibrium, the state or a rate is no longer finite, or the solution takes too much work.
    pub fn run(
        &self,
        start: f64,
        length: (f64, usize),
        effort: &Effort,
    ) -> Result<Vec<Sample>, Unsolved> {
        let law = Loop::new(self, start, self.rest(effort)?);
        let mut solver = Solver::new(law, Tolerance::default(), effort);
        sampled(length, |time| {
            solver.advance(time)?;
            let sample = solver.model.sample(time, solver.state(), solver.past());
            let is_finite = sample.loads.iter().chain(&sample.rates).all(|each| each.is_finite());
            Ok(is_finite.then_some(sample))
        })
    }
}

/// The state: the price of each link, and for each hop of each flow xi, less what it is at rest.
struct Loop<'a> {
    network: &'a Network,
    rest: Rest,
    start: f64,
    hops: usize,
}

impl<'a> Loop<'a> {
    fn new(network: &'a Network, start: f64, rest: Rest) -> Self {
        let hops = network.flows.iter().map(|flow| flow.hops.len()).sum();
        Self { network, rest, start, hops }
    }

    /// Calls `each` for every hop, with its index in the state, flow, hop, the price that the flow knew, and the rate at
    /// which it sent, when it sent the packets that arrive there now.
    fn arrivals(
        &self,
        time: f64,
        state: &[f64],
        past: &Past,
        mut each: impl FnMut(usize, usize, &Hop, [f64; 2]),
    ) {
        let mut place = self.network.capacities.len();
        for (i, flow) in self.network.flows.iter().enumerate() {
            let steepness = self.network.steepness(flow);
            for hop in &flow.hops {
                let ago = |of: &Hop| flow.rtt + hop.forward - of.forward;
                let heard: f64 = flow.hops.iter().map(|of| past.at(time - ago(of), of.link)).sum();
                let exponent = state[place] - steepness * (heard - self.rest.heard[i]);
                let rate = self.rest.rates[i] * libm::exp(exponent);
                each(place, i, hop, [heard, rate]);
                place += 1;
            }
        }
    }

    fn sample(&self, time: f64, state: &[f64], past: &Past) -> Sample {
        let links = self.network.capacities.len();
        let mut rates = vec![f64::NAN; self.network.flows.len()];
        let mut loads = vec![0.0; links];
        self.arrivals(time, state, past, |_, flow, hop, [_, rate]| {
            loads[hop.link] += rate / self.network.capacities[hop.link];
            if rates[flow].is_nan() {
                rates[flow] = rate;
            }
        });
        Sample { time, rates, prices: state[..links].to_vec(), loads }
    }
}

impl Delayed for Loop<'_> {
    fn start(&self) -> Vec<f64> {
        let mut state = self.rest.prices.clone();
        let xi = match self.network.sources {
            Sources::Dynamic { .. } => libm::log(self.start),
            // xi has no equation here; the start changes the prices instead.
            Sources::Static { .. } => {
                state.iter_mut().for_each(|price| *price *= self.start);
                0.0
            }
        };
        state.resize(state.len() + self.hops, xi);
        state
    }

    fn delays(&self) -> Vec<f64> {
        let mut delays = Vec::new();
        for flow in &self.network.flows {
            for hop in &flow.hops {
                delays.extend(flow.hops.iter().map(|of| flow.rtt + hop.forward - of.forward));
            }
        }
        delays.sort_by(f64::total_cmp);
        delays.dedup();
        delays
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]) {
        let network = self.network;
        slope.fill(0.0);
        self.arrivals(time, state, past, |place, flow, hop, [heard, rate]| {
            slope[hop.link] += rate / network.capacities[hop.link];
            // Packets were sent at the rates at rest before time 0.
            if let (Sources::Dynamic { utility, zero }, true) =
                (&network.sources, time >= hop.forward)
            {
                let beta = zero * network.alpha / network.flows[flow].bottlenecks;
                slope[place] = beta / network.flows[flow].rtt * (utility.marginal(rate) - heard);
            }
        });
        for (link, slope) in slope[..network.capacities.len()].iter_mut().enumerate() {
            let excess = *slope - 1.0;
            *slope = if state[link] > 0.0 || excess > 0.0 { excess } else { 0.0 };
        }
    }

    fn confine(&self, state: &mut [f64]) {
        for price in &mut state[..self.network.capacities.len()] {
            *price = price.max(0.0);
        }
    }

    fn work(&self) -> usize {
        self.network.flows.iter().map(|flow| flow.hops.len() * (5 + flow.hops.len())).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    pub(crate) const LOG: Utility = Utility { weight: 50.0, fairness: 1.0, pivot: 0.1 };

    /// A route whose hops lie evenly over the first half of the RTT.
    pub(crate) fn flow(links: &[usize], rtt: f64) -> Flow {
        let forward = |k: usize| rtt / 2.0 * k as f64 / links.len() as f64;
        let hop = |(k, &link): (usize, &usize)| Hop { link, forward: forward(k) };
        let hops = links.iter().enumerate().map(hop).collect();
        Flow { hops, rtt, bottlenecks: links.len() as f64 }
    }

    /// Two links, a flow over both, one over each.
    pub(crate) fn line(sources: Sources) -> Network {
        let flows = vec![flow(&[0, 1], 0.1), flow(&[0], 0.04), flow(&[1], 0.2)];
        Network { capacities: vec![1000.0, 1000.0], flows, alpha: 0.37, sources }
    }

    /// Proportional fairness on a line of two: a third to the long flow, two thirds to the others; x q = K.
    #[test]
    fn log_utilities_rest_proportionally_fair() {
        let network = line(Sources::Dynamic { utility: LOG, zero: 0.5 });
        let rest = network.rest(&Effort::free()).unwrap();
        for (rate, share) in rest.rates.iter().zip([1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
            assert!((rate / (1000.0 * share) - 1.0).abs() < 1e-9, "{rest:?}");
        }
        assert!((rest.prices[0] - 50.0 / 666.666_666_7).abs() < 1e-9, "{rest:?}");
    }

    /// Minimum potential delay: x is as q^(-1/2), so the long flow gets 1 / sqrt 2 of the others.
    #[test]
    fn other_utilities_rest_where_their_demand_is() {
        let network =
            line(Sources::Dynamic { utility: Utility { fairness: 2.0, ..LOG }, zero: 0.5 });
        let rates = network.rest(&Effort::free()).unwrap().rates;
        assert!((rates[1] / rates[0] - std::f64::consts::SQRT_2).abs() < 1e-9, "{rates:?}");
        assert!((rates[0] + rates[1] - 1000.0).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn theorem_4_the_nonlinear_network_comes_to_rest_at_the_demand() {
        let mut network = line(Sources::Dynamic { utility: LOG, zero: 2.0 });
        // A third link with room to spare.
        network.capacities.push(5000.0);
        network.flows[0].hops.push(Hop { link: 2, forward: 0.06 });
        let last = network.run(0.7, (300.0, 2), &Effort::free()).unwrap().pop().unwrap();
        for (rate, share) in last.rates.iter().zip([1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
            assert!((rate / (1000.0 * share) - 1.0).abs() < 1e-4, "{last:?}");
        }
        assert!((last.loads[0] - 1.0).abs() < 1e-6 && (last.loads[1] - 1.0).abs() < 1e-6);
        assert!(last.prices[2] == 0.0 && (last.loads[2] - 1.0 / 15.0).abs() < 1e-4, "{last:?}");
    }

    /// One link: the price is N K / c_0 whatever the RTTs.
    #[test]
    fn one_link_rests_at_n_k_over_c() {
        let flows = [0.04, 0.08, 0.2].map(|rtt| flow(&[0], rtt)).to_vec();
        let sources = Sources::Dynamic { utility: LOG, zero: 2.5 };
        let network = Network { capacities: vec![1000.0], flows, alpha: 0.37, sources };
        let last = network.run(0.5, (400.0, 2), &Effort::free()).unwrap().pop().unwrap();
        assert!((last.prices[0] / (3.0 * 50.0 / 1000.0) - 1.0).abs() < 1e-3, "{last:?}");
        assert!((last.loads[0] - 1.0).abs() < 1e-4, "{last:?}");
    }

    /// How the greatest distance of a load from 1 changes from early to late, around pi/2.
    #[test]
    fn the_static_law_is_stable_below_half_pi_and_only_there() {
        let growth = |alpha: f64| {
            let flows = vec![flow(&[0], 0.1); 3];
            let max_rates = vec![500.0; 3];
            let sources = Sources::Static { max_rates };
            let network = Network { capacities: vec![1000.0], flows, alpha, sources };
            let samples = network.run(1.001, (60.0, 6001), &Effort::free()).unwrap();
            let off = |sample: &Sample| (sample.loads[0] - 1.0).abs();
            let peak = |part: &[Sample]| part.iter().map(off).fold(0.0, f64::max);
            peak(&samples[5000..]) / peak(&samples[200..1200])
        };
        assert!(growth(0.97 * FRAC_PI_2) < 0.1, "{}", growth(0.97 * FRAC_PI_2));
        assert!(growth(1.03 * FRAC_PI_2) > 2.0, "{}", growth(1.03 * FRAC_PI_2));
    }

    /// x_max e^{-alpha p / tau} = c / N by hand.
    #[test]
    fn the_static_law_rests_where_6_says() {
        let flows = vec![flow(&[0], 0.1); 4];
        let sources = Sources::Static { max_rates: vec![500.0; 4] };
        let network = Network { capacities: vec![1000.0], flows, alpha: 1.0, sources };
        let rest = network.rest(&Effort::free()).unwrap();
        assert!((rest.prices[0] - 0.1 * std::f64::consts::LN_2).abs() < 1e-12, "{rest:?}");
        // And comes back there, rates and all.
        let last = network.run(0.5, (20.0, 2), &Effort::free()).unwrap().pop().unwrap();
        assert!((last.prices[0] / rest.prices[0] - 1.0).abs() < 1e-6, "{last:?}");
        assert!((last.rates[3] - 250.0).abs() < 1e-3, "{last:?}");
    }
}
