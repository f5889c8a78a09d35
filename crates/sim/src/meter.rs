//! A queue's statistics, exact in time: what it held for how long, and what became of the packets that came since
//! statistics began.

use knee_laws::quantities::{Span, Time};
use knee_path::Watch;

/// How long a queue held how much, since the last reset. The packet in service is not counted.
#[derive(Debug, Default)]
pub struct Meter {
    /// Picoseconds at each length in packets.
    at_length: Vec<u64>,
    /// Integral of the length in bytes, byte picoseconds.
    byte_time: u128,
    since: Time,
    /// When statistics began. A packet that came earlier is not counted, whenever it is dropped or marked, so
    /// that no more packets are than were offered.
    from: Time,
    pub dropped: u64,
    pub marked: u64,
    /// All packets dropped, whenever they came: up to now, and when a probe last asked.
    dropped_in_all: u64,
    dropped_before: u64,
}

impl Watch for Meter {
    #[inline]
    fn hold(&mut self, now: Time, packets: usize, bytes: u64) {
        let held = now.since(self.since);
        self.since = now;
        if packets >= self.at_length.len() {
            self.at_length.resize(packets + 1, 0);
        }
        self.at_length[packets] += held.ps();
        self.byte_time += u128::from(bytes) * u128::from(held.ps());
    }

    fn dropped(&mut self, came: Time) {
        self.dropped += u64::from(came >= self.from);
        self.dropped_in_all += 1;
    }

    fn marked(&mut self, came: Time) {
        self.marked += u64::from(came >= self.from);
    }
}

impl Meter {
    /// Statistics begin.
    pub fn reset(&mut self, now: Time) {
        self.at_length.fill(0);
        *self = Self {
            at_length: std::mem::take(&mut self.at_length),
            since: now,
            from: now,
            dropped_in_all: self.dropped_in_all,
            dropped_before: self.dropped_before,
            ..Self::default()
        };
    }

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.dropped_before, self.dropped_in_all);
        self.dropped_in_all - before
    }

    fn total(&self) -> Span {
        Span::from_ps(self.at_length.iter().sum())
    }

    /// Time-weighted mean length in packets.
    pub fn mean_packets(&self) -> f64 {
        let weighted: f64 =
            self.at_length.iter().enumerate().map(|(n, held)| n as f64 * *held as f64).sum();
        weighted / (self.total().ps() as f64).max(1.0)
    }

    /// Time-weighted mean length in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.byte_time as f64 / (self.total().ps() as f64).max(1.0)
    }

    /// The least length that is not exceeded for this fraction of the time.
    pub fn quantile_packets(&self, fraction: f64) -> f64 {
        let below = fraction * self.total().ps() as f64;
        let mut held = 0.0;
        for (length, at_length) in self.at_length.iter().enumerate() {
            held += *at_length as f64;
            if held >= below {
                return length as f64;
            }
        }
        0.0
    }

    /// The longest that it has been.
    pub fn max_packets(&self) -> f64 {
        self.at_length.iter().rposition(|held| *held > 0).unwrap_or(0) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staircase_has_its_mean_and_quantiles() {
        let mut meter = Meter::default();
        let s = |n| Time::ZERO + Span::from_secs(n);
        meter.hold(s(100), 7, 7000); // forgotten
        meter.reset(s(100));
        meter.hold(s(105), 0, 0);
        meter.hold(s(109), 2, 2000);
        meter.hold(s(110), 10, 400);
        assert_eq!(meter.mean_packets(), 1.8);
        assert!((meter.mean_bytes() - 840.0).abs() < 1e-9);
        assert_eq!(meter.quantile_packets(0.5), 0.0);
        assert_eq!(meter.quantile_packets(0.9), 2.0);
        assert_eq!(meter.quantile_packets(0.91), 10.0);
        assert_eq!(meter.max_packets(), 10.0);
    }
}
