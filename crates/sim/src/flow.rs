//! A flow's sender: the transport around a law. Loss recovery, ECN, retransmission timer, pacing.

use crate::config::{GroupId, Pacing, Transport};
use crate::packet::Packet;
use crate::profile::TokenBucket;
use crate::rates::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use knee_laws::codecs::Codec;
use knee_laws::codecs::Feedback;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::{Ack, Congestion, Loss, Recovery, SenderLaw, Sending};
use knee_path::identifier;

/// The end of the sequence numbers. A flow with this limit is endless.
pub const MAX_PACKETS: u32 = u32::MAX - 1;

/// The number after the last of these packets of data.
pub fn end_of(packets: u64, first: u32) -> u32 {
    packets.max(1).saturating_add(u64::from(first)).min(u64::from(MAX_PACKETS)) as u32
}

/// The state of a sender. Fields that an ACK touches come first, so that they lie in few cache lines.
#[repr(C, align(64))]
pub struct Flow {
    /// When the retransmission timer is due; below, whether the agenda has an event for it.
    pub timeout_at: Time,
    /// When a paced flow may send next; below, whether the agenda has an event for it.
    pub pace_at: Time,
    pub sent: u64,
    pub acks_received: u64,
    pub rtt_sum: Span,
    pub rtt_samples: u64,
    pub group: GroupId,
    /// Index of its first hop in the network's list.
    pub first_hop: u32,
    /// Packets that it has to send.
    pub limit: u32,
    /// Recovery ends when everything before this is acknowledged.
    recover: u32,
    /// ECN: the packet with CWR. Before it is acknowledged there is no second reduction.
    reduced_until: u32,
    duplicates: u32,
    recovering: bool,
    say_reduced: bool,
    pub timer_set: bool,
    pub pace_set: bool,
    pub started: bool,
    /// The codec of its packets.
    pub codec: Codec,
    pub board: Scoreboard,
    pub rtt: RttEstimator,
    pub law: Sender,
    /// Decides which of its packets are in profile.
    profile: TokenBucket,
    /// Measures delivery rates, for laws that want them.
    rates: Option<Box<RateSampler>>,
    /// The wake-up for which the agenda has an event.
    pub wake_set: Time,
    /// Its number in reports.
    pub number: u32,
    /// Its identity, for laws that tell flows apart. Its packets' identifiers follow from it.
    pub identity: u64,
    pub start: Time,
    pub stop: Time,
    pub completed: Time,
    pub dropped: u64,
    pub acks_dropped: u64,
    pub retransmissions: u64,
    pub timeouts: u64,
    /// Handshake packets sent.
    pub handshakes: u32,
}

/// What the flow may do next.
pub enum Turn {
    /// Send this packet.
    Send(Packet),
    /// Ask again at this instant.
    Pace(Time),
    /// Nothing.
    Hold,
    /// An endless flow has used up its sequence numbers.
    Exhausted,
}

impl Flow {
    /// A flow that has not started.
    pub fn new(law: Sender, group: GroupId, codec: Codec) -> Self {
        Self {
            profile: TokenBucket::default(),
            rates: law.wants_rate().then(Box::default),
            law,
            group,
            number: 0,
            identity: 0,
            first_hop: 0,
            codec,
            limit: MAX_PACKETS,
            board: Scoreboard::default(),
            rtt: RttEstimator::default(),
            duplicates: 0,
            recovering: false,
            recover: 0,
            reduced_until: 0,
            say_reduced: false,
            timeout_at: Time::NEVER,
            timer_set: false,
            pace_at: Time::ZERO,
            pace_set: false,
            wake_set: Time::NEVER,
            start: Time::ZERO,
            stop: Time::NEVER,
            completed: Time::NEVER,
            started: false,
            sent: 0,
            dropped: 0,
            acks_received: 0,
            acks_dropped: 0,
            retransmissions: 0,
            timeouts: 0,
            handshakes: 0,
            rtt_sum: Span::ZERO,
            rtt_samples: 0,
        }
    }

    /// The window in whole packets: the law's, between 1 and the receiver's; 1 in a handshake.
    #[inline]
    fn window(&self, options: &Transport) -> u32 {
        if options.is_handshake(self.board.una()) {
            return 1;
        }
        self.law.window().clamp(1.0, options.max_window) as u32
    }

    /// Takes an ACK: scoreboard, RTT, loss detection, then the law.
    #[inline]
    pub fn take_ack(&mut self, packet: &Packet, options: &Transport, now: Time) {
        self.acks_received += 1;
        let before = self.board.una();
        let next = packet.seq.min(self.board.next());
        let was_recovering = self.recovering;
        let newly = next.saturating_sub(before);
        if newly > 0 {
            self.board.acknowledge(next);
            self.duplicates = 0;
        }
        if options.recovery == Recovery::Sack {
            if packet.block_count() > 0 {
                for place in 0..packet.block_count() {
                    self.board.sack(place, packet.block(place));
                }
                self.board.end_sack(packet.block_count());
            }
        } else if newly == 0 && next == before && self.board.outstanding() > 0 {
            self.duplicates += 1;
            // Not after a timeout: what was outstanding then is not counted as in flight any more.
            if self.recovering || self.may_recover(options) {
                self.board.one_left();
            }
        }
        let rtt = now.since(packet.stamp);
        self.rtt.sample(rtt);
        self.rtt_sum += rtt;
        self.rtt_samples += 1;
        if newly > 0 {
            self.on_progress(newly, options);
            self.timeout_at = if self.board.outstanding() == 0 {
                Time::NEVER
            } else {
                now + self.rtt.timeout(options.min_rto)
            };
        }
        self.detect_loss(options, now);
        let feedback = self.read_feedback(packet, options, now);
        let mut ack = Ack {
            now,
            // A handshake's answer brings an RTT and feedback, but the window does not grow on it.
            newly_acked: if options.is_handshake(before) { 0 } else { newly },
            in_flight: self.board.in_flight(),
            rtt,
            smoothed_rtt: self.rtt.smoothed,
            min_rtt: self.rtt.min,
            feedback,
            recovering: was_recovering || self.recovering || self.holds_still(&feedback),
            app_limited: self.board.next() >= self.limit || self.law.window() > options.max_window,
            rate: None,
        };
        if let Some(rates) = &mut self.rates {
            ack.rate = rates.on_ack(before, packet, &self.board, (now, self.rtt.min));
        }
        self.law.on_ack(&ack);
    }

    /// The cumulative ACK has moved: recovery ends or goes on.
    #[inline]
    fn on_progress(&mut self, newly: u32, options: &Transport) {
        if !self.recovering {
            self.board.forget_left();
        } else if self.board.una() >= self.recover || options.recovery == Recovery::Reno {
            self.recovering = false;
            self.board.forget_left();
        } else if options.recovery == Recovery::NewReno && newly > 0 {
            // RFC 6582: a partial ACK means that the next packet is lost too.
            self.board.lose_first();
        }
    }

    /// What the law is told of congestion. FlightSize (RFC 5681) is at most the window: in a long recovery,
    /// packets that arrived long ago are still outstanding.
    fn congestion(&self, by: Congestion, options: &Transport, now: Time) -> Loss {
        Loss { now, in_flight: self.board.outstanding().min(self.window(options)), by }
    }

    fn read_feedback(&mut self, packet: &Packet, options: &Transport, now: Time) -> Feedback {
        if self.codec == Codec::None {
            return Feedback::None;
        }
        let feedback = self.codec.read(packet.echo_bits(), [packet.body[0], packet.body[1]]);
        if self.is_echo(&feedback) && !self.recovering && self.board.una() > self.reduced_until {
            self.reduced_until = self.board.next();
            self.say_reduced = true;
            self.law.on_loss(&self.congestion(Congestion::Mark, options, now));
        }
        feedback
    }

    /// Does the feedback keep the window from growing? After a timeout it does not, until its losses are repaired: only
    /// new data carries the CWR that ends the echoes.
    #[inline(always)]
    fn holds_still(&self, feedback: &Feedback) -> bool {
        self.is_echo(feedback) && self.board.una() >= self.recover
    }

    /// Is it RFC 3168's echo of a mark, on which no window grows (6.1.2)? With accurate ECN, feedback is about
    /// single packets, and the law decides.
    #[inline(always)]
    fn is_echo(&self, feedback: &Feedback) -> bool {
        self.codec == Codec::Ecn && *feedback == Feedback::Ecn { congested: true }
    }

    /// May a recovery begin? Without selective acknowledgements, only once a packet sent after the last recovery or
    /// timeout is acknowledged: earlier duplicate ACKs may come from needless retransmissions (RFC 6582, 3.2, step 2).
    #[inline]
    fn may_recover(&self, options: &Transport) -> bool {
        match options.recovery {
            Recovery::Sack => self.board.una() >= self.recover,
            Recovery::Reno | Recovery::NewReno => {
                self.recover == 0 || self.board.una() > self.recover
            }
        }
    }

    #[inline]
    fn detect_loss(&mut self, options: &Transport, now: Time) {
        let lost = match options.recovery {
            Recovery::Sack => self.board.is_first_lost(),
            Recovery::Reno | Recovery::NewReno => self.duplicates >= 3,
        };
        if !lost || self.recovering || !self.may_recover(options) {
            return;
        }
        self.law.on_loss(&self.congestion(Congestion::Loss, options, now));
        self.recovering = true;
        self.recover = self.board.next();
        self.duplicates = 0;
        self.board.lose_first();
    }

    /// The retransmission timer fires: everything outstanding counts as lost.
    pub fn time_out(&mut self, options: &Transport, now: Time) {
        self.timeouts += 1;
        self.law.on_timeout(&self.congestion(Congestion::Timeout, options, now));
        self.rtt.back_off();
        self.board.lose_all();
        self.recovering = false;
        self.recover = self.board.next();
        self.duplicates = 0;
        self.timeout_at = Time::NEVER;
    }

    /// The next packet, if window, pacing and data allow one.
    #[inline(always)]
    pub fn turn(&mut self, slot: u32, options: &Transport, now: Time) -> Turn {
        let urgent = self.board.has_urgent();
        if !urgent && self.board.in_flight() >= self.window(options) {
            return Turn::Hold;
        }
        let resend = self.board.has_pending();
        if !resend && self.board.next() >= self.limit {
            if let Some(rates) = &mut self.rates {
                rates.on_idle(&self.board);
            }
            return if self.limit == MAX_PACKETS { Turn::Exhausted } else { Turn::Hold };
        }
        if let Some(rate) = self.pacing(options) {
            if self.pace_at > now {
                return Turn::Pace(self.pace_at);
            }
            self.pace_at = now + rate.time_for(u64::from(options.data_bytes));
        }
        let resent = self.board.resend();
        let seq = resent.unwrap_or_else(|| self.board.send());
        let mut packet = if options.is_handshake(seq) {
            self.handshakes += 1;
            Packet::handshake(slot, seq, options.ack_bytes)
        } else {
            let reduced = resent.is_none() && std::mem::take(&mut self.say_reduced);
            Packet::data(slot, seq, options.data_bytes, reduced)
        };
        self.retransmissions += u64::from(resent.is_some());
        if let Some(rates) = &mut self.rates {
            rates.on_send(packet.seq, &self.board, now);
        }
        packet.stamp = now;
        packet.marks = self.codec.initial();
        if let Some(commitment) = &options.commitment
            && self.profile.covers(packet.size, commitment, now)
        {
            packet.marks = packet.marks.in_profile();
        }
        if self.codec.has_header() {
            let header = self.law.header(&Sending {
                now,
                smoothed_rtt: self.rtt.smoothed,
                packet_bytes: u32::from(packet.size),
                identifier: identifier(self.identity, self.sent),
            });
            packet.body[..4].copy_from_slice(&header);
        }
        self.sent += 1;
        if self.timeout_at == Time::NEVER {
            self.timeout_at = now + self.rtt.timeout(options.min_rto);
        }
        Turn::Send(packet)
    }

    /// The pacing rate: the law's, or window / RTT if the transport paces.
    #[inline(always)]
    fn pacing(&mut self, options: &Transport) -> Option<BitRate> {
        match self.law.pacing_rate() {
            None => self.spread(options.pacing?, options.data_bytes),
            rate => rate,
        }
    }

    /// The window over the RTT, times a gain.
    #[inline(never)]
    fn spread(&mut self, gains: Pacing, data_bytes: u16) -> Option<BitRate> {
        if self.rtt.smoothed == Span::ZERO {
            return None;
        }
        let window = self.law.window();
        let gain = match self.law.ssthresh().is_some_and(|threshold| 2.0 * window < threshold) {
            true => gains.slow_start,
            false => gains.avoidance,
        };
        let bits = window.max(1.0) * f64::from(data_bytes) * 8.0;
        Some(BitRate::from_bps(gain * bits / self.rtt.smoothed.seconds()))
    }

    /// Has it started, and neither stopped nor completed?
    pub fn is_there(&self, now: Time) -> bool {
        self.started && now < self.stop.min(self.completed)
    }

    /// Has everything been sent and acknowledged?
    #[inline]
    pub fn is_done(&self) -> bool {
        self.board.una() >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use knee_laws::codecs::ecn;
    use knee_laws::params::Value;
    use knee_laws::sender::Opening;

    fn transport() -> Transport {
        Transport {
            recovery: Recovery::NewReno,
            ack_delay: Span::ZERO,
            max_window: 1e6,
            ..Transport::default()
        }
    }

    /// Numbers of the packets that leave at `now`.
    fn sent(flow: &mut Flow, now: Time) -> Vec<u32> {
        let mut numbers = vec![];
        while let Turn::Send(packet) = flow.turn(0, &transport(), now) {
            numbers.push(packet.seq);
        }
        numbers
    }

    #[test]
    fn a_mark_is_answered_once_and_no_window_grows_while_it_is_echoed() {
        let opening = Opening::new(10.0, 1000);
        let law = Sender::build("sack", &[], &opening).expect("a law");
        let mut flow = Flow::new(law, GroupId(0), Codec::Ecn);
        let now = Time::ZERO + Span::from_millis(80);
        let echo = |next| Packet::ack(&Packet::data(0, 0, 1000, false), next, 40, ecn::CONGESTED);
        assert_eq!(sent(&mut flow, Time::ZERO), Vec::from_iter(0..10));
        flow.take_ack(&echo(1), &transport(), now);
        assert_eq!(flow.law.window(), 4.5); // half of nine
        for next in 2..=10 {
            flow.take_ack(&echo(next), &transport(), now); // before the packet with CWR
            assert_eq!(flow.law.window(), 4.5);
        }
        assert_eq!(sent(&mut flow, now)[0], 10);
        let clear = Packet::ack(&Packet::data(0, 0, 1000, false), 11, 40, ecn::CAPABLE);
        flow.take_ack(&clear, &transport(), now);
        assert_eq!(flow.law.window(), 4.5 + 1.0 / 4.5);
        flow.take_ack(&echo(12), &transport(), now);
        assert!(flow.law.window() < 4.0);
    }

    #[test]
    fn a_handshake_takes_a_number_and_opens_no_window() {
        let opening = Opening::new(10.0, 1000);
        let law = Sender::build("sack", &[], &opening).expect("a law");
        let mut flow = Flow::new(law, GroupId(0), Codec::None);
        let options = Transport { handshake: true, ..transport() };
        let sent = |flow: &mut Flow, ms| {
            let now = Time::ZERO + Span::from_millis(ms);
            let mut sizes = vec![];
            while let Turn::Send(packet) = flow.turn(0, &options, now) {
                sizes.push((packet.seq, packet.size));
            }
            sizes
        };
        assert_eq!(sent(&mut flow, 0), [(0, 40)]);
        flow.time_out(&options, Time::ZERO + Span::from_millis(1000));
        assert_eq!(sent(&mut flow, 1000), [(0, 40)]);

        let law = Sender::build("sack", &[], &opening).expect("a law");
        let mut flow = Flow::new(law, GroupId(0), Codec::None);
        assert_eq!(sent(&mut flow, 0), [(0, 40)]);
        let ack = Packet::ack(&Packet::data(0, 0, 40, false), 1, 40, 0);
        flow.take_ack(&ack, &options, Time::ZERO + Span::from_millis(80));
        assert_eq!(sent(&mut flow, 80), Vec::from_iter((1..=10).map(|seq| (seq, 1000))));
    }

    #[test]
    fn echoes_do_not_hold_a_window_at_one_packet_while_a_timeouts_losses_are_repaired() {
        let opening = Opening::new(10.0, 1000);
        let law = Sender::build("sack", &[], &opening).expect("a law");
        let mut flow = Flow::new(law, GroupId(0), Codec::Ecn);
        let echo = |next| Packet::ack(&Packet::data(0, 0, 1000, false), next, 40, ecn::CONGESTED);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        sent(&mut flow, Time::ZERO);
        flow.take_ack(&echo(1), &transport(), at(80)); // CWR waits for packet 10
        flow.time_out(&transport(), at(1000));
        assert_eq!(sent(&mut flow, at(1000)), [1]);
        flow.take_ack(&echo(2), &transport(), at(1080));
        assert_eq!(sent(&mut flow, at(1080)), [2, 3]);
    }

    /// Ten packets in 80 ms are 1 Mbps.
    #[test]
    fn pacing_has_a_gain_of_its_own_while_slow_start_has_half_of_the_way_to_go() {
        let rate = |law: &str, ssthresh: Option<f64>| {
            let params: Vec<_> = ssthresh
                .map(|packets| ("initial_ssthresh".to_owned(), Value::Number(packets)))
                .into_iter()
                .collect();
            let opening = Opening::new(10.0, 1000);
            let law = Sender::build(law, &params, &opening).expect("a law");
            let mut flow = Flow::new(law, GroupId(0), Codec::None);
            let pacing = Some(Pacing { slow_start: 2.0, avoidance: 1.2 });
            let options = Transport { pacing, ..transport() };
            assert_eq!(flow.pacing(&options), None); // the RTT is not known yet
            flow.rtt.sample(Span::from_millis(80));
            flow.pacing(&options).map_or(0.0, |rate| rate.bps() / 1e6)
        };
        assert!((rate("sack", None) - 2.0).abs() < 1e-9);
        assert!((rate("cubic", Some(20.1)) - 2.0).abs() < 1e-9);
        assert!((rate("sack", Some(20.0)) - 1.2).abs() < 1e-9);
        assert!((rate("vegas", None) - 1.2).abs() < 1e-9); // Vegas has its own slow start
    }

    #[test]
    fn duplicate_acks_make_room_in_recovery_but_not_after_a_timeout() {
        let opening = Opening::new(10.0, 1000);
        let law = Sender::build("newreno", &[], &opening).expect("a law");
        let mut flow = Flow::new(law, GroupId(0), Codec::None);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let duplicate = Packet::ack(&Packet::data(0, 5, 1000, false), 0, 40, 0);
        assert_eq!(sent(&mut flow, at(0)), Vec::from_iter(0..10));
        flow.take_ack(&duplicate, &transport(), at(80));
        flow.take_ack(&duplicate, &transport(), at(80));
        assert_eq!(sent(&mut flow, at(80)), [10, 11]); // limited transmit, RFC 3042
        flow.take_ack(&duplicate, &transport(), at(80));
        assert_eq!(sent(&mut flow, at(80)), [0]); // fast retransmit

        flow.time_out(&transport(), at(400));
        assert_eq!(sent(&mut flow, at(400)), [0]);
        for _ in 0..5 {
            flow.take_ack(&duplicate, &transport(), at(410));
            assert!(sent(&mut flow, at(410)).is_empty());
        }
        let ack = |next| Packet::ack(&Packet::data(0, 0, 1000, false), next, 40, 0);
        flow.take_ack(&ack(6), &transport(), at(480));
        assert!(sent(&mut flow, at(480)).starts_with(&[6]));

        flow.take_ack(&ack(12), &transport(), at(560)); // all that was outstanding
        assert!(sent(&mut flow, at(560)).starts_with(&[12]));
        for _ in 0..3 {
            flow.take_ack(&ack(12), &transport(), at(570)); // for needless retransmissions
            assert!(sent(&mut flow, at(570)).is_empty());
        }
    }
}
