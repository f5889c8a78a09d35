//! Prices that are queueing delays, over one link without a law: (24)-(25), (27)-(28).
//!
//! The link's queue obeys `q' = y / c - 1`, with its real capacity c. A source with the propagation delay d estimates it
//! as `d + e`, by the least RTT so far; e is above 0 if the source has joined while there was a queue. It reads the
//! price `q - e`, or 0 if that is negative:
//!
//!   (24) xi' = beta / (d + q) (U'(x) - (q - e)),
//!   (25) x = x_m e^xi ((d + e) / (d + q))^(alpha / M), or (28) the same with the window x (d + q) for x.
//!
//! At rest `U'(x) = q - e`: with `K log x`, `x = K / (q - e)`. Delays are those of packets in a FIFO queue: the ACK that
//! a source reads at t is of a packet that joined the queue at s with `s + q(s) + d = t`.

use super::Utility;
use crate::dde::{Delayed, Past, Solver, Tolerance, sampled};
use crate::effort::{Effort, Unsolved};
use crate::roots::bisect;
pub use knee_laws::senders::price::delay::Exponent;

/// A source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// d, seconds.
    pub base: f64,
    /// e, seconds: its estimate of d, minus d.
    pub error: f64,
}

/// One link and its flows.
#[derive(Clone, Debug)]
pub struct Queueing {
    /// c, packets a second.
    pub capacity: f64,
    /// The flows.
    pub flows: Vec<Flow>,
    /// alpha / M.
    pub alpha: f64,
    /// z, 1/s; beta = z alpha / M.
    pub zero: f64,
    /// U.
    pub utility: Utility,
    /// Does the power give the rate, (25), or the window, (28)?
    pub exponent: Exponent,
}

/// The link and its flows at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Seconds.
    pub time: f64,
    /// q of packets that arrive now, seconds.
    pub queue: f64,
    /// Rates, packets a second.
    pub rates: Vec<f64>,
}

/// The queueing delay at rest, in seconds, on a link of `capacity` packets a second with `U = weight log x`. `early` flows
/// know their propagation delay; `late` flows estimate it `error` too long. It solves `early K / q + late K / (q - e) = c`.
pub fn queue_of_two_groups(early: f64, late: f64, error: f64, weight: f64, capacity: f64) -> f64 {
    let half = (error + (early + late) * weight / capacity) / 2.0;
    half + (half * half - early * weight * error / capacity).max(0.0).sqrt()
}

impl Queueing {
    /// The queueing delay and the rates at rest: `sum f(q - e_i) = c`.
    ///
    /// # Errors
    /// If they are not finite.
    pub fn rest(&self, effort: &Effort) -> Result<(f64, Vec<f64>), Unsolved> {
        let rates = |queue: f64| {
            self.flows.iter().map(move |flow| self.utility.demand((queue - flow.error).max(0.0)))
        };
        let excess = |queue: f64| rates(queue).sum::<f64>() - self.capacity;
        let least = self.flows.iter().map(|flow| flow.error).fold(0.0, f64::max);
        let mut above = 1e-3;
        while excess(least + above) > 0.0 {
            effort.spend(10 * self.flows.len())?;
            above *= 2.0;
        }
        let queue = bisect(least, least + above, excess);
        let rates: Vec<f64> = rates(queue).collect();
        if !(queue.is_finite() && rates.iter().all(|rate| rate.is_finite())) {
            return Err(Unsolved::NoRest);
        }
        Ok((queue, rates))
    }

    /// Solves from `start` times the rates at rest, with the queue at rest, at `samples` instants from 0.
    ///
    /// # Errors
    /// If there is no equilibrium, the state or a rate is no longer finite, or the solution takes too much work.
    pub fn run(
        &self,
        start: f64,
        length: (f64, usize),
        effort: &Effort,
    ) -> Result<Vec<Sample>, Unsolved> {
        let (queue, rates) = self.rest(effort)?;
        let deepest = LONGEST_QUEUE * queue.max(self.flows.iter().map(|flow| flow.base).sum());
        let law = Loop { link: self, queue, rates, start, deepest };
        let mut solver = Solver::new(law, Tolerance::default(), effort);
        sampled(length, |time| {
            solver.advance(time)?;
            let rates = (0..self.flows.len()).map(|flow| {
                let heard = solver.model.heard(flow, time, solver.past());
                solver.model.rate(flow, heard, solver.state()[flow + 1])
            });
            let sample = Sample { time, queue: solver.state()[0], rates: rates.collect() };
            let is_finite = sample.rates.iter().all(|rate| rate.is_finite());
            Ok(is_finite.then_some(sample))
        })
    }
}

/// The longest queue, as a multiple of the queue at rest or of the sum of propagation delays. No solution needs a longer
/// one; it bounds the past that is kept.
const LONGEST_QUEUE: f64 = 20.0;

/// The state: the queueing delay, and xi of each flow minus its value at rest.
struct Loop<'a> {
    link: &'a Queueing,
    queue: f64,
    rates: Vec<f64>,
    start: f64,
    deepest: f64,
}

impl Loop<'_> {
    /// The queueing delay of the packet whose acknowledgement arrives now.
    fn heard(&self, flow: usize, time: f64, past: &Past) -> f64 {
        let left = time - self.link.flows[flow].base;
        // s + q(s) grows with s.
        let sent = bisect(left - self.deepest, left, |s| s + past.at(s, 0) - left);
        left - sent
    }

    /// The rate of a flow that measures this queueing delay.
    fn rate(&self, flow: usize, heard: f64, xi: f64) -> f64 {
        let Flow { base, error } = self.link.flows[flow];
        let known = |queue: f64| base + queue.max(error);
        let answer = libm::pow(known(self.queue) / known(heard), self.link.alpha);
        let paced = match self.link.exponent {
            Exponent::Rate => 1.0,
            Exponent::Window => (base + self.queue) / (base + heard),
        };
        self.rates[flow] * libm::exp(xi) * answer * paced
    }
}

impl Delayed for Loop<'_> {
    fn start(&self) -> Vec<f64> {
        let mut state = vec![libm::log(self.start); self.rates.len() + 1];
        state[0] = self.queue;
        state
    }

    fn delays(&self) -> Vec<f64> {
        let bases = self.link.flows.iter().map(|flow| flow.base);
        let longest = bases.clone().fold(0.0, f64::max) + self.deepest;
        bases.chain([longest]).collect()
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past, slope: &mut [f64]) {
        let mut arrivals = 0.0;
        for (i, flow) in self.link.flows.iter().enumerate() {
            let heard = self.heard(i, time, past);
            let rate = self.rate(i, heard, state[i + 1]);
            let price = (heard - flow.error).max(0.0);
            let beta = self.link.zero * self.link.alpha;
            slope[i + 1] = beta / (flow.base + heard) * (self.link.utility.marginal(rate) - price);
            arrivals += rate;
        }
        let excess = arrivals / self.link.capacity - 1.0;
        let full = state[0] >= self.deepest && excess > 0.0;
        let empty = state[0] <= 0.0 && excess < 0.0;
        slope[0] = if full || empty { 0.0 } else { excess };
    }

    fn confine(&self, state: &mut [f64]) {
        state[0] = state[0].clamp(0.0, self.deepest);
    }

    /// Each flow finds the queueing delay that it measures, by some fifty steps.
    fn work(&self) -> usize {
        300 * self.rates.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::network::tests::LOG;
    use super::*;

    fn link(flows: Vec<Flow>, exponent: Exponent) -> Queueing {
        Queueing { capacity: 1000.0, flows, alpha: 0.37, zero: 2.0, utility: LOG, exponent }
    }

    fn flow(base: f64, error: f64) -> Flow {
        Flow { base, error }
    }

    /// Each keeps K packets in the queue: N K / c of delay, c / N of rate, whatever the propagation delays.
    #[test]
    fn flows_that_know_their_delay_share_equally() {
        for exponent in [Exponent::Rate, Exponent::Window] {
            let link = link(vec![flow(0.04, 0.0), flow(0.1, 0.0), flow(0.3, 0.0)], exponent);
            let (queue, _) = link.rest(&Effort::free()).unwrap();
            assert!((queue - 3.0 * 50.0 / 1000.0).abs() < 1e-12, "{queue}");
            let last = link.run(0.7, (300.0, 2), &Effort::free()).unwrap().pop().unwrap();
            assert!((last.queue / 0.15 - 1.0).abs() < 1e-4, "{last:?}");
            for rate in last.rates {
                assert!((rate / (1000.0 / 3.0) - 1.0).abs() < 1e-4, "{rate}");
            }
        }
    }

    /// If as many flows join over the queue as there are already, the late ones get the golden ratio of the others' rate:
    /// q = (3 + sqrt 5) / 2 of the queue that they found.
    #[test]
    fn late_flows_take_a_larger_share() {
        let found = 2.0 * 50.0 / 1000.0;
        let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
        let flows = vec![flow(0.1, 0.0), flow(0.1, 0.0), flow(0.1, found), flow(0.2, found)];
        let closed = queue_of_two_groups(2.0, 2.0, found, 50.0, 1000.0);
        assert!((closed / found - golden * golden).abs() < 1e-12, "{closed}");
        let link = link(flows, Exponent::Rate);
        let (queue, rates) = link.rest(&Effort::free()).unwrap();
        assert!((queue - closed).abs() < 1e-12 && (rates[2] / rates[0] - golden).abs() < 1e-12);
        let last = link.run(0.8, (400.0, 2), &Effort::free()).unwrap().pop().unwrap();
        assert!((last.rates[2] / last.rates[0] - golden).abs() < 1e-4, "{last:?}");
        assert!((last.rates[3] / last.rates[1] - golden).abs() < 1e-4, "{last:?}");
        assert!((last.queue / closed - 1.0).abs() < 1e-4, "{last:?}");
    }

    /// Around rest it is (13), whose delay is the RTT with the queue in it: alpha is stable up to near pi/2.
    #[test]
    fn the_bound_on_alpha_is_half_pi_as_with_virtual_prices() {
        let growth = |alpha: f64| {
            let mut link = link(vec![flow(0.1, 0.0)], Exponent::Rate);
            link.alpha = alpha;
            link.zero = 1e-3;
            let samples = link.run(1.001, (60.0, 6001), &Effort::free()).unwrap();
            // From the deepest to the shallowest queue: xi is slow to bring their mean back.
            let swing = |part: &[Sample]| {
                let queues = || part.iter().map(|sample| sample.queue);
                queues().fold(0.0, f64::max) - queues().fold(f64::INFINITY, f64::min)
            };
            swing(&samples[5000..]) / swing(&samples[200..1200])
        };
        assert!(growth(0.95 * std::f64::consts::FRAC_PI_2) < 0.5);
        assert!(growth(1.05 * std::f64::consts::FRAC_PI_2) > 2.0);
    }
}
