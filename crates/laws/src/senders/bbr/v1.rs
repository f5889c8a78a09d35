//! BBR v1: paces at the largest recent delivery rate, with two bandwidth-delay products in flight.
//!
//! N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, as
//! draft-cardwell-iccrg-bbr-congestion-control-00 specifies it (sections in brackets). In packets and s:
//!   BtlBw = max of the delivery rate over 10 rounds; RTprop = min of the RTT over 10 s    [4.1]
//!   pacing rate = pacing_gain BtlBw;  cwnd = cwnd_gain BtlBw RTprop + 3                   [4.2]
//!   Startup: both gains 2 / ln 2, until BtlBw grows by less than 25 % in each of 3 rounds [4.3.2]
//!   Drain: pacing gain ln 2 / 2, until no more than a BDP is in flight                    [4.3.3]
//!   ProbeBW: pacing gains 5/4, 3/4 and six times 1, an RTprop each; cwnd gain 2           [4.3.4]
//!   ProbeRTT: when RTprop is 10 s old, 4 packets in flight for 200 ms and a round         [4.3.5]
//! In the first round of a recovery, as many packets are sent as are delivered. The end of the recovery, also from a
//! timeout, restores cwnd [4.2.3.4].
//! Differs from the draft: packets leave one by one (send_quantum is one); ProbeBW begins in a phase
//! that is a hash of the time, since laws draw no random numbers; the long-term sampler against policers, which
//! only Linux has, is left out. ECN marks are ignored.

use super::{FullPipe, MIN_WINDOW, Rounds, Saved, hash};
use crate::codecs::Codec;
use crate::filters::WindowedMax;
use crate::quantities::{BitRate, Span, Time};
use crate::sender::{Ack, Congestion, Loss, Opening, RateSample, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// BBR's constants.
    pub struct Params {
        /// Gain of rate and window in Startup; 2 / ln 2 lets both double each round.
        pub high_gain: f64 = 2.0 / core::f64::consts::LN_2, in 1.1, 10.0;
        /// Window in ProbeBW, in bandwidth-delay products.
        pub cwnd_gain: f64 = 2.0, in 1.0, 10.0;
        /// Age of the least RTT at which ProbeRTT measures it anew.
        pub min_rtt_window: Span = Span::from_secs(10), in 0.1, 1000.0;
        /// How long ProbeRTT keeps four packets in flight.
        pub probe_rtt_duration: Span = Span::from_millis(200), in 0.001, 10.0;
    }
}

/// Rounds over which the maximum of the bandwidth is taken.
const BANDWIDTH_ROUNDS: usize = 10;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    /// Phase of the cycle, and when it began.
    ProbeBw(usize, Time),
    /// Until then, once few enough are in flight, and a round has passed.
    ProbeRtt {
        until: Option<Time>,
        round_done: bool,
    },
}

/// The state of a BBR sender.
#[derive(Clone, Debug)]
pub struct Bbr {
    params: Params,
    packet_bits: f64,
    initial_window: f64,
    state: State,
    window: f64,
    /// The pacing rate in packets / s.
    pacing: f64,
    bandwidth: WindowedMax<BANDWIDTH_ROUNDS>,
    /// The least RTT, and when it was measured.
    min_rtt: Option<(Span, Time)>,
    round: u64,
    rounds: Rounds,
    /// Samples of packets that were sent before this count of delivered packets are ignored (ProbeRTT).
    held_until: u64,
    full: FullPipe,
    saved: Saved,
    recovering: bool,
    /// The round in which recovery began: as many packets are sent as are delivered.
    conserving: Option<u64>,
}

impl Bbr {
    /// Starts with the initial window; for the first rate an RTT of 1 ms is assumed [4.2.1].
    pub fn new(params: Params, opening: &Opening) -> Self {
        let mut law = Self {
            params,
            packet_bits: 8.0 * f64::from(opening.packet_bytes),
            initial_window: opening.initial_window,
            state: State::Startup,
            window: opening.initial_window,
            pacing: 0.0,
            bandwidth: WindowedMax::default(),
            min_rtt: None,
            round: 0,
            rounds: Rounds::default(),
            held_until: 0,
            full: FullPipe::default(),
            saved: Saved::default(),
            recovering: false,
            conserving: None,
        };
        law.derive();
        law
    }

    /// The first rate follows from the parameters until a bandwidth is known.
    fn derive(&mut self) {
        if self.bandwidth.max() == 0.0 {
            self.pacing = self.params.high_gain * self.initial_window / 1e-3;
        }
    }

    fn gains(&self) -> (f64, f64) {
        let high = self.params.high_gain;
        match self.state {
            State::Startup => (high, high),
            State::Drain => (1.0 / high, high),
            State::ProbeBw(phase, _) => (CYCLE[phase], self.params.cwnd_gain),
            State::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// `gain` bandwidth-delay products, in packets, and three packets more [4.2.3.2].
    fn inflight(&self, gain: f64) -> f64 {
        match self.min_rtt {
            Some((rtt, _)) if self.bandwidth.max() > 0.0 => {
                gain * self.bandwidth.max() * rtt.seconds() + 3.0
            }
            _ => self.initial_window,
        }
    }

    /// [4.1.1]: updates round and bandwidth. Returns whether a round has begun.
    fn update_bandwidth(&mut self, sample: &RateSample) -> bool {
        let begins = self.rounds.on_sample(sample);
        self.round += u64::from(begins);
        let limited = sample.app_limited || sample.prior_delivered < self.held_until;
        if sample.rate >= self.bandwidth.max() || !limited {
            self.bandwidth.update(self.round, sample.rate);
        }
        if begins && !limited && !self.full.is_full {
            self.full.on_round(self.bandwidth.max());
        }
        begins
    }

    /// [4.3.4]: does the next phase of the cycle begin? `lost`: were packets lost? `before`: packets in flight before the
    /// ACK.
    fn is_phase_over(&self, now: Time, lost: bool, before: f64) -> bool {
        let (State::ProbeBw(phase, since), Some((rtt, _))) = (self.state, self.min_rtt) else {
            return false;
        };
        let is_long = now.since(since) > rtt;
        match CYCLE[phase] {
            gain if gain > 1.0 => is_long && (lost || before >= self.inflight(gain)),
            gain if gain < 1.0 => is_long || before <= self.inflight(1.0),
            _ => is_long,
        }
    }

    /// Begins with any phase except that of 3/4, by a hash of the time.
    fn enter_probe_bw(&mut self, now: Time) {
        let phase = hash(now) % 7;
        self.state = State::ProbeBw(if phase == 0 { 0 } else { phase as usize + 1 }, now);
    }

    /// [4.1.2] and [4.3.5]: updates the least RTT; enters ProbeRTT if it is old.
    fn update_min_rtt(&mut self, ack: &Ack, round_begins: bool) {
        let known = self.min_rtt.filter(|(rtt, _)| *rtt < ack.rtt);
        let expired =
            self.min_rtt.is_some_and(|(_, at)| ack.now.since(at) > self.params.min_rtt_window);
        if known.is_none() || expired {
            self.min_rtt = Some((ack.rtt, ack.now));
        }
        if expired && !matches!(self.state, State::ProbeRtt { .. }) {
            self.save_window();
            self.state = State::ProbeRtt { until: None, round_done: false };
        }
        let State::ProbeRtt { until, round_done } = self.state else { return };
        let in_flight = f64::from(ack.in_flight);
        self.held_until = self.rounds.delivered + u64::from(ack.in_flight);
        let Some(end) = until else {
            if in_flight <= MIN_WINDOW {
                let until = Some(ack.now + self.params.probe_rtt_duration);
                self.state = State::ProbeRtt { until, round_done: false };
                self.rounds.restart();
            }
            return;
        };
        let round_done = round_done || round_begins;
        self.state = State::ProbeRtt { until, round_done };
        if round_done && ack.now > end {
            self.min_rtt = self.min_rtt.map(|(rtt, _)| (rtt, ack.now));
            self.window = self.window.max(self.saved.window);
            if self.full.is_full {
                self.enter_probe_bw(ack.now);
            } else {
                self.state = State::Startup;
            }
        }
    }

    fn save_window(&mut self) {
        if self.recovering || matches!(self.state, State::ProbeRtt { .. }) {
            self.saved.save_larger(self.window);
        } else {
            self.saved.save(self.window);
        }
    }

    /// [4.2.3]; `acked` packets were delivered.
    fn set_window(&mut self, ack: &Ack, acked: f64, lost: f64) {
        if self.recovering && !ack.recovering {
            (self.recovering, self.conserving) = (false, None);
            self.window = self.window.max(self.saved.window);
        }
        if self.conserving.is_some_and(|round| self.round > round) {
            self.conserving = None;
        }
        let target = self.inflight(self.gains().1);
        if self.recovering {
            self.window = (self.window - lost).max(1.0);
        }
        if self.conserving.is_some() {
            self.window = self.window.max(f64::from(ack.in_flight) + acked).min(self.saved.window);
        } else if self.full.is_full {
            self.window = (self.window + acked).min(target);
        } else if self.window < target || (self.rounds.delivered as f64) < self.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(MIN_WINDOW);
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.window = self.window.min(MIN_WINDOW);
        }
    }
}

impl SenderLaw for Bbr {
    tunes! { derive }

    fn on_ack(&mut self, ack: &Ack) {
        // Packets that an ACK without a sample delivers are counted with the next sample.
        let (mut acked, mut lost, mut begins) = (0.0, 0.0, false);
        if let Some(sample) = &ack.rate {
            acked = sample.delivered.saturating_sub(self.rounds.delivered) as f64;
            lost = f64::from(sample.newly_lost);
            begins = self.update_bandwidth(sample);
            if self.saved.is_over(self.rounds.delivered) {
                self.window = self.window.max(self.saved.window);
            }
        }
        if self.is_phase_over(ack.now, lost > 0.0, f64::from(ack.in_flight) + acked)
            && let State::ProbeBw(phase, _) = self.state
        {
            self.state = State::ProbeBw((phase + 1) % CYCLE.len(), ack.now);
        }
        if self.state == State::Startup && self.full.is_full {
            self.state = State::Drain;
        }
        if self.state == State::Drain && f64::from(ack.in_flight) <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now);
        }
        self.update_min_rtt(ack, begins);
        let rate = self.gains().0 * self.bandwidth.max();
        if rate > self.pacing || (self.full.is_full && rate > 0.0) {
            self.pacing = rate;
        }
        self.set_window(ack, acked, lost);
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.by != Congestion::Mark {
            self.save_window();
            (self.recovering, self.conserving) = (true, Some(self.round));
            self.rounds.restart();
            self.window = self.window.min(f64::from(loss.in_flight).max(1.0));
        }
    }

    fn on_timeout(&mut self, loss: &Loss) {
        self.save_window();
        self.saved.begin(self.rounds.delivered + u64::from(loss.in_flight));
        (self.recovering, self.conserving) = (false, None);
        self.window = 1.0;
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate::from_bps(self.pacing * self.packet_bits))
    }

    fn wants_rate(&self) -> bool {
        true
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("bandwidth", self.bandwidth.max());
        show("min_rtt", self.min_rtt.map_or(0.0, |(rtt, _)| rtt.seconds()));
        show("pacing_gain", self.gains().0);
    }
}

impl SenderSpec for Bbr {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "bbr";
    const TITLE: &'static str = "BBR v1: paces at the measured bandwidth, two BDPs in flight";
    const SOURCE: &'static str = "Cardwell et al., ACM Queue 14(5), 2016";
    const CODEC: Codec = Codec::None;
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests;
