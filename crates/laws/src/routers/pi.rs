//! PI: a proportional-integral controller holds the queue at a reference length.
//!
//! C. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers
//! Supporting TCP Flows", INFOCOM 2001. Queue q in packets, T the sampling interval:
//!   (1) p(kT) = a (q(kT) - q_ref) - b (q((k - 1) T) - q_ref) + p((k - 1) T), within [0, 1]
//!   (2) each arrival is marked, or dropped if it cannot be, with probability p
//! Numbers from ns-2: a, b for 60 flows on 15 Mbps, 500-byte packets and RTTs up to 0.25 s. They do
//! not adapt to the link; scale them for another link. Packets are bytes over the data packet's size unless
//! `byte_mode` is off, as it is in ns-2, where ACKs then count as much as data.

use super::verdicts::{congested, happens};
use crate::codecs::Wire;
use crate::interval::Interval;
use crate::quantities::{Span, Time};
use crate::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// PI's parameters, with ns-2's defaults except for `ecn` and `byte_mode`, which are off there.
    pub struct Params {
        /// Gain a on the current queue, per packet.
        pub a: f64 = 1.822e-5, in 0.0, 1.0;
        /// Gain b on the queue of the sample before, per packet; less than a.
        pub b: f64 = 1.816e-5, in 0.0, 1.0;
        /// Samples a second, 1 / T.
        pub frequency: f64 = 170.0, in 0.1, 1e5;
        /// Reference queue q_ref, in data packets.
        pub reference: f64 = 50.0, in 0.0, 1e6;
        /// Measure the queue in bytes rather than packets?
        pub byte_mode: bool = true, in 0.0, 1.0;
        /// Mark packets that can carry a mark, instead of dropping them?
        pub ecn: bool = true, in 0.0, 1.0;
    }
}

/// (1): p after a sample, from p, this queue and the one before.
pub fn control_step(p: f64, queue: f64, before: f64, params: &Params) -> f64 {
    let Params { a, b, reference, .. } = *params;
    (a * (queue - reference) - b * (before - reference) + p).clamp(0.0, 1.0)
}

/// The state of a PI router at one link.
#[derive(Clone, Debug)]
pub struct Pi {
    params: Params,
    packet_bytes: f64,
    p: f64,
    /// Queue at the last sample, in packets.
    queue: f64,
    sampling: Interval,
}

impl Pi {
    /// T.
    fn interval(&self) -> Span {
        Span::from_seconds(1.0 / self.params.frequency)
    }
}

impl RouterLaw for Pi {
    tunes! {}

    fn on_arrival(&mut self, _: &Arrival, wire: &mut Wire<'_>, draw: &mut dyn Draw) -> Verdict {
        if happens(self.p, draw) { congested(self.params.ecn, wire) } else { Verdict::Accept }
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.sampling.end(self.interval()))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        if self.sampling.next(self.interval(), queue.now).is_none() {
            return;
        }
        let before = self.queue;
        self.queue = if self.params.byte_mode {
            queue.bytes as f64 / self.packet_bytes
        } else {
            queue.packets as f64
        };
        self.p = control_step(self.p, self.queue, before, &self.params);
    }

    /// p.
    fn signal(&self) -> f64 {
        self.p
    }
}

impl RouterSpec for Pi {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "pi";
    const TITLE: &'static str = "PI: marks or drops at random, holding a reference queue";
    const SOURCE: &'static str = "Hollot, Misra, Towsley, Gong, INFOCOM 2001; ns-2";
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            packet_bytes: f64::from(link.packet_bytes),
            p: 0.0,
            queue: 0.0,
            sampling: Interval::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NoDraw, expect_marked, link, offer, queue, tick_until};
    use super::*;
    use crate::codecs::Codec;

    fn pi(params: Params) -> Pi {
        <Pi as RouterSpec>::new(params, &link())
    }

    #[test]
    fn the_probability_rests_at_the_reference() {
        for p in [0.0, 0.003, 1.0] {
            assert_eq!(control_step(p, 50.0, 50.0, &Params::default()), p);
        }
    }

    #[test]
    fn the_control_step_by_hand() {
        let step = |p, queue, before| control_step(p, queue, before, &Params::default());
        // A hundred packets too many, standing: 100 (a - b). Just arrived: 100 a.
        assert!((step(0.01, 150.0, 150.0) - 0.010_006).abs() < 1e-12);
        assert!((step(0.01, 150.0, 50.0) - 0.011_822).abs() < 1e-12);
        assert!((step(0.01, 50.0, 150.0) - 0.008_184).abs() < 1e-12);
        assert_eq!(step(0.0, 0.0, 0.0), 0.0);
        assert_eq!(step(1.0, 1e9, 0.0), 1.0);
    }

    #[test]
    fn a_standing_queue_is_marked_ever_more() {
        let mut law = pi(Params { a: 0.002, b: 0.001, frequency: 10.0, ..Params::default() });
        tick_until(&mut law, queue(100, 150)); // 0.002 x 100 + 0.001 x 50
        assert!((law.signal() - 0.25).abs() < 1e-12);
        expect_marked(&mut law, queue(100, 150), 0.25);
        tick_until(&mut law, queue(300, 150)); // twice 0.001 x 100
        assert!((law.signal() - 0.45).abs() < 1e-12);
        tick_until(&mut law, queue(900, 150));
        assert_eq!(offer(&mut law, queue(900, 0), Codec::Ecn, &mut NoDraw), Verdict::Mark);
        assert_eq!(offer(&mut law, queue(900, 0), Codec::None, &mut NoDraw), Verdict::Drop);
    }

    #[test]
    fn acks_weigh_by_their_bytes_unless_counted() {
        let acks = QueueView { packets: 1000, bytes: 40_000, ..queue(6, 0) };
        let gains = Params { a: 1e-3, b: 0.0, ..Params::default() };
        for (byte_mode, p) in [(true, 0.0), (false, 0.95)] {
            let mut law = pi(Params { byte_mode, ..gains });
            law.on_tick(&acks);
            assert!((law.signal() - p).abs() < 1e-12);
        }
    }
}
