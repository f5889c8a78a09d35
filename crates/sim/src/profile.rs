//! Profiles: a token bucket at a flow's sender decides which of its packets are in profile.

use crate::config::Commitment;
use knee_laws::quantities::Time;

/// A flow's token bucket: of size `burst`, filled at `rate`, full at the start.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    bytes: f64,
    filled_at: Time,
}

impl Default for TokenBucket {
    fn default() -> Self {
        Self { bytes: f64::INFINITY, filled_at: Time::ZERO } // the first filling leaves `burst`
    }
}

impl TokenBucket {
    /// Is a packet of this size, sent now, within the commitment? If so, it takes its tokens.
    pub fn covers(&mut self, size: u16, commitment: &Commitment, now: Time) -> bool {
        let gained = commitment.rate.bytes_in(now.since(self.filled_at));
        self.bytes = (self.bytes + gained).min(commitment.burst_bytes);
        self.filled_at = now;
        let covered = self.bytes >= f64::from(size);
        if covered {
            self.bytes -= f64::from(size);
        }
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use knee_laws::quantities::{BitRate, Span};

    const COMMITMENT: Commitment =
        Commitment { rate: BitRate::from_mbps(8.0), burst_bytes: 3000.0 };

    fn covered(bucket: &mut TokenBucket, micros: u64, packets: usize) -> usize {
        let now = Time::ZERO + Span::from_micros(micros);
        (0..packets).filter(|_| bucket.covers(1000, &COMMITMENT, now)).count()
    }

    #[test]
    fn a_burst_then_the_rate() {
        let mut bucket = TokenBucket::default();
        assert_eq!(covered(&mut bucket, 0, 10), 3);
        assert_eq!(covered(&mut bucket, 999, 10), 0); // a packet a millisecond
        assert_eq!(covered(&mut bucket, 1001, 10), 1);
        assert_eq!(covered(&mut bucket, 3002, 10), 2);
        assert_eq!(covered(&mut bucket, 1_000_000, 10), 3); // no more than the burst
    }

    #[test]
    fn a_sender_at_twice_the_rate_has_half_of_its_packets_in_profile() {
        let mut bucket = TokenBucket::default();
        let inside: usize = (0..20_000).map(|n| covered(&mut bucket, 500 * n, 1)).sum();
        assert!((10_000..=10_003).contains(&inside), "{inside}"); // the rate and the burst
    }
}
