//! RED: marks or drops arriving packets at random, more often the longer the average queue.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993, as in ns-2.29 (gentle, ECN, automatic parameters).
//! Queues in packets or, in byte mode, bytes; on each arrival, with q the queue before it:
//!   (1) avg = (1 - w)^m ((1 - w) avg + w q), m the packets that an idle time would have carried
//!   (2) p_b = max_p (avg - min) / (max - min); gentle: max_p to 1 between max and 2 max; else 1
//!   (3) p_a = p_b / (1 - count p_b), count the packets since the last one; wait: p_b / (2 - count p_b)
//!       from count p_b = 1 on and 0 before. Byte mode: times size / mean size, count in mean sizes
//!   (4) with probability p_a: mark if the packet can be marked and p_b < mark_limit, else drop
//! Differs from ns-2: automatic parameters follow changes of the link's rate; a packet that
//! is dropped since the buffer is full does not reset count.

use crate::codecs::{Wire, ecn};
use crate::quantities::{BitRate, Bytes, Span};
use crate::router::{Arrival, Draw, LinkView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// The thresholds of the average queue.
    pub struct Thresholds {
        /// Average queue at which marking begins, in packets of the mean size;
        /// 0: half of the target delay, at least 5.
        pub min_threshold: f64 = 0.0, in 0.0, 1e6;
        /// Average queue at which max_p is reached, in packets of the mean size;
        /// 0: three times the minimum.
        pub max_threshold: f64 = 0.0, in 0.0, 1e6;
    }
}

params! {
    /// How queues are averaged and marks spread, with ns-2.29's defaults.
    pub struct Spread {
        /// Weight w of a new sample; 0: 1 - exp(-1 / packets a second); negative: a memory of ten RTTs.
        pub queue_weight: f64 = -1.0, in -1.0, 1.0;
        /// Raise the probability from max_p to 1 between once and twice the upper threshold?
        pub gentle: bool = true, in 0.0, 1.0;
        /// Leave at least 1/p_b packets between two marks?
        pub wait: bool = true, in 0.0, 1.0;
    }
}

params! {
    /// How queues are measured, and which packets are marked, with ns-2.29's defaults except for `ecn`, which is off there.
    pub struct Queue {
        /// Measure the queue in bytes and favour small packets?
        pub byte_mode: bool = true, in 0.0, 1.0;
        /// Mark packets that can carry a mark, instead of dropping them?
        pub ecn: bool = true, in 0.0, 1.0;
        /// Probability p_b from which even packets that could be marked are dropped; above 1: never.
        pub mark_limit: f64 = 0.1, in 0.0, 2.0;
        /// Mean packet size for which thresholds and weight are computed.
        pub mean_packet_size: Bytes = Bytes(500), in 1.0, 1e5;
        /// Target queueing delay of the automatic thresholds.
        pub target_delay: Span = Span::from_millis(5), in 1e-6, 10.0;
    }
}

params! {
    /// RED's parameters.
    pub struct Params {
        /// Marking probability at the upper threshold.
        pub max_p: f64 = 0.1, in 0.0001, 1.0;
        /// Accept ACKs, which cannot be marked, instead of dropping them?
        pub spare_acks: bool = false, in 0.0, 1.0;
        with thresholds: Thresholds;
        with spread: Spread;
        with queue: Queue;
    }
}

/// What follows from the parameters on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Packets of the mean size that the link carries a second.
    pub packets_per_second: f64,
    /// Lower threshold, in bytes or packets.
    pub min: f64,
    /// Upper threshold, in bytes or packets.
    pub max: f64,
    /// Weight w of (1).
    pub weight: f64,
    /// Are thresholds and average in bytes?
    pub in_bytes: bool,
}

impl Settings {
    /// Computes the automatic parameters for a link of this rate and propagation delay.
    pub fn new(params: &Params, rate: BitRate, delay_s: f64) -> Self {
        let Params { thresholds, spread, queue, .. } = *params;
        let mean_size = queue.mean_packet_size.count() as f64;
        let packets_per_second = rate.bytes_per_second() / mean_size;
        let target = queue.target_delay.seconds() * packets_per_second;
        let (min, max) = (thresholds.min_threshold, thresholds.max_threshold);
        let min = if min == 0.0 { (target / 2.0).max(5.0) } else { min };
        let max = if max == 0.0 { 3.0 * min } else { max.max(min) };
        let rtt = (3.0 * (delay_s + 1.0 / packets_per_second)).max(0.1);
        let weight = match spread.queue_weight {
            w if w > 0.0 => w,
            0.0 => -libm::expm1(-1.0 / packets_per_second),
            _ => -libm::expm1(-1.0 / (10.0 * rtt * packets_per_second)),
        };
        let in_bytes = queue.byte_mode;
        let unit = if in_bytes { mean_size } else { 1.0 };
        Self { packets_per_second, min: min * unit, max: max * unit, weight, in_bytes }
    }

    /// (1): the average after a sample, before which `missed` packets could have found the link idle.
    pub fn average(&self, average: f64, missed: f64, queue: f64) -> f64 {
        (1.0 - self.weight) * self.aged(average, missed) + self.weight * queue
    }

    /// The average after an idle time in which `missed` packets could have been sent.
    fn aged(&self, average: f64, missed: f64) -> f64 {
        if missed > 0.0 { libm::pow(1.0 - self.weight, missed) * average } else { average }
    }

    /// How many packets could have been sent in the idle time before this one.
    fn missed(&self, arrival: &Arrival) -> f64 {
        let idle = arrival.idle_since.map_or(0.0, |since| arrival.queue.now.since(since).seconds());
        libm::floor(idle * self.packets_per_second)
    }
}

/// (2): p_b at this average queue.
pub fn probability(average: f64, settings: &Settings, params: &Params) -> f64 {
    let Settings { min, max, .. } = *settings;
    if average < min {
        0.0
    } else if average < max {
        params.max_p * (average - min) / (max - min)
    } else if params.spread.gentle {
        (params.max_p + (1.0 - params.max_p) * (average - max) / max).min(1.0)
    } else {
        1.0
    }
}

/// (3): p_a, `count` packets after the last mark.
pub fn uniformised(p_b: f64, count: f64, wait: bool) -> f64 {
    let left = if wait { 2.0 } else { 1.0 } - count * p_b;
    if wait && left > 1.0 {
        0.0
    } else if left > 0.0 {
        (p_b / left).min(1.0)
    } else {
        1.0
    }
}

/// The state of a RED router at one link.
#[derive(Clone, Debug)]
pub struct Red {
    params: Params,
    rate: BitRate,
    delay_s: f64,
    settings: Settings,
    average: f64,
    p_b: f64,
    packets_since: u64,
    bytes_since: u64,
    /// Was marking possible at the last arrival?
    active: bool,
}

impl Red {
    /// The average queue after the last arrival, in the unit of the thresholds.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// What follows from the parameters on the link.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Lowers the average for the idle time that this packet ends.
    pub fn age(&mut self, arrival: &Arrival) {
        self.average = self.settings.aged(self.average, self.settings.missed(arrival));
    }

    /// (1) at this arrival. Returns the queue before it, in the unit of the thresholds.
    pub fn sample(&mut self, arrival: &Arrival) -> f64 {
        let queue =
            if self.params.queue.byte_mode { arrival.queue.bytes } else { arrival.queue.packets }
                as f64;
        let missed = self.settings.missed(arrival);
        self.average = self.settings.average(self.average, missed, queue);
        queue
    }

    /// Changes the parameters.
    pub fn set(&mut self, params: Params) {
        self.params = params;
        self.derive();
    }

    /// Updates what follows from the parameters. If the unit changes, the average is converted.
    fn derive(&mut self) {
        let was_in_bytes = self.settings.in_bytes;
        self.settings = Settings::new(&self.params, self.rate, self.delay_s);
        let mean_size = self.params.queue.mean_packet_size.count() as f64;
        match (was_in_bytes, self.settings.in_bytes) {
            (true, false) => self.average /= mean_size,
            (false, true) => self.average *= mean_size,
            _ => {}
        }
    }

    /// max_p, for laws that adapt it.
    pub fn max_p_mut(&mut self) -> &mut f64 {
        &mut self.params.max_p
    }

    /// (3) for this packet. In byte mode, large packets are more likely to be marked.
    fn p_a(&self, size: u32) -> f64 {
        if !self.params.queue.byte_mode {
            return uniformised(self.p_b, self.packets_since as f64, self.params.spread.wait);
        }
        let mean_size = self.params.queue.mean_packet_size.count();
        let count = (self.bytes_since / mean_size) as f64;
        match uniformised(self.p_b, count, self.params.spread.wait) {
            p if p < 1.0 => p * f64::from(size) / mean_size as f64,
            p => p,
        }
    }
}

impl RouterLaw for Red {
    tunes! { derive }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let queue = self.sample(arrival);
        self.p_b = probability(self.average, &self.settings, &self.params);
        self.packets_since += 1;
        self.bytes_since += u64::from(arrival.size);

        let was_active = self.active;
        self.active = self.average >= self.settings.min && queue > 1.0;
        if !self.active {
            return Verdict::Accept;
        }
        if !was_active {
            (self.packets_since, self.bytes_since) = (1, u64::from(arrival.size));
            return Verdict::Accept;
        }
        let p_a = self.p_a(arrival.size);
        if p_a < 1.0 && draw.uniform() >= p_a {
            return Verdict::Accept;
        }
        (self.packets_since, self.bytes_since) = (0, 0);
        if self.params.queue.ecn && ecn::is_capable(wire) && self.p_b < self.params.queue.mark_limit
        {
            Verdict::Mark
        } else if self.params.spare_acks && !arrival.data {
            Verdict::Accept
        } else {
            Verdict::Drop
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
        self.derive();
    }

    fn signal(&self) -> f64 {
        self.p_b
    }
}

impl RouterSpec for Red {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "red";
    const TITLE: &'static str = "RED: marks or drops at random, by the average queue";
    const SOURCE: &'static str = "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993; ns-2.29";
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            rate: link.rate,
            delay_s: link.delay_s,
            settings: Settings::new(&params, link.rate, link.delay_s),
            average: 0.0,
            p_b: 0.0,
            packets_since: 0,
            bytes_since: 0,
            active: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial;
    use super::*;
    use crate::codecs::Codec;
    use crate::params::Value;
    use crate::quantities::Time;
    use crate::router::QueueView;
    use crate::script::Random;

    /// With these thresholds, in packets.
    fn in_packets(min_threshold: f64, max_threshold: f64) -> Params {
        let thresholds = Thresholds { min_threshold, max_threshold };
        let queue = Queue { byte_mode: false, ..Queue::default() };
        Params { thresholds, queue, ..Params::default() }
    }

    #[test]
    fn automatic_parameters_at_150_mbps() {
        let params = Params::default();
        let auto = Settings::new(&params, BitRate::from_mbps(150.0), 0.032);
        assert_eq!((auto.min, auto.max), (46_875.0, 140_625.0)); // 2.5 ms and 7.5 ms
        assert!((auto.weight - 1.0 / 37_500.0).abs() < 1e-9); // an RTT of 100 ms, ten of them
        let slow = Settings::new(&params, BitRate::from_mbps(1.0), 0.032);
        assert_eq!((slow.min, slow.max), (2_500.0, 7_500.0)); // five packets of 500 bytes
        let far = Settings::new(&params, BitRate::from_mbps(150.0), 1.0);
        assert!((far.weight - 1.0 / (37_500.0 * 30.0)).abs() < 1e-9);
    }

    #[test]
    fn the_marking_curve_has_a_knee_at_each_threshold() {
        let params = in_packets(5.0, 15.0);
        let settings = Settings::new(&params, BitRate::from_mbps(10.0), 0.0);
        let p = |average| probability(average, &settings, &params);
        assert_eq!([p(0.0), p(4.999), p(5.0), p(10.0), p(15.0)], [0.0, 0.0, 0.0, 0.05, 0.1]);
        assert!((p(14.999_999) - 0.1).abs() < 1e-6);
        assert!((p(22.5) - 0.55).abs() < 1e-15 && p(30.0) == 1.0 && p(1e9) == 1.0);
        let spread = Spread { gentle: false, ..params.spread };
        let steep = Params { spread, ..params };
        assert_eq!(probability(15.0, &settings, &steep), 1.0);
    }

    #[test]
    fn the_average_follows_a_step_and_forgets_while_idle() {
        let spread = Spread { queue_weight: 0.25, ..Spread::default() };
        let params = Params { spread, ..Params::default() };
        let settings = Settings::new(&params, BitRate::from_mbps(10.0), 0.0);
        let stepped = (0..3).fold(0.0, |average, _| settings.average(average, 0.0, 64.0));
        assert_eq!(stepped, 64.0 - 27.0); // 64 (1 - 0.75^3)
        assert_eq!(settings.average(64.0, 2.0, 0.0), 27.0); // two missed and the arrival itself
    }

    /// Mean distance of `n` marks at p_b = 1/20, in packets.
    fn mean_gap(wait: bool, n: u64) -> f64 {
        let spread = Spread { queue_weight: 1.0, wait, ..Spread::default() };
        let params = Params { spread, ..in_packets(5.0, 15.0) };
        let link = LinkView {
            rate: BitRate::from_mbps(10.0),
            delay_s: 0.01,
            buffer: Bytes(u64::MAX),
            packet_bytes: 1000,
        };
        let mut red = <Red as RouterSpec>::new(params, &link);
        let queue = QueueView { now: Time::ZERO, packets: 10, bytes: 10_000 };
        let arrival = Arrival { queue, idle_since: None, flow: 0, size: 1000, data: true };
        let (mut marks, mut header) = (Codec::Ecn.initial(), [0; 4]);
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        let mut random = Random(1);
        let (mut packets, mut marked) = (0, 0);
        while marked < n {
            packets += 1;
            marked += u64::from(red.on_arrival(&arrival, &mut wire, &mut random) == Verdict::Mark);
        }
        packets as f64 / n as f64
    }

    #[test]
    fn a_step_marks_all_above_one_threshold() {
        let mut params = Params { max_p: 1.0, ..in_packets(20.0, 20.0) };
        params.spread = Spread { queue_weight: 1.0, wait: false, ..params.spread };
        params.queue.mark_limit = 2.0;
        let mut red = <Red as RouterSpec>::new(params, &trial::link());
        let mut verdict = |packets| {
            trial::offer(&mut red, trial::queue(0, packets), Codec::Ecn, &mut trial::NoDraw)
        };
        assert_eq!([19, 20, 20, 60].map(&mut verdict)[..2], [Verdict::Accept; 2]); // the first is let by
        assert_eq!([20, 60, 1000].map(&mut verdict), [Verdict::Mark; 3]);
        assert_eq!([19, 0].map(&mut verdict), [Verdict::Accept; 2]);

        let ack = Arrival {
            queue: trial::queue(0, 60),
            idle_since: None,
            flow: 0,
            size: 40,
            data: false,
        };
        for (spare_acks, verdict) in [(false, Verdict::Drop), (true, Verdict::Accept)] {
            let params = Params { spare_acks, ..params };
            let mut red = <Red as RouterSpec>::new(params, &trial::link());
            trial::present(&mut red, ack, Codec::None, &mut trial::NoDraw); // the first is let by
            assert_eq!(trial::present(&mut red, ack, Codec::None, &mut trial::NoDraw), verdict);
        }
    }

    #[test]
    fn the_average_is_the_same_queue_in_either_unit() {
        let mut red = <Red as RouterSpec>::new(Params::default(), &trial::link());
        red.average = 6000.0; // bytes, 12 packets of the mean size
        for (byte_mode, average, min) in [(false, 12.0, 5.0), (true, 6000.0, 2500.0)] {
            red.tune("byte_mode", &Value::Flag(byte_mode)).expect("a parameter");
            assert_eq!((red.average, red.settings.min), (average, min));
        }
    }

    #[test]
    fn marks_are_spread_uniformly() {
        const N: u64 = 10_000;
        let four_errors = |variance: f64| 4.0 * libm::sqrt(variance / N as f64);
        // Distances uniform on 1..=19 by the paper, on 20..=39 with ns-2's wait.
        assert!((mean_gap(false, N) - 10.0).abs() < four_errors(30.0));
        assert!((mean_gap(true, N) - 29.5).abs() < four_errors(33.25));
    }
}
