//! Delivery-rate samples, for laws that ask for them.
//!
//! Y. Cheng et al., "Delivery Rate Estimation", draft-cheng-iccrg-delivery-rate-estimation-02, 2022. The sampler
//! notes for each packet what had been delivered when it left. When the packet is acknowledged,
//!   interval = max(sent - first sent, now - delivery before it was sent),  rate = delivered meanwhile / interval
//! If an ACK acknowledges several packets, the one sent last counts. Samples shorter than the least RTT are left
//! out: there an original came late and was mistaken for its retransmission.

use crate::packet::Packet;
use crate::scoreboard::Scoreboard;
use knee_laws::quantities::{Span, Time};
use knee_laws::sender::RateSample;

/// What is noted of a packet when it leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Time,
    /// When the first packet of the flight that the sample spans was sent.
    first_sent: Time,
    /// Packets delivered when it left; below, when the last of them was delivered.
    delivered: u32,
    delivered_at: Time,
    /// Packets lost when it left; below, packets in flight, itself included.
    lost: u32,
    in_flight: u32,
    app_limited: bool,
    /// Is its arrival still unknown?
    waiting: bool,
}

/// The sampler of one flow.
#[derive(Debug, Default)]
pub struct RateSampler {
    /// Notes of every outstanding packet, at `number mod capacity`.
    sent: Vec<Sent>,
    first_sent: Time,
    delivered: u32,
    delivered_at: Time,
    /// Losses of which the law has been told.
    lost: u32,
    /// Until this many packets are delivered, samples are limited by the application; 0: they are not.
    app_limited_until: u32,
}

impl RateSampler {
    /// A packet leaves. The scoreboard counts it already.
    #[inline(never)]
    pub fn on_send(&mut self, seq: u32, board: &Scoreboard, now: Time) {
        if board.outstanding() as usize > self.sent.len() {
            self.grow(seq, board);
        }
        if board.in_flight() <= 1 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        *self.slot(seq) = Sent {
            at: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: board.lost(),
            in_flight: board.in_flight(),
            app_limited: self.app_limited_until > 0,
            waiting: true,
        };
    }

    /// The window has room, but there is nothing to send.
    pub fn on_idle(&mut self, board: &Scoreboard) {
        self.app_limited_until = (self.delivered + board.in_flight()).max(1);
    }

    #[inline(never)]
    /// An ACK arrives. The scoreboard has taken it; `before` was the first packet not acknowledged.
    pub fn on_ack(
        &mut self,
        before: u32,
        ack: &Packet,
        board: &Scoreboard,
        clock: (Time, Span),
    ) -> Option<RateSample> {
        let (now, min_rtt) = clock;
        let delivered = board.delivered();
        if delivered > self.delivered {
            (self.delivered, self.delivered_at) = (delivered, now);
        }
        if delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newest = self.newest(before, ack, board)?;
        self.first_sent = newest.at;
        let interval = newest.at.since(newest.first_sent).max(now.since(newest.delivered_at));
        if interval < min_rtt || interval == Span::ZERO {
            return None;
        }
        let newly_lost = board.lost().wrapping_sub(self.lost);
        self.lost = board.lost();
        Some(RateSample {
            delivered: u64::from(delivered),
            prior_delivered: u64::from(newest.delivered),
            interval,
            rate: f64::from(delivered - newest.delivered) / interval.seconds(),
            app_limited: newest.app_limited,
            newly_lost,
            lost: board.lost().wrapping_sub(newest.lost),
            prior_in_flight: newest.in_flight,
        })
    }

    /// Of the packets that the ACK acknowledges for the first time, the one sent last. It looks at all before the
    /// cumulative ACK, and at both ends of the first SACK block, which holds the latest packet (RFC 2018). A packet
    /// that closes a gap between blocks is found later, when the cumulative ACK passes it.
    fn newest(&mut self, before: u32, ack: &Packet, board: &Scoreboard) -> Option<Sent> {
        let mut newest: Option<Sent> = None;
        let mut take = |slot: &mut Sent| {
            let was_waiting = std::mem::take(&mut slot.waiting);
            if was_waiting && newest.is_none_or(|newest| newest.at <= slot.at) {
                newest = Some(*slot);
            }
            was_waiting
        };
        for seq in before..board.una() {
            take(self.slot(seq));
        }
        if ack.block_count() > 0 {
            let (start, end) = ack.block(0);
            let (start, end) = (start.max(board.una()), end.min(board.next()));
            let _ = (start..end).rev().all(|seq| take(self.slot(seq)));
            let _ = (start..end).all(|seq| take(self.slot(seq)));
        }
        newest
    }

    fn slot(&mut self, seq: u32) -> &mut Sent {
        let wrap = self.sent.len() - 1;
        &mut self.sent[seq as usize & wrap]
    }

    #[cold]
    fn grow(&mut self, seq: u32, board: &Scoreboard) {
        let len = (board.outstanding() as usize).next_power_of_two().max(16);
        let old = std::mem::replace(&mut self.sent, vec![Sent::default(); len]);
        if let Some(wrap) = old.len().checked_sub(1) {
            for number in (board.una()..board.next()).filter(|number| *number != seq) {
                *self.slot(number) = old[number as usize & wrap];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    struct Bench {
        board: Scoreboard,
        rates: RateSampler,
    }

    impl Bench {
        fn send(&mut self, ms: u64) {
            let seq = self.board.send();
            self.rates.on_send(seq, &self.board, at(ms));
        }

        /// An ACK for all before `next`, with this block.
        fn ack(&mut self, ms: u64, next: u32, block: Option<(u32, u32)>) -> Option<RateSample> {
            let mut ack = Packet::ack(&Packet::data(0, 0, 1000, false), next, 40, 0);
            let before = self.board.una();
            self.board.acknowledge(next);
            if let Some(block) = block {
                ack.push_block(block);
                self.board.sack(0, block);
            }
            self.board.end_sack(ack.block_count());
            self.rates.on_ack(before, &ack, &self.board, (at(ms), Span::from_millis(80)))
        }
    }

    fn bench() -> Bench {
        Bench { board: Scoreboard::default(), rates: RateSampler::default() }
    }

    /// Ten packets sent at once through a link that passes one each 10 ms, 80 ms away.
    #[test]
    fn the_rate_is_that_of_the_bottleneck_whatever_that_of_sending() {
        let mut bench = bench();
        (0..10).for_each(|_| bench.send(0));
        let first = bench.ack(80, 1, None).expect("a sample");
        assert_eq!((first.interval, first.delivered), (Span::from_millis(80), 1));
        bench.send(80);
        for n in 2..=10 {
            bench.ack(70 + 10 * u64::from(n), n, None);
        }
        // The packet sent at 80 ms, when one had been delivered: ten more in the 100 ms since.
        let sample = bench.ack(180, 11, None).expect("a sample");
        assert_eq!((sample.prior_delivered, sample.delivered), (1, 11));
        assert!((sample.rate - 100.0).abs() < 1e-9, "{}", sample.rate);
    }

    /// ACKs that come in a bunch cannot make the rate larger than that of sending.
    #[test]
    fn compressed_acks_are_measured_by_the_sending_time() {
        let mut bench = bench();
        (0..20).for_each(|n| bench.send(10 * n));
        bench.ack(100, 1, None);
        bench.send(200);
        // 2 to 20 are held up and acknowledged together with it.
        bench.ack(280, 20, None);
        let sample = bench.ack(280, 21, None).expect("a sample");
        // 20 packets were delivered since 100 ms, in 180 ms; sending them took from 0 to 200 ms.
        assert_eq!(sample.interval, Span::from_millis(200));
        assert!((sample.rate - 100.0).abs() < 1e-9);
    }

    #[test]
    fn selectively_acknowledged_packets_count_once_and_losses_are_told() {
        let mut bench = bench();
        (0..10).for_each(|_| bench.send(0));
        let rate = |sample: Option<RateSample>| sample.map(|s| (s.delivered, s.newly_lost));
        assert_eq!(rate(bench.ack(80, 2, None)), Some((2, 0)));
        assert_eq!(rate(bench.ack(80, 2, Some((3, 5)))), Some((4, 0)));
        assert_eq!(rate(bench.ack(80, 2, Some((3, 5)))), None); // nothing new
        assert_eq!(rate(bench.ack(90, 2, Some((3, 6)))), Some((5, 1))); // three above: 2 is lost
        let seq = bench.board.resend().expect("it is resent");
        bench.rates.on_send(seq, &bench.board, at(90));
        let sample = bench.ack(170, 6, None).expect("a sample");
        assert_eq!((sample.prior_delivered, sample.delivered), (5, 6));
        assert_eq!((sample.lost, sample.prior_in_flight), (0, 5));
    }

    #[test]
    fn a_sample_is_app_limited_when_its_packet_left_after_the_data_ran_out() {
        let mut bench = bench();
        bench.send(0);
        bench.rates.on_idle(&bench.board);
        bench.send(10);
        let limited = |sample: Option<RateSample>| sample.expect("a sample").app_limited;
        assert!(!limited(bench.ack(80, 1, None)));
        assert!(limited(bench.ack(90, 2, None)));
        bench.send(90);
        assert!(!limited(bench.ack(170, 3, None))); // what was in flight then has been delivered
    }
}
