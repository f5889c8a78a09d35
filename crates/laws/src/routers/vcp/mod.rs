//! VCP's router: measures its load factor and tags every departing data packet with its region.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", IEEE/ACM Transactions
//! on Networking 16(6), 2008, III-E.1 and Table I:
//!   R.1 on each arrival     lambda += size
//!   R.2 every t_q           q~ = a q~ + (1 - a) q(t)
//!   R.3 every t_rho         rho = (lambda + kappa_q q~) / (gamma C t_rho)  (1);  lambda = 0
//!   R.4 on each departure   code = max(code of rho, the packet's code)
//! ACKs are served before data, in a queue of their own. q(t) in bytes, both queues together.
//! Before the first measurement the link says low load. Where the authors' ns-2 code does something else it
//! is a parameter: R1, R2, R3, R5 of docs/laws/vcp.md. So are (14) and the TCP-friendly marks of VI-C.

pub mod target;

use crate::choices;
use crate::codecs::{Codec, Load, Wire, ecn, load2};
use crate::filters::Ewma;
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict,
};
use crate::{params, tunes};
use target::GammaRule;

choices! {
    /// How the load factor (1) is rounded.
    pub enum Rounding {
        /// Not at all.
        None = "none",
        /// R2: `floor(per cent) + 1`, so that the thresholds are 79 and 99 %.
        Percent = "percent",
    }
}

choices! {
    /// Which packets are marked at overload.
    pub enum OverloadMarks {
        /// R.4: all that carry VCP's code.
        All = "all",
        /// VI-C: some at random, as in RED; packets of VCP and of TCP with ECN alike.
        Random = "random",
    }
}

choices! {
    /// The steady queue in (1).
    pub enum QueueAverage {
        /// R.2.
        Ewma = "ewma",
        /// R3: the mean of the interval's samples, divided by 16.
        SixteenthOfMean = "sixteenth-of-mean",
    }
}

params! {
    /// Upper part of Table I.
    pub struct Params {
        /// Load-factor measurement interval t_rho.
        pub t_rho: Span = Span::from_millis(200), in 0.001, 100.0;
        /// Queue sampling interval t_q.
        pub t_q: Span = Span::from_millis(10), in 0.0001, 10.0;
        /// Target utilisation gamma of the link.
        pub gamma: f64 = 0.98, in 0.1, 1.0;
        /// How fast the steady queue drains, kappa_q.
        pub kappa_q: f64 = 0.5, in 0.0, 100.0;
        /// Weight a of the past in the queue average.
        pub queue_weight: f64 = 0.875, in 0.0, 0.9999;
        /// Load factor at which low load ends.
        pub transition: f64 = 0.8, in 0.01, 1.0;
        /// How gamma changes: not at all, by (14), or as in the authors' code [R1].
        pub gamma_rule: GammaRule = GammaRule::Fixed;
        /// Target utilisation gamma* of (14).
        pub gamma_target: f64 = 0.95, in 0.1, 1.0;
        /// Interval T_gamma between the steps of (14).
        pub t_gamma: Span = Span::from_secs(2), in 0.001, 1000.0;
        /// Step delta gamma of (14).
        pub delta_gamma: f64 = 0.01, in 0.0, 0.5;
        /// Weight of the past in the utilisation of (14), each t_rho.
        pub utilisation_weight: f64 = 0.875, in 0.0, 0.9999;
        /// Is the load factor rounded before it is encoded [R2]?
        pub rounding: Rounding = Rounding::None;
        /// How the steady queue is computed [R3].
        pub queue_average: QueueAverage = QueueAverage::Ewma;
        /// Does the buffer hold a packet less than its limit [R5]?
        pub one_less: bool = false;
        /// Are all packets marked at overload, or some at random, also those of TCP with ECN [VI-C]?
        pub overload_marks: OverloadMarks = OverloadMarks::All => fixed;
        /// Largest probability of a random mark.
        pub max_p: f64 = 0.1, in 0.0, 1.0;
        /// Load factor of that probability, which rises from 0 at a load factor of 1.
        pub max_load: f64 = 1.25, in 1.001, 10.0;
    }
}

/// (1): traffic and steady queue in bytes over what the link should carry in the interval.
pub fn load_factor(traffic: f64, queue: f64, params: &Params, rate: BitRate) -> f64 {
    (traffic + params.kappa_q * queue) / (params.gamma * rate.bytes_in(params.t_rho))
}

/// R2: the whole per cent above a load factor.
pub fn rounded(load_factor: f64) -> f64 {
    (libm::floor(100.0 * load_factor) + 1.0) / 100.0
}

/// VI-C, similar to RED: the probability of a mark at this load factor.
pub fn mark_probability(load_factor: f64, params: &Params) -> f64 {
    params.max_p * ((load_factor - 1.0) / (params.max_load - 1.0)).clamp(0.0, 1.0)
}

/// Sums between two steps of gamma, or two measurements.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// R1: sum of the load over capacity; below, the number of intervals.
    load: f64,
    intervals: u32,
    /// R3: sum of the queue's samples.
    queue: f64,
    samples: u32,
}

/// The state of a VCP router at one link.
#[derive(Clone, Debug)]
pub struct Vcp {
    params: Params,
    /// The current gamma.
    gamma: f64,
    rate: BitRate,
    traffic: u64,
    sent: u64,
    queue: Ewma,
    utilisation: Ewma,
    sums: Sums,
    sampling: Interval,
    measuring: Interval,
    /// When gamma was last due to be adjusted.
    adjusted_at: Time,
    load_factor: f64,
    load: Load,
    /// The code of departing packets.
    code: Load,
    /// VI-C: the probability of a mark.
    mark_p: f64,
    /// Do R5 or VI-C act on arrivals?
    watches: bool,
    /// R5: packets that the buffer holds, if fewer than its limit.
    room: u64,
    /// Its limit in packets.
    packets: u64,
    /// The parameters from which gamma has started.
    started_from: (f64, GammaRule),
}

impl Vcp {
    /// R.2 and R3: the steady queue over the interval that ends.
    fn steady_queue(&mut self) -> f64 {
        let Sums { queue, samples, .. } = self.sums;
        (self.sums.queue, self.sums.samples) = (0.0, 0);
        match self.params.queue_average {
            QueueAverage::Ewma => self.queue.value(),
            QueueAverage::SixteenthOfMean => queue / f64::from(samples.max(1)) / 16.0,
        }
    }

    /// R.3: ends an interval of this length.
    fn measure(&mut self, t_rho: Span, now: Time) {
        let (traffic, queue) = (self.traffic as f64, self.steady_queue());
        let params = Params { t_rho, gamma: self.gamma, ..self.params };
        let mut load_factor = load_factor(traffic, queue, &params, self.rate);
        if self.params.gamma_rule != GammaRule::Fixed {
            self.adjust_gamma(load_factor * self.gamma, t_rho, now);
        }
        if self.params.rounding == Rounding::Percent {
            load_factor = rounded(load_factor);
        }
        self.load_factor = load_factor;
        self.load = Load::encode(load_factor, self.params.transition);
        self.code = self.load;
        if self.params.overload_marks == OverloadMarks::Random {
            self.mark_p = mark_probability(load_factor, &self.params);
            self.code = self.load.min(Load::High);
        }
        (self.traffic, self.sent) = (0, 0);
    }

    /// Updates what follows from the parameters. If gamma or its rule changes, gamma starts anew.
    fn derive(&mut self) {
        let Params { one_less, overload_marks, gamma, gamma_rule, .. } = self.params;
        self.watches = one_less || overload_marks == OverloadMarks::Random;
        self.room = if one_less { self.packets.saturating_sub(1).max(1) } else { u64::MAX };
        if self.started_from != (gamma, gamma_rule) {
            self.started_from = (gamma, gamma_rule);
            self.gamma = target::start(gamma_rule, gamma);
            (self.sums.load, self.sums.intervals) = (0.0, 0);
        }
    }

    /// R5: drops packets that do not fit. VI-C: marks data packets at random during overload.
    #[cold]
    fn watch(&self, arrival: &Arrival, wire: &mut Wire<'_>, draw: &mut dyn Draw) -> Verdict {
        if arrival.queue.packets >= self.room && arrival.idle_since.is_none() {
            return Verdict::Drop;
        }
        if self.mark_p <= 0.0 || !arrival.data || draw.uniform() >= self.mark_p {
            return Verdict::Accept;
        }
        load2::mark(wire, Load::Over);
        if ecn::is_capable(wire) { Verdict::Mark } else { Verdict::Accept }
    }

    /// (14) and R1: gamma for the next interval. `load` is (1) with a gamma of 1.
    fn adjust_gamma(&mut self, load: f64, t_rho: Span, now: Time) {
        let gamma = &mut self.gamma;
        if self.params.gamma_rule == GammaRule::Authors {
            self.sums.load += load;
            self.sums.intervals += 1;
            if self.sums.intervals == target::AUTHORS_INTERVALS {
                let mean = self.sums.load / f64::from(self.sums.intervals);
                *gamma = target::adjusted(*gamma, target::nominal(self.rate), mean);
                (self.sums.load, self.sums.intervals) = (0.0, 0);
            }
            return;
        }
        let Params { gamma_target, delta_gamma, t_gamma, utilisation_weight, .. } = self.params;
        let share = self.sent as f64 / self.rate.bytes_in(t_rho);
        let utilisation = self.utilisation.update(share, utilisation_weight);
        let due = self.adjusted_at + t_gamma;
        if now >= due {
            *gamma = target::adjusted(*gamma, (gamma_target, delta_gamma), utilisation);
            // A measurement comes after the end of T_gamma; the next is due T_gamma after that end.
            self.adjusted_at = due.max(now - t_gamma);
        }
    }
}

impl RouterLaw for Vcp {
    tunes! { derive }

    #[inline]
    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.traffic += u64::from(arrival.size);
        if self.watches { self.watch(arrival, wire, draw) } else { Verdict::Accept }
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        self.sent += u64::from(departure.size);
        if departure.data {
            load2::mark(wire, self.code);
        }
        Verdict::Accept
    }

    /// ACKs are served first.
    #[inline]
    fn classify(&mut self, arrival: &Arrival, _: &Wire<'_>) -> usize {
        usize::from(arrival.data)
    }

    fn tick_at(&self) -> Option<Time> {
        let Params { t_q, t_rho, .. } = self.params;
        Some(self.sampling.end(t_q).min(self.measuring.end(t_rho)))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        let Params { t_q, t_rho, queue_weight, .. } = self.params;
        if self.sampling.next(t_q, queue.now).is_some() {
            self.queue.update(queue.bytes as f64, queue_weight);
            self.sums.queue += queue.bytes as f64;
            self.sums.samples += 1;
        }
        if let Some(t_rho) = self.measuring.next(t_rho, queue.now) {
            self.measure(t_rho, queue.now);
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }

    fn signal(&self) -> f64 {
        self.load_factor
    }
}

impl RouterSpec for Vcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "vcp";
    const TITLE: &'static str = "VCP: load factor every 200 ms, in two ECN bits; ACKs first";
    const SOURCE: &'static str = "Xia et al., IEEE/ACM ToN 16(6), 2008, III-E.1";
    const CODEC: Codec = Codec::Load2;
    const NEEDS: Needs = Needs { queues: 2, ..Needs::DEPARTURES };
    fn marks_ecn(params: &Params) -> bool {
        params.overload_marks == OverloadMarks::Random
    }
    fn new(params: Params, link: &LinkView) -> Self {
        let mut law = Self {
            params,
            gamma: target::start(params.gamma_rule, params.gamma),
            rate: link.rate,
            traffic: 0,
            sent: 0,
            queue: Ewma::default(),
            utilisation: Ewma::default(),
            sums: Sums::default(),
            sampling: Interval::default(),
            measuring: Interval::default(),
            adjusted_at: Time::ZERO,
            load_factor: 0.0,
            load: Load::Low,
            code: Load::Low,
            mark_p: 0.0,
            watches: false,
            room: u64::MAX,
            packets: link.buffer.count() / u64::from(link.packet_bytes),
            started_from: (params.gamma, params.gamma_rule),
        };
        law.derive();
        law
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_factor_of_a_full_link_is_one_over_gamma() {
        // 10 Mbps carry 250 kB in 200 ms.
        let rho = |traffic, queue| {
            load_factor(traffic, queue, &Params::default(), BitRate::from_mbps(10.0))
        };
        assert!((rho(250e3, 0.0) - 1.0 / 0.98).abs() < 1e-12);
        assert!((rho(245e3, 0.0) - 1.0).abs() < 1e-12);
        assert!((rho(195e3, 100e3) - 1.0).abs() < 1e-12); // half of the steady queue counts
    }

    fn router() -> Vcp {
        router_with(Params::default())
    }

    fn router_with(params: Params) -> Vcp {
        let link = LinkView {
            rate: BitRate::from_mbps(10.0),
            delay_s: 0.04,
            buffer: crate::quantities::Bytes(100_000),
            packet_bytes: 1000,
        };
        <Vcp as RouterSpec>::new(params, &link)
    }

    struct NoDraw;
    impl Draw for NoDraw {
        fn uniform(&mut self) -> f64 {
            unreachable!("VCP draws nothing")
        }
    }

    /// Offers this many kilobytes, then runs the clock to the next measurement.
    fn after_interval(router: &mut Vcp, kilobytes: u64) -> Load {
        let queue = QueueView { now: Time::ZERO, packets: 0, bytes: 0 };
        let (mut marks, mut header) = (Codec::Load2.initial(), [0; 4]);
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        for _ in 0..kilobytes {
            let arrival =
                Arrival { queue, idle_since: Some(Time::ZERO), flow: 0, size: 1000, data: true };
            router.on_arrival(&arrival, &mut wire, &mut NoDraw);
        }
        let measured = router.measuring.end(router.params.t_rho);
        while let Some(now) = router.tick_at().filter(|now| *now <= measured) {
            router.on_tick(&QueueView { now, packets: 0, bytes: 0 });
        }
        router.on_departure(
            &Departure { queue, from: 0, waited: Span::ZERO, size: 1000, data: true },
            &mut wire,
        );
        Load::from_bits(marks.ecn())
    }

    #[test]
    fn codes_follow_the_measured_load() {
        let mut router = router();
        assert_eq!(after_interval(&mut router, 195), Load::Low); // 195 / 245 = 0.796
        assert_eq!(after_interval(&mut router, 196), Load::High); // 0.8
        assert_eq!(after_interval(&mut router, 244), Load::High);
        assert_eq!(after_interval(&mut router, 245), Load::Over); // 1.0
        assert_eq!(after_interval(&mut router, 0), Load::Low); // each interval is counted anew
        assert_eq!(router.measuring.end(router.params.t_rho), Time::ZERO + Span::from_millis(1200));
    }

    #[test]
    fn rounding_up_moves_the_thresholds_to_79_and_99_per_cent() {
        let mut router = router_with(Params { rounding: Rounding::Percent, ..Params::default() });
        assert_eq!(after_interval(&mut router, 193), Load::Low); // 193 / 245 = 0.788
        assert_eq!(after_interval(&mut router, 194), Load::High); // 0.792
        assert_eq!(after_interval(&mut router, 242), Load::High); // 0.988
        assert_eq!(after_interval(&mut router, 243), Load::Over); // 0.992
        assert_eq!((rounded(0.79), rounded(0.7899)), (0.8, 0.79));
    }

    #[test]
    fn the_authors_average_of_the_queue_is_a_sixteenth_of_its_mean() {
        let params = Params { queue_average: QueueAverage::SixteenthOfMean, ..Params::default() };
        let mut router = router_with(params);
        for _ in 0..2 {
            for sample in 1..=20 {
                let now = router.sampling.end(router.params.t_q);
                router.on_tick(&QueueView { now, packets: 0, bytes: 1000 * sample });
            }
            // The mean is 10,500 B: kappa_q / 16 of it over 245 kB.
            assert!((router.load_factor - 0.5 * 656.25 / 245e3).abs() < 1e-12);
        }
    }

    #[test]
    fn the_authors_gamma_moves_every_ten_intervals() {
        let params = Params { gamma_rule: GammaRule::Authors, ..Params::default() };
        let mut router = router_with(params);
        for (interval, expected) in [(9, 0.95), (1, 0.954), (10, 0.958)] {
            for _ in 0..interval {
                after_interval(&mut router, 230); // 0.92 of capacity, below 0.96
            }
            assert!((router.gamma - expected).abs() < 1e-12);
        }
        for _ in 0..10 {
            after_interval(&mut router, 245);
        }
        assert!((router.gamma - 0.954).abs() < 1e-12);
    }

    #[test]
    fn gamma_follows_utilisation_by_14() {
        let params = Params { gamma_rule: GammaRule::Utilisation, ..Params::default() };
        let mut router = router_with(params);
        let low = |router: &mut Vcp, intervals| {
            for _ in 0..intervals {
                after_interval(router, 200); // one kilobyte of it leaves
            }
        };
        low(&mut router, 9);
        assert_eq!(router.gamma, 0.98);
        low(&mut router, 1); // 2 s
        assert!((router.gamma - 0.99).abs() < 1e-12);
        router.params.utilisation_weight = 0.0;
        low(&mut router, 9);
        router.sent = 249_000; // 0.996 of capacity
        low(&mut router, 1);
        assert!((router.gamma - 0.98).abs() < 1e-12);
    }

    #[test]
    fn the_authors_buffer_holds_a_packet_less() {
        let mut router = router_with(Params { one_less: true, ..Params::default() });
        let mut offer = |packets, idle_since| {
            let queue = QueueView { now: Time::ZERO, packets, bytes: 0 };
            let (mut marks, mut header) = (Codec::Load2.initial(), [0; 4]);
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            let arrival = Arrival { queue, idle_since, flow: 0, size: 1000, data: true };
            router.on_arrival(&arrival, &mut wire, &mut NoDraw)
        };
        assert_eq!(offer(98, None), Verdict::Accept); // of 100 it holds 99
        assert_eq!(offer(99, None), Verdict::Drop);
        assert_eq!(offer(99, Some(Time::ZERO)), Verdict::Accept);
        assert_eq!(router.traffic, 3000); // later drops too
    }

    /// A router under this load. Also returns how many of 10,000 packets of a codec leave with code 11.
    fn marked(codec: Codec, kilobytes: u64) -> (Vcp, usize) {
        let params = Params { overload_marks: OverloadMarks::Random, ..Params::default() };
        let mut router = router_with(params);
        after_interval(&mut router, kilobytes);
        let queue = QueueView { now: Time::ZERO, packets: 0, bytes: 0 };
        let (mut draw, mut header) = (crate::script::Random(7), [0; 4]);
        let arrival = Arrival { queue, idle_since: None, flow: 0, size: 1000, data: true };
        let departure = Departure { queue, from: 1, waited: Span::ZERO, size: 1000, data: true };
        let leaves = (0..10_000).filter(|_| {
            let mut marks = codec.initial();
            let mut wire = Wire { marks: &mut marks, header: &mut header };
            let verdict = router.on_arrival(&arrival, &mut wire, &mut draw);
            if verdict == Verdict::Mark {
                ecn::mark(&mut wire);
            }
            assert_eq!(router.on_departure(&departure, &mut wire), Verdict::Accept);
            marks.ecn() == 0b11
        });
        let marked = leaves.count();
        (router, marked)
    }

    #[test]
    fn overload_marks_tcp_and_vcp_alike_as_red_would() {
        for codec in [Codec::Ecn, Codec::Load2] {
            // 269.5 / 245 = 1.1: p = 0.1 x 0.1 / 0.25 = 0.04, of 10,000 a deviation of 20.
            let (router, count) = marked(codec, 270);
            assert!((router.mark_p - 0.0408).abs() < 1e-4);
            assert!(count.abs_diff(408) < 80, "{count}");
            assert_eq!(marked(codec, 230).1, 0); // high load is no congestion
            assert!(marked(codec, 500).1.abs_diff(1000) < 120); // at most max_p
        }
        assert_eq!(marked(Codec::None, 500).1, 0);
    }
}
