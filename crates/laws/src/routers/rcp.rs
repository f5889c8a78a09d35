//! RCP's router: estimates the rate that processor sharing would give each flow, from spare capacity and queue.
//!
//! S. Jain, D. Loguinov, "PIQI-RCP: Design and Analysis of Rate-Based Explicit Congestion Control", II,
//! of N. Dukkipati et al., "Processor Sharing Flows in the Internet", IWQoS 2005. Every T, in bytes and s:
//!   R = R [1 + T / (d C) (alpha (C - y) - beta q / d)]                                          (1)
//! d is a moving average of the RTTs in headers. The kind of average decides whether flows of other links mislead the
//! router (III-A), so it is a parameter. By flow: each packet has the weight size / rate, and both sums, of weights and
//! of RTTs times weights, decay by T / d each T. By packet: the same with weight 1. By the authors' ns-2 code: with m
//! the mean of the interval's RTTs, weighted by bytes,
//!   d += g (m - d), g = T / d if m >= d, else (R / C) (m / d) (T / d), at most 1
//! Differs from that code: T does not change if d is shorter; intervals do not start at random.

use super::rate_router::{Control, Measurement, RateBounds, RateRouter, Stamp};
use crate::codecs::Codec;
use crate::params::{ParamError, ParamSet, Value};
use crate::router::{LinkView, Needs, RouterSpec};
use crate::{choices, params};

choices! {
    /// The kind of mean that d is.
    pub enum Mean {
        /// Over flows: each counts once, as in the example of III-A.
        Flows = "flows",
        /// Over packets: fast flows count more.
        Packets = "packets",
        /// Over bytes, rising faster than falling, as in the authors' ns-2 code.
        Authors = "authors",
    }
}

params! {
    /// The constants of V, then the bounds of the link's rate.
    pub struct Params {
        /// Share alpha of the spare capacity that is given out each d.
        pub alpha: f64 = 0.4, in 0.0, 10.0;
        /// Share beta of the queue that is drained each d.
        pub beta: f64 = 1.0, in 0.0, 10.0;
        /// The mean that the RTT d is: over flows, over packets, or that of the authors' code.
        pub mean: Mean = Mean::Flows;
        with bounds: RateBounds;
    }
}

/// (1): the next rate, given the mean RTT d in seconds.
pub fn control_step(measured: &Measurement, d: f64, params: &Params) -> f64 {
    let Measurement { rate, input, queue, capacity } = *measured;
    let spare = params.alpha * (capacity - input) - params.beta * queue / d;
    rate * (1.0 + params.bounds.interval.seconds() / (d * capacity) * spare)
}

/// The mean RTT of the authors' code after an interval whose RTTs have the mean `sample`, weighted by bytes. The link's
/// rate is `share` of its capacity. Times in seconds.
pub fn authors_mean((d, sample): (f64, f64), share: f64, interval: f64) -> f64 {
    let up = interval / d;
    let gain = if sample >= d { up } else { share * sample / d * up };
    d + gain.min(1.0) * (sample - d)
}

/// RCP's control.
#[derive(Clone, Debug)]
pub struct Rcp {
    params: Params,
    mean_rtt: f64,
    /// Sums of weights and of RTTs times weights; below, those of the current interval.
    faded: [f64; 2],
    fresh: [f64; 2],
}

impl Rcp {
    fn average(&mut self, share: f64) {
        let [weight, weighted] = std::mem::take(&mut self.fresh);
        if weight <= 0.0 {
            return;
        }
        let interval = self.params.bounds.interval.seconds();
        self.mean_rtt = if self.params.mean == Mean::Authors {
            authors_mean((self.mean_rtt, weighted / weight), share, interval)
        } else {
            let kept = 1.0 - (interval / self.mean_rtt).min(1.0);
            self.faded = [kept * self.faded[0] + weight, kept * self.faded[1] + weighted];
            self.faded[1] / self.faded[0]
        };
    }
}

impl Control for Rcp {
    fn sample(&mut self, rtt: f64, packet: &Stamp) {
        let weight = match (self.params.mean, packet.sending) {
            (Mean::Flows, Some(rate)) => packet.size / rate,
            (Mean::Flows, None) => return,
            (Mean::Packets, _) => 1.0,
            (Mean::Authors, _) => packet.size,
        };
        self.fresh[0] += weight;
        self.fresh[1] += weight * rtt;
    }

    fn step(&mut self, measured: &Measurement) -> f64 {
        self.average(measured.rate / measured.capacity);
        control_step(measured, self.mean_rtt, &self.params)
    }

    fn rtt(&self) -> f64 {
        self.mean_rtt
    }

    fn bounds(&self) -> &RateBounds {
        &self.params.bounds
    }

    /// If the kind of mean changes, the new one starts at the current RTT.
    fn tune(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        let before = self.params.mean;
        self.params.tune(name, value)?;
        if self.params.mean != before {
            (self.faded, self.fresh) = ([0.0; 2], [0.0; 2]);
        }
        Ok(())
    }
}

impl RouterSpec for Rcp {
    type Law = RateRouter<Self>;
    type Params = Params;
    const NAME: &'static str = "rcp";
    const TITLE: &'static str = "RCP: one rate for all flows, from spare capacity and queue";
    const SOURCE: &'static str = "Dukkipati et al., IWQoS 2005; Jain and Loguinov, (1)";
    const CODEC: Codec = Codec::Rate;
    const NEEDS: Needs = Needs::DEPARTURES;
    fn new(params: Params, link: &LinkView) -> RateRouter<Self> {
        let mean_rtt = params.bounds.initial_rtt.seconds();
        let control = Self { params, mean_rtt, faded: [0.0; 2], fresh: [0.0; 2] };
        RateRouter::new(control, link)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NoDraw, link, queue, tick_until};
    use super::*;
    use crate::codecs::Wire;
    use crate::codecs::rate::{Hops, Request, echo, read};
    use crate::quantities::Span;
    use crate::router::{Arrival, Departure, RouterLaw};

    /// 1 MB/s, 100 ms: 10 ms of half a load give 0.4 x 0.1 x 0.5 = 2 %.
    #[test]
    fn the_control_step_by_hand() {
        let params = Params::default();
        let measured = Measurement { rate: 1e5, input: 5e5, queue: 0.0, capacity: 1e6 };
        let step = |measured: &Measurement| control_step(measured, 0.1, &params) / 1e5;
        assert!((step(&measured) - 1.02).abs() < 1e-12);
        assert!((step(&Measurement { input: 1e6, ..measured }) - 1.0).abs() < 1e-12);
        // Full, with 10 kB waiting: 0.1 x 100 kB/s over 1 MB/s.
        assert!((step(&Measurement { input: 1e6, queue: 1e4, ..measured }) - 0.99).abs() < 1e-12);
    }

    #[test]
    fn the_authors_mean_follows_fast_up_and_slowly_down() {
        assert!((authors_mean((0.1, 0.2), 0.5, 0.01) - 0.11).abs() < 1e-12);
        // 0.5 x 0.1 / 0.2 x 0.01 / 0.2 of the way
        assert!((authors_mean((0.2, 0.1), 0.5, 0.01) - 0.19875).abs() < 1e-12);
        assert_eq!(authors_mean((0.001, 0.5), 0.5, 0.01), 0.5);
    }

    /// One flow of 710 ms at 55 % of the link, nine of 20 ms at 5 %: III-A's.
    fn mean_of(mean: Mean) -> f64 {
        let params = Params { mean, ..Params::default() };
        let mut router = <Rcp as RouterSpec>::new(params, &link());
        let mut marks = Codec::Rate.initial();
        for packet in 0..10_000 {
            let view = queue(packet, 0); // one a ms is a full link
            tick_until(&mut router, view);
            let (rtt_s, sending) = if packet * 11 % 20 < 11 { (0.71, 5.5e5) } else { (0.02, 5e4) };
            let request = Request { desired: 1e9, rtt_s, sending, hops: Hops::All };
            let mut header = request.write();
            let wire = &mut Wire { marks: &mut marks, header: &mut header };
            let arrival =
                Arrival { queue: view, idle_since: None, flow: 0, size: 1000, data: true };
            router.on_arrival(&arrival, wire, &mut NoDraw);
        }
        router.control().rtt()
    }

    #[test]
    fn the_mean_rtt_is_of_flows_packets_or_what_the_authors_have() {
        assert!((mean_of(Mean::Flows) - 0.089).abs() < 0.002); // the paper's number
        assert!((mean_of(Mean::Packets) - (0.55 * 0.71 + 0.45 * 0.02)).abs() < 0.02);
        // Up is faster than down: between the mean of bytes and the largest.
        assert!((0.4..0.71).contains(&mean_of(Mean::Authors)));
    }

    #[test]
    fn an_idle_link_offers_all_of_itself_and_an_overload_its_least() {
        let mut router = <Rcp as RouterSpec>::new(Params::default(), &link());
        assert!((router.rate() - 5e4).abs() < 1e-9);
        tick_until(&mut router, queue(10_000, 0));
        assert_eq!(router.rate(), 1e6);
        let mut header =
            Request { desired: 1e9, rtt_s: 0.0, sending: 0.0, hops: Hops::All }.write();
        let mut marks = Codec::Rate.initial();
        let wire = &mut Wire { marks: &mut marks, header: &mut header };
        let view = queue(10_000, 0);
        let departure =
            Departure { queue: view, from: 0, waited: Span::ZERO, size: 1000, data: true };
        router.on_departure(&departure, wire);
        assert_eq!(read(echo(&header)), Some((1e6, 1001)));
        tick_until(&mut router, queue(10_010, 100_000)); // 100 MB wait
        assert!((router.rate() - 0.01 * 1000.0 / 0.2).abs() < 1e-9);
    }
}
