//! AVQ: marks packets that overflow a virtual queue, whose capacity adapts until arrivals match a target.
//!
//! S. Kunniyur, R. Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for
//! Active Queue Management", SIGCOMM 2001. In bytes; on the arrival of a packet of size s, dt after
//! the last one, C being the link's capacity, C~ the virtual queue's, B its buffer:
//!   (1) V = max(0, V - C~ dt)
//!   (2) mark if V + s > B, or drop if the packet cannot be marked; else V = V + s
//!   (3) C~ = C~ + alpha (gamma C dt - s), within [0, C]; that is dC~/dt = alpha (gamma C - lambda)
//! As in ns-2: a dropped packet is not part of lambda; C~ starts at 0.8 C. Nothing is random.
//! C~ keeps its share of C when the link's rate changes.

use super::verdicts::{congested, room};
use crate::codecs::Wire;
use crate::quantities::{BitRate, Bytes, Time};
use crate::router::{Arrival, Draw, LinkView, RouterLaw, RouterSpec, Verdict};
use crate::{params, tunes};

params! {
    /// AVQ's parameters, with ns-2's defaults except for `ecn`, which is off there.
    pub struct Params {
        /// Share gamma of the link that arrivals should use.
        pub gamma: f64 = 0.98, in 0.01, 1.0;
        /// Gain alpha of the virtual capacity's adaptation, per second.
        pub alpha: f64 = 0.15, in 0.0, 100.0;
        /// Virtual capacity at the start, as a share of the link's.
        pub initial_share: f64 = 0.8, in 0.0, 1.0 => fixed;
        /// Virtual buffer B; 0: the link's buffer, or a hundred packets if that is unlimited.
        pub buffer: Bytes = Bytes(0), in 0.0, 1e12;
        /// Mark packets that can carry a mark, instead of dropping them?
        pub ecn: bool = true, in 0.0, 1.0;
    }
}

/// (3): C~ after an arrival. `arrived` has the bytes and the seconds since the last one, `capacity` is in bytes a second.
pub fn control_step(virtual_rate: f64, capacity: f64, arrived: (f64, f64), params: &Params) -> f64 {
    let (bytes, dt) = arrived;
    (virtual_rate + params.alpha * (params.gamma * capacity * dt - bytes)).clamp(0.0, capacity)
}

/// The state of an AVQ router at one link.
#[derive(Clone, Debug)]
pub struct Avq {
    params: Params,
    /// The link's buffer in bytes.
    room: u64,
    /// C, in bytes a second.
    capacity: f64,
    /// C~, in bytes a second.
    virtual_rate: f64,
    /// V, in bytes, at the last arrival.
    virtual_queue: f64,
    arrived_at: Option<Time>,
    adapted_at: Option<Time>,
}

impl Avq {
    /// B.
    fn buffer(&self) -> f64 {
        let given = self.params.buffer.count();
        (if given == 0 { self.room } else { given }) as f64
    }
}

impl RouterLaw for Avq {
    tunes! {}

    fn on_arrival(&mut self, arrival: &Arrival, wire: &mut Wire<'_>, _: &mut dyn Draw) -> Verdict {
        let (now, size) = (arrival.queue.now, f64::from(arrival.size));
        let since = |then: Option<Time>| then.map_or(0.0, |then| now.since(then).seconds());
        let drained = self.virtual_rate * since(self.arrived_at);
        self.virtual_queue = (self.virtual_queue - drained).max(0.0);
        self.arrived_at = Some(now);
        let verdict = if self.virtual_queue + size > self.buffer() {
            congested(self.params.ecn, wire)
        } else {
            self.virtual_queue += size;
            Verdict::Accept
        };
        if verdict != Verdict::Drop {
            let arrived = (size, since(self.adapted_at));
            self.virtual_rate =
                control_step(self.virtual_rate, self.capacity, arrived, &self.params);
            self.adapted_at = Some(now);
        }
        verdict
    }

    fn on_rate(&mut self, rate: BitRate) {
        let capacity = rate.bytes_per_second();
        self.virtual_rate = (self.virtual_rate * (capacity / self.capacity)).min(capacity);
        self.capacity = capacity;
    }

    /// C~ / C.
    fn signal(&self) -> f64 {
        self.virtual_rate / self.capacity
    }
}

impl RouterSpec for Avq {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "avq";
    const TITLE: &'static str = "AVQ: marks or drops packets that overflow a slower virtual queue";
    const SOURCE: &'static str = "Kunniyur and Srikant, SIGCOMM 2001; ns-2";
    fn new(params: Params, link: &LinkView) -> Self {
        let capacity = link.rate.bytes_per_second();
        Self {
            params,
            room: room(link),
            capacity,
            virtual_rate: params.initial_share * capacity,
            virtual_queue: 0.0,
            arrived_at: None,
            adapted_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{NoDraw, link, offer, queue};
    use super::*;
    use crate::codecs::Codec;

    fn avq(params: Params) -> Avq {
        <Avq as RouterSpec>::new(params, &link())
    }

    #[test]
    fn the_control_step_by_hand() {
        let params = Params::default();
        let step = |virtual_rate, arrived| control_step(virtual_rate, 1e6, arrived, &params);
        assert_eq!(step(8e5, (98e3, 0.1)), 8e5); // gamma C: at rest
        assert!((step(8e5, (48e3, 0.1)) - 807.5e3).abs() < 1e-6); // 50 kB less
        assert!((step(8e5, (198e3, 0.1)) - 785e3).abs() < 1e-6); // 100 kB more
        assert_eq!([step(999_999.0, (0.0, 1.0)), step(100.0, (1e6, 0.0))], [1e6, 0.0]);
    }

    #[test]
    fn what_overflows_the_virtual_buffer_is_marked() {
        let still = Params { alpha: 0.0, buffer: Bytes(3000), ..Params::default() };
        let mut law = avq(still);
        let mut at = |ms, codec| offer(&mut law, queue(ms, 0), codec, &mut NoDraw);
        assert_eq!([0, 0, 0].map(|ms| at(ms, Codec::Ecn)), [Verdict::Accept; 3]);
        assert_eq!(at(0, Codec::Ecn), Verdict::Mark);
        assert_eq!(at(0, Codec::None), Verdict::Drop);
        assert_eq!(at(1, Codec::Ecn), Verdict::Mark); // 800 bytes drained
        assert_eq!(at(2, Codec::Ecn), Verdict::Accept); // 1600
        assert_eq!(at(2, Codec::Ecn), Verdict::Mark);
    }

    /// At a constant load between gamma C and C, all that exceeds the virtual capacity is marked.
    #[test]
    fn overload_brings_the_virtual_capacity_down_and_marks() {
        let mut law = avq(Params::default());
        let mut share = |from: u64, until: u64| {
            let verdicts = (from..until).map(|ms| {
                let verdict = offer(&mut law, queue(ms, 0), Codec::Ecn, &mut NoDraw);
                f64::from(u8::from(verdict == Verdict::Mark)) // one packet a ms is C
            });
            (verdicts.sum::<f64>() / (until - from) as f64, law.virtual_rate)
        };
        let (_, virtual_rate) = share(0, 20_001);
        // dC~/dt = 0.15 (0.98 - 1) C for 20 s, except for the first packet, which takes no time.
        assert!((virtual_rate - (0.74e6 - 150.0)).abs() < 1e-3, "{virtual_rate}");
        let (marked, _) = share(20_001, 21_001);
        assert!((marked - 0.26).abs() < 0.01, "{marked}"); // 1 - C~ / C, as C~ falls by 0.003
    }

    #[test]
    fn the_virtual_capacity_keeps_its_share_of_the_link() {
        let mut law = avq(Params::default());
        law.on_rate(BitRate::from_mbps(80.0));
        assert!((law.signal() - 0.8).abs() < 1e-12 && (law.virtual_rate - 8e6).abs() < 1e-3);
    }
}
