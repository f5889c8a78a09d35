//! BBRv3: BBR with short-term and long-term bounds of rate and window, which losses set.
//!
//! N. Cardwell, I. Swett, J. Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr, 2025. In packets and s:
//!   max_bw = max of the delivery rate over two probing cycles;  min_rtt over 10 s
//!   pacing rate = 0.99 pacing_gain min(max_bw, bw_lo);  cwnd = cwnd_gain max_bw min_rtt, within the bounds
//!   a round with losses, but not while probing:  bw_lo, inflight_lo = max(latest, 0.7 of themselves)
//!   more than 2 % lost while probing:  inflight_hi = max(in flight then, 0.7 of the target)
//! Startup (gain 4 ln 2) and Drain (1/2), then ProbeBW: DOWN (0.9) until a BDP is in flight, CRUISE (1) below
//! 85 % of inflight_hi, REFILL (1) for a round without short-term bounds, UP (5/4, cwnd gain 9/4) until the
//! bandwidth no longer grows, inflight_hi rising; again after 2 to 3 s or 63 rounds. ProbeRTT each 5 s.
//! Differs from the draft: losses are judged with each acknowledged packet, not with each lost one; waits are
//! hashes of the time, since laws draw no random numbers; there is no allowance for aggregated ACKs or bursts, and
//! no undo of spurious losses, but the window is restored after the recovery from a timeout. The response to ECN
//! marks, which is not part of the draft, is left out.

mod bounds;
mod probe;

use super::{FullPipe, MIN_WINDOW, Rounds, Saved, hash};
use crate::codecs::Codec;
use crate::filters::WindowedMax;
use crate::quantities::{BitRate, Span, Time};
use crate::sender::{Ack, Loss, Opening, RateSample, SenderLaw, SenderSpec};
use crate::{params, tunes};

params! {
    /// BBRv3's constants.
    pub struct Params {
        /// What a round with losses leaves of the short-term bounds (BBRBeta).
        pub beta: f64 = 0.7, in 0.1, 1.0;
        /// Share of lost packets that ends a probe (BBRLossThresh).
        pub loss_threshold: f64 = 0.02, in 0.0, 0.5;
        /// Share of inflight_hi left to others while cruising (BBRHeadroom).
        pub headroom: f64 = 0.15, in 0.0, 0.9;
        /// Age of the least RTT at which ProbeRTT measures it anew.
        pub probe_rtt_interval: Span = Span::from_secs(5), in 0.1, 1000.0;
        /// How long ProbeRTT keeps half a BDP in flight.
        pub probe_rtt_duration: Span = Span::from_millis(200), in 0.001, 10.0;
    }
}

const STARTUP_GAIN: f64 = 4.0 * core::f64::consts::LN_2;
const PACING_MARGIN: f64 = 0.99;
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
/// Rounds after which Reno would have grown as much as a probe does.
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

/// Are the latest samples of the current probe, or of one that has ended?
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
    saved: Saved,
    pacing: f64,
    max_bw: WindowedMax<2>,
    cycle: u64,
    bw_lo: f64,
    inflight_lo: f64,
    inflight_hi: f64,
    /// Largest rate and delivery of the current round; below, the round's end.
    latest: (f64, f64),
    loss_round_ends: u64,
    lossy: bool,
    min_rtt: Option<(Span, Time)>,
    /// The least RTT of the last probe_rtt_interval.
    recent_rtt: Option<(Span, Time)>,
    rounds: Rounds,
    held_until: u64,
    rounds_since_probe: f64,
    phase_since: Time,
    wait: Span,
    full: FullPipe,
    samples: Samples,
    probing: bool,
    window_limited: bool,
    /// In UP: rounds, packets acknowledged, and the number of packets that raises inflight_hi by one.
    up: (u32, f64, f64),
}

impl Bbr3 {
    /// Starts with the initial window; for the first rate an RTT of 1 ms is assumed.
    pub fn new(params: Params, opening: &Opening) -> Self {
        Self {
            params,
            packet_bits: 8.0 * f64::from(opening.packet_bytes),
            initial_window: opening.initial_window,
            state: State::Startup,
            window: opening.initial_window,
            saved: Saved::default(),
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
            rounds: Rounds::default(),
            held_until: 0,
            rounds_since_probe: 0.0,
            phase_since: Time::ZERO,
            wait: Span::ZERO,
            full: FullPipe::default(),
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

    fn take_sample(&mut self, ack: &Ack, sample: &RateSample) {
        let acked = sample.delivered.saturating_sub(self.rounds.delivered) as f64;
        let begins = self.rounds.on_sample(sample);
        if self.saved.is_over(self.rounds.delivered) {
            self.window = self.window.max(self.saved.window);
        }
        if f64::from(ack.in_flight) + acked + 1.0 >= self.window {
            self.window_limited = true;
        } else if begins {
            self.window_limited = false;
        }
        if begins {
            self.rounds_since_probe += 1.0;
        }
        let limited = sample.app_limited || sample.prior_delivered < self.held_until;
        if sample.rate >= self.max_bw.max() || !limited {
            self.max_bw.update(self.cycle, sample.rate);
        }
        self.take_losses(sample);
        let looks = matches!(self.state, State::Startup | State::Up);
        if looks && begins && !sample.app_limited {
            self.full.on_round(sample.rate);
        }
        if self.state == State::Startup && self.is_too_high(sample) && begins {
            self.inflight_hi = self.inflight(self.max_bw.max(), 1.0).max(self.latest.1);
            self.full.is_full = true;
        }
        if self.state == State::Startup && self.full.is_full {
            self.state = State::Drain;
        }
        if self.state == State::Drain
            && f64::from(ack.in_flight) <= self.inflight(self.max_bw.max(), 1.0)
        {
            self.go_down(ack.now);
        }
        if self.full.is_full {
            self.adapt_inflight_hi(sample, ack.now, begins, acked);
            self.cycle(ack, sample, begins);
        }
        self.probe_rtt(ack, begins);
        self.set_window(acked);
    }

    fn set_window(&mut self, acked: f64) {
        let (pacing_gain, gain) = self.gains();
        let rate = PACING_MARGIN * pacing_gain * self.bandwidth();
        if rate > self.pacing || (self.full.is_full && rate > 0.0) {
            self.pacing = rate;
        }
        let most = self.inflight(self.max_bw.max(), gain);
        if self.full.is_full {
            self.window = (self.window + acked).min(most);
        } else if self.window < most || (self.rounds.delivered as f64) < self.initial_window {
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
    tunes! {}

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rate {
            self.take_sample(ack, &sample);
        }
    }

    /// Samples tell of losses.
    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, loss: &Loss) {
        match self.state {
            State::ProbeRtt { .. } => self.saved.save_larger(self.window),
            _ => self.saved.save(self.window),
        }
        self.saved.begin(self.rounds.delivered + u64::from(loss.in_flight));
        if !self.is_probing() && self.inflight_lo.is_infinite() {
            self.inflight_lo = self.saved.window;
        }
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
mod tests;
