//! REM: a link's price grows with excess rate and backlog; the marking probability is exponential in the price.
//!
//! S. Athuraliya, V. Li, S. Low, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001.
//! In packets; every interval, with x the arrivals in it, c what the link can carry in it, and b the backlog
//! at its end:
//!   (1) price = max(0, price + gamma (alpha (b - b*) + x - c))
//!   (2) p = 1 - phi^-price: see [`price`](crate::codecs::price)
//!   (3) each arrival is marked, or dropped if it cannot be, with probability p
//! The interval, its smoothing (`weight`, none by default) and the numbers are those of ns-2.
//! Differs from ns-2, which marks departures: arrivals are marked. Packets are bytes over the data
//! packet's size, and p is in proportion to a packet's size (as with ns-2's `qib_`), unless
//! `byte_mode` is off, as it is in ns-2, where ACKs then count as much as data.

use super::verdicts::{congested, happens};
use crate::codecs::Wire;
use crate::codecs::price::probability;
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// REM's parameters, with ns-2's defaults except for `ecn` and `byte_mode`, which are off there.
    pub struct Params {
        /// Base phi of the marking probability.
        pub phi: f64 = 1.001, in 1.000001, 100.0;
        /// Step gamma of the price, per packet in excess.
        pub gamma: f64 = 0.001, in 0.0, 10.0;
        /// Weight alpha of the backlog against the rate.
        pub alpha: f64 = 0.1, in 0.0, 10.0;
        /// Target backlog b*, in data packets.
        pub target: f64 = 20.0, in 0.0, 1e6;
        /// Time between two updates of the price.
        pub interval: Span = Span::from_millis(2), in 1e-4, 10.0;
        /// Weight of the last interval in the average of x; 1: no average.
        pub weight: f64 = 1.0, in 0.0001, 1.0;
        /// Count in bytes rather than packets, and mark small packets less?
        pub byte_mode: bool = true, in 0.0, 1.0;
        /// Mark packets that can carry a mark, instead of dropping them?
        pub ecn: bool = true, in 0.0, 1.0;
    }
}

/// The measurement of an interval, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// x: arrivals.
    pub arrived: f64,
    /// b: the backlog at its end.
    pub backlog: f64,
    /// c: what the link can carry.
    pub capacity: f64,
}

/// (1): the price after an interval.
pub fn control_step(price: f64, measured: &Measured, params: &Params) -> f64 {
    let Measured { arrived, backlog, capacity } = *measured;
    let excess = params.alpha * (backlog - params.target) + arrived - capacity;
    (price + params.gamma * excess).max(0.0)
}

/// The state of a REM router at one link.
#[derive(Clone, Debug)]
pub struct Rem {
    params: Params,
    rate: BitRate,
    packet_bytes: f64,
    packets: u64,
    bytes: u64,
    /// x, averaged.
    arrived: f64,
    price: f64,
    p: f64,
    updates: Interval,
}

impl RouterLaw for Rem {
    tunes! {}

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.packets += 1;
        self.bytes += u64::from(arrival.size);
        let share =
            if self.params.byte_mode { f64::from(arrival.size) / self.packet_bytes } else { 1.0 };
        if happens(self.p * share, draw) {
            congested(self.params.ecn, wire)
        } else {
            Verdict::Accept
        }
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.updates.end(self.params.interval))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        let Some(elapsed) = self.updates.next(self.params.interval, queue.now) else { return };
        let (arrived, backlog) = if self.params.byte_mode {
            (self.bytes as f64 / self.packet_bytes, queue.bytes as f64 / self.packet_bytes)
        } else {
            (self.packets as f64, queue.packets as f64)
        };
        self.arrived += self.params.weight * (arrived - self.arrived);
        let capacity = self.rate.bytes_in(elapsed) / self.packet_bytes;
        let measured = Measured { arrived: self.arrived, backlog, capacity };
        self.price = control_step(self.price, &measured, &self.params);
        self.p = probability(self.price, self.params.phi);
        (self.packets, self.bytes) = (0, 0);
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }

    /// p of a data packet.
    fn signal(&self) -> f64 {
        self.p
    }
}

impl RouterSpec for Rem {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "rem";
    const TITLE: &'static str = "REM: marks or drops by a price that matches rate, clears queue";
    const SOURCE: &'static str = "Athuraliya, Li, Low, Yin, IEEE Network 15(3), 2001; ns-2";
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            rate: link.rate,
            packet_bytes: f64::from(link.packet_bytes),
            packets: 0,
            bytes: 0,
            arrived: 0.0,
            price: 0.0,
            p: 0.0,
            updates: Interval::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{
        Drawn, NoDraw, expect_marked, link, offer, present, queue, tick_until,
    };
    use super::*;
    use crate::codecs::Codec;

    #[test]
    fn the_price_rests_where_rate_is_matched_and_backlog_is_the_target() {
        let measured = Measured { arrived: 2.0, backlog: 20.0, capacity: 2.0 };
        for price in [0.0, 0.5, 1e4] {
            assert_eq!(control_step(price, &measured, &Params::default()), price);
        }
    }

    #[test]
    fn the_control_step_by_hand() {
        let step = |price, arrived, backlog| {
            let measured = Measured { arrived, backlog, capacity: 2.0 };
            control_step(price, &measured, &Params::default())
        };
        assert!((step(1.0, 5.0, 20.0) - 1.003).abs() < 1e-12); // three packets too many
        assert!((step(1.0, 2.0, 50.0) - 1.003).abs() < 1e-12); // thirty waiting, a tenth of each
        assert!((step(1.0, 0.0, 0.0) - 0.996).abs() < 1e-12);
        assert_eq!(step(0.003, 0.0, 0.0), 0.0);
    }

    /// 1 MB/s carries two packets in 2 ms; 20 arrive, 40 wait: gamma (18 + 0.1 x 20) = 0.02.
    #[test]
    fn a_link_is_priced_by_what_arrives() {
        let params = Params { phi: 100.0, ..Params::default() };
        let mut law = <Rem as RouterSpec>::new(params, &link());
        for _ in 0..20 {
            assert_eq!(offer(&mut law, queue(0, 40), Codec::Ecn, &mut NoDraw), Verdict::Accept);
        }
        tick_until(&mut law, queue(2, 40));
        assert!((law.price - 0.02).abs() < 1e-12);
        let p = 1.0 - libm::pow(100.0, -0.02);
        assert!((law.signal() - p).abs() < 1e-12);
        expect_marked(&mut law.clone(), queue(2, 40), p);
        tick_until(&mut law, queue(4, 20)); // none arrive
        assert!((law.price - 0.018).abs() < 1e-12);
        law.on_rate(BitRate::from_mbps(40.0)); // ten packets in 2 ms
        tick_until(&mut law, queue(6, 20));
        assert!((law.price - 0.008).abs() < 1e-12);
    }

    #[test]
    fn arrivals_may_be_averaged() {
        let params = Params { weight: 0.25, ..Params::default() };
        let mut law = Rem { packets: 8, bytes: 8000, ..<Rem as RouterSpec>::new(params, &link()) };
        tick_until(&mut law, queue(2, 20));
        assert_eq!(law.arrived, 2.0);
        tick_until(&mut law, queue(4, 20));
        assert_eq!(law.arrived, 1.5);
    }

    #[test]
    fn acks_weigh_by_their_bytes_unless_counted() {
        let ack = Arrival { queue: queue(0, 20), idle_since: None, flow: 0, size: 40, data: false };
        let decide = |byte_mode, drawn| {
            let params = Params { byte_mode, ..Params::default() };
            let mut law = Rem { p: 0.5, ..<Rem as RouterSpec>::new(params, &link()) };
            let verdict = present(&mut law, ack, Codec::None, &mut Drawn(drawn));
            tick_until(&mut law, queue(2, 20));
            (verdict, law.arrived)
        };
        assert_eq!(decide(true, 0.019), (Verdict::Drop, 0.04));
        assert_eq!(decide(true, 0.021), (Verdict::Accept, 0.04));
        assert_eq!(decide(false, 0.499), (Verdict::Drop, 1.0));
        assert_eq!(decide(false, 0.5), (Verdict::Accept, 1.0));
    }
}
