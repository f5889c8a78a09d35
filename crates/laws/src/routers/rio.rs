//! RIO: RED with In and Out. Packets out of profile are marked or dropped earlier than those in profile.
//!
//! D. Clark, W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM
//! Transactions on Networking 6(4), 1998. Two REDs ([`super::red`]) in one queue:
//!   in:  avg_in, the average of waiting packets in profile, with (min_in, max_in, maxp_in)
//!   out: avg_total, the average of all waiting packets, with (min_out, max_out, maxp_out)
//! A packet in profile updates both averages, another one avg_total only. Each RED counts the packets of its own kind
//! between marks. The sender decides which packets are in profile (`committed_rate` of the transport); ACKs are out
//! of profile.
//! Thresholds of 0 have ns-2's proportions: out has RED's automatic pair, in has three and two times that. Differs
//! from ns-2: packets out of profile update avg_total too, as in the paper; an idle time lowers avg_in whichever
//! packet ends it; gentle and ECN have red's defaults.

use super::red::{self, Red};
use crate::codecs::Wire;
use crate::quantities::BitRate;
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict,
};
use crate::{params, tunes};

params! {
    /// RIO's parameters. The defaults are ns-2's, where red's are.
    pub struct Params {
        /// Average of all packets at which marking those out of profile begins, in packets of the
        /// mean size; 0: half of the target delay, at least 5.
        pub min_threshold_out: f64 = 0.0, in 0.0, 1e6;
        /// Average of all packets at which max_p_out is reached; 0: three times the minimum.
        pub max_threshold_out: f64 = 0.0, in 0.0, 1e6;
        /// Marking probability of packets out of profile at their upper threshold.
        pub max_p_out: f64 = 0.1, in 0.0001, 1.0;
        /// Average of the packets in profile at which marking those begins; 0: three times
        /// min_threshold_out.
        pub min_threshold_in: f64 = 0.0, in 0.0, 1e6;
        /// Average of the packets in profile at which max_p_in is reached; 0: twice
        /// max_threshold_out.
        pub max_threshold_in: f64 = 0.0, in 0.0, 1e6;
        /// Marking probability of packets in profile at their upper threshold.
        pub max_p_in: f64 = 0.02, in 0.0001, 1.0;
        with spread: red::Spread;
        with queue: red::Queue;
    }
}

impl Params {
    /// RED's parameters on this link: in, then out.
    fn sides(&self, rate: BitRate, delay_s: f64) -> [red::Params; 2] {
        let Self { spread, queue, .. } = *self;
        let thresholds = red::Thresholds {
            min_threshold: self.min_threshold_out,
            max_threshold: self.max_threshold_out,
        };
        let out = red::Params {
            max_p: self.max_p_out,
            thresholds,
            spread,
            queue,
            ..red::Params::default()
        };
        let in_packets = red::Params { queue: red::Queue { byte_mode: false, ..queue }, ..out };
        let packets = red::Settings::new(&in_packets, rate, delay_s);
        let or = |given: f64, automatic: f64| if given == 0.0 { automatic } else { given };
        let thresholds = red::Thresholds {
            min_threshold: or(self.min_threshold_in, 3.0 * packets.min),
            max_threshold: or(self.max_threshold_in, 2.0 * packets.max),
        };
        let inside = red::Params { max_p: self.max_p_in, thresholds, ..out };
        [inside, out]
    }
}

/// The state of a RIO router at one link.
#[derive(Clone, Debug)]
pub struct Rio {
    params: Params,
    rate: BitRate,
    delay_s: f64,
    inside: Red,
    total: Red,
    /// Packets in profile that wait, or are about to be transmitted.
    packets_in: u64,
    bytes_in: u64,
}

impl Rio {
    fn derive(&mut self) {
        let [inside, out] = self.params.sides(self.rate, self.delay_s);
        self.inside.set(inside);
        self.total.set(out);
    }

    fn leaves(&mut self, size: u32) {
        self.packets_in -= 1;
        self.bytes_in -= u64::from(size);
    }
}

impl RouterLaw for Rio {
    tunes! { derive }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        if !wire.marks.is_in_profile() {
            self.inside.age(arrival);
            return self.total.on_arrival(arrival, wire, draw);
        }
        self.total.sample(arrival);
        let queue =
            QueueView { now: arrival.queue.now, packets: self.packets_in, bytes: self.bytes_in };
        let verdict = self.inside.on_arrival(&Arrival { queue, ..*arrival }, wire, draw);
        if verdict != Verdict::Drop {
            self.packets_in += 1;
            self.bytes_in += u64::from(arrival.size);
        }
        verdict
    }

    fn on_overflow(&mut self, arrival: &Arrival, wire: &Wire<'_>) {
        if wire.marks.is_in_profile() {
            self.leaves(arrival.size);
        }
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if wire.marks.is_in_profile() {
            self.leaves(departure.size);
        }
        Verdict::Accept
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
        self.inside.on_rate(rate);
        self.total.on_rate(rate);
        self.derive();
    }

    /// p_b of packets out of profile.
    fn signal(&self) -> f64 {
        self.total.signal()
    }
}

impl RouterSpec for Rio {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "rio";
    const TITLE: &'static str =
        "RIO: RED that marks packets out of profile before those in profile";
    const SOURCE: &'static str = "Clark and Fang, IEEE/ACM ToN 6(4), 1998; ns-2";
    const NEEDS: Needs = Needs::DEPARTURES;
    fn new(params: Params, link: &LinkView) -> Self {
        let [inside, out] = params.sides(link.rate, link.delay_s);
        Self {
            params,
            rate: link.rate,
            delay_s: link.delay_s,
            inside: <Red as RouterSpec>::new(inside, link),
            total: <Red as RouterSpec>::new(out, link),
            packets_in: 0,
            bytes_in: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{link, queue};
    use super::*;
    use crate::codecs::Codec;
    use crate::quantities::Span;
    use crate::script::Random;

    /// Thresholds 5 and 15 packets out of profile, 15 and 30 in profile; no memory.
    fn params() -> Params {
        Params {
            min_threshold_out: 5.0,
            max_threshold_out: 15.0,
            spread: red::Spread { queue_weight: 1.0, ..red::Spread::default() },
            queue: red::Queue { byte_mode: false, mark_limit: 1.0, ..red::Queue::default() },
            ..Params::default()
        }
    }

    fn rio(params: Params) -> Rio {
        <Rio as RouterSpec>::new(params, &link())
    }

    /// Offers a packet, with so many waiting, to either side.
    fn offer(law: &mut impl RouterLaw, packets: u64, inside: bool, draw: &mut Random) -> Verdict {
        let arrival =
            Arrival { queue: queue(1, packets), idle_since: None, flow: 0, size: 1000, data: true };
        let (mut marks, mut header) = (Codec::Ecn.initial(), [0; 4]);
        if inside {
            marks = marks.in_profile();
        }
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        law.on_arrival(&arrival, &mut wire, draw)
    }

    fn depart(law: &mut Rio) {
        let (mut marks, mut header) = (Codec::Ecn.initial().in_profile(), [0; 4]);
        let mut wire = Wire { marks: &mut marks, header: &mut header };
        let departure =
            Departure { queue: queue(1, 0), from: 0, waited: Span::ZERO, size: 1000, data: true };
        assert_eq!(law.on_departure(&departure, &mut wire), Verdict::Accept);
    }

    /// Packets between two marks of one kind: `in_queue` in profile wait, `packets` in all.
    fn mean_gap(in_queue: u64, packets: u64, inside: bool) -> f64 {
        const MARKS: u32 = 4000;
        let (mut law, mut draw) = (rio(params()), Random(1));
        (law.packets_in, law.bytes_in) = (in_queue, 1000 * in_queue);
        let (mut offered, mut marked) = (0_u32, 0);
        while marked < MARKS {
            offered += 1;
            let verdict = offer(&mut law, packets, inside, &mut draw);
            marked += u32::from(verdict == Verdict::Mark);
            if inside {
                depart(&mut law);
            }
            assert!(offered < 1000 * MARKS);
        }
        f64::from(offered) / f64::from(MARKS)
    }

    #[test]
    fn each_kind_has_a_curve_of_its_own() {
        // With `wait`, gaps are uniform on 1/p to 2/p - 1: 20 to 39 half-way out, 150 to 299 a third in.
        let four_errors = |n: f64| 4.0 * libm::sqrt((n * n - 1.0) / 12.0 / 4000.0);
        let out = mean_gap(0, 10, false);
        assert!((out - 29.5).abs() < four_errors(20.0), "{out}");
        let inside = mean_gap(20, 60, true);
        assert!((inside - 224.5).abs() < four_errors(150.0), "{inside}");
    }

    #[test]
    fn packets_in_profile_do_not_feel_those_out_of_it() {
        let (mut law, mut draw) = (rio(params()), Random(1));
        for _ in 0..1000 {
            assert_eq!(offer(&mut law, 90, true, &mut draw), Verdict::Accept); // one in profile waits
            depart(&mut law);
        }
        assert_eq!(offer(&mut law, 90, false, &mut draw), Verdict::Accept); // the first over the threshold
        assert_eq!(offer(&mut law, 90, false, &mut draw), Verdict::Drop); // p = 1 above twice 15
    }

    #[test]
    fn packets_out_of_profile_feel_all() {
        let (mut law, mut draw) = (rio(params()), Random(1));
        let arrive = |law: &mut Rio, packets, inside| {
            offer(law, packets, inside, &mut Random(1));
            (law.inside.average(), law.total.average())
        };
        assert_eq!(arrive(&mut law, 3, true), (0.0, 3.0));
        assert_eq!(arrive(&mut law, 4, true), (1.0, 4.0));
        assert_eq!(arrive(&mut law, 5, false), (1.0, 5.0)); // avg_in waits for its own kind
        depart(&mut law);
        assert_eq!(arrive(&mut law, 5, true), (1.0, 5.0));
        assert_eq!(offer(&mut law, 5, true, &mut draw), Verdict::Accept);
        assert_eq!((law.packets_in, law.bytes_in), (3, 3000));
    }

    #[test]
    fn without_promises_it_is_red() {
        let (mut law, mut draw) = (rio(Params::default()), Random(3));
        let mut red = <Red as RouterSpec>::new(red::Params::default(), &link());
        let mut again = Random(3);
        for packets in (0..20_000).map(|n: u64| (n / 7) % 40) {
            let verdict = offer(&mut law, packets, false, &mut draw);
            assert_eq!(verdict, offer(&mut red, packets, false, &mut again));
        }
    }

    #[test]
    fn automatic_thresholds_follow_the_rate() {
        // 5 ms of 37,500 packets of 500 bytes are 187.5: half and three halves, then 3 and 2 times these.
        let mut law = rio(Params::default());
        let thresholds = |law: &Rio| {
            let (inside, out) = (law.inside.settings(), law.total.settings());
            [out.min, out.max, inside.min, inside.max]
        };
        assert_eq!(thresholds(&law), [2_500.0, 7_500.0, 7_500.0, 15_000.0]);
        law.on_rate(BitRate::from_mbps(150.0));
        assert_eq!(thresholds(&law), [46_875.0, 140_625.0, 140_625.0, 281_250.0]);
    }
}
