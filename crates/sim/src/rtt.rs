//! RTT estimation and retransmission timeout of RFC 6298, with a sample from each ACK.
//!
//! With a sample from each ACK, a round trip of equal samples brings RTTVAR to 0. If `min_rto` then bounded the whole
//! timeout, an ACK later than the mean would cause a timeout on every path with an RTT above `min_rto`. So it bounds
//! the term of the variation, the G of (2.3), as Linux's `tcp_rto_min` does.

use knee_laws::quantities::Span;

const MAX_RTO: Span = Span::from_secs(60);
const INITIAL_RTO: Span = Span::from_secs(1);

/// The estimator.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT; zero before the first sample.
    pub smoothed: Span,
    variation: Span,
    /// The least sample.
    pub min: Span,
    backoff: u32,
}

impl Default for RttEstimator {
    fn default() -> Self {
        Self { smoothed: Span::ZERO, variation: Span::ZERO, min: Span::MAX, backoff: 0 }
    }
}

impl RttEstimator {
    /// (2.2), (2.3): takes a sample; any back-off ends.
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        self.backoff = 0;
        self.min = self.min.min(rtt);
        if self.smoothed == Span::ZERO {
            self.smoothed = rtt;
            self.variation = rtt / 2;
            return;
        }
        let (smoothed, rtt) = (self.smoothed.ps() as i64, rtt.ps() as i64);
        let error = rtt - smoothed;
        let variation = self.variation.ps() as i64;
        self.variation = Span::from_ps((variation + (error.abs() - variation) / 4) as u64);
        self.smoothed = Span::from_ps((smoothed + error / 8) as u64);
    }

    /// The timeout: SRTT + max(4 RTTVAR, `min_rto`), doubled by each timeout since, at most 60 s.
    #[inline]
    pub fn timeout(&self, min_rto: Span) -> Span {
        let base = if self.smoothed == Span::ZERO {
            INITIAL_RTO
        } else {
            self.smoothed + (self.variation * 4).max(min_rto)
        };
        (base * (1 << self.backoff)).min(MAX_RTO)
    }

    /// (5.5): the timer fired.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_rfc_6298() {
        let (mut rtt, min) = (RttEstimator::default(), Span::from_millis(200));
        assert_eq!(rtt.timeout(min), Span::from_secs(1));
        rtt.sample(Span::from_millis(160));
        assert_eq!(rtt.timeout(min), Span::from_millis(160 + 4 * 80));
        rtt.sample(Span::from_millis(80)); // SRTT 150, RTTVAR 80
        assert_eq!(rtt.smoothed, Span::from_millis(150));
        assert_eq!(rtt.timeout(min), Span::from_millis(150 + 4 * 80));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(min), Span::from_millis(4 * 470));
        rtt.sample(Span::from_millis(150));
        assert!(rtt.timeout(min) < Span::from_millis(470));
        assert_eq!(rtt.min, Span::from_millis(80));
    }

    #[test]
    fn an_ack_may_be_late_after_many_that_were_not() {
        let mut rtt = RttEstimator::default();
        (0..1000).for_each(|_| rtt.sample(Span::from_millis(800)));
        assert_eq!(rtt.timeout(Span::from_millis(200)), Span::from_millis(1000));
    }
}
