//! MLCP's router: measures its load factor over an interval that follows the mean RTT of its packets.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD
//! dissertation, University of Pittsburgh, 2010, 3.3:
//!   every t_q   q~ = a q~ + (1 - a) q(t);  T_d = mean of the RTTs in headers            (3.6)
//!               T_c += theta (T_d - T_c), theta = t_q / T_c where T_d >= T_c,
//!               else t_q T_d / (phi T_c^2)                                              (3.7)
//!   every t_p   sigma = (lambda + kappa_q q~) / (gamma C t_p)                           (3.5)
//!               t_p = the least of S that is at least T_c, or the largest
//! Departing data packets carry the codes of sigma and of the t_p over which it was measured, unless a more
//! loaded hop has written. The interval T of (3.6) is t_q: both are 10 ms.
//! Where the dissertation is silent: gamma and a are VCP's; ACKs have a queue of their own, which is served
//! first, as in VCP; T_c starts at the 200 ms of t_p; theta is at most 1; an interval without an RTT leaves T_c
//! as it is; before the first measurement the load is low.

use crate::codecs::mlcp::{INTERVALS_MS, mark, rtt_s};
use crate::codecs::{Codec, Wire};
use crate::filters::Ewma;
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict,
};
use crate::{params, tunes};

params! {
    /// The constants of 3.3.
    pub struct Params {
        /// Interval t_q between samples of the queue, and T of (3.6).
        pub t_q: Span = Span::from_millis(10), in 0.0001, 10.0;
        /// Mean RTT at the start, from which t_p follows.
        pub initial_rtt: Span = Span::from_millis(200), in 0.001, 10.0 => fixed;
        /// Target utilisation gamma of the link.
        pub gamma: f64 = 0.98, in 0.1, 1.0;
        /// How fast the persistent queue drains, kappa_q.
        pub kappa_q: f64 = 0.75, in 0.0, 100.0;
        /// Weight a of the past in the queue average.
        pub queue_weight: f64 = 0.875, in 0.0, 0.9999;
        /// Factor phi by which the mean RTT falls more slowly than it rises.
        pub phi: f64 = 50.0, in 1.0, 1e6;
        /// Serve ACKs before data, as in VCP?
        pub acks_first: bool = true;
    }
}

/// (3.5): traffic and persistent queue in bytes over what the link should carry in t_p.
pub fn load_factor(traffic: f64, queue: f64, t_p: Span, (params, rate): (&Params, BitRate)) -> f64 {
    (traffic + params.kappa_q * queue) / (params.gamma * rate.bytes_in(t_p))
}

/// (3.7): the control path's mean RTT after a sample of the data path's, both in seconds.
pub fn mean_rtt(control: f64, data: f64, params: &Params) -> f64 {
    let interval = params.t_q.seconds();
    let theta = if data >= control {
        interval / control
    } else {
        interval * data / (params.phi * control * control)
    };
    control + theta.min(1.0) * (data - control)
}

/// The index in S of the interval for this mean RTT in seconds.
pub fn interval(mean_rtt: f64) -> usize {
    let fits = |ms: &u64| *ms as f64 >= 1000.0 * mean_rtt;
    INTERVALS_MS.iter().position(fits).unwrap_or(INTERVALS_MS.len() - 1)
}

/// The state of an MLCP router at one link.
#[derive(Clone, Debug)]
pub struct Mlcp {
    params: Params,
    rate: BitRate,
    traffic: u64,
    queue: Ewma,
    /// Sum of the RTTs since the last sample, in seconds; below, their number.
    rtt_sum: f64,
    rtts: u32,
    mean_rtt: f64,
    sampling: Interval,
    measuring: Interval,
    /// Index in S of the current interval.
    interval: usize,
    load_factor: f64,
    /// Index in S of the interval over which the load factor was measured.
    measured_over: usize,
}

impl Mlcp {
    /// The current interval t_p.
    fn t_p(&self) -> Span {
        Span::from_millis(INTERVALS_MS[self.interval])
    }
}

impl RouterLaw for Mlcp {
    tunes! {}

    fn on_arrival(&mut self, arrival: &Arrival, wire: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.traffic += u64::from(arrival.size);
        if arrival.data
            && wire.marks.codec() == Codec::Mlcp
            && let Some(rtt) = rtt_s(wire.header)
        {
            self.rtt_sum += rtt;
            self.rtts += 1;
        }
        Verdict::Accept
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if departure.data && wire.marks.codec() == Codec::Mlcp {
            mark(wire.header, self.load_factor, self.measured_over);
        }
        Verdict::Accept
    }

    #[inline]
    fn classify(&mut self, arrival: &Arrival, _: &Wire<'_>) -> usize {
        usize::from(arrival.data || !self.params.acks_first)
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.sampling.end(self.params.t_q).min(self.measuring.end(self.t_p())))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        if self.sampling.next(self.params.t_q, queue.now).is_some() {
            self.queue.update(queue.bytes as f64, self.params.queue_weight);
            if self.rtts > 0 {
                let data = self.rtt_sum / f64::from(self.rtts);
                self.mean_rtt = mean_rtt(self.mean_rtt, data, &self.params);
                (self.rtt_sum, self.rtts) = (0.0, 0);
            }
        }
        if let Some(t_p) = self.measuring.next(self.t_p(), queue.now) {
            let link = (&self.params, self.rate);
            self.load_factor = load_factor(self.traffic as f64, self.queue.value(), t_p, link);
            self.traffic = 0;
            self.measured_over = self.interval;
            self.interval = interval(self.mean_rtt);
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }

    fn signal(&self) -> f64 {
        self.load_factor
    }
}

impl RouterSpec for Mlcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "mlcp";
    const TITLE: &'static str =
        "MLCP: load factor over a mean RTT, in four bits and three of interval";
    const SOURCE: &'static str = "Qazi, PhD dissertation, 2010, chapter 3";
    const CODEC: Codec = Codec::Mlcp;
    const NEEDS: Needs = Needs { queues: 2, ..Needs::DEPARTURES };
    fn new(params: Params, link: &LinkView) -> Self {
        let mean_rtt = params.initial_rtt.seconds();
        let interval = interval(mean_rtt);
        Self {
            params,
            rate: link.rate,
            traffic: 0,
            queue: Ewma::default(),
            rtt_sum: 0.0,
            rtts: 0,
            mean_rtt,
            sampling: Interval::default(),
            measuring: Interval::default(),
            interval,
            load_factor: 0.0,
            measured_over: interval,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NoDraw, link, queue, tick_until};
    use super::*;
    use crate::codecs::mlcp::{Levels, read, write};

    const LEVELS: Levels = Levels { mi: 5, md: 8, ii: true };

    #[test]
    fn the_interval_is_the_least_that_covers_the_mean_rtt() {
        let ms = |rtt_ms: f64| INTERVALS_MS[interval(rtt_ms / 1000.0)];
        assert_eq!([1.0, 80.0, 80.1, 200.0, 201.0].map(ms), [80, 80, 200, 200, 400]);
        assert_eq!([1399.0, 1400.0, 1401.0, 9e3].map(ms), [1400; 4]);
    }

    #[test]
    fn the_mean_rtt_follows_fast_up_and_slowly_down() {
        let params = Params::default();
        assert!((mean_rtt(0.1, 0.2, &params) - 0.11).abs() < 1e-15); // theta 10 / 100
        // theta 10 * 100 / (50 * 200^2) = 1 / 2000
        assert!((mean_rtt(0.2, 0.1, &params) - 0.19995).abs() < 1e-15);
        assert_eq!(mean_rtt(0.001, 0.5, &params), 0.5); // at most all the way
    }

    /// A second of 600 packets with this RTT. Returns what the last of them carries.
    fn after(router: &mut Mlcp, rtt_ms: f64, from_ms: u64) -> (u32, u64) {
        let mut header = write(rtt_ms / 1000.0, LEVELS);
        let mut marks = Codec::Mlcp.initial();
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        for packet in 0..600 {
            let view = queue(from_ms + packet * 1000 / 600, 0);
            tick_until(router, view);
            let arrival =
                Arrival { queue: view, idle_since: None, flow: 0, size: 1000, data: true };
            router.on_arrival(&arrival, &mut wire, &mut NoDraw);
        }
        let view = queue(from_ms + 1000, 0);
        let departure =
            Departure { queue: view, from: 0, waited: Span::ZERO, size: 1000, data: true };
        router.on_departure(&departure, &mut wire);
        let (code, interval) = read([header[0], 0]);
        (code, interval.ps() / 1_000_000_000)
    }

    #[test]
    fn load_and_interval_travel_together() {
        // 0.6 MB on a link that should carry 0.98: 61 %, the fourth level.
        let mut router = <Mlcp as RouterSpec>::new(Params::default(), &link());
        assert_eq!(after(&mut router, 150.0, 0), (4, 200));
        // The mean rises past 200 ms within some tens of samples, and past 400 ms.
        assert_eq!(after(&mut router, 500.0, 1000), (4, 400));
        assert!(router.mean_rtt > 0.4 && router.mean_rtt < 0.5);
        assert_eq!(after(&mut router, 500.0, 2000), (4, 600));
    }
}
