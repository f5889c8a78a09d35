//! BMCC's router: measures its load factor every 200 ms and marks departing packets by ADPM.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, 4.1.1 and chapter 8:
//!   on each arrival     lambda += size
//!   every t_q           a sample of the queue
//!   every t_p           q_av = a q_av + (1 - a) (mean of the samples)
//!                       f = (lambda + kappa_1 q_av) / (gamma C t_p); lambda = 0              (4.1)
//!   on each departure   (10) becomes (01) if H(f) > identifier; (11) if f >= u ([`adpm`])
//! C is the link's rate, or an estimate of it that `on_rate` tells.
//! From u on, packets of RFC 3168's senders get (11) too, as they would in a real network. They never get (01),
//! which has another meaning for them.
//! Where the dissertation is silent: gamma is VCP's; ACKs have a queue of their own, which is served first, as in
//! VCP; before the first measurement the load is 0.

use crate::codecs::adpm::Marker;
use crate::codecs::{Codec, Wire};
use crate::filters::Ewma;
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict,
};
use crate::{params, tunes};

params! {
    /// The constants of 4.1 and chapter 8.
    pub struct Params {
        /// Load-factor measurement interval t_p.
        pub t_p: Span = Span::from_millis(200), in 0.001, 100.0;
        /// Queue sampling interval t_q.
        pub t_q: Span = Span::from_millis(10), in 0.0001, 10.0;
        /// Target utilisation gamma of the link.
        pub gamma: f64 = 0.98, in 0.1, 1.0;
        /// How fast the queue drains, kappa_1.
        pub kappa: f64 = 0.75, in 0.0, 100.0;
        /// Weight a of the past in the queue average, each t_p.
        pub queue_weight: f64 = 0.875, in 0.0, 0.9999;
        /// Serve ACKs before data, as in VCP?
        pub acks_first: bool = true;
    }
}

/// (4.1): traffic and average queue in bytes over what the link should carry in t_p.
pub fn load_factor(traffic: f64, queue: f64, params: &Params, rate: BitRate) -> f64 {
    (traffic + params.kappa * queue) / (params.gamma * rate.bytes_in(params.t_p))
}

/// The measurement of a link's load factor.
#[derive(Clone, Debug)]
pub struct Meter {
    params: Params,
    rate: BitRate,
    traffic: u64,
    queue_sum: f64,
    samples: u32,
    queue: Ewma,
    sampling: Interval,
    measuring: Interval,
}

impl Meter {
    /// Starts at time zero on a link of this rate.
    pub fn new(params: Params, rate: BitRate) -> Self {
        Self {
            params,
            rate,
            traffic: 0,
            queue_sum: 0.0,
            samples: 0,
            queue: Ewma::default(),
            sampling: Interval::default(),
            measuring: Interval::default(),
        }
    }

    /// Counts bytes that arrive.
    #[inline]
    pub fn count(&mut self, bytes: u32) {
        self.traffic += u64::from(bytes);
    }

    /// When its next tick is due.
    pub fn tick_at(&self) -> Time {
        self.sampling.end(self.params.t_q).min(self.measuring.end(self.params.t_p))
    }

    /// Samples the queue. Returns the load factor if an interval ends.
    pub fn tick(&mut self, queue: &QueueView) -> Option<f64> {
        let Params { t_q, t_p, queue_weight, .. } = self.params;
        if self.sampling.next(t_q, queue.now).is_some() {
            self.queue_sum += queue.bytes as f64;
            self.samples += 1;
        }
        let t_p = self.measuring.next(t_p, queue.now)?;
        let mean = self.queue_sum / f64::from(self.samples.max(1));
        let average = self.queue.update(mean, queue_weight);
        let params = Params { t_p, ..self.params };
        let load = load_factor(self.traffic as f64, average, &params, self.rate);
        (self.traffic, self.queue_sum, self.samples) = (0, 0.0, 0);
        Some(load)
    }

    /// Changes the parameters.
    pub fn set(&mut self, params: Params) {
        self.params = params;
    }

    /// The link's rate, or its estimate, has changed.
    pub fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }
}

/// The state of a BMCC router at one link.
#[derive(Clone, Debug)]
pub struct Bmcc {
    params: Params,
    meter: Meter,
    marker: Marker,
}

impl Bmcc {
    fn derive(&mut self) {
        self.meter.set(self.params);
    }
}

impl RouterLaw for Bmcc {
    tunes! { derive }

    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.meter.count(arrival.size);
        Verdict::Accept
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if departure.data {
            self.marker.mark_overload(wire);
        }
        Verdict::Accept
    }

    #[inline]
    fn classify(&mut self, arrival: &Arrival, _: &Wire<'_>) -> usize {
        usize::from(arrival.data || !self.params.acks_first)
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.meter.tick_at())
    }

    fn on_tick(&mut self, queue: &QueueView) {
        if let Some(load) = self.meter.tick(queue) {
            self.marker.measure(load);
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.meter.set_rate(rate);
    }

    fn signal(&self) -> f64 {
        self.marker.load()
    }
}

impl RouterSpec for Bmcc {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "bmcc";
    const TITLE: &'static str =
        "BMCC: load factor every 200 ms, by ADPM in the ECN bits; ACKs first";
    const SOURCE: &'static str = "Qazi, PhD dissertation, 2010, chapters 4 and 8";
    const CODEC: Codec = Codec::Adpm;
    const NEEDS: Needs = Needs { queues: 2, ..Needs::DEPARTURES };
    fn new(params: Params, link: &LinkView) -> Self {
        Self { params, meter: Meter::new(params, link.rate), marker: Marker::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NoDraw, link, offer, queue};
    use super::*;
    use crate::codecs::adpm::{Map, Overload, write};

    #[test]
    fn the_load_factor_of_a_full_link_is_one_over_gamma() {
        // 8 Mbps carry 200 kB in 200 ms; three quarters of the queue count.
        let f = |traffic, queue| {
            load_factor(traffic, queue, &Params::default(), BitRate::from_mbps(8.0))
        };
        assert!((f(200e3, 0.0) - 1.0 / 0.98).abs() < 1e-12);
        assert!((f(121e3, 100e3) - 1.0).abs() < 1e-12);
    }

    /// Makes the ticks up to this instant, with this many packets waiting.
    fn run(law: &mut Bmcc, to_ms: u64, packets: u64) {
        while let Some(now) = law.tick_at().filter(|at| *at <= queue(to_ms, 0).now) {
            law.on_tick(&QueueView { now, ..queue(0, packets) });
        }
    }

    /// The ECN bits of a departing packet of this identifier.
    fn depart(law: &mut Bmcc, identifier: u16) -> u8 {
        let mut header = write(identifier, Map::default(), Overload::Estimated);
        let mut marks = Codec::Adpm.initial();
        let queue = queue(0, 0);
        let departure = Departure { queue, from: 1, waited: Span::ZERO, size: 1000, data: true };
        law.on_departure(&departure, &mut Wire { marks: &mut marks, header: &mut header });
        marks.ecn()
    }

    #[test]
    fn packets_below_the_mapped_load_are_marked() {
        let mut law = <Bmcc as RouterSpec>::new(Params::default(), &link());
        assert_eq!(depart(&mut law, 0), 0b10); // nothing is measured yet
        for _ in 0..147 {
            offer(&mut law, queue(0, 0), Codec::Adpm, &mut NoDraw);
        }
        run(&mut law, 200, 0); // 147 of 196 kB: 0.75, a quarter of 65536
        assert_eq!([16_383, 16_385].map(|identifier| depart(&mut law, identifier)), [0b01, 0b10]);
        for _ in 0..236 {
            offer(&mut law, queue(0, 0), Codec::Adpm, &mut NoDraw);
        }
        run(&mut law, 400, 0); // 236 of 196 kB: beyond 1.2
        assert_eq!([0, 65_535].map(|identifier| depart(&mut law, identifier)), [0b11; 2]);
        run(&mut law, 600, 0);
        assert_eq!(depart(&mut law, 0), 0b10);
    }

    #[test]
    fn the_queue_is_averaged_over_t_p_then_over_eight() {
        let mut law = <Bmcc as RouterSpec>::new(Params::default(), &link());
        run(&mut law, 100, 10);
        run(&mut law, 200, 30); // 20 packets on average, an eighth of which counts at first
        assert!((law.signal() - 0.75 * 20e3 / 8.0 / 196e3).abs() < 1e-12);
        run(&mut law, 400, 20);
        assert!((law.signal() - 0.75 * 20e3 * 15.0 / 64.0 / 196e3).abs() < 1e-12);
    }
}
