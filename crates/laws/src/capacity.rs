//! Estimates of a node's capacity, where it is not known, as on a wireless LAN.
//!
//! I. A. Qazi, "An Efficient Framework of Congestion Control for Next-Generation Networks", PhD dissertation, University of
//! Pittsburgh, 2010, chapter 6. A packet of X bits that is released to the MAC at t_s and acknowledged by it at t_e was
//! transmitted at X / (t_e - t_s). Over intervals of t_p (6.3.1):
//!   C_av <- a C_av + (1 - a) C_sample
//! C_sample is the mean size over the mean time of the packets delivered in the interval; an interval without packets
//! leaves the estimate. If sizes differ (6.3.3), times are converted to packets of the average size X_av. Times of packets
//! differ by X / R, where R is the physical rate, so that
//!   C_sample = X_av / (T - X / R + X_av / R)
//! The passive estimate (6.5) applies (6.2) to (6.4) to what a node sees of the channel ([`passive`]).
//!
//! Differs from the text: 6.3.3 prints - X_av / R + X / R, which makes the time of large packets longer instead of shorter.
//! 6.3.3 leaves open how X_av is averaged; here it is averaged over intervals with the same weight a.

use crate::params;
use crate::quantities::{BitRate, Span, Time};

params! {
    /// How a capacity is estimated.
    pub struct Params {
        /// Measurement interval t_p.
        pub interval: Span = Span::from_millis(200), in 1e-3, 60.0;
        /// Weight a of earlier estimates.
        pub weight: f64 = 0.875, in 0.0, 0.999;
        /// Are times converted to the average packet size?
        pub normalise: bool = true;
    }
}

/// A packet that was delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Its bytes.
    pub bytes: u32,
    /// From its release to its acknowledgement.
    pub time: Span,
    /// The physical rate at which it was sent.
    pub rate: BitRate,
}

/// Sums over an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    packets: f64,
    bits: f64,
    seconds: f64,
    /// The sum of X / R.
    body_seconds: f64,
}

/// The estimate of a node.
#[derive(Clone, Debug)]
pub struct Estimator {
    params: Params,
    ends: Time,
    sums: Sums,
    /// C_av in bits a second, and X_av in bits.
    capacity: Option<f64>,
    size: Option<f64>,
}

impl Estimator {
    /// An estimator without an estimate.
    pub fn new(params: Params) -> Self {
        let ends = Time::ZERO + params.interval;
        Self { params, ends, sums: Sums::default(), capacity: None, size: None }
    }

    /// The estimate, if there is one yet.
    pub fn capacity(&self) -> Option<BitRate> {
        self.capacity.map(BitRate::from_bps)
    }

    /// Takes a packet that was delivered at `now`. Returns the estimate if an interval has ended.
    pub fn take(&mut self, now: Time, delivery: Delivery) -> Option<BitRate> {
        let changed = if now >= self.ends { self.end(now) } else { None };
        let bits = f64::from(delivery.bytes) * 8.0;
        self.sums.packets += 1.0;
        self.sums.bits += bits;
        self.sums.seconds += delivery.time.seconds();
        self.sums.body_seconds += bits / delivery.rate.bps();
        changed
    }

    /// Ends the interval, and later ones without packets.
    fn end(&mut self, now: Time) -> Option<BitRate> {
        let passed = now.since(self.ends).ps() / self.params.interval.ps() + 1;
        self.ends += self.params.interval * passed;
        let Sums { packets, bits, seconds, body_seconds } = std::mem::take(&mut self.sums);
        if packets == 0.0 {
            return None;
        }
        let a = self.params.weight;
        let average = |before: Option<f64>, sample: f64| match before {
            None => sample,
            Some(before) => a * before + (1.0 - a) * sample,
        };
        let (mean, time, body) = (bits / packets, seconds / packets, body_seconds / packets);
        let size = average(self.size, mean);
        self.size = Some(size);
        let sample = match self.params.normalise {
            true => size / (time - body + body * size / mean),
            false => mean / time,
        };
        if sample.is_finite() && sample > 0.0 {
            self.capacity = Some(average(self.capacity, sample));
        }
        self.capacity()
    }
}

/// What a node sees of its channel over an interval.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Physical rate R of its frames.
    pub rate: BitRate,
    /// Share p of its transmissions that are lost.
    pub loss: f64,
    /// Share A of the time that others occupy the channel.
    pub others: f64,
    /// Mean transmission time T^tr of its packets, without preamble.
    pub body: Span,
    /// (6.4): interframe spaces, preambles, mean backoff and the link layer's ACK.
    pub overhead: Span,
}

/// (6.2) and (6.3): the capacity of the network layer.
pub fn passive(channel: &Channel) -> BitRate {
    let Channel { rate, loss, others, body, overhead } = *channel;
    let body = body.seconds();
    let share = body / (body + overhead.seconds());
    BitRate::from_bps(share * rate.bps() * (1.0 - loss) * (1.0 - others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    fn packet(bytes: u32, micros: u64) -> Delivery {
        Delivery { bytes, time: Span::from_micros(micros), rate: BitRate::from_mbps(10.0) }
    }

    #[test]
    fn the_average_follows_a_step_geometrically() {
        let mut node = Estimator::new(Params::default());
        // 1500 bytes in 2 ms are 6 Mbps, in 4 ms 3 Mbps.
        let mut at = |n: u64, micros| node.take(ms(n), packet(1500, micros)).map(|rate| rate.bps());
        assert_eq!([at(10, 2000), at(100, 2000)], [None, None]);
        assert_eq!(at(210, 4000), Some(6e6));
        assert_eq!(at(220, 4000), None);
        assert_eq!(at(410, 4000), Some(0.875 * 6e6 + 0.125 * 3e6));
        // Idle intervals keep it: the next ends the one that had packets.
        assert_eq!(at(2000, 4000), Some(0.875 * 5.625e6 + 0.125 * 3e6));
        assert_eq!(at(3000, 4000).map(f64::round), Some(5_009_766.0));
    }

    /// A cycle of 500 us and X / R: packets of 1500 bytes take 1.7 ms, of 100 bytes 0.58 ms. Half of each have a mean of
    /// 800, which alone would take 1.14 ms.
    #[test]
    fn sizes_that_differ_count_as_their_average() {
        for (normalise, later) in [(true, 800.0 * 8.0 / 1.14e-3), (false, 1500.0 * 8.0 / 1.7e-3)] {
            let mut node = Estimator::new(Params { weight: 0.0, normalise, ..Params::default() });
            for (bytes, micros) in [(1500, 1700), (100, 580)] {
                assert!(node.take(ms(1), packet(bytes, micros)).is_none());
            }
            let mixed = node.take(ms(201), packet(1500, 1700)).map(|rate| rate.bps());
            assert!((mixed.unwrap_or(0.0) / (800.0 * 8.0 / 1.14e-3) - 1.0).abs() < 1e-9);
            // With a weight of the past the average size stays near 800 when only large ones follow.
            let mut node =
                Estimator { params: Params { weight: 0.999_999, ..node.params }, ..node };
            node.params.weight = 0.999_999_9;
            let size = node.size;
            node.capacity = None;
            let next = node.take(ms(401), packet(1500, 1700)).map(|rate| rate.bps());
            assert!((next.unwrap_or(0.0) / later - 1.0).abs() < 1e-5, "{next:?} {size:?}");
        }
    }

    /// 6.1.2.1: 1500 bytes and an ACK of 118 bytes at 11 Mbps, 320 us of backoff: 4.1 Mbps for the download, 92 % of
    /// whose bits are data.
    #[test]
    fn the_capacity_of_the_dissertation() {
        let overhead = Span::from_micros(50 + 192 + 320 + 10 + 192 + 112);
        let rate = BitRate::from_mbps(11.0);
        let one = |bytes: f64| {
            let body = Span::from_seconds(bytes * 8.0 / 11e6);
            passive(&Channel { rate, loss: 0.0, others: 0.0, body, overhead }).bps()
        };
        // A packet and its ACK take turns on the channel.
        let pair = 1500.0 * 8.0 / (1500.0 * 8.0 / one(1500.0) + 118.0 * 8.0 / one(118.0));
        assert!((pair / 1e6 - 4.1).abs() < 0.1, "{pair}");
        let half = Channel {
            rate,
            loss: 0.5,
            others: 0.2,
            body: Span::from_micros(1000),
            overhead: Span::from_micros(1000),
        };
        assert!((passive(&half).bps() - 0.5 * 11e6 * 0.5 * 0.8).abs() < 1.0);
    }
}
