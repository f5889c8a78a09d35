//! XCP's router: divides spare capacity among packets by their window and RTT, once every mean RTT.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks",
//! SIGCOMM 2002, 3.5. In bytes and seconds, for packets of size s, over a control interval d:
//!   d = sum(rtt x) / sum(x), x = rtt s / cwnd the time a flow takes for one packet
//!   (1) phi / d = alpha (C - y) - beta Q / d          y the input rate, Q the persistent queue
//!   (2) h / d = max(0, gamma y - |phi| / d)           shuffled traffic
//!   (3) p_i = xi_p rtt x, (5) xi_p = (h + max(phi, 0)) / (d sum x)
//!   (6) n_i = xi_n rtt s, (7) xi_n = (h + max(-phi, 0)) / (d sum s)
//!   H_feedback = min(H_feedback, p_i - n_i), until (h + max(+-phi, 0)) / d is used up
//! Sums are taken on arrival; feedback is given on departure. Packets without an RTT get none, and
//! ACKs count only in y. Q is the least queue that arrivals have met.
//! From ns-2.29, where the paper is silent: the first interval, d >= 1 ms, RTTs counted up to 1 s, no
//! feedback after an interval without traffic, accounting of feedback that another hop has lowered.
//! Differs from the paper, as ns-2 does: Q is taken over half of d - queueing delay, not all of it.
//! Differs from ns-2: intervals do not start at random, Q is not taken on departures.

use crate::codecs::xcp::CongestionHeader;
use crate::codecs::{Codec, Wire, xcp};
use crate::quantities::{BitRate, Span, Time};
use crate::router::{
    Arrival, Departure, Draw, LinkView, Needs, QueueView, RouterLaw, RouterSpec, Verdict,
};
use crate::{params, tunes};

params! {
    /// XCP's parameters. A link is stable if alpha < pi / (4 sqrt 2) and beta = sqrt(2) alpha^2.
    pub struct Params {
        /// Share alpha of the spare bandwidth handed out each interval.
        pub alpha: f64 = 0.4, in 0.0, 2.0;
        /// Share beta of the persistent queue drained each interval.
        pub beta: f64 = 0.226, in 0.0, 2.0;
        /// Share gamma of the traffic that is reallocated each interval for fairness.
        pub gamma: f64 = 0.1, in 0.0, 1.0;
        /// Control interval while no RTT is known.
        pub initial_interval: Span = Span::from_millis(50), in 0.001, 10.0;
        /// Time over which the persistent queue is taken, in propagation delays; 1 in the paper.
        pub queue_interval: f64 = 0.5, in 0.1, 10.0;
    }
}

const MIN_INTERVAL_S: f64 = 0.001;
const MAX_RTT_S: f64 = 1.0;
const MIN_QUEUE_INTERVAL_S: f64 = 0.002;

/// The measurement of a control interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Length of the interval, in seconds.
    pub interval_s: f64,
    /// Input traffic, in bytes.
    pub traffic: f64,
    /// Sum of x over packets with an RTT, in seconds.
    pub x: f64,
    /// Sum of rtt x, in seconds squared.
    pub rtt_x: f64,
    /// Persistent queue Q, in bytes.
    pub queue: f64,
}

/// What may be handed out in the next interval, in bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allocation {
    /// Mean RTT d, in seconds.
    pub mean_rtt_s: f64,
    /// Aggregate change of rate phi / d.
    pub phi: f64,
    /// Increase not yet handed out, (h + max(phi, 0)) / d.
    pub increase: f64,
    /// Decrease not yet handed out, (h + max(-phi, 0)) / d.
    pub decrease: f64,
    /// xi_p: increase per second of x.
    pub per_x: f64,
    /// xi_n: decrease per byte.
    pub per_byte: f64,
}

/// (1) to (7). `capacity` is in bytes a second.
pub fn control_step(measured: &Measured, capacity: f64, params: &Params) -> Allocation {
    let Measured { interval_s, traffic, x, rtt_x, queue } = *measured;
    let mean_rtt_s = if x > 0.0 { rtt_x / x } else { params.initial_interval.seconds() };
    if traffic == 0.0 {
        return Allocation { mean_rtt_s, ..Allocation::default() };
    }
    let input = traffic / interval_s;
    let phi = params.alpha * (capacity - input) - params.beta * queue / mean_rtt_s;
    let shuffled = (params.gamma * input - phi.abs()).max(0.0);
    let (increase, decrease) = (shuffled + phi.max(0.0), shuffled + (-phi).max(0.0));
    let per_x = increase / if x > 0.0 { x } else { 1.0 };
    Allocation { mean_rtt_s, phi, increase, decrease, per_x, per_byte: decrease / traffic }
}

impl Allocation {
    /// Takes a packet's share, in bytes a second, given its x, its size, and the change that it asks for.
    pub fn take(&mut self, x: f64, size: f64, asked: f64) -> f64 {
        let mut up = (self.per_x * x).min(self.increase);
        let mut down = (self.per_byte * size).min(self.decrease);
        let share = up - down;
        if asked < share {
            down = (down + share - asked).min(self.decrease);
            up = (asked + down).max(0.0);
        }
        self.increase = (self.increase - up).max(0.0);
        self.decrease = (self.decrease - down).max(0.0);
        share.min(asked)
    }
}

/// The state of an XCP router at one link.
#[derive(Clone, Debug)]
pub struct Xcp {
    params: Params,
    capacity: f64,
    measured: Measured,
    allocation: Allocation,
    control_at: Time,
    least_queue: u64,
    queue_at: Time,
    /// Is this the first control interval?
    is_first: bool,
}

/// The header of an XCP data packet and its x; `None` before its sender knows an RTT.
fn congestion(wire: &Wire<'_>, size: u32) -> Option<(CongestionHeader, f64)> {
    let header = CongestionHeader::parse(wire.header);
    let x = f64::from(header.rtt_s) * f64::from(size) / f64::from(header.window_bytes);
    (header.rtt_s > 0.0 && x > 0.0 && x.is_finite()).then_some((header, x))
}

impl Xcp {
    /// The first control interval follows from the parameters.
    fn derive(&mut self) {
        if self.is_first {
            let interval = self.params.initial_interval;
            self.measured.interval_s = interval.seconds();
            self.allocation.mean_rtt_s = interval.seconds();
            self.control_at = Time::ZERO + interval;
            self.queue_at = self.control_at;
        }
    }
}

impl RouterLaw for Xcp {
    tunes! { derive }

    fn on_arrival(&mut self, arrival: &Arrival, wire: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        self.measured.traffic += f64::from(arrival.size);
        self.least_queue = self.least_queue.min(arrival.queue.bytes);
        if !arrival.data || wire.marks.codec() != Codec::Xcp {
            return Verdict::Accept;
        }
        if let Some((header, x)) = congestion(wire, arrival.size) {
            self.measured.x += x;
            self.measured.rtt_x += f64::from(header.rtt_s).min(MAX_RTT_S) * x;
        }
        Verdict::Accept
    }

    fn on_departure(&mut self, departure: &Departure, wire: &mut Wire<'_>) -> Verdict {
        if !departure.data || wire.marks.codec() != Codec::Xcp {
            return Verdict::Accept;
        }
        let Some((header, x)) = congestion(wire, departure.size) else {
            xcp::mark(wire.header, 0.0);
            return Verdict::Accept;
        };
        let rtt = f64::from(header.rtt_s);
        let asked = f64::from(header.delta_bytes) / rtt;
        let share = self.allocation.take(x, f64::from(departure.size), asked);
        xcp::mark(wire.header, share * rtt);
        Verdict::Accept
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.control_at.min(self.queue_at))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        if queue.now >= self.queue_at {
            self.measured.queue = self.least_queue.min(queue.bytes) as f64;
            self.least_queue = queue.bytes;
            let delay = self.allocation.mean_rtt_s - queue.bytes as f64 / self.capacity;
            let interval_s = (self.params.queue_interval * delay).max(MIN_QUEUE_INTERVAL_S);
            self.queue_at = queue.now + Span::from_seconds(interval_s);
        }
        if queue.now >= self.control_at {
            self.is_first = false;
            self.allocation = control_step(&self.measured, self.capacity, &self.params);
            let interval_s = self.allocation.mean_rtt_s.max(MIN_INTERVAL_S);
            self.measured =
                Measured { interval_s, queue: self.measured.queue, ..Measured::default() };
            self.control_at = queue.now + Span::from_seconds(interval_s);
        }
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.capacity = rate.bytes_per_second();
    }

    /// phi / d over the link's rate.
    fn signal(&self) -> f64 {
        self.allocation.phi / self.capacity
    }
}

impl RouterSpec for Xcp {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "xcp";
    const TITLE: &'static str = "XCP: divides spare capacity among packets by window and RTT";
    const SOURCE: &'static str = "Katabi, Handley, Rohrs, SIGCOMM 2002, 3.5";
    const CODEC: Codec = Codec::Xcp;
    const NEEDS: Needs = Needs::DEPARTURES;
    fn new(params: Params, link: &LinkView) -> Self {
        let mut law = Self {
            params,
            capacity: link.rate.bytes_per_second(),
            measured: Measured::default(),
            allocation: Allocation::default(),
            control_at: Time::ZERO,
            least_queue: 0,
            queue_at: Time::ZERO,
            is_first: true,
        };
        law.derive();
        law
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Bytes;
    use crate::script::Random;

    /// 1 MB/s, 100 ms: one flow of 50 packets of 1000 bytes, x = 2 ms each.
    fn half_load() -> Measured {
        Measured { interval_s: 0.1, traffic: 50e3, x: 0.1, rtt_x: 0.01, queue: 0.0 }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn the_control_step_by_hand() {
        let params = Params::default();
        let step = |measured| control_step(&measured, 1e6, &params);
        // Half of the link is spare: 0.4 x 500 kB/s, and no shuffling, since 0.1 x 500 kB/s is less.
        let spare = step(half_load());
        assert!(close(spare.mean_rtt_s, 0.1) && close(spare.phi, 200e3));
        assert!(close(spare.increase, 200e3) && spare.decrease == 0.0 && close(spare.per_x, 2e6));
        // Full, with a queue of 10 kB: -0.226 x 100 kB/s, and 100 - 22.6 kB/s are shuffled.
        let full = step(Measured { traffic: 100e3, queue: 10e3, ..half_load() });
        assert!(close(full.phi, -22.6e3) && close(full.increase, 77.4e3));
        assert!(close(full.decrease, 100e3) && close(full.per_byte, 1.0));
        let idle = step(Measured { interval_s: 0.1, ..Measured::default() });
        assert_eq!(idle, Allocation { mean_rtt_s: 0.05, ..Allocation::default() });
    }

    /// Two flows, 80 ms with 40 packets and 160 ms with 20, over an interval of their mean RTT.
    #[test]
    fn what_is_handed_out_is_what_there_is() {
        let link = LinkView {
            rate: BitRate::from_mbps(8.0),
            delay_s: 0.03,
            buffer: Bytes(u64::MAX),
            packet_bytes: 1000,
        };
        let mut router = <Xcp as RouterSpec>::new(Params::default(), &link);
        let queue = QueueView { now: Time::ZERO, packets: 5, bytes: 5_000 };
        let mut marks = Codec::Xcp.initial();
        let mut pass = |router: &mut Xcp, departs: bool| {
            let mut sum = (0.0, 0.0);
            for packet in 0..60 {
                let (rtt_s, window_bytes) = if packet < 40 { (0.08, 4e4) } else { (0.16, 2e4) };
                let asks = CongestionHeader { window_bytes, rtt_s, delta_bytes: 1e9 };
                let mut header = asks.write();
                let mut wire = Wire { marks: &mut marks, header: &mut header };
                if departs {
                    router.on_departure(
                        &Departure { queue, from: 0, waited: Span::ZERO, size: 1000, data: true },
                        &mut wire,
                    );
                    let answer = CongestionHeader::parse(&header);
                    let change = f64::from(answer.delta_bytes) / f64::from(rtt_s);
                    sum = (sum.0 + change, sum.1 + 1.0);
                } else {
                    let arrival =
                        Arrival { queue, idle_since: None, flow: 0, size: 1000, data: true };
                    router.on_arrival(&arrival, &mut wire, &mut Random(1));
                }
            }
            sum.0
        };
        pass(&mut router, false);
        router.on_tick(&QueueView { now: router.control_at, ..queue });
        let allocation = router.allocation;
        assert!(allocation.increase > 0.0);
        let handed_out = pass(&mut router, true);
        assert!((handed_out - allocation.phi).abs() < 1e-4 * allocation.increase);
        let (up, down) = (router.allocation.increase, router.allocation.decrease);
        assert!(up < 1e-6 * allocation.increase && down <= 1e-6 * allocation.decrease);
        assert!(pass(&mut router, true).abs() < 1e-6 * allocation.increase); // nothing is left
    }

    #[test]
    fn a_share_refused_elsewhere_is_kept_for_others() {
        let share = Allocation { increase: 100.0, per_x: 50.0, ..Allocation::default() };
        let mut left = share;
        assert_eq!((left.take(1.0, 1e3, 20.0), left.increase), (20.0, 80.0));
        assert_eq!((left.take(1.0, 1e3, 1e9), left.increase), (50.0, 30.0));
        assert_eq!((left.take(1.0, 1e3, 1e9), left.increase), (30.0, 0.0));
    }
}
