//! A queue's statistics, exact in time: what it held for how long.

use knee_laws::quantities::{Span, Time};

/// How long a queue held how much, since the last reset. The packet in service is not counted.
#[derive(Debug, Default)]
pub struct Meter {
    /// Picoseconds at each length in packets.
    at_length: Vec<u64>,
    /// Integral of the length in bytes, byte picoseconds.
    byte_time: u128,
    since: Time,
    pub offered: u64,
    pub dropped: u64,
    pub marked: u64,
    /// `dropped` when a probe last asked.
    dropped_before: u64,
}

impl Meter {
    /// Accounts for the time up to `now`, in which the queue held so much.
    #[inline]
    pub fn hold(&mut self, now: Time, packets: usize, bytes: u64) {
        let held = now.since(self.since);
        self.since = now;
        if packets >= self.at_length.len() {
            self.at_length.resize(packets + 1, 0);
        }
        self.at_length[packets] += held.ps();
        self.byte_time += u128::from(bytes) * u128::from(held.ps());
    }

    /// Forgets everything before `now`.
    pub fn reset(&mut self, now: Time) {
        self.at_length.fill(0);
        *self =
            Self { at_length: std::mem::take(&mut self.at_length), since: now, ..Self::default() };
    }

    /// Packets dropped since this was last asked.
    pub fn drops_since(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.dropped_before, self.dropped);
        self.dropped - before
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
