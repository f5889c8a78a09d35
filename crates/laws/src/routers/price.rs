//! The link of the scalable laws: its price is a virtual queueing delay, which random marks tell.
//!
//! F. Paganini, Z. Wang, S. Low, J. Doyle, "A New TCP/AQM for Stable Operation in Fast Networks",
//! IEEE INFOCOM 2003. In seconds, with y the arrivals per second and c0 = gamma c the virtual capacity:
//!   (5)        price' = (y - c0) / c0, and the price is never negative
//!   Figure 4   price <- price + (y / c0 - 1) T, every T; marks with probability 1 - phi^-price
//! Figure 4 marks if the draw is above the probability, and lets the price fall below 0. IV-A and (5) contradict
//! that; they are followed. Only packets of the codec [`price`](crate::codecs::price) are marked.
//! Differs from the paper: arrivals are marked, not departures. This is the same while queues are empty, and needs
//! no event. Load is counted in bytes unless `byte_mode` is off (V-A: ns-2's `qib_`).

use super::verdicts::happens;
use crate::codecs::price::probability;
use crate::codecs::{Codec, Wire};
use crate::interval::Interval;
use crate::quantities::{BitRate, Span, Time};
use crate::router::{Arrival, Draw, LinkView, QueueView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// The link's parameters, as in section V.
    pub struct Params {
        /// Share gamma of the link that arrivals should use; gamma times its rate is the virtual capacity c0.
        pub gamma: f64 = 0.95, in 0.01, 1.0;
        /// Base phi of the marking probability, the same at every link and sender.
        pub phi: f64 = 1000.0, in 1.000001, 1e9;
        /// Time T between two updates of the price.
        pub interval: Span = Span::from_millis(5), in 1e-4, 10.0;
        /// Count load in bytes rather than packets?
        pub byte_mode: bool = true, in 0.0, 1.0;
    }
}

/// Figure 4: the price after an interval. `load` is arrivals over what c0 carries in it.
pub fn control_step(price: f64, load: f64, interval_s: f64) -> f64 {
    (price + (load - 1.0) * interval_s).max(0.0)
}

/// The state of a priced link.
#[derive(Clone, Debug)]
pub struct Price {
    params: Params,
    rate: BitRate,
    packet_bytes: u64,
    bytes: u64,
    price: f64,
    p: f64,
    updates: Interval,
}

impl RouterLaw for Price {
    tunes! {}

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        wire: &mut Wire<'_>,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.bytes +=
            if self.params.byte_mode { u64::from(arrival.size) } else { self.packet_bytes };
        let tells = wire.marks.codec() == Codec::Price;
        if tells && happens(self.p, draw) { Verdict::Mark } else { Verdict::Accept }
    }

    fn tick_at(&self) -> Option<Time> {
        Some(self.updates.end(self.params.interval))
    }

    fn on_tick(&mut self, queue: &QueueView) {
        let Some(elapsed) = self.updates.next(self.params.interval, queue.now) else { return };
        let room = self.params.gamma * self.rate.bytes_in(elapsed);
        self.price = control_step(self.price, self.bytes as f64 / room, elapsed.seconds());
        self.p = probability(self.price, self.params.phi);
        self.bytes = 0;
    }

    fn on_rate(&mut self, rate: BitRate) {
        self.rate = rate;
    }

    /// The price in seconds.
    fn signal(&self) -> f64 {
        self.price
    }
}

impl RouterSpec for Price {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "price";
    const TITLE: &'static str = "price: a virtual queueing delay, told by random exponential marks";
    const SOURCE: &'static str = "Paganini, Wang, Low, Doyle, INFOCOM 2003, (5), Figure 4";
    const CODEC: Codec = Codec::Price;
    fn new(params: Params, link: &LinkView) -> Self {
        Self {
            params,
            rate: link.rate,
            packet_bytes: u64::from(link.packet_bytes),
            bytes: 0,
            price: 0.0,
            p: 0.0,
            updates: Interval::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rem;
    use super::super::trial::{NoDraw, link, offer, present, queue, tick_until};
    use super::*;
    use crate::codecs::ecn;
    use crate::script::Random;

    fn price(params: Params) -> Price {
        <Price as RouterSpec>::new(params, &link())
    }

    #[test]
    fn the_control_step_by_hand() {
        assert_eq!(control_step(0.1, 1.0, 0.005), 0.1);
        assert!((control_step(0.1, 1.2, 0.005) - 0.101).abs() < 1e-12);
        assert!((control_step(0.1, 0.0, 0.005) - 0.095).abs() < 1e-12);
        assert_eq!(control_step(0.001, 0.0, 0.005), 0.0);
    }

    /// REM without a backlog to clear, gamma being T / c0 a packet, c0 in packets an interval.
    #[test]
    fn it_is_rem_by_rate_alone() {
        for (price, arrived) in [(0.0, 60.0), (0.2, 60.0), (0.2, 20.0), (0.001, 0.0)] {
            let capacity = 47.5;
            let measured = rem::Measured { arrived, backlog: 7.0, capacity };
            let params = rem::Params { gamma: 0.005 / capacity, alpha: 0.0, ..Default::default() };
            let expected = rem::control_step(price, &measured, &params);
            assert!((control_step(price, arrived / capacity, 0.005) - expected).abs() < 1e-12);
        }
    }

    /// 1 MB/s carries 4.75 packets in 5 ms at 95 per cent. Of 10 arriving each time, 5.25 wait in a
    /// virtual queue, which is 5.53 ms at the virtual capacity.
    #[test]
    fn the_price_is_the_virtual_queueing_delay() {
        let mut law = price(Params::default());
        for tick in 1..=20 {
            for _ in 0..10 {
                let verdict = offer(&mut law, queue(5 * tick - 5, 0), Codec::Ecn, &mut NoDraw);
                assert_eq!(verdict, Verdict::Accept);
            }
            tick_until(&mut law, queue(5 * tick, 0));
        }
        assert!((law.signal() - 20.0 * 5.25 / 950.0).abs() < 1e-9);
        let mut idle = law.clone();
        tick_until(&mut idle, queue(150, 0));
        assert!((idle.signal() - law.signal() + 0.05).abs() < 1e-9); // it empties as time passes
        law.on_rate(BitRate::from_mbps(16.0)); // 9500 bytes in 5 ms
        let before = law.signal();
        law.bytes = 19_000;
        tick_until(&mut law, queue(105, 0));
        assert!((law.signal() - before - 0.005).abs() < 1e-12);
    }

    #[test]
    fn acks_count_by_their_bytes_unless_packets_count() {
        let ack = Arrival { queue: queue(0, 0), idle_since: None, flow: 0, size: 40, data: false };
        for (byte_mode, bytes) in [(true, 40), (false, 1000)] {
            let mut law = price(Params { byte_mode, ..Params::default() });
            present(&mut law, ack, Codec::None, &mut NoDraw);
            assert_eq!(law.bytes, bytes);
        }
    }

    /// IV-A, two links on a path: 1 - phi^-(sum of prices), within four standard errors of 20,000 packets.
    /// Packets of other codecs pass unmarked, without a draw.
    #[test]
    fn two_links_mark_as_the_sum_of_their_prices() {
        const N: u32 = 20_000;
        let at = |price, p| Price { price, p, ..self::price(Params::default()) };
        let of = |price: f64| 1.0 - libm::pow(1000.0, -price);
        let mut links = [at(0.05, of(0.05)), at(0.12, of(0.12))];
        let arrival =
            Arrival { queue: queue(0, 0), idle_since: None, flow: 0, size: 1000, data: true };
        let mut random = Random(2);
        let mut marked = 0;
        for _ in 0..N {
            let (mut marks, mut header) = (Codec::Price.initial(), [0; 4]);
            for link in &mut links {
                let mut wire = Wire { marks: &mut marks, header: &mut header };
                if link.on_arrival(&arrival, &mut wire, &mut random) == Verdict::Mark {
                    ecn::mark(&mut wire);
                }
            }
            marked += u32::from(marks.ecn() == ecn::CONGESTED);
        }
        let (share, p) = (f64::from(marked) / f64::from(N), of(0.17));
        assert!((share - p).abs() < 4.0 * libm::sqrt(p * (1.0 - p) / f64::from(N)), "{share}, {p}");
        for codec in Codec::ALL.iter().copied().filter(|codec| *codec != Codec::Price) {
            assert_eq!(offer(&mut links[0], queue(0, 0), codec, &mut NoDraw), Verdict::Accept);
        }
    }
}
