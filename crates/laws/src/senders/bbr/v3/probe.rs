//! When BBRv3 looks for more bandwidth, and when for a smaller RTT.

use super::{Bbr3, MAX_RENO_ROUNDS, MIN_RTT_WINDOW, Samples, State, hash};
use crate::quantities::{Span, Time};
use crate::sender::{Ack, RateSample};

impl Bbr3 {
    pub(super) fn go_down(&mut self, now: Time) {
        let hash = hash(now);
        self.rounds_since_probe = (hash & 1) as f64;
        self.wait = Span::from_millis(2000 + hash % 1000);
        self.phase_since = now;
        self.samples = Samples::Stopping;
        self.rounds.restart();
        self.state = State::Down;
    }

    /// ProbeBW's phases.
    pub(super) fn cycle(&mut self, ack: &Ack, sample: &RateSample, begins: bool) {
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
                self.rounds.restart();
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
                self.rounds.restart();
                self.full.restart(sample.rate);
                self.state = State::Up;
                self.raise_slope();
            }
            State::Up => {
                if self.window_limited && self.window >= self.inflight_hi {
                    self.full.restart(sample.rate);
                } else if self.full.is_stalled() {
                    self.go_down(ack.now);
                }
            }
            _ => {}
        }
    }

    pub(super) fn probe_rtt(&mut self, ack: &Ack, begins: bool) {
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
                self.saved.save(self.window);
                self.rounds.restart();
                self.state = State::ProbeRtt { until: None, round_done: false };
            }
            return;
        };
        self.held_until = self.rounds.delivered + u64::from(ack.in_flight);
        let round_done = until.is_some() && (round_done || begins);
        self.state = State::ProbeRtt { until, round_done };
        if until.is_none() && f64::from(ack.in_flight) <= self.inflight(self.bandwidth(), 0.5) {
            let until = Some(ack.now + self.params.probe_rtt_duration);
            self.state = State::ProbeRtt { until, round_done: false };
            self.rounds.restart();
        } else if round_done && until.is_some_and(|end| ack.now > end) {
            self.recent_rtt = self.recent_rtt.map(|(rtt, _)| (rtt, ack.now));
            self.window = self.window.max(self.saved.window);
            self.forget_short_term();
            self.state = State::Startup;
            if self.full.is_full {
                self.go_down(ack.now);
                self.state = State::Cruise;
            }
        }
    }
}
