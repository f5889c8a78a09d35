//! Round trips, as several laws count them. A round ends with the ACK of a packet that was sent after it began.

use crate::ack::Ack;
#[cfg(test)]
use crate::quantities::Span;
use crate::quantities::Time;
#[cfg(test)]
use crate::sender::SenderLaw;

/// A round that has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// Packets acknowledged in it.
    pub packets: u64,
    /// How long it took.
    pub seconds: f64,
}

/// The current round, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    since: Option<Time>,
    acked: u64,
    left: u64,
}

impl Round {
    /// Takes every ACK, also in recovery. The first begins a round and ends none.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<Passed> {
        let newly_acked = u64::from(ack.newly_acked);
        self.acked += newly_acked;
        self.left = self.left.saturating_sub(newly_acked);
        if newly_acked == 0 || (self.since.is_some() && self.left > 0) {
            return None;
        }
        let passed = self
            .since
            .map(|since| Passed { packets: self.acked, seconds: ack.now.since(since).seconds() });
        *self = Self { since: Some(ack.now), acked: 0, left: u64::from(ack.in_flight) + 1 };
        passed
    }

    /// Forgets the current round; the next ACK begins another.
    pub fn restart(&mut self) {
        self.since = None;
    }
}

/// A path with one flow, for tests: a capacity in packets/s, and an RTT that grows with its queue.
#[cfg(test)]
pub(super) struct Bottleneck {
    rate: f64,
    base_rtt: Span,
    now: Time,
}

#[cfg(test)]
impl Bottleneck {
    pub(super) fn new(rate: f64, base_rtt: Span) -> Self {
        Self { rate, base_rtt, now: Time::ZERO }
    }

    /// Sends and acknowledges a window, evenly spaced. Returns the law's new window.
    pub(super) fn round(&mut self, law: &mut impl SenderLaw) -> f64 {
        let packets = law.window() as u32;
        let rtt = Span::from_seconds(f64::from(packets) / self.rate).max(self.base_rtt);
        for _ in 0..packets {
            self.now += rtt / u64::from(packets);
            let ack = Ack::new(self.now, 1, packets - 1, rtt);
            law.on_ack(&Ack { min_rtt: self.base_rtt, ..ack });
        }
        law.window()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four packets a round of 100 ms, an ACK each 25 ms.
    #[test]
    fn a_round_lasts_until_a_later_packet_is_acknowledged() {
        let mut round = Round::default();
        let mut at = |ms: u64| {
            let now = Time::ZERO + Span::from_millis(ms);
            round.on_ack(&Ack::new(now, 1, 3, Span::from_millis(100)))
        };
        assert_eq!([at(100), at(125), at(150), at(175)], [None; 4]);
        assert_eq!(at(200), Some(Passed { packets: 4, seconds: 0.1 }));
        assert_eq!(at(225), None);
    }
}
