//! BBRv3: BBR whose rate and window losses bound, in the short and in the long term.
//!
//! N. Cardwell, I. Swett, J. Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr, 2025. In packets and s:
//!   max_bw = max of the delivery rate over two probing cycles;  min_rtt over 10 s
//!   pacing rate = 0.99 pacing_gain min(max_bw, bw_lo);  cwnd = cwnd_gain max_bw min_rtt, within the bounds
//!   a round with losses, but not while probing:  bw_lo, inflight_lo = max(latest, 0.7 of themselves)
//!   more than 2 % lost while probing:  inflight_hi = max(in flight then, 0.7 of the target)
//! Startup (gain 4 ln 2) and Drain (1/2), then ProbeBW: DOWN (0.9) until a BDP is in flight, CRUISE (1) below
//! 85 % of inflight_hi, REFILL (1) for a round without short-term bounds, UP (5/4, cwnd gain 9/4) until the
//! bandwidth no longer grows, inflight_hi rising; again after 2 to 3 s or 63 rounds. ProbeRTT each 5 s.
//! Differs from the draft: losses are judged by the packet that is acknowledged, not by each that is lost;
//! waits are hashed from the time, for laws draw no random numbers; no allowance for aggregated ACKs or
//! bursts; no undo of spurious losses. The response to ECN marks, which is no part of the draft, is left out.

use crate::codecs::Codec;
use crate::filters::WindowedMax;
use crate::params;
use crate::quantities::{BitRate, Span, Time};
use crate::registry::SenderSpec;
use crate::sender::{Ack, Loss, Opening, RateSample, SenderLaw};

params! {
    /// BBRv3's constants.
    pub struct Params {
        /// What a round with losses leaves of the short-term bounds (BBRBeta).
        pub beta: f64 = 0.7, in 0.1, 1.0;
        /// Share of lost packets that ends a probe (BBRLossThresh).
        pub loss_threshold: f64 = 0.02, in 0.0, 0.5;
        /// Share of inflight_hi left to others while cruising (BBRHeadroom).
        pub headroom: f64 = 0.15, in 0.0, 0.9;
        /// How long the least RTT is believed before ProbeRTT looks for it.
        pub probe_rtt_interval: Span = Span::from_secs(5), in 0.1, 1000.0;
        /// How long ProbeRTT keeps half a BDP in flight.
        pub probe_rtt_duration: Span = Span::from_millis(200), in 0.001, 10.0;
    }
}

const STARTUP_GAIN: f64 = 4.0 * core::f64::consts::LN_2;
const PACING_MARGIN: f64 = 0.99;
const MIN_WINDOW: f64 = 4.0;
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
/// Rounds after which Reno in its place would have grown as much as a probe.
const MAX_RENO_ROUNDS: f64 = 63.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt { until: Option<Time>, round_done: bool },
}

/// Are the latest samples of the probe that runs, or of one that has ended?
#[derive(Clone, Copy, Debug, PartialEq)]
enum Samples {
    Other,
    Starting,
    Stopping,
}

/// The state of a BBRv3 sender. Bounds that are not set are infinite.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    params: Params,
    packet_bits: f64,
    initial_window: f64,
    state: State,
    window: f64,
    saved: f64,
    pacing: f64,
    max_bw: WindowedMax<2>,
    cycle: u64,
    bw_lo: f64,
    inflight_lo: f64,
    inflight_hi: f64,
    /// Largest rate and delivery of the round under way, and the round's end.
    latest: (f64, f64),
    loss_round_ends: u64,
    lossy: bool,
    min_rtt: Option<(Span, Time)>,
    /// The least RTT of the last probe_rtt_interval.
    recent_rtt: Option<(Span, Time)>,
    delivered: u64,
    round_ends: u64,
    held_until: u64,
    rounds_since_probe: f64,
    phase_since: Time,
    wait: Span,
    /// Bandwidth to outgrow, rounds without, and whether it was ever full.
    full: (f64, u32, bool),
    samples: Samples,
    probing: bool,
    window_limited: bool,
    /// Of UP: rounds, packets acknowledged, and packets that raise inflight_hi by one.
    up: (u32, f64, f64),
}

impl Bbr3 {
    /// Starts with the initial window, an RTT of 1 ms assumed for its rate.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            packet_bits: 8.0 * f64::from(opening.packet_bytes),
            initial_window: opening.initial_window,
            state: State::Startup,
            window: opening.initial_window,
            saved: 0.0,
            pacing: STARTUP_GAIN * opening.initial_window / 1e-3,
            max_bw: WindowedMax::default(),
            cycle: 0,
            bw_lo: f64::INFINITY,
            inflight_lo: f64::INFINITY,
            inflight_hi: f64::INFINITY,
            latest: (0.0, 0.0),
            loss_round_ends: 0,
            lossy: false,
            min_rtt: None,
            recent_rtt: None,
            delivered: 0,
            round_ends: 0,
            held_until: 0,
            rounds_since_probe: 0.0,
            phase_since: Time::ZERO,
            wait: Span::ZERO,
            full: (0.0, 0, false),
            samples: Samples::Other,
            probing: false,
            window_limited: false,
            up: (0, 0.0, 1.0),
        }
    }

    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, 2.0),
            State::Drain => (0.5, 2.0),
            State::Down => (0.9, 2.0),
            State::Cruise | State::Refill => (1.0, 2.0),
            State::Up => (1.25, 2.25),
            State::ProbeRtt { .. } => (1.0, 0.5),
        }
    }

    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt {
            Some((rtt, _)) if bandwidth > 0.0 => (gain * bandwidth * rtt.seconds()).max(MIN_WINDOW),
            _ => self.initial_window.max(MIN_WINDOW),
        }
    }

    fn bandwidth(&self) -> f64 {
        self.max_bw.max().min(self.bw_lo)
    }

    fn target(&self) -> f64 {
        self.inflight(self.bandwidth(), 1.0).min(self.window)
    }

    fn with_headroom(&self) -> f64 {
        let room = (self.params.headroom * self.inflight_hi).max(1.0);
        if room.is_finite() { (self.inflight_hi - room).max(MIN_WINDOW) } else { f64::INFINITY }
    }

    fn is_too_high(&self, sample: &RateSample) -> bool {
        f64::from(sample.lost) > f64::from(sample.prior_in_flight) * self.params.loss_threshold
    }

    /// Short-term bounds follow rounds with losses; what was delivered is always allowed.
    fn take_losses(&mut self, sample: &RateSample) {
        let volume = sample.delivered.saturating_sub(sample.prior_delivered) as f64;
        self.latest = (self.latest.0.max(sample.rate), self.latest.1.max(volume));
        if sample.newly_lost > 0 && !self.lossy {
            (self.lossy, self.loss_round_ends) = (true, self.delivered);
        }
        if sample.prior_delivered < self.loss_round_ends {
            return;
        }
        self.loss_round_ends = sample.delivered;
        if self.lossy && !matches!(self.state, State::Startup | State::Refill | State::Up) {
            let beta = self.params.beta;
            self.bw_lo = self.latest.0.max(beta * self.bw_lo.min(self.max_bw.max()));
            self.inflight_lo = self.latest.1.max(beta * self.inflight_lo.min(self.window));
        }
        (self.lossy, self.latest) = (false, (sample.rate, volume));
    }

    fn forget_short_term(&mut self) {
        (self.bw_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }

    /// Long-term bound: lowered when a probe loses too much, raised by what did not.
    fn adapt_inflight_hi(&mut self, sample: &RateSample, now: Time, begins: bool, acked: f64) {
        if self.is_too_high(sample) {
            if self.probing {
                self.probing = false;
                if !sample.app_limited {
                    let flight = f64::from(sample.prior_in_flight);
                    self.inflight_hi = flight.max(self.params.beta * self.target());
                }
                if self.state == State::Up {
                    self.go_down(now);
                }
            }
            return;
        }
        if self.inflight_hi.is_finite() {
            self.inflight_hi = self.inflight_hi.max(f64::from(sample.prior_in_flight));
            if self.state == State::Up && self.window_limited && self.window >= self.inflight_hi {
                let (_, acks, each) = self.up;
                self.up.1 = acks + acked;
                self.inflight_hi += self.up.1 / each;
                self.up.1 = 0.0;
                if begins {
                    self.raise_slope();
                }
            }
        }
    }

    /// inflight_hi grows by 1, 2, 4... packets a round.
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.up.0);
        self.up.0 = (self.up.0 + 1).min(30);
        self.up.2 = (self.window / growth).max(1.0);
    }

    fn go_down(&mut self, now: Time) {
        let hash = now.ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.rounds_since_probe = (hash & 1) as f64;
        self.wait = Span::from_millis(2000 + hash % 1000);
        self.phase_since = now;
        self.samples = Samples::Stopping;
        self.round_ends = self.delivered;
        self.state = State::Down;
    }

    /// ProbeBW's phases.
    fn cycle(&mut self, ack: &Ack, sample: &RateSample, begins: bool) {
        if begins && self.samples == Samples::Stopping {
            self.samples = Samples::Other;
            if !sample.app_limited {
                self.cycle += 1;
            }
        }
        let in_flight = f64::from(ack.in_flight);
        let rounds = self.target().min(MAX_RENO_ROUNDS);
        let is_time =
            ack.now.since(self.phase_since) > self.wait || self.rounds_since_probe >= rounds;
        match self.state {
            State::Down | State::Cruise if is_time => {
                self.forget_short_term();
                self.up = (0, 0.0, 1.0);
                self.round_ends = self.delivered;
                self.state = State::Refill;
            }
            State::Down
                if in_flight <= self.with_headroom()
                    && in_flight <= self.inflight(self.max_bw.max(), 1.0) =>
            {
                self.state = State::Cruise;
            }
            State::Refill if begins => {
                self.probing = true;
                self.samples = Samples::Starting;
                self.round_ends = self.delivered;
                (self.full.0, self.full.1) = (sample.rate, 0);
                self.state = State::Up;
                self.raise_slope();
            }
            State::Up => {
                if self.window_limited && self.window >= self.inflight_hi {
                    (self.full.0, self.full.1) = (sample.rate, 0);
                } else if self.full.1 >= 3 {
                    self.go_down(ack.now);
                }
            }
            _ => {}
        }
    }

    /// Three rounds in which the rate grows by less than a quarter.
    fn look_for_full_pipe(&mut self, sample: &RateSample, begins: bool) {
        if !begins || sample.app_limited {
            return;
        }
        if sample.rate >= 1.25 * self.full.0 {
            (self.full.0, self.full.1) = (sample.rate, 0);
        } else {
            self.full.1 += 1;
            self.full.2 |= self.full.1 >= 3;
        }
    }

    fn take_sample(&mut self, ack: &Ack, sample: &RateSample) {
        let acked = sample.delivered.saturating_sub(self.delivered) as f64;
        self.delivered = sample.delivered;
        let begins = sample.prior_delivered >= self.round_ends;
        if f64::from(ack.in_flight) + acked + 1.0 >= self.window {
            self.window_limited = true;
        } else if begins {
            self.window_limited = false;
        }
        if begins {
            self.round_ends = sample.delivered;
            self.rounds_since_probe += 1.0;
        }
        let limited = sample.app_limited || sample.prior_delivered < self.held_until;
        if sample.rate >= self.max_bw.max() || !limited {
            self.max_bw.update(self.cycle, sample.rate);
        }
        self.take_losses(sample);
        if matches!(self.state, State::Startup | State::Up) {
            self.look_for_full_pipe(sample, begins);
        }
        if self.state == State::Startup && self.is_too_high(sample) && begins {
            self.inflight_hi = self.inflight(self.max_bw.max(), 1.0).max(self.latest.1);
            self.full.2 = true;
        }
        if self.state == State::Startup && self.full.2 {
            self.state = State::Drain;
        }
        if self.state == State::Drain
            && f64::from(ack.in_flight) <= self.inflight(self.max_bw.max(), 1.0)
        {
            self.go_down(ack.now);
        }
        if self.full.2 {
            self.adapt_inflight_hi(sample, ack.now, begins, acked);
            self.cycle(ack, sample, begins);
        }
        self.probe_rtt(ack, begins);
        self.set_window(acked);
    }

    fn probe_rtt(&mut self, ack: &Ack, begins: bool) {
        let old = |least: Option<(Span, Time)>, window| {
            least.is_none_or(|(rtt, at)| ack.rtt < rtt || ack.now.since(at) > window)
        };
        let interval = self.params.probe_rtt_interval;
        let expired = self.recent_rtt.is_some_and(|(_, at)| ack.now.since(at) > interval);
        if old(self.recent_rtt, interval) {
            self.recent_rtt = Some((ack.rtt, ack.now));
        }
        if let Some(recent) = self.recent_rtt
            && (self.min_rtt.is_none_or(|least| recent.0 < least.0)
                || old(self.min_rtt, MIN_RTT_WINDOW))
        {
            self.min_rtt = Some(recent);
        }
        let State::ProbeRtt { until, round_done } = self.state else {
            if expired {
                self.saved = self.window;
                self.round_ends = self.delivered;
                self.state = State::ProbeRtt { until: None, round_done: false };
            }
            return;
        };
        self.held_until = self.delivered + u64::from(ack.in_flight);
        let round_done = until.is_some() && (round_done || begins);
        self.state = State::ProbeRtt { until, round_done };
        if until.is_none() && f64::from(ack.in_flight) <= self.inflight(self.bandwidth(), 0.5) {
            let until = Some(ack.now + self.params.probe_rtt_duration);
            self.state = State::ProbeRtt { until, round_done: false };
            self.round_ends = self.delivered;
        } else if round_done && until.is_some_and(|end| ack.now > end) {
            self.recent_rtt = self.recent_rtt.map(|(rtt, _)| (rtt, ack.now));
            self.window = self.window.max(self.saved);
            self.forget_short_term();
            self.state = State::Startup;
            if self.full.2 {
                self.go_down(ack.now);
                self.state = State::Cruise;
            }
        }
    }

    fn set_window(&mut self, acked: f64) {
        let (pacing_gain, gain) = self.gains();
        let rate = PACING_MARGIN * pacing_gain * self.bandwidth();
        if rate > self.pacing || (self.full.2 && rate > 0.0) {
            self.pacing = rate;
        }
        let most = self.inflight(self.max_bw.max(), gain);
        if self.full.2 {
            self.window = (self.window + acked).min(most);
        } else if self.window < most || (self.delivered as f64) < self.initial_window {
            self.window += acked;
        }
        let bound = match self.state {
            State::ProbeRtt { .. } => {
                self.with_headroom().min(self.inflight(self.bandwidth(), 0.5))
            }
            State::Cruise => self.with_headroom(),
            State::Down | State::Refill | State::Up => self.inflight_hi,
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.window = self.window.min(bound.min(self.inflight_lo)).max(MIN_WINDOW);
    }
}

impl SenderLaw for Bbr3 {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rate {
            self.take_sample(ack, &sample);
        }
    }

    /// Losses are learned from samples.
    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, _: &Loss) {
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

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bandwidth", self.bandwidth());
        show("pacing_gain", self.gains().0);
        show("inflight_hi", if self.inflight_hi.is_finite() { self.inflight_hi } else { 0.0 });
    }
}

impl SenderSpec for Bbr3 {
    type Law = Self;
    type Params = Params;
    const NAME: &'static str = "bbr3";
    const TITLE: &'static str = "BBRv3: BBR bounded by the losses that its probes cause";
    const SOURCE: &'static str = "draft-ietf-ccwg-bbr";
    const CODEC: Codec = Codec::None;
    fn new(params: Params, opening: &Opening) -> Self {
        Self::new(params, opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In this state, after a cycle at 1000 packets / s and 100 ms: a hundred packets.
    fn bbr3(state: State) -> Bbr3 {
        let opening = Opening { initial_window: 10.0, packet_bytes: 1000 };
        let mut law = Bbr3::new(Params::default(), &opening);
        law.max_bw.update(0, 1000.0);
        law.min_rtt = Some((Span::from_millis(100), Time::ZERO));
        (law.state, law.window, law.delivered, law.full.2) = (state, 200.0, 5000, true);
        law
    }

    fn sample(rate: f64, lost: u32) -> RateSample {
        RateSample {
            delivered: 5001,
            prior_delivered: 5000,
            interval: Span::from_millis(100),
            rate,
            app_limited: false,
            newly_lost: lost,
            lost,
            prior_in_flight: 150,
        }
    }

    #[test]
    fn a_round_with_losses_bounds_rate_and_window_by_beta() {
        let mut law = bbr3(State::Cruise);
        law.take_losses(&sample(500.0, 1));
        assert_eq!((law.bw_lo, law.inflight_lo), (700.0, 140.0));
        law.set_window(0.0);
        assert_eq!(law.window, 140.0);
        assert!((law.pacing - 0.99 * 700.0).abs() < 1e-9);
        law.take_losses(&sample(650.0, 1)); // what was delivered is allowed: more than 0.7 x 700
        assert_eq!(law.bw_lo, 650.0);
    }

    #[test]
    fn losses_while_probing_leave_the_short_term_bounds_alone() {
        let mut law = bbr3(State::Up);
        law.take_losses(&sample(500.0, 1));
        assert!(law.bw_lo.is_infinite() && law.inflight_lo.is_infinite());
    }

    /// 2 % of 150 are three packets.
    #[test]
    fn a_probe_that_loses_too_much_sets_the_long_term_bound_and_ends() {
        for (lost, state) in [(3, State::Up), (4, State::Down)] {
            let mut law = bbr3(State::Up);
            law.probing = true;
            law.adapt_inflight_hi(&sample(1000.0, lost), Time::ZERO, false, 1.0);
            assert_eq!(law.state, state);
            assert_eq!(law.inflight_hi.is_finite(), lost == 4);
        }
    }

    #[test]
    fn cruising_leaves_headroom() {
        let mut law = bbr3(State::Cruise);
        law.inflight_hi = 160.0;
        law.set_window(0.0);
        assert_eq!(law.window, 136.0); // 85 %
        law.inflight_hi = 3.0;
        law.set_window(0.0);
        assert_eq!(law.window, 4.0);
    }
}
